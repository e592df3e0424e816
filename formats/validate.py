"""What is odd about a conversation: messages held against each other and the tools. Words of warning, never a refusal.

A template may well make sense of what is odd here; but where a prompt or an answer surprises, the reason is often on
this list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema
from jsonschema_specifications import REGISTRY

from formats.content import is_parts
from formats.conversation import at
from formats.errors import FormatsError
from formats.fields import kind_of
from formats.tool_calls import Call, answered_calls, calls_of, dumps, loads
from formats.types import Conversation, JsonObject, Message, ToolDefinition

ROLES = ("system", "developer", "user", "assistant", "tool")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CHOICES = ("none", "auto", "required")

_FUNCTION_KEYS = ("name", "description", "parameters", "strict", "return")
_DIALECT = "https://json-schema.org/draft/2020-12"
_SCHEMA_IN = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_SCHEMAS_IN = ("prefixItems", "allOf", "anyOf", "oneOf", "properties", "patternProperties", "$defs", "definitions")
_SAYS_TYPE = ("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref")


@dataclass(frozen=True, slots=True)
class Warned:
    """One odd thing, with its JSON path and a stable kind for programs."""

    path: str
    message: str
    kind: str


def warnings(conversation: Conversation) -> tuple[Warned, ...]:
    """Everything odd about a conversation, tools first, then messages and options in their order."""
    tools = conversation.tools or ()
    return (
        *(warned for place, tool in enumerate(tools) for warned in _tool(tool, f"tools[{place}]")),
        *_duplicate_tools(tools),
        *_messages(conversation),
        *_options(conversation),
    )


def check_tool_choice(choice: Any, tools: Sequence[ToolDefinition] | None) -> None:
    """Raises FormatsError (bad_tool_choice) for a tool_choice that these tools cannot meet; None is no choice."""
    names = [name for tool in tools or () if (name := tool_name(tool)) is not None]
    listed = ", ".join(names) or "none"
    if choice is None or choice in ("none", "auto"):
        return
    if choice == "required":
        if not names:
            raise FormatsError("tool_choice: required needs a tool to choose; there are none", "bad_tool_choice")
        return
    function = choice.get("function") if isinstance(choice, dict) and choice.get("type") == "function" else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        words = '{"type": "function", "function": {"name": ...}}'
        raise FormatsError(f"tool_choice: needs {', '.join(CHOICES)} or {words}", "bad_tool_choice")
    if function["name"] not in names:
        wanted = function["name"]
        raise FormatsError(f"tool_choice: there is no tool {wanted!r}; there are {listed}", "bad_tool_choice")


def tool_name(tool: ToolDefinition) -> str | None:
    """The name of a tool, nested or flat; None where it has none."""
    function: Any = tool.get("function", tool)
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


# Tools


def _tool(tool: ToolDefinition, path: str) -> Iterator[Warned]:
    typed: JsonObject = dict(tool)
    function: Any = typed
    if "function" in typed:
        path, function = f"{path}.function", typed["function"]
    name = tool_name(tool)
    if name is None:
        yield Warned(path, 'needs a function with a name: {"type": "function", "function": {"name": ...}}', "no_name")
        return
    if not TOOL_NAME.fullmatch(name):
        words = f"{name!r} is refused by many APIs: up to 64 letters a-z, digits, - and _ are a name"
        yield Warned(f"{path}.name", words, "tool_name")
    if not function.get("description"):
        yield Warned(f"{path}.description", "is missing; the model sees only a name", "no_description")
    for key in function:
        if key not in _FUNCTION_KEYS and not (key == "type" and function is typed):
            yield Warned(at(path, key), "is no part of a function definition; it is kept", "unknown_key")
    if function.get("parameters") is not None:
        yield from _parameters(function["parameters"], f"{path}.parameters")


def _parameters(schema: Any, path: str) -> Iterator[Warned]:
    if not isinstance(schema, dict):
        yield Warned(path, f"needs a JSON Schema object, not {kind_of(schema)}", "invalid_schema")
        return
    if schema and schema.get("type") != "object":
        yield Warned(path, 'needs "type": "object": the arguments of a call are an object', "not_an_object_schema")
    yield from _invalid(schema, path)
    yield from _keywords(schema, path)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, inner in properties.items():
            if isinstance(inner, dict) and not any(key in inner for key in _SAYS_TYPE):
                yield Warned(at(f"{path}.properties", name), "has no type; some templates fail on it", "no_type")
        for index, name in enumerate(_listed(schema.get("required"))):
            if isinstance(name, str) and name not in properties:
                yield Warned(f"{path}.required[{index}]", f"{name!r} is none of the properties", "required_unknown")


def _invalid(schema: JsonObject, path: str) -> Iterator[Warned]:
    """What breaks the rules of JSON Schema, draft 2020-12."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        for step in error.absolute_path:
            path = f"{path}[{step}]" if isinstance(step, int) else at(path, step)
        yield Warned(path, f"is not valid JSON Schema: {_short(error.message)}", "invalid_schema")
    except RecursionError:
        yield Warned(path, "is nested too deeply to be checked", "invalid_schema")


def _keywords(schema: Any, path: str) -> Iterator[Warned]:
    """Keywords that JSON Schema does not have: kept, and printed by the templates that print schemas."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        here = at(path, key)
        if key not in _known_keywords():
            meaning = " (OpenAPI and transformers write it for `or null`)" if key == "nullable" else ""
            yield Warned(here, f"is no keyword of JSON Schema; it is kept{meaning}", "unknown_keyword")
        elif key in _SCHEMA_IN:
            yield from _keywords(value, here)
        elif key in _SCHEMAS_IN:
            for step, inner in value.items() if isinstance(value, dict) else enumerate(_listed(value)):
                yield from _keywords(inner, f"{here}[{step}]" if isinstance(step, int) else at(here, step))


@cache
def _known_keywords() -> frozenset[str]:
    """The keywords of draft 2020-12, out of its own meta-schemas."""
    contents = [REGISTRY.contents(uri) for uri in REGISTRY if uri.startswith(_DIALECT)]
    return frozenset(key for content in contents for key in content.get("properties", {}))


def _duplicate_tools(tools: Sequence[ToolDefinition]) -> Iterator[Warned]:
    seen: dict[str, int] = {}
    for place, tool in enumerate(tools):
        name = tool_name(tool)
        if name is not None and seen.setdefault(name, place) != place:
            yield Warned(f"tools[{place}]", f"is called {name!r}, as tools[{seen[name]}] is", "duplicate_tool")


# Messages


def _messages(conversation: Conversation) -> Iterator[Warned]:
    messages = conversation.messages
    answers = answered_calls(messages)
    answered = {(call.message, call.index) for call in answers.values()}
    last_user = max((place for place, m in enumerate(messages) if m["role"] not in ("tool", "assistant")), default=-1)
    names = {tool_name(tool) for tool in conversation.tools or ()}
    first: dict[str, Call] = {}
    for place, message in enumerate(messages):
        path = f"messages[{place}]"
        if message["role"] not in ROLES:
            words = f"{message['role']!r} is no role that templates know; they know {', '.join(ROLES)}"
            yield Warned(f"{path}.role", words, "unknown_role")
        if message["role"] == "tool":
            yield from _result(message, path, place in answers)
        for call in calls_of(message, place):
            yield from _call(call, names, conversation.tools is not None)
            other = first.setdefault(dumps(call.id), call)
            if call.id is not None and other is not call:
                yield Warned(f"{call.path}.id", f"is the id of {other.path} as well", "duplicate_id")
            if (place, call.index) not in answered and place < last_user:
                yield Warned(call.path, "is never answered by a tool message", "call_without_result")


def _call(call: Call, names: set[str | None], has_tools: bool) -> Iterator[Warned]:
    if call.name not in names:
        words = "is none of the tools" if has_tools else "is called, and there are no tools"
        yield Warned(call.path, f"{call.name!r} {words}", "undefined_tool")
    if isinstance(call.arguments, str):
        value = loads(call.arguments)
        if isinstance(value, str) and isinstance(loads(value), dict):
            yield Warned(call.arguments_path, "are JSON text inside JSON text; one layer is enough", "double_encoded")
        elif not isinstance(value, dict):
            words = "are neither an object nor the JSON text of one"
            yield Warned(call.arguments_path, words, "arguments_not_object")


def _result(message: Message, path: str, answers_a_call: bool) -> Iterator[Warned]:
    if not answers_a_call:
        asked = message.get("tool_call_id")
        words = "answers no call" if asked is None else f"answers {asked!r}, and no open call has this id"
        yield Warned(path, words, "result_without_call")
    content: Any = message.get("content")
    if isinstance(content, str):
        if loads(content) is None and content.strip() != "null":
            words = "is not JSON text; templates that write it into JSON as it is break on it"
            yield Warned(f"{path}.content", words, "result_not_json")
    elif content is not None and not is_parts(content):
        words = f"is {kind_of(content)} and not text; templates print it in ways of their own"
        yield Warned(f"{path}.content", words, "result_not_text")


def _options(conversation: Conversation) -> Iterator[Warned]:
    for name, value in conversation.template_kwargs.items():
        if isinstance(value, str) and value.strip().lower() in ("true", "false", "none", "null"):
            words = f"is the text {value!r}, which counts as true in a template; write it without quotes"
            yield Warned(at("options.kwargs", name), words, "text_for_a_value")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."
