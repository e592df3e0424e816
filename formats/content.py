"""The content of messages, whichever of its forms it has: text, parts, null, or none at all."""

from __future__ import annotations

from typing import Any

from formats.tool_calls import dumps
from formats.types import JsonObject

Content = str | list[JsonObject]


def is_part(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def is_parts(content: object) -> bool:
    """Whether a value is a list of parts, each with a type."""
    return isinstance(content, list) and all(map(is_part, content))


def as_text(content: object) -> str:
    """A content or a tool's result as one text: the texts of its parts, or the JSON text of what is no content."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if is_parts(content):
        return "\n".join(part["text"] if isinstance(part.get("text"), str) else dumps(part) for part in _list(content))
    return dumps(content)


def joined(first: object, second: object, between: str = "\n\n") -> Content:
    """Two contents, one behind the other: text where both are text, parts where one has other parts than text."""
    if not _has_other_parts(first) and not _has_other_parts(second):
        return between.join(text for text in (as_text(first), as_text(second)) if text)
    return [*_parts(first), *_parts(second)]


def _has_other_parts(content: object) -> bool:
    return is_parts(content) and any(not isinstance(part.get("text"), str) for part in _list(content))


def _parts(content: object) -> list[JsonObject]:
    if is_parts(content):
        return _list(content)
    text = as_text(content)
    return [{"type": "text", "text": text}] if text else []


def _list(content: Any) -> list[JsonObject]:
    return list(content)
