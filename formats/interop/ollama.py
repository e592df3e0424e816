"""Ollama's /api/chat and /api/generate: arguments are objects, thinking has its own key, timings stand beside."""

from __future__ import annotations

from typing import Any

from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.taking import Box, objects, tools_in
from formats.interop.writing import Writer, function_of
from formats.tool_calls import Call, calls_of
from formats.types import Conversation, JsonObject

_READ = {"thinking": "reasoning_content", "tool_name": "name"}  # their keys of a message -> ours
_WRITTEN = {ours: theirs for theirs, ours in _READ.items()}


def signs(value: JsonObject) -> int:
    if "done" in value and ("message" in value or "response" in value):
        return 8
    if not isinstance(value.get("messages"), list):
        return 0
    messages = objects(value["messages"])
    calls = [call for message in messages for call in objects(message.get("tool_calls"))]
    functions = [call["function"] for call in calls if isinstance(call.get("function"), dict)]
    found = 3 * sum(key in value for key in ("keep_alive", "think", "format", "template"))
    found += 3 * ("model" in value and isinstance(value.get("options"), dict))
    found += 3 * any("tool_name" in message or "thinking" in message or "images" in message for message in messages)
    found += 2 * (value.get("stream") is False)
    return found + any(isinstance(function.get("arguments"), dict) for function in functions) * ("model" in value)


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    if "messages" not in box and "message" in box:
        message = _message(box.take("message"), "message", losses)
        return Imported("an Ollama response", (message,), lost=tuple(losses), extras=box.rest())
    if "messages" not in box:
        output = box.text("response")
        return Imported("an Ollama response of /api/generate", output=output, extras=box.rest())
    messages = tuple(_message(item, path, losses) for item, path in box.items("messages"))
    tools = tools_in(box)
    kwargs = {}
    if isinstance(box.peek("think"), bool | str):
        think = box.take("think")
        kwargs = {"enable_thinking" if isinstance(think, bool) else "reasoning_effort": think}
    options = {"kwargs": kwargs} if kwargs else {}
    box.lose("template", "is a template in Go's language, which the transformers library does not read")
    return Imported("an Ollama request", messages, tools, options, None, tuple(losses), box.rest())


def _message(value: Any, path: str, losses: list[Loss]) -> Any:
    """The same keys in the same order, under our names."""
    box = Box(value, path, losses)
    message: JsonObject = {}
    for key in box:
        name = _READ.get(key, key)
        message[key if key != name and name in box else name] = box.take(key)
    return message


def write(conversation: Conversation, model: str) -> Exported:
    writer = Writer(conversation)
    body: JsonObject = {"model": model, "messages": [_message_out(writer, place) for place, _ in writer.numbered()]}
    if conversation.tools is not None:
        boxes = [function_of(tool, place, writer.losses) for place, tool in enumerate(conversation.tools)]
        body["tools"] = [{"type": "function", "function": box.rest()} for box in boxes if box]
    think = writer.option("enable_thinking", bool)
    if think is None:
        think = writer.option("reasoning_effort", str)
    if think is not None:
        body["think"] = think
    body["stream"] = False
    writer.options()
    return writer.exported(body)


def _message_out(writer: Writer, place: int) -> JsonObject:
    """The same keys in the same order, under their names; content as text and arguments as objects."""
    message: JsonObject = dict(writer.conversation.messages[place])
    written: JsonObject = {}
    for key, value in message.items():
        if key == "content" and not isinstance(value, str | None):
            value = writer.plain_text(writer.box(place))
        elif key == "tool_calls" and value:
            value = [_call_out(writer, call) for call in calls_of(writer.conversation.messages[place], place)]
        elif key in _READ or (key == "reasoning_content" and not isinstance(value, str)):
            writer.lose(f"messages[{place}].{key}", "means something else in this API, and is left out")
            continue
        renamed = key == "reasoning_content" or (key == "name" and message["role"] == "tool")
        written[_WRITTEN[key] if renamed else key] = value
    return written


def _call_out(writer: Writer, call: Call) -> JsonObject:
    if call.is_flat:
        writer.lose(call.path, 'is written as {"function": {"name", "arguments"}}')
        return {"function": {"name": call.name, "arguments": writer.arguments(call)}}
    return {**call.value, "function": {**call.value["function"], "arguments": writer.arguments(call)}}


SHAPE = Shape(
    name="ollama",
    title="Ollama",
    reference="https://github.com/ollama/ollama/blob/main/docs/api.md",
    signs=signs,
    read=read,
    write=write,
)
