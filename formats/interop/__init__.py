"""Other wire shapes <-> our conversation, one module each. Adding a module with a SHAPE adds the shape.

`recognise` takes a pasted text for whatever it holds the most signs of, and says so. Reading and writing report every
single thing that could not be carried over.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from formats.conversation import checked, from_json
from formats.errors import FormatsError
from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.pasted import Pasted, read_pasted
from formats.types import Conversation, JsonObject

__all__ = ["SHAPES", "Exported", "Imported", "Loss", "Shape", "conversation_of", "recognise"]


def _discover() -> dict[str, Shape]:
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    shapes = [module.SHAPE for module in modules if hasattr(module, "SHAPE")]
    return {shape.name: shape for shape in shapes}


SHAPES: Mapping[str, Shape] = _discover()


def recognise(text: str) -> Imported:
    """What a pasted text is taken for, and the conversation in it; FormatsError in words where there is none."""
    pasted = read_pasted(text)
    value = checked(pasted.value, "")
    found = _taken(value)
    if found is None and isinstance(value, list) and len(value) > 1:  # the rows of a data set
        pasted = replace(pasted, lost=(*pasted.lost, Loss(_others(value), "only the first row is taken")))
        found = _taken(value[0])
    if found is None:
        raise FormatsError(_unknown(value), "not_recognised")
    return _finished(found, pasted)


def _taken(value: Any) -> Imported | None:
    """What the shape with the most signs reads in a value, its paths as they are in the value."""
    candidates = [
        (shape.signs(body), shape, prefix, body) for shape in SHAPES.values() for prefix, body in _bodies(value, shape)
    ]
    signs, shape, prefix, body = max(candidates, key=lambda candidate: candidate[0], default=(0, None, "", {}))
    if not signs or shape is None:
        return None
    found = shape.read(body)
    return replace(found, lost=tuple(Loss(loss.path.removeprefix(prefix), loss.message) for loss in found.lost))


def _others(rows: list[Any]) -> str:
    return "[1]" if len(rows) == 2 else f"[1] to [{len(rows) - 1}]"


def conversation_of(imported: Imported) -> Conversation | None:
    """The conversation in an import; None where it has no messages."""
    if imported.messages is None:
        return None
    tools = None if imported.tools is None else list(imported.tools)
    return from_json({"messages": list(imported.messages), "tools": tools, "options": dict(imported.options)})


def _bodies(value: Any, shape: Shape) -> list[tuple[str, JsonObject]]:
    """The objects that a value may stand for: itself, or a list under the key where the shape has such items.

    Each comes with the start of its paths that the value itself does not have.
    """
    found = [("", value)] if isinstance(value, dict) else []
    items = value if isinstance(value, list) else [value]
    for key, field in shape.bare.items():
        if items and all(isinstance(item, dict) for item in items) and any(key in item for item in items):
            found.append((field if isinstance(value, list) else f"{field}[0].", {field: items}))
    return found


def _finished(imported: Imported, pasted: Pasted) -> Imported:
    """The import with its messages and tools checked, and with how it was found."""
    messages = [{"role": "user"}] if imported.messages is None else list(imported.messages)
    tools = None if imported.tools is None else list(imported.tools)
    conversation = from_json({"messages": messages, "tools": tools, "options": dict(imported.options)})
    return replace(
        imported,
        shape=f"{imported.shape}, {pasted.how}" if pasted.how else imported.shape,
        messages=None if imported.messages is None else conversation.messages,
        tools=conversation.tools,
        lost=(*pasted.lost, *imported.lost),
    )


def _unknown(value: Any) -> str:
    titles = ", ".join(shape.title for shape in SHAPES.values())
    what = "a list" if isinstance(value, list) else "a single value"
    if isinstance(value, dict):
        keys = ", ".join(str(key)[:40] for key in list(value)[:8])
        what = f"an object with {keys}" if keys else "an empty object"
    return f"this is {what}, and no messages or tools were found in it. What can be read: {titles}"
