"""Tools in plain text, for models whose template ignores them: what is asked for in words can be answered in words.

A conversation with tools becomes one without: the instructions join the system text, and the calls and results of the
history become texts of assistant and user. Any template renders that; what the model answers is read by the parser of
the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from formats.content import as_text, joined
from formats.fixes import FIXES
from formats.parsers import FORMATS
from formats.tool_calls import Call, answered_calls, arguments_object, calls_of, dumps
from formats.types import Conversation, FunctionCall, Message, ToolDefinition
from formats.validate import tool_name


@dataclass(frozen=True, slots=True)
class PlainFormat:
    name: str
    title: str
    parser: str  # the output format that reads the answers
    apply: Callable[[Conversation], Conversation]

    @property
    def stops(self) -> tuple[str, ...]:
        """Strings at which the model must be stopped, or it makes up the tool's answer."""
        return FORMATS[self.parser].stops


def react(conversation: Conversation) -> Conversation:
    """ReAct: thought, action and input in labelled lines, the result as an observation; one call in a turn."""
    one_by_one = FIXES["split_calls"].apply(conversation)
    return _rewritten(one_by_one, _react_instructions, _react_turn, _observation)


def json_in_system(conversation: Conversation) -> Conversation:
    """JSON: the tools' definitions in the system text, a call as a JSON object that is the whole answer."""
    return _rewritten(conversation, _json_instructions, _json_turn, _named_result)


def _rewritten(
    conversation: Conversation,
    instructions: Callable[[Sequence[ToolDefinition]], str],
    turn: Callable[[Message, Sequence[Call]], Message],
    result: Callable[[str, str], str],
) -> Conversation:
    """The same conversation in system, user and assistant turns; two user texts in a row are one."""
    tools = [tool for tool in conversation.tools or () if tool_name(tool) is not None]
    if not tools and not any(m["role"] == "tool" or m.get("tool_calls") for m in conversation.messages):
        return replace(conversation, tools=None)
    answers = answered_calls(conversation.messages)
    system: object = None
    messages: list[Message] = []
    for place, message in enumerate(conversation.messages):
        role, content = message["role"], message.get("content")
        if role in ("system", "developer") and not messages:
            system = joined(system, content)
        elif role == "tool":
            call = answers.get(place)
            name = message.get("name") or (call.name if call else "")
            _append(messages, _message("user", result(name, as_text(content))))
        elif role == "assistant":
            _append(messages, turn(message, calls_of(message, place)))
        else:
            _append(messages, _message("user" if role in ("system", "developer") else role, joined(None, content)))
    if tools:
        system = joined(system, instructions(tools))
    opening = [] if system is None else [_message("system", system)]
    written = replace(conversation, messages=(*opening, *messages), tools=None)
    field = conversation.continue_final_message
    if isinstance(field, str) and field not in messages[-1]:  # it has become a line of the text
        return replace(written, continue_final_message=True)
    return written


def _append(messages: list[Message], message: Message) -> None:
    """Add a message, or add it to the one before it: most templates of this kind want the roles to alternate."""
    if messages and messages[-1]["role"] == message["role"]:
        merged: dict[str, Any] = {**messages[-1]}
        for key, value in message.items():
            if key != "role":
                merged[key] = joined(merged.get(key), value)
        messages[-1] = cast(Message, merged)
    else:
        messages.append(message)


def _message(role: str, content: object) -> Message:
    return cast(Message, {"role": role, "content": content})


def _written(call: Call) -> FunctionCall:
    """A call as a parser's `write` takes it; arguments that are no object are kept in words."""
    arguments = arguments_object(call.arguments)
    return {"name": call.name, "arguments": {"input": call.arguments} if arguments is None else arguments}


def _functions(tools: Sequence[ToolDefinition]) -> list[dict[str, Any]]:
    return [dict(cast("dict[str, Any]", tool.get("function", tool))) for tool in tools]


# ReAct


def _react_instructions(tools: Sequence[ToolDefinition]) -> str:
    functions = _functions(tools)
    listed = "\n".join(
        f"{function['name']}: {function.get('description') or 'no description'}\n"
        f"  Arguments, as JSON Schema: {dumps(function.get('parameters') or {})}"
        for function in functions
    )
    names = ", ".join(function["name"] for function in functions)
    return f"""\
Answer the user as well as you can. You may use these tools:

{listed}

Write in this form:

Thought: what you need to know, and how to find it out
Action: the name of one tool out of {names}
Action Input: the arguments of the tool, as a JSON object
Observation: what the tool answers

Stop after the Action Input: the Observation is given to you, never write it yourself. Thought, Action, Action Input
and Observation may follow each other as often as needed. When you can answer, write:

Thought: I know the answer
Final Answer: what you say to the user"""


def _react_turn(message: Message, calls: Sequence[Call]) -> Message:
    """A turn that acts puts everything else into its thought; one that answers has a final answer."""
    thoughts = [as_text(message.get("reasoning_content"))]
    content = as_text(message.get("content"))
    if calls:
        thoughts.append(content)
    thought = "\n".join(text for text in thoughts if text)
    lines = [f"Thought: {thought}"] if thought else []
    if calls:
        lines.append(FORMATS["react"].write([_written(call) for call in calls]))
    elif content or not thought:
        lines.append(f"Final Answer: {content}")
    return _message("assistant", "\n".join(lines))


def _observation(name: str, result: str) -> str:
    return f"Observation: {result}"


# JSON


def _json_instructions(tools: Sequence[ToolDefinition]) -> str:
    functions = "\n".join(dumps(function) for function in _functions(tools))
    return f"""\
You can call these functions, each described as JSON:

{functions}

To call one, answer with a JSON object and nothing else:

{{"name": "the name of the function", "arguments": {{"the name of an argument": "its value"}}}}

To call several at once, answer with a JSON list of such objects. The user's next message holds the results. When no
function is needed, answer the user in plain words."""


def _json_turn(message: Message, calls: Sequence[Call]) -> Message:
    turn: dict[str, Any] = {"role": "assistant", "content": joined(None, message.get("content"))}
    if calls:
        turn["content"] = joined(turn["content"], FORMATS["plain"].write([_written(call) for call in calls]), "\n")
    if "reasoning_content" in message:
        turn["reasoning_content"] = message["reasoning_content"]
    return cast(Message, turn)


def _named_result(name: str, result: str) -> str:
    return f"Result of {name}: {result}" if name else f"Result: {result}"


PLAIN_FORMATS: Mapping[str, PlainFormat] = {
    "react": PlainFormat("react", "ReAct (Thought, Action, Observation)", "react", react),
    "json_in_system": PlainFormat("json_in_system", "JSON in the system text", "plain", json_in_system),
}
