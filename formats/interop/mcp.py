"""The Model Context Protocol's answer to tools/list: tools alone, with `inputSchema` and `outputSchema`."""

from __future__ import annotations

from typing import Any

from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.taking import Box, objects, read_tools
from formats.interop.writing import Writer, flat_tools
from formats.types import Conversation, JsonObject

_TOOL = {"name": "name", "description": "description", "parameters": "inputSchema", "return": "outputSchema"}


def signs(value: JsonObject) -> int:
    result = value.get("result") if "result" in value else value
    if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
        return 0
    return 6 * any("inputSchema" in tool for tool in objects(result["tools"])) + 3 * ("jsonrpc" in value)


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    extras: dict[str, Any] = {}
    result = box
    if "result" in box:
        result = Box(box.take("result"), "result", losses)
        extras = box.rest()
    tools = read_tools(result.items("tools"), losses)
    result.lose("nextCursor", "there are more tools than this answer holds")
    return Imported("MCP tools", tools=tools, lost=tuple(losses), extras={**extras, **result.rest()})


def write(conversation: Conversation, model: str) -> Exported:
    writer = Writer(conversation)
    tools = flat_tools(writer, _TOOL)
    writer.lose("messages", "the protocol lists tools alone")
    writer.options()
    if conversation.tools is None:
        writer.lose("tools", "no tools and an empty list of tools are the same here")
    return writer.exported({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}})


SHAPE = Shape(
    name="mcp",
    title="MCP tools/list",
    reference="https://modelcontextprotocol.io/specification/2025-06-18/server/tools",
    signs=signs,
    read=read,
    write=write,
    bare={"inputSchema": "tools"},
)
