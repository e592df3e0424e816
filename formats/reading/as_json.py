"""A read output as plain JSON values: what the command line and the API answer."""

from __future__ import annotations

from formats.types import JsonObject, ParsedOutput, ParsedToolCall


def to_json(format: str, parsed: ParsedOutput) -> JsonObject:
    """{"format", "content", "reasoning", "calls": [...], "segments": [...]}; ranges are in characters of the output."""
    return {
        "format": format,
        "content": parsed.content,
        "reasoning": parsed.reasoning,
        "calls": [_call(call, parsed.raw) for call in parsed.calls],
        "segments": [{"kind": s.kind, "start": s.start, "end": s.end} for s in parsed.segments],
    }


def _call(call: ParsedToolCall, raw: str) -> JsonObject:
    """`problems` names all that was found wrong, the one in `problem` first, each with its place in the arguments."""
    problem = call.problem.value if call.problem else None
    problems: list[JsonObject] = [{"kind": problem, "path": "", "message": call.note}] if problem else []
    if call.schema_errors:
        problems = [
            {"kind": problem, "path": error.path, "message": error.message, "keyword": error.keyword}
            for error in call.schema_errors
        ]
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "problem": problem,
        "problems": problems,
        "start": call.start,
        "end": call.end,
        "raw": raw[call.start : call.end],
        "note": call.note,
    }
