"""How a shape is written: a Writer knows the conversation and reports every place where reading the text back would
give something else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from formats.content import is_part
from formats.conversation import at
from formats.interop.base import Exported, Loss, json_document
from formats.interop.taking import Box, one_text
from formats.tool_calls import Call, answered_calls, arguments_object, calls_of, dumps
from formats.types import Conversation, JsonObject, Message, ToolDefinition


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
        self._carried: set[str] = set()

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
        if not isinstance(value, list) or not all(isinstance(part, str) or is_part(part) for part in value):
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

    def option(self, name: str, kind: type) -> Any:
        """A template option that the shape has a word for, if it is of this kind; else None, and reported later."""
        value = self.conversation.template_kwargs.get(name)
        if not isinstance(value, kind):
            return None
        self._carried.add(f"kwargs.{name}")
        return value

    def options(self, *carried: str) -> None:
        """Report the options that the shape has no word for; `carried` are the names of those it has."""
        self._carried.update(carried)
        given = self.conversation
        values = {
            "add_generation_prompt": None if given.add_generation_prompt else False,
            "continue_final_message": given.continue_final_message or None,
            "documents": given.documents,
            "chat_template": given.chat_template,
        }
        for name, value in values.items():
            if value is not None and name not in self._carried:
                self.lose(f"options.{name}", "this API has no such option")
        for name in given.template_kwargs:
            if f"kwargs.{name}" not in self._carried:
                self.lose(at("options.kwargs", name), "this API has no options of the template")

    def exported(self, body: JsonObject) -> Exported:
        return Exported(json_document(body), tuple(self.losses), body)


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


def _is_id(value: object) -> bool:
    return isinstance(value, str) and value != ""
