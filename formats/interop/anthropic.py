"""Anthropic's Messages API, request and response: a system text of its own, blocks, results in user turns."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.taking import Box, objects, one_text, tools_in
from formats.interop.writing import Writer, flat_tools
from formats.types import Conversation, JsonObject

_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document")
_PARTS = ("image", "document", "search_result")  # of a content, beside texts
_TOOL = {"name": "name", "description": "description", "parameters": "input_schema"}
MAX_TOKENS = 1024  # the API wants a limit in every request


def signs(value: JsonObject) -> int:
    if value.get("type") == "message" and isinstance(value.get("content"), list):
        return 8
    tools = objects(value.get("tools"))
    found = 3 * ("system" in value and "messages" in value) + 5 * any("input_schema" in tool for tool in tools)
    if isinstance(value.get("messages"), list):
        blocks = [b for message in objects(value["messages"]) for b in objects(message.get("content"))]
        found += 5 * any(block.get("type") in _BLOCKS for block in blocks)
        found += 3 * any(key in value for key in ("anthropic_version", "stop_sequences", "thinking"))
        found += 3 * ("max_tokens" in value and "claude" in str(value.get("model")))
    return found


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    if box.peek("type") == "message" and "messages" not in box:
        message = _assistant({"content": box.take("content")}, "", losses)
        box.take("type")
        box.take("role")
        return Imported("an Anthropic response", (message,), lost=tuple(losses), extras=box.rest())
    messages: list[Any] = [{"role": "system", "content": s} for s in _system(box)]
    for item, path in box.items("messages"):
        messages += _messages(item, path, losses)
    tools = tools_in(box)
    return Imported("an Anthropic request", tuple(messages) or None, tools, lost=tuple(losses), extras=box.rest())


def _system(box: Box) -> list[str | list[JsonObject]]:
    if "system" not in box:
        return []
    if isinstance(box.peek("system"), str):
        return [box.take("system")]
    return [_content(box.items("system"), box.losses)]


def _messages(value: Any, path: str, losses: list[Loss]) -> list[Any]:
    """One message of theirs is one of ours, but for results: each of them is a message here."""
    box = Box(value, path, losses)
    if box.peek("role") == "assistant":
        return [_assistant(value, path, losses)]
    if not isinstance(box.peek("content"), list):
        return [value]
    role, messages = box.text("role"), []
    for is_result, run in groupby(box.items("content"), lambda item: _is_result(item[0])):
        if is_result:
            messages += [_result(Box(block, place, losses)) for block, place in run]
        else:
            messages.append({"role": role, "content": _content(list(run), losses)})
    box.lose_rest("has no place in a message")
    return messages or [{"role": role, "content": ""}]


def _is_result(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _assistant(value: Any, path: str, losses: list[Loss]) -> Any:
    """Thinking, texts and calls out of one list of blocks."""
    box = Box(value, path, losses)
    if not isinstance(box.peek("content"), list):
        return value
    texts: list[tuple[Any, str]] = []
    thoughts: list[str] = []
    calls: list[JsonObject] = []
    for item, place in box.items("content"):
        block = Box(item, place, losses)
        match block.peek("type"):
            case "thinking":
                thoughts.append(block.text("thinking") or "")
                block.lose("signature", "only Anthropic can check it; no template reads it")
            case "redacted_thinking":
                losses.append(Loss(place, "only Anthropic can read it"))
                continue
            case "tool_use":
                function = {"name": block.text("name"), "arguments": block.take("input") or {}}
                calls.append({"id": block.text("id"), "type": "function", "function": function})
            case _:
                if calls:
                    losses.append(Loss(place, "stands behind a call; it is read as standing before it"))
                texts.append((item, place))
                continue
        block.take("type")
        block.lose_rest("has no place in a message")
    box.take("role")
    box.lose_rest("has no place in a message")
    message: JsonObject = {"role": "assistant", "content": _content(texts, losses)}
    if thoughts:
        message["reasoning_content"] = "\n\n".join(thoughts)
    return message | ({"tool_calls": calls} if calls else {})


def _result(box: Box) -> JsonObject:
    box.take("type")
    asked = box.text("tool_use_id")
    content = box.take("content")
    if isinstance(content, list):
        content = _content([(item, f"{box.at('content')}[{i}]") for i, item in enumerate(content)], box.losses)
    if box.peek("is_error") is False:
        box.take("is_error")
    box.lose("is_error", "no template has a mark for a result that is an error")
    box.lose_rest("has no place in a message")
    return {"role": "tool", "tool_call_id": asked, "content": "" if content is None else content}


def _content(blocks: list[tuple[Any, str]], losses: list[Loss]) -> str | list[JsonObject]:
    """Text where there is one block of text; blocks of other kinds stay as they are, as parts."""
    parts = []
    for item, path in blocks:
        block = Box(item, path, losses)
        if block.peek("type") == "text":
            part: JsonObject = {"type": block.take("type"), "text": block.text("text")}
            block.lose_rest("has no place in a text")
        else:
            part = block.rest()
            losses.append(Loss(path, "is kept as it is; few templates know this kind of part"))
        parts.append(part)
    return one_text(parts)


def write(conversation: Conversation, model: str) -> Exported:
    writer = Writer(conversation)
    body: JsonObject = {"model": model, "max_tokens": MAX_TOKENS}
    places = [place for place, _ in writer.numbered()]
    if conversation.messages[0]["role"] in ("system", "developer"):
        box = writer.box(places.pop(0))
        body["system"] = writer.blocks(box, _PARTS)
        box.lose_rest("has no place in this API")
        if conversation.messages[0]["role"] == "developer":
            writer.lose("messages[0].role", "the developer's words are written as the system text")
    body["messages"] = _grouped([_message_out(writer, place) for place in places])
    if conversation.tools is not None:
        body["tools"] = flat_tools(writer, _TOOL)
    writer.options()
    return writer.exported(body)


def _message_out(writer: Writer, place: int) -> JsonObject:
    role = writer.conversation.messages[place]["role"]
    box = writer.box(place)
    if role == "tool":
        block = {
            "type": "tool_result",
            "tool_use_id": writer.result_id(place, box),
            "content": writer.blocks(box, _PARTS),
        }
        message: JsonObject = {"role": "user", "content": [block]}
    elif role == "assistant":
        content = writer.blocks(box, _PARTS)
        calls = [
            {"type": "tool_use", "id": writer.call_id(call), "name": call.name, "input": writer.arguments(call)}
            for call in writer.calls(place, box)
        ]
        if calls and isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        message = {"role": role, "content": [*content, *calls] if isinstance(content, list) else content}
    else:
        if role != "user":
            writer.lose(f"messages[{place}].role", "this API has no such role here; it is written as a user turn")
        message = {"role": "user", "content": writer.blocks(box, _PARTS)}
    box.lose_rest("has no place in this API")
    return message


def _grouped(messages: list[JsonObject]) -> list[JsonObject]:
    """The results of one turn stand together in one user turn."""
    grouped: list[JsonObject] = []
    for message in messages:
        if grouped and _holds_results(grouped[-1]) and _holds_results(message):
            grouped[-1]["content"] += message["content"]
        else:
            grouped.append(message)
    return grouped


def _holds_results(message: JsonObject) -> bool:
    return isinstance(message["content"], list) and any(map(_is_result, message["content"]))


SHAPE = Shape(
    name="anthropic",
    title="Anthropic Messages",
    reference="https://docs.anthropic.com/en/api/messages",
    signs=signs,
    read=read,
    write=write,
    bare={"role": "messages", "input_schema": "tools"},
)
