"""A list of tools and nothing else, or a single one, in the form of any API that has no shape of its own for them."""

from __future__ import annotations

from formats.interop.base import Imported, Loss, Shape
from formats.interop.taking import Box, objects, read_tools
from formats.types import JsonObject


def signs(value: JsonObject) -> int:
    tools = objects(value.get("tools"))
    return 3 if tools and set(value) == {"tools"} and all("function" in t or "name" in t for t in tools) else 0


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    tools = read_tools(Box(value, "", losses).items("tools"), losses)
    return Imported("a list of tools", tools=tools, lost=tuple(losses))


SHAPE = Shape(
    name="tools",
    title="a list of tools",
    reference="https://platform.openai.com/docs/guides/function-calling",
    signs=signs,
    read=read,
    bare={"function": "tools", "parameters": "tools"},
)
