"""ShareGPT rows of training data, {"conversations": [{"from", "value"}]}; calls and results as LLaMA-Factory does."""

from __future__ import annotations

from typing import Any

from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.taking import Box, objects, tools_in
from formats.interop.writing import Writer, flat_tools
from formats.tool_calls import Call, dumps, loads
from formats.types import Conversation, JsonObject

_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "bard", "bing", "bot", "model", "assistant"), "assistant"),
    **dict.fromkeys(("observation", "tool", "tool_response", "function_response"), "tool"),
}
_FROM = {"user": "human", "assistant": "gpt", "tool": "observation"}
_TOOL = {name: name for name in ("name", "description", "parameters", "return", "strict")}


def signs(value: JsonObject) -> int:
    return 6 * any("from" in turn and "value" in turn for turn in objects(value.get("conversations")))


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    system = box.text("system") or None
    messages: list[Any] = [{"role": "system", "content": system}] if system else []
    messages += [_message(Box(item, path, losses)) for item, path in box.items("conversations")]
    tools = None
    if isinstance(box.peek("tools"), str):
        text = box.take("tools")
        listed = loads(text) if text.strip() else []
        if isinstance(listed, list):
            tools = tools_in(Box({"tools": listed}, "", losses))
        else:
            losses.append(Loss("tools", "is not the JSON text of a list"))
    else:
        tools = tools_in(box)
    return Imported("a ShareGPT row", tuple(messages), tools, lost=tuple(losses), extras=box.rest())


def _message(box: Box) -> JsonObject:
    sender, text = box.text("from") or "", box.text("value") or ""
    calls = _calls(text) if sender in ("function_call", "tool_call") else None
    box.lose_rest("has no place in a message")
    if calls is not None:
        return {"role": "assistant", "content": "", "tool_calls": calls}
    if sender in ("function_call", "tool_call"):
        box.losses.append(Loss(box.at("value"), "is not the JSON of a call; it is read as plain text"))
        sender = "gpt"
    return {"role": _ROLES.get(sender, sender), "content": text}


def _calls(text: str) -> list[JsonObject] | None:
    """The calls in a function_call's text; None where it holds anything else."""
    value = loads(text)
    calls: list[Any] = value if isinstance(value, list) else [value]
    if not calls or not all(isinstance(c, dict) and set(c) == {"name", "arguments"} for c in calls):
        return None
    if not all(isinstance(c["name"], str) and isinstance(c["arguments"], dict | str) for c in calls):
        return None
    return [{"type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}} for c in calls]


def write(conversation: Conversation, model: str) -> Exported:
    writer = Writer(conversation)
    body: JsonObject = {"conversations": [_turn(writer, place) for place, _ in writer.numbered()]}
    if conversation.tools is not None:
        body["tools"] = dumps(flat_tools(writer, _TOOL))
    writer.options()
    return writer.exported(body)


def _turn(writer: Writer, place: int) -> JsonObject:
    role = writer.conversation.messages[place]["role"]
    box = writer.box(place)
    text = writer.plain_text(box)
    calls = writer.calls(place, box) if role == "assistant" else []
    sender = _FROM.get(role, role)
    if calls:
        if text:
            writer.lose(box.at("content"), "there is no room for a text beside a call")
        for call in calls:
            if call.id is not None:
                writer.lose(f"{call.path}.id", "calls have no id here")
        written = [{"name": call.name, "arguments": _arguments(writer, call)} for call in calls]
        sender, text = "function_call", dumps(written if len(written) > 1 else written[0])
    elif _ROLES.get(sender, sender) != role or sender in ("function_call", "tool_call"):
        writer.lose(box.at("role"), "has another meaning here")
    box.lose_rest("has no place here")
    return {"from": sender, "value": text}


def _arguments(writer: Writer, call: Call) -> JsonObject | str:
    return writer.arguments(call) if call.arguments is None else call.arguments


SHAPE = Shape(
    name="sharegpt",
    title="ShareGPT",
    reference="https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md",
    signs=signs,
    read=read,
    write=write,
    bare={"from": "conversations"},
)
