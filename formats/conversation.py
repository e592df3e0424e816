"""JSON text <-> Conversation; an error names the JSON path of the place and what would work there.

Only what no template could take is turned away. Unknown keys and roles, null or absent content, arguments as an
object or as JSON text, tool results of any kind: all of that reaches the template untouched, since what a model's
template makes of it is the very thing people come to see.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn, cast

from formats.errors import BadConversation
from formats.types import Conversation, JsonObject, Message, ToolDefinition

MAX_DEPTH = 100  # levels of lists and objects; Python's own recursion limit is met a little later

OPTIONS = ("add_generation_prompt", "continue_final_message", "documents", "chat_template", "kwargs")

# Arguments of apply_chat_template itself: as template options they would collide with it, or change what it returns.
RESERVED = frozenset(
    {
        "self",
        "conversation",
        "conversations",
        "messages",
        "tools",
        "documents",
        "chat_template",
        "add_generation_prompt",
        "continue_final_message",
        "tokenize",
        "sanitize_control_tokens",
        "padding",
        "truncation",
        "max_length",
        "return_tensors",
        "return_dict",
        "return_assistant_tokens_mask",
        "tokenizer_kwargs",
    }
)


def parse_conversation(text: str) -> Conversation:
    """Read {"messages", "tools", "options"}, or a list of messages alone; anything else is a BadConversation."""
    return from_json(parse_json(text))


def parse_messages(text: str) -> tuple[Message, ...]:
    """Read the text of the messages editor: a list of messages."""
    return _messages(checked(parse_json(text), "messages"), "messages")


def parse_tools(text: str) -> tuple[ToolDefinition, ...] | None:
    """Read the text of the tools editor: a list, or null or nothing at all for a conversation without tools."""
    return _tools(checked(parse_json(text), "tools"), "tools") if text.strip() else None


def from_json(value: object, where: str = "") -> Conversation:
    """The Conversation in a JSON value.

    `where` is the path at which the value itself stands, for a value out of a longer list ("[3]"). Keys beside
    messages, tools and options (an id, a title) are a note to the reader and have no say in the prompt.
    """
    value = checked({"messages": value} if isinstance(value, list | tuple) else value, where)
    if not isinstance(value, dict):
        _fail(where, f'needs an object {{"messages": [...]}} or a list of messages, not {_kind(value)}')
    for name in OPTIONS:
        if name in value:
            _fail(at(where, name), f'belongs inside "options": {{"options": {{"{name}": ...}}}}')
    if "messages" not in value:
        _fail(where, 'needs "messages": a list such as [{"role": "user", "content": "Hi"}]')
    options = _options(value.get("options"), at(where, "options"))
    return Conversation(
        messages=_messages(value["messages"], at(where, "messages")),
        tools=_tools(value.get("tools"), at(where, "tools")),
        **options,
    )


def to_json(conversation: Conversation) -> JsonObject:
    """The inverse of `from_json`: {"messages", "tools", "options"}; options that have their default are left out."""
    options: JsonObject = {}
    if not conversation.add_generation_prompt:
        options["add_generation_prompt"] = False
    if conversation.continue_final_message is not False:
        options["continue_final_message"] = conversation.continue_final_message
    if conversation.documents is not None:
        options["documents"] = list(conversation.documents)
    if conversation.chat_template is not None:
        options["chat_template"] = conversation.chat_template
    if conversation.template_kwargs:
        options["kwargs"] = dict(conversation.template_kwargs)
    tools = None if conversation.tools is None else list(conversation.tools)
    return {"messages": list(conversation.messages), "tools": tools, "options": options}


def parse_json(text: str) -> object:
    """Strict JSON: no NaN, no Infinity; an error names the line and the column."""
    if not text.strip("\ufeff \t\r\n"):
        _fail("", "nothing to read here; JSON is needed")
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadConversation(f"not valid JSON at {place}: {error.msg}{_advice(error)}") from None
    except RecursionError:
        raise BadConversation(f"nested too deeply; {MAX_DEPTH} levels are read") from None
    except ValueError:  # Python's limit on the digits of a whole number; JSONDecodeError was caught above
        raise BadConversation("holds a number of thousands of digits; write it as text") from None


def _refuse_constant(name: str) -> NoReturn:
    _fail("", f'{name} is not JSON; use a number, null or the text "{name}"')


def _advice(error: json.JSONDecodeError) -> str:
    """What would work, where the character at hand tells it."""
    rest = error.doc[error.pos :]
    before = error.doc[: error.pos].rstrip()
    if rest.startswith("'"):
        return '; write text in double quotes ("), not single ones'
    if rest[:1] in ("]", "}") and before.endswith(","):
        return "; remove the comma before it"
    if rest.startswith(("True", "False", "None")):
        return "; JSON writes true, false and null"
    if error.msg.startswith("Invalid control character"):
        return "; inside text a line break is written \\n and a tab \\t"
    if not rest:
        return "; the text ends too early, is a bracket or a quote missing?"
    return ""


def checked(value: object, path: str, depth: int = 0) -> object:
    """The same value made of plain JSON alone (tuples become lists), or the path of what is not JSON."""
    if depth > MAX_DEPTH:
        _fail("", f"nested more than {MAX_DEPTH} levels deep, at {path[:80]}...")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _checked_text(value, path)
    if isinstance(value, float):
        if not math.isfinite(value):
            _fail(path, f"{value} is not a JSON number; use null, text or a number up to 1.7e308")
        return value
    if isinstance(value, list | tuple):
        return [checked(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if not isinstance(value, Mapping):
        _fail(path, f"a {type(value).__name__} is not JSON")
    return {_key(key, path): checked(item, at(path, key), depth + 1) for key, item in value.items()}


def _checked_text(text: str, path: str) -> str:
    """Half of a surrogate pair is no character: no tokenizer and no UTF-8 file can hold it."""
    lone = next((c for c in text if "\ud800" <= c <= "\udfff"), None) if not text.isascii() else None
    if lone:
        escape = f"\\u{ord(lone):04x}"
        _fail(path, f"{escape} is half of a character (a lone surrogate); write the whole character or remove {escape}")
    return text


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        _fail(path, f"the key {key!r} is not text; JSON keys are text in double quotes")
    return _checked_text(key, path)


def _messages(value: object, path: str) -> tuple[Message, ...]:
    if not isinstance(value, list):
        _fail(path, f'needs a list such as [{{"role": "user", "content": "Hi"}}], not {_kind(value)}')
    if not value:
        _fail(path, 'is empty; a template needs at least one message, such as {"role": "user", "content": "Hi"}')
    for index, message in enumerate(value):
        _check_message(message, f"{path}[{index}]")
    return tuple(cast("list[Message]", value))


def _check_message(message: object, path: str) -> None:
    if not isinstance(message, dict):
        _fail(path, f'needs an object such as {{"role": "user", "content": "Hi"}}, not {_kind(message)}')
    if "role" not in message:
        _fail(path, 'needs a "role", such as "system", "user", "assistant" or "tool"')
    if not isinstance(message["role"], str):
        _fail(f"{path}.role", f'needs text, such as "user", not {_kind(message["role"])}')
    if message["role"] != "tool":  # a tool may answer with any JSON value
        _check_content(message.get("content"), f"{path}.content")
    _check_tool_calls(message.get("tool_calls"), f"{path}.tool_calls")


def _check_content(content: object, path: str) -> None:
    if isinstance(content, list):
        for index, part in enumerate(content):
            if not isinstance(part, dict | str):
                _fail(f"{path}[{index}]", f'needs a part such as {{"type": "text", "text": "Hi"}}, not {_kind(part)}')
    elif not isinstance(content, str | dict | None):
        _fail(path, f"needs text, null or a list of parts, not {_kind(content)}")


def _check_tool_calls(calls: object, path: str) -> None:
    if calls is None:
        return
    if not isinstance(calls, list):
        _fail(path, f'needs a list such as [{{"function": {{"name": ..., "arguments": {{}}}}}}], not {_kind(calls)}')
    for index, call in enumerate(calls):
        _check_tool_call(call, f"{path}[{index}]")


def _check_tool_call(call: object, path: str) -> None:
    """A call as the OpenAI API nests it, {"function": {"name", "arguments"}}, or flat, {"name", "arguments"}."""
    if not isinstance(call, dict):
        _fail(path, f'needs an object such as {{"function": {{"name": ..., "arguments": {{}}}}}}, not {_kind(call)}')
    if "function" in call:
        path, call = f"{path}.function", call["function"]
    elif "name" not in call:
        _fail(f"{path}.function", 'is missing; it needs {"name": ..., "arguments": {...}}')
    if not isinstance(call, dict):
        _fail(path, f'needs an object such as {{"name": ..., "arguments": {{}}}}, not {_kind(call)}')
    if not isinstance(call.get("name"), str):
        wrong = f"not {_kind(call['name'])}" if "name" in call else "which is missing"
        _fail(path, f'needs the tool\'s "name" as text, {wrong}')
    if not isinstance(call.get("arguments"), dict | str | None):
        _fail(f"{path}.arguments", f"needs an object or its JSON text, not {_kind(call['arguments'])}")


def _tools(value: object, path: str) -> tuple[ToolDefinition, ...] | None:
    if value is None:
        return None
    return tuple(cast("list[ToolDefinition]", _objects(value, path, '{"type": "function", "function": {...}}')))


def _objects(value: object, path: str, example: str) -> list[JsonObject]:
    if not isinstance(value, list):
        _fail(path, f"needs a list such as [{example}], or null for none, not {_kind(value)}")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            _fail(f"{path}[{index}]", f"needs an object such as {example}, not {_kind(item)}")
    return value


def _options(value: object, path: str) -> dict[str, Any]:
    """Keyword arguments for Conversation."""
    options = {} if value is None else value
    if not isinstance(options, dict):
        _fail(path, f'needs an object such as {{"add_generation_prompt": true}}, not {_kind(value)}')
    for name in options:
        if name not in OPTIONS:
            _fail(f"{path}.{name}", f"is no option; there are {', '.join(OPTIONS)} (a template's own go into kwargs)")
    add = _typed(options, "add_generation_prompt", bool, True, path, "true or false")
    go_on = _typed(options, "continue_final_message", bool | str, False, path, "true, false or the name of a field")
    if add and go_on:
        _fail(
            f"{path}.continue_final_message",
            "does not go with add_generation_prompt, which is true unless it is set: a final message is continued "
            "or a new one is begun. Set add_generation_prompt to false",
        )
    documents = options.get("documents")
    if documents is not None:
        documents = tuple(_objects(documents, f"{path}.documents", '{"title": ..., "text": ...}'))
    return {
        "add_generation_prompt": add,
        "continue_final_message": go_on,
        "documents": documents,
        "chat_template": _typed(options, "chat_template", str, None, path, "the name of one of the model's templates"),
        "template_kwargs": _template_kwargs(options.get("kwargs"), f"{path}.kwargs"),
    }


def _typed(options: JsonObject, name: str, types: Any, default: Any, path: str, wanted: str) -> Any:
    """An option's value; null stands for the default, as a missing one does."""
    value = options.get(name)
    if value is None:
        return default
    if not isinstance(value, types):
        _fail(f"{path}.{name}", f"needs {wanted}, not {_kind(value)}")
    return value


def _template_kwargs(value: object, path: str) -> JsonObject:
    if value is None:
        return {}
    if not isinstance(value, dict):
        _fail(path, f'needs an object such as {{"enable_thinking": false}}, not {_kind(value)}')
    for name in value:
        if name in RESERVED:
            place = "in options, beside kwargs" if name in OPTIONS else "elsewhere or not at all"
            _fail(f"{path}.{name}", f"is an argument of apply_chat_template itself; it is set {place}")
    return value


def at(path: str, key: object) -> str:
    """The path of a key; one that is no plain word is quoted in brackets."""
    text = str(key)
    if not text.isidentifier():
        return f"{path}[{json.dumps(text)}]"
    return f"{path}.{text}" if path else text


def _kind(value: object) -> str:
    """A JSON value's kind, in words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a number"


def _fail(path: str, message: str) -> NoReturn:
    raise BadConversation(message, path)
