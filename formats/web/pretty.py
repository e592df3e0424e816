"""JSON as a person would lay it out: short values on one line, long ones opened up."""

from __future__ import annotations

import json

WIDTH = 72  # characters; what fits the editors without wrapping


def pretty(value: object, indent: int = 0) -> str:
    """JSON text that reads back as the same value; letters stay letters."""
    flat = json.dumps(value, ensure_ascii=False)
    if indent + len(flat) <= WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner, outer = " " * (indent + 2), " " * indent
    if isinstance(value, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {pretty(item, indent + 2)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        lines = [pretty(item, indent + 2) for item in value]
        opening, closing = "[", "]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(lines) + f"\n{outer}{closing}"
