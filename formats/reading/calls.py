"""From what a parser read to a call whose one problem, if any, is named.

The order of problems is CallProblem's own: what the frame is, then what the
parts are, then what the tools say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from formats.reading import json_text
from formats.reading.validation import Budget, schema_errors
from formats.types import CallProblem, JsonObject, ParsedToolCall, ToolDefinition

MISSING: Any = object()  # no arguments were written at all


def settle(
    name: Any,
    arguments: Any,
    start: int,
    end: int,
    *,
    tools: Sequence[ToolDefinition] = (),
    problem: CallProblem | None = None,
    id: str | None = None,
    note: str = "",
    budget: Budget | None = None,
) -> ParsedToolCall:
    """Judge one attempt at a call.

    `problem` is what the parser found wrong with the frame or the JSON; only
    without one are name, arguments and schema judged. Arguments that are not
    written at all are an empty object in a call that is otherwise whole.
    """
    name = name if isinstance(name, str) and name.strip() else None
    decoded, parts_problem = _as_object(arguments, whole=problem is None)
    if problem is None:
        problem = CallProblem.MISSING_NAME if name is None else parts_problem
    if problem is not None or name is None or decoded is None:
        return ParsedToolCall(name, decoded, start, end, problem, (), id, note)
    schema = find_schema(tools, name)
    if schema is None and tools:
        return ParsedToolCall(name, decoded, start, end, CallProblem.UNKNOWN_TOOL, (), id, note)
    errors = schema_errors(decoded, schema or {}, budget)
    problem = CallProblem.SCHEMA_MISMATCH if errors else None
    return ParsedToolCall(name, decoded, start, end, problem, errors, id, note)


def _as_object(arguments: Any, whole: bool) -> tuple[JsonObject | None, CallProblem | None]:
    if isinstance(arguments, dict):
        return arguments, None
    if arguments is MISSING:
        return ({}, None) if whole else (None, None)
    if isinstance(arguments, str):
        try:
            inner = json_text.loads(arguments)
        except ValueError:
            inner = None
        if isinstance(inner, dict):
            return inner, CallProblem.DOUBLE_ENCODED
    return None, CallProblem.ARGUMENTS_NOT_OBJECT


def find_schema(tools: Sequence[ToolDefinition], name: str | None) -> JsonObject | None:
    """The JSON Schema of a tool's parameters, {} where it states none, None where no tool has the name."""
    for function in _functions(tools):
        if function.get("name") == name:
            parameters = function.get("parameters")
            return parameters if isinstance(parameters, dict) else {}
    return None


def tool_names(tools: Sequence[ToolDefinition]) -> tuple[str, ...]:
    return tuple(name for function in _functions(tools) if isinstance(name := function.get("name"), str) and name)


def _functions(tools: Sequence[ToolDefinition]) -> Iterator[Mapping[str, Any]]:
    """What the tools define, flat or as the chat API nests it; a tool of another shape defines nothing."""
    for tool in tools:
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping):
            yield function
