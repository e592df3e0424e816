"""Our own JSON, {"messages", "tools", "options"}: nothing is lost. Rows of training data often have this shape too."""

from __future__ import annotations

from formats.conversation import OPTIONS, to_json
from formats.interop.base import Exported, Imported, Loss, Shape, json_document
from formats.interop.taking import Box
from formats.types import Conversation, JsonObject

_NOTES = {"id", "title", "why", "reason"}


def signs(value: JsonObject) -> int:
    """Messages with nothing of an API beside them; options with our own names leave no doubt."""
    if "messages" not in value or set(value) - {"messages", "tools", "options"} - _NOTES:
        return 0
    options = value.get("options")
    return 6 if isinstance(options, dict) and set(options) <= set(OPTIONS) else 2


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    messages, tools, options = box.all_of("messages"), box.all_of("tools"), box.take("options")
    what = "messages" if tools is None else "messages and tools"
    return Imported(what, messages, tools, options or {}, lost=tuple(losses), extras=box.rest())


def write(conversation: Conversation, model: str) -> Exported:
    body = to_json(conversation)
    return Exported(json_document(body), body=body)


SHAPE = Shape(
    name="own",
    title="messages.json",
    reference="formats/conversation.py",
    signs=signs,
    read=read,
    write=write,
    bare={"role": "messages"},
)
