"""What a wire shape offers, and the two helpers its file is written with: Box to read, the writers' common parts.

A shape never drops anything silently: what nobody took out of a Box is reported with its path, and a writer reports
every place where reading its text back would give something else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from formats.conversation import at
from formats.errors import BadConversation
from formats.fields import kind_of
from formats.tool_calls import Call, answered_calls, arguments_object, calls_of, dumps
from formats.types import Conversation, JsonObject, Message, ToolDefinition


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that could not be carried over as it was; `path` is its place in the text that was read or written."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What a pasted text holds: the parts of a conversation that are there, and all that is beside them."""

    shape: str  # what the text was taken for, in words
    messages: tuple[Message, ...] | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # under the names of `conversation.OPTIONS`
    output: str | None = None  # a model's raw text, before anybody read calls in it
    lost: tuple[Loss, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)  # model, sampling, timings: kept to be shown, not used


@dataclass(frozen=True, slots=True)
class Exported:
    """A conversation in another shape; paths in `lost` are those of our own JSON (messages, tools, options)."""

    text: str
    lost: tuple[Loss, ...] = ()
    body: JsonObject | None = None  # the JSON that the text is, or that the command in the text sends


@dataclass(frozen=True, slots=True)
class Shape:
    """One wire shape; one module of this package each."""

    name: str
    title: str
    reference: str  # where the shape is described
    signs: Callable[[JsonObject], int]  # how much in an object speaks for this shape; 0 where it cannot be read
    read: Callable[[JsonObject], Imported]
    write: Callable[[Conversation, str], Exported] | None = None  # conversation, model -> a request
    bare: Mapping[str, str] = field(default_factory=dict)  # a key of the items of a bare list -> where the list belongs


class Box:
    """A JSON object that is taken apart key by key."""

    def __init__(self, value: object, path: str, losses: list[Loss]) -> None:
        if not isinstance(value, dict):
            raise BadConversation(f"needs an object, not {kind_of(value)}", path)
        self._left: JsonObject = dict(value)
        self.path = path
        self.losses = losses

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def at(self, key: str) -> str:
        return at(self.path, key)

    def __iter__(self) -> Iterator[str]:
        """The keys that nobody took yet; they may be taken on the way."""
        return iter(list(self._left))

    def take(self, *keys: str) -> Any:
        """The value of the first of these keys that is there; None where none is."""
        key = next((key for key in keys if key in self._left), None)
        return None if key is None else self._left.pop(key)

    def peek(self, key: str) -> Any:
        return self._left.get(key)

    def text(self, *keys: str) -> str | None:
        key = next((key for key in keys if key in self._left), keys[0])
        value = self.take(key)
        if value is not None and not isinstance(value, str):
            raise BadConversation(f"needs text, not {kind_of(value)}", self.at(key))
        return value

    def items(self, *keys: str) -> list[tuple[Any, str]]:
        """The items of a list, each with its path; [] where there is no list."""
        key = next((key for key in keys if key in self._left), keys[0])
        value = self.take(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise BadConversation(f"needs a list, not {kind_of(value)}", self.at(key))
        return [(item, f"{self.at(key)}[{index}]") for index, item in enumerate(value)]

    def all_of(self, key: str) -> tuple[Any, ...] | None:
        """The items of a list as they are; None where there is none."""
        return tuple(item for item, _ in self.items(key)) if self.peek(key) is not None else self.take(key)

    def lose(self, key: str, why: str) -> None:
        """Report a key that has no place in a conversation; null and empty values hold nothing to lose."""
        value = self.take(key)
        if value not in (None, [], {}):
            self.losses.append(Loss(self.at(key), why))

    def lose_rest(self, why: str) -> None:
        for key in self:
            self.lose(key, why)

    def rest(self) -> JsonObject:
        """All that nobody took."""
        left, self._left = self._left, {}
        return left


def read_tools(items: Sequence[tuple[Any, str]], losses: list[Loss]) -> tuple[ToolDefinition, ...]:
    """Tools of any API, in the shape that templates know; those without a name are built into the API and lost."""
    tools = (read_tool(value, path, losses) for value, path in items)
    return tuple(cast("ToolDefinition", tool) for tool in tools if tool is not None)


def tools_in(box: Box) -> tuple[ToolDefinition, ...] | None:
    """The tools of a body; None where it has none, which is not the same as an empty list."""
    if box.peek("tools") is None:
        return None
    return read_tools(box.items("tools"), box.losses)


_FUNCTION_KEYS = {  # what other APIs call the parts of a function definition
    "name": "name",
    "description": "description",
    "parameters": "parameters",
    "input_schema": "parameters",
    "inputSchema": "parameters",
    "parametersJsonSchema": "parameters",
    "parameters_json_schema": "parameters",
    "outputSchema": "return",
    "response": "return",
    "responseJsonSchema": "return",
    "response_json_schema": "return",
    "return": "return",
    "strict": "strict",
}


def read_tool(value: object, path: str, losses: list[Loss]) -> JsonObject | None:
    """One tool; the nested form is kept as it is, a flat one is nested with its keys in their order."""
    box = Box(value, path, losses)
    if "function" in box:
        return box.rest()
    kind = box.take("type")
    if "name" not in box or kind not in (None, "function", "custom"):
        losses.append(Loss(path, f"a tool of the API itself ({kind}), which no template can show"))
        return None
    function: JsonObject = {}
    for key in box:
        if key in _FUNCTION_KEYS and _FUNCTION_KEYS[key] not in function:
            function[_FUNCTION_KEYS[key]] = box.take(key)
    box.lose_rest("has no place in a tool definition")
    return {"type": "function", "function": function}


def function_of(tool: ToolDefinition, place: int, losses: list[Loss]) -> Box | None:
    """A Box of the function in one of our tools, nested or flat; None (reported) where there is no name."""
    path = f"tools[{place}]"
    box = Box(tool, path, losses)
    if "function" in box:
        function = box.take("function")
        if box.take("type") is None:
            losses.append(Loss(f"{path}.type", 'the missing type is read back as "function"'))
        elif next(iter(tool)) == "function":
            losses.append(Loss(path, "its type is read back in front of its function"))
        box.lose_rest("has no place in this API")
        box = Box(function, f"{path}.function", losses) if isinstance(function, dict) else Box({}, path, losses)
    else:
        losses.append(Loss(path, 'is written as {"type": "function", "function": ...} would be'))
        box.take("type")
    if not isinstance(box.peek("name"), str):
        losses.append(Loss("tools", f"tool {place} is no function with a name; it is left out"))
        return None
    return box


def flat_tools(writer: Writer, names: Mapping[str, str]) -> list[JsonObject]:
    """Our tools as plain functions; `names` says what an API calls the parts of a function that it knows.

    Their order is kept, and every API of this kind needs a schema.
    """
    tools = []
    for place, tool in enumerate(writer.conversation.tools or ()):
        box = function_of(tool, place, writer.losses)
        if box is None:
            continue
        flat = {names[key]: box.take(key) for key in box if key in names}
        box.lose_rest("has no place in this API")
        if not isinstance(flat.get(names["parameters"]), dict):
            writer.lose(box.at("parameters"), "this API needs a schema; an empty one is written")
            flat[names["parameters"]] = {"type": "object", "properties": {}}
        tools.append(flat)
    return tools


def one_text(parts: list[JsonObject]) -> str | list[JsonObject]:
    """A single part of text is text; anything else stays a list of parts."""
    if not parts:
        return ""
    if len(parts) == 1 and parts[0].get("type") == "text" and isinstance(parts[0].get("text"), str):
        return str(parts[0]["text"])
    return parts


class Writer:
    """A conversation on its way into another shape: its losses, and an id for every call and result."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.losses: list[Loss] = []
        self.answers = answered_calls(conversation.messages)
        self._ids: dict[tuple[int, int], str] = {}
        taken = {call.id for place, message in self.numbered() for call in calls_of(message, place) if _is_id(call.id)}
        free = (f"call_{number}" for number in range(1, 1 << 30) if f"call_{number}" not in taken)
        for place, message in self.numbered():
            for call in calls_of(message, place):
                self._ids[place, call.index] = call.id if _is_id(call.id) else next(free)
        self._free = free

    def numbered(self) -> list[tuple[int, Message]]:
        return list(enumerate(self.conversation.messages))

    def lose(self, path: str, message: str) -> None:
        self.losses.append(Loss(path, message))

    def box(self, place: int) -> Box:
        """The message at a place, without its role."""
        box = Box(self.conversation.messages[place], f"messages[{place}]", self.losses)
        box.take("role")
        return box

    def call_id(self, call: Call) -> str:
        """The call's id; one that has none gets one."""
        written = self._ids[call.message, call.index]
        if written != call.id:
            self.lose(f"{call.path}.id", f"this API needs an id; {written} is written")
        return written

    def result_id(self, place: int, box: Box) -> str:
        """The id of the call that a tool result answers."""
        asked = box.take("tool_call_id")
        if _is_id(asked):
            return str(asked)
        call = self.answers.get(place)
        written = self._ids[call.message, call.index] if call else next(self._free)
        self.lose(box.at("tool_call_id"), f"this API needs the id of the call; {written} is written")
        return written

    def calls(self, place: int, box: Box) -> list[Call]:
        """The calls of a message; all of theirs but id, name and arguments is reported where it is not as usual."""
        message = self.conversation.messages[place]
        if "tool_calls" in box and not box.take("tool_calls"):
            self.lose(box.at("tool_calls"), "no calls at all and an empty list of calls are the same here")
        calls = list(calls_of(message, place))
        for call in calls:
            self._usual(call)
        return calls

    def _usual(self, call: Call) -> None:
        box = Box(call.value, call.path, self.losses)
        box.take("id")
        if call.is_flat:
            return self.lose(call.path, 'is written as {"function": {"name", "arguments"}} would be')
        if box.take("type") != "function":
            self.lose(f"{call.path}.type", 'is read back as "function"')
        inner = Box(box.take("function"), f"{call.path}.function", self.losses)
        inner.take("name")
        inner.take("arguments")
        inner.lose_rest("has no place in this API")
        return box.lose_rest("has no place in this API")

    def arguments(self, call: Call) -> JsonObject:
        """The arguments as an object."""
        found = arguments_object(call.arguments)
        if found is None:
            self.lose(call.arguments_path, "are not the JSON text of an object; {} is written")
        elif not isinstance(call.arguments, dict):
            self.lose(call.arguments_path, "an object is written in place of their JSON text")
        return found or {}

    def arguments_text(self, call: Call) -> str:
        """The arguments as JSON text."""
        if isinstance(call.arguments, str):
            return call.arguments
        self.lose(call.arguments_path, "their JSON text is written, as this API has it")
        return dumps(call.arguments or {})

    def content(self, box: Box) -> str | list[JsonObject]:
        """The content as text or a list of parts with a type; whatever that changes is reported."""
        missing = "content" not in box
        value = box.take("content")
        path = box.at("content")
        if value is None:
            self.lose(path, f'{"missing" if missing else "null"} content is written as the empty text ""')
            return ""
        if isinstance(value, str):
            return value
        if not isinstance(value, list) or not all(isinstance(part, str) or _is_part(part) for part in value):
            self.lose(path, "is written as its JSON text")
            return dumps(value)
        for index, part in enumerate(value):
            if isinstance(part, str):
                self.lose(f"{path}[{index}]", 'is written as {"type": "text", "text": ...}')
        return [{"type": "text", "text": part} if isinstance(part, str) else part for part in value]

    def blocks(self, box: Box, known: Collection[str] = ()) -> str | list[JsonObject]:
        """The content for an API where one text and a list with that one text are the same.

        Besides texts, it may hold parts of the `known` types; others are left out.
        """
        content = self.content(box)
        if isinstance(content, str):
            return content
        path = box.at("content")
        for index, part in enumerate(content):
            if part["type"] != "text" and part["type"] not in known:
                self.lose(path, f"part {index} is left out: this API has no {part['type']!r}")
        kept = [self._block(p, f"{path}[{i}]") for i, p in enumerate(content) if p["type"] in ("text", *known)]
        if isinstance(one_text(kept), str):
            self.lose(path, "no part, or a single part of text, is the same as the text alone here")
        return kept

    def _block(self, part: JsonObject, path: str) -> JsonObject:
        if part["type"] != "text":
            return part
        box = Box(part, path, self.losses)
        box.take("type")
        text = box.take("text")
        if not isinstance(text, str):
            self.lose(box.at("text"), "is written as its JSON text")
        box.lose_rest("has no place in this API")
        return {"type": "text", "text": text if isinstance(text, str) else dumps(text)}

    def plain_text(self, box: Box) -> str:
        """The content as text alone."""
        content = self.content(box)
        if isinstance(content, str):
            return content
        texts = [part["text"] for part in content if part["type"] == "text" and isinstance(part.get("text"), str)]
        self.lose(box.at("content"), "is written as one text, made of its parts of text")
        return "\n".join(texts)

    def options(self, *carried: str) -> None:
        """Report the options that the shape has no word for; `carried` are the names of those it has."""
        given = self.conversation
        values = {
            "add_generation_prompt": None if given.add_generation_prompt else False,
            "continue_final_message": given.continue_final_message or None,
            "documents": given.documents,
            "chat_template": given.chat_template,
        }
        for name, value in values.items():
            if value is not None and name not in carried:
                self.lose(f"options.{name}", "this API has no such option")
        for name in given.template_kwargs:
            if f"kwargs.{name}" not in carried:
                self.lose(at("options.kwargs", name), "this API has no options of the template")

    def exported(self, body: JsonObject) -> Exported:
        return Exported(json_document(body), tuple(self.losses), body)


def objects(value: object) -> list[JsonObject]:
    """The objects in a list, for a look at what it holds; [] for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def json_document(value: object) -> str:
    """JSON to be read by people; every line but the first begins with white space or a closing bracket."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_part(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)
