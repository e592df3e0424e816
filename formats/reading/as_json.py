"""A read output as plain JSON values: what the command line and the API answer."""

from __future__ import annotations

from collections.abc import Sequence

from formats.reading.problems import problems
from formats.types import JsonObject, ParsedOutput, ParsedToolCall, ToolDefinition


def to_json(format: str, parsed: ParsedOutput, tools: Sequence[ToolDefinition] = ()) -> JsonObject:
    """{"format", "content", "reasoning", "calls": [...], "segments": [...]}; ranges are in characters of the output.

    `tools` are those that the output was read with.
    """
    return {
        "format": format,
        "content": parsed.content,
        "reasoning": parsed.reasoning,
        "calls": [_call(call, parsed.raw, tools) for call in parsed.calls],
        "segments": [{"kind": s.kind, "start": s.start, "end": s.end} for s in parsed.segments],
    }


def _call(call: ParsedToolCall, raw: str, tools: Sequence[ToolDefinition]) -> JsonObject:
    """`id` is the output's own; `problems` are all that hold, the one in `problem` first."""
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "problem": call.problem and call.problem.value,
        "problems": problems(call, tools),
        "start": call.start,
        "end": call.end,
        "raw": raw[call.start : call.end],
    }
