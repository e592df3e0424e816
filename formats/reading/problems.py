"""Everything that is wrong with a call, in words: the problem it is named by, and all others that hold beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from formats.reading.calls import find_schema
from formats.reading.validation import schema_errors
from formats.types import CallProblem, JsonObject, ParsedToolCall, ToolDefinition

WORDS: Mapping[CallProblem, str] = {
    CallProblem.UNCLOSED: "the output ends inside the call",
    CallProblem.INVALID_JSON: "a strict JSON reader rejects it",
    CallProblem.MALFORMED: "the frame around the call is wrong",
    CallProblem.MISSING_NAME: "the call names no tool",
    CallProblem.ARGUMENTS_NOT_OBJECT: "the arguments are no object",
    CallProblem.DOUBLE_ENCODED: "the arguments are JSON text inside a string",
    CallProblem.UNKNOWN_TOOL: "no such tool is defined",
    CallProblem.SCHEMA_MISMATCH: "the arguments break the tool's schema",
}


def problems(call: ParsedToolCall, tools: Sequence[ToolDefinition]) -> list[JsonObject]:
    """[{"kind", "path", "message"}]: the call's own problem first, then what else the tools say of it.

    `path` leads into the arguments; it is empty where the whole call is meant.
    """
    found: list[JsonObject] = []
    if call.problem and call.problem is not CallProblem.SCHEMA_MISMATCH:
        found.append(_problem(call.problem, note=call.note))
    if call.name is None:
        return found
    schema = find_schema(tools, call.name)
    if schema is None:
        named = call.problem is CallProblem.UNKNOWN_TOOL or not tools
        return found if named else [*found, _problem(CallProblem.UNKNOWN_TOOL)]
    errors = call.schema_errors
    if not errors and found and call.arguments is not None:
        errors = schema_errors(call.arguments, schema)
    return found + [_problem(CallProblem.SCHEMA_MISMATCH, error.path, error.message) for error in errors]


def _problem(kind: CallProblem, path: str = "", message: str = "", note: str = "") -> JsonObject:
    words = message or ": ".join(filter(None, (WORDS[kind], note)))
    return {"kind": kind.value, "path": path, "message": words}
