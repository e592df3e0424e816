"""OpenAI's Responses API, request and response: a flat list of items, calls and results among them, and flat tools.

A turn of the assistant is several items here (reasoning, message, calls); reading puts them back together.
"""

from __future__ import annotations

from typing import Any, cast

from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.taking import Box, objects, one_text, tools_in
from formats.interop.writing import Writer, flat_tools
from formats.types import Conversation, JsonObject

_ITEMS = ("function_call", "function_call_output", "reasoning", "item_reference")
_TEXTS = ("input_text", "output_text", "text")
_PARTS = ("input_image", "input_file", "refusal")  # of a content, beside texts
_TOOL = {"name": "name", "description": "description", "parameters": "parameters", "strict": "strict"}


def signs(value: JsonObject) -> int:
    if value.get("object") == "response" and isinstance(value.get("output"), list):
        return 8
    if "messages" in value or "contents" in value:
        return 0
    items = objects(value.get("input")) + objects(value.get("output"))
    parts = [part for item in items for part in objects(item.get("content"))]
    found = 4 * any(item.get("type") in _ITEMS for item in items) + 2 * ("instructions" in value)
    found += 4 * any(part.get("type") in _TEXTS[:2] for part in parts)
    return found + (4 if "model" in value else 1) * isinstance(value.get("input"), str | list)


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    turns = _Turns()
    if isinstance(box.peek("instructions"), str):
        turns.add({"role": "system", "content": box.take("instructions")})
    if isinstance(box.peek("input"), str):
        turns.add({"role": "user", "content": box.take("input")})
    for item, path in box.items("input") + box.items("output"):
        _read_item(Box(item, path, losses), turns)
    tools = tools_in(box)
    for function in objects([tool["function"] for tool in tools or ()]):
        if function.get("strict") is False:  # the default of the shape that templates know
            del function["strict"]
    reasoning = Box(box.take("reasoning") or {}, "reasoning", losses)
    effort = reasoning.text("effort")
    reasoning.lose_rest("is no option of a template")
    what = "an OpenAI Responses " + ("response" if value.get("object") == "response" else "request")
    options = {"kwargs": {"reasoning_effort": effort}} if effort is not None else {}
    return Imported(what, tuple(turns.messages) or None, tools, options, None, tuple(losses), box.rest())


class _Turns:
    """Messages, the last of which may be a turn of the assistant that the next item still belongs to."""

    _ORDER = ("reasoning", "message", "function_call")  # of the items of one turn

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._last = ""  # kind of the item before; "" where no turn is open

    def add(self, message: JsonObject) -> None:
        self.messages.append(message)
        self._last = ""

    def turn(self, kind: str) -> JsonObject:
        """The assistant's turn that an item of this kind belongs to; a second message begins a new one."""
        rank, last = self._ORDER.index(kind), self._ORDER.index(self._last) if self._last else len(self._ORDER)
        if rank < last or rank == last == self._ORDER.index("message"):
            self.messages.append({"role": "assistant", "content": ""})
        self._last = kind
        turn: JsonObject = self.messages[-1]
        return turn


def _read_item(box: Box, turns: _Turns) -> None:
    kind = box.take("type")
    match kind or "message":
        case "message" if box.peek("role") == "assistant":
            box.take("role")
            turns.turn("message")["content"] = _content(box, "content")
        case "message":
            turns.add({"role": box.text("role"), "content": _content(box, "content")})
        case "reasoning":
            texts = _texts(box, "content") or _texts(box, "summary")
            box.lose("summary", "the reasoning itself is there")
            box.lose("encrypted_content", "only OpenAI can read it")
            turn = turns.turn("reasoning")
            turn["reasoning_content"] = "\n\n".join([*filter(None, [turn.get("reasoning_content")]), *texts])
        case "function_call":
            function = {"name": box.text("name"), "arguments": box.take("arguments")}
            call = {"id": box.text("call_id"), "type": "function", "function": function}
            turns.turn("function_call").setdefault("tool_calls", []).append(call)
        case "function_call_output":
            turns.add({"role": "tool", "tool_call_id": box.text("call_id"), "content": _content(box, "output")})
        case _:
            box.losses.append(Loss(box.path, f"an item of the API itself ({kind}), which no template can show"))
            return
    box.lose("id", "names the item in the API's own store")
    box.lose("status", "belongs to the API")
    box.lose_rest("has no place in a message")


def _texts(box: Box, key: str) -> list[str]:
    """The texts of a reasoning item."""
    texts = []
    for value, path in box.items(key):
        part = Box(value, path, box.losses)
        part.take("type")
        texts.append(part.text("text") or "")
        part.lose_rest("has no place in a reasoning text")
    return texts


def _content(box: Box, key: str) -> str | list[JsonObject]:
    if not isinstance(box.peek(key), list):
        return box.text(key) or ""
    parts = []
    for value, path in box.items(key):
        part = Box(value, path, box.losses)
        if part.peek("type") in _TEXTS:
            part.take("type")
            parts.append({"type": "text", "text": part.text("text") or ""})
            part.lose_rest("has no place in a text")
        else:
            parts.append(part.rest())
            box.losses.append(Loss(path, "is kept as it is; few templates know this kind of part"))
    return one_text(parts)


def write(conversation: Conversation, model: str) -> Exported:
    writer = Writer(conversation)
    body: JsonObject = {"model": model}
    places = [place for place, _ in writer.numbered()]
    first = conversation.messages[0]
    if first["role"] == "system" and isinstance(first.get("content"), str):
        box = writer.box(places.pop(0))
        body["instructions"] = box.take("content")
        box.lose_rest("has no place in this API")
    body["input"] = [item for place in places for item in _items(writer, place)]
    if conversation.tools is not None:
        body["tools"] = [{"type": "function", **_strict(tool)} for tool in flat_tools(writer, _TOOL)]
        _report_strict(writer)
    if (effort := writer.option("reasoning_effort", str)) is not None:
        body["reasoning"] = {"effort": effort}
    writer.options()
    return writer.exported(body)


def _strict(tool: JsonObject) -> JsonObject:
    """Tools are strict here unless they say otherwise, and the other way round everywhere else."""
    return tool if tool.get("strict") is True else {**tool, "strict": False}


def _report_strict(writer: Writer) -> None:
    for place, tool in enumerate(writer.conversation.tools or ()):
        function = cast("JsonObject", tool).get("function")
        if isinstance(function, dict) and "strict" in function and function["strict"] is not True:
            writer.lose(f"tools[{place}].function.strict", "false is what a tool without it means")


def _items(writer: Writer, place: int) -> list[JsonObject]:
    message = writer.conversation.messages[place]
    box, role = writer.box(place), message["role"]
    items: list[JsonObject]
    if role == "tool":
        asked = writer.result_id(place, box)
        items = [{"type": "function_call_output", "call_id": asked, "output": _content_out(writer, box, "input_text")}]
    elif role == "assistant":
        items = _turn(writer, place, box)
    else:
        if role not in ("user", "system", "developer"):
            writer.lose(f"messages[{place}].role", "this API has no such role; it is written as a user's")
            role = "user"
        items = [{"type": "message", "role": role, "content": _content_out(writer, box, "input_text")}]
    box.lose_rest("has no place in this API")
    return items


def _turn(writer: Writer, place: int, box: Box) -> list[JsonObject]:
    """Reasoning, message and calls; the message may be left out where reading puts the turn together all the same."""
    items: list[JsonObject] = []
    if isinstance(box.peek("reasoning_content"), str):
        thought = {"type": "reasoning_text", "text": box.take("reasoning_content")}
        items.append({"type": "reasoning", "id": f"rs_{place}", "summary": [], "content": [thought]})
    content = _content_out(writer, box, "output_text")
    calls = writer.calls(place, box)
    follows = place > 0 and writer.conversation.messages[place - 1]["role"] == "assistant" and not items
    if content or not calls or follows:
        items.append({"type": "message", "role": "assistant", "content": content})
    for call in calls:
        written = {"type": "function_call", "call_id": writer.call_id(call), "name": call.name}
        items.append({**written, "arguments": writer.arguments_text(call)})
    return items


def _content_out(writer: Writer, box: Box, kind: str) -> str | list[JsonObject]:
    content = writer.blocks(box, _PARTS)
    if isinstance(content, str):
        return content
    return [{"type": kind, "text": part["text"]} if part["type"] == "text" else part for part in content]


SHAPE = Shape(
    name="responses",
    title="OpenAI Responses",
    reference="https://platform.openai.com/docs/api-reference/responses",
    signs=signs,
    read=read,
    write=write,
    bare={"type": "input", "role": "input"},
)
