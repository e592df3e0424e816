"""What a wire shape offers, and what it gives back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

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


def json_document(value: object) -> str:
    """JSON to be read by people; every line but the first begins with white space or a closing bracket."""
    return json.dumps(value, ensure_ascii=False, indent=2)
