"""What a call gets back: a result that somebody typed, one of a built-in tool, or the error in the call itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from formats.errors import FormatsError
from formats.generate import tools
from formats.reading.calls import tool_names
from formats.tool_calls import Call, arguments_object, calls_of
from formats.types import CallProblem, Conversation, Message, ParsedToolCall

LONGEST_RESULT = 20_000  # characters

PROBLEMS: Mapping[CallProblem, str] = {
    CallProblem.UNCLOSED: "the call was cut off",
    CallProblem.INVALID_JSON: "the call is not valid JSON",
    CallProblem.MALFORMED: "the call is not in the right frame",
    CallProblem.MISSING_NAME: "the call names no tool",
    CallProblem.ARGUMENTS_NOT_OBJECT: "the arguments are not an object",
    CallProblem.DOUBLE_ENCODED: "the arguments are JSON text inside a string, not an object",
    CallProblem.UNKNOWN_TOOL: "there is no such tool",
    CallProblem.SCHEMA_MISMATCH: "the arguments do not fit the tool",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """One call of the output and the result that goes back."""

    call: ParsedToolCall
    content: str
    is_error: bool
    by: str  # who answered: "typed", "built-in", "check"


@dataclass(frozen=True, slots=True)
class Answers:
    """Where results come from."""

    clock: tools.Clock  # that current_time reads
    typed: Mapping[str, str]  # tool name -> what it returns; these come first
    by_hand: bool = False  # built-in tools do not answer: a person does
    only: str = ""  # the one tool that may be called; "": all

    def to(self, call: ParsedToolCall, conversation: Conversation) -> Answered | None:
        """The result of one call; None where a person has to give it."""
        if call.problem is not None:
            return _error(call, _problem(call, conversation), "check")
        name, arguments = call.name or "", call.arguments or {}
        if self.only and name != self.only:
            return _error(call, f"only {self.only} may be called", "check")
        if name in self.typed:
            return typed(call, self.typed[name])
        if self.by_hand or name not in tools.BUILT_IN:
            return None
        try:
            return Answered(call, tools.run(name, arguments, self.clock), False, "built-in")
        except tools.ToolError as error:
            return _error(call, error.message, "built-in")


def typed(call: ParsedToolCall, result: str) -> Answered:
    """What a person typed, or the error that it is no result."""
    if not result.strip():
        return _error(call, "the tool returned nothing", "check")
    if len(result) > LONGEST_RESULT:
        return _error(call, f"the tool returned more than {LONGEST_RESULT:,} characters", "check")
    if any("\ud800" <= character <= "\udfff" for character in result):
        return _error(call, "the tool returned text with half a character in it", "check")
    return Answered(call, result, False, "typed")


def _problem(call: ParsedToolCall, conversation: Conversation) -> str:
    assert call.problem is not None
    words = PROBLEMS[call.problem]
    if call.problem is CallProblem.UNKNOWN_TOOL:
        return f"{words}: {call.name}; there are {', '.join(tool_names(conversation.tools or ()))}"
    if call.schema_errors:
        return f"{words}: " + "; ".join(f"{e.path or 'arguments'}: {e.message}" for e in call.schema_errors[:5])
    return words


def _error(call: ParsedToolCall, words: str, by: str) -> Answered:
    return Answered(call, json.dumps({"error": words}, ensure_ascii=False), True, by)


# Results that a run waits for


def message(call_id: str, answered: Answered) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "name": answered.call.name or "", "content": answered.content}


def waiting(conversation: Conversation) -> tuple[Call, ...]:
    """The calls of the last turn that have no result yet."""
    place = _last_turn(conversation)
    given = {str(result.get("tool_call_id")) for result in conversation.messages[place + 1 :]}
    return tuple(call for call in calls_of(conversation.messages[place], place) if str(call.id) not in given)


def given(conversation: Conversation, results: Mapping[str, str]) -> tuple[Conversation, tuple[Answered, ...]]:
    """The conversation with a result for each call that waits, by its id; results stand in the order of the calls."""
    place = _last_turn(conversation)
    answers = {
        str(call.id): typed(
            ParsedToolCall(call.name, arguments_object(call.arguments), 0, 0), results.get(str(call.id), "")
        )
        for call in waiting(conversation)
    }
    if not answers:
        raise FormatsError("no call waits for a result", "bad_input")
    turn, behind = conversation.messages[: place + 1], conversation.messages[place + 1 :]
    known = {str(one.get("tool_call_id")): one for one in behind if one["role"] == "tool"}
    known |= {call_id: message(call_id, answered) for call_id, answered in answers.items()}
    ordered = [known[str(call.id)] for call in calls_of(turn[-1], place)]
    others = [one for one in behind if one["role"] != "tool"]
    return replace(conversation, messages=(*turn, *ordered, *others)), tuple(answers.values())


def _last_turn(conversation: Conversation) -> int:
    """The place of the last message with calls; the first one where none has any."""
    places = [place for place, one in enumerate(conversation.messages) if one.get("tool_calls")]
    return places[-1] if places else 0
