"""Apertus: a JSON list between tokens, each call an object whose only key is the tool's name.

<|tools_prefix|>[{"get_weather": {"city": "Paris"}}]<|tools_suffix|>
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from formats.parsers.base import NAME_KEYS, OutputFormat, Payload, add_call, call_list, named_call, read_turn
from formats.reading.calls import MISSING
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<|tools_prefix|>", "<|tools_suffix|>"
REASONING = ("<|inner_prefix|>", "<|inner_suffix|>")
STOPS = ("<|assistant_end|>",)


def _add(reader: Reader, payload: Payload, *, problem: CallProblem | None = None, **_: Any) -> None:
    """Add the call of one object; name and arguments under keys of their own are another format's."""
    value = payload.value if isinstance(payload.value, dict) else {}
    if len(value) > 1 and any(key in value for key in NAME_KEYS):
        named_call(reader, payload, problem=problem or CallProblem.MALFORMED)
        return
    name, arguments = next(iter(value.items())) if len(value) == 1 else (None, MISSING)
    if payload.problem is None and not value:
        problem = problem or CallProblem.MALFORMED
    add_call(reader, payload, name, arguments, problem=problem)


def _tool_calls(reader: Reader) -> Wait[bool]:
    """The opening token counts only if a list, or one call without a list, follows it."""
    inside = yield from reader.past_space(reader.at + len(OPEN))
    if not (yield from call_list(reader, inside, (CLOSE, OPEN, *STOPS), name_keys=(), add=_add)):
        return False
    yield from take_closer(reader, CLOSE)
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: _tool_calls}, reasoning=REASONING, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    listed = [{call["name"]: call["arguments"]} for call in calls]
    return f"{OPEN}{json.dumps(listed, ensure_ascii=False)}{CLOSE}"


FORMAT = OutputFormat(
    name="apertus",
    title="Apertus (the tool's name as the key)",
    reference="https://huggingface.co/swiss-ai/Apertus-8B-Instruct-2509",
    example='<|tools_prefix|>[{"get_weather": {"city": "Paris"}}]<|tools_suffix|>',
    markers=(OPEN, CLOSE),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "apertus"},
    reasoning=REASONING,
    broken={
        f'{OPEN}[{{"get_weather": {{"city": "Par': CallProblem.UNCLOSED,
        f'{OPEN}[{{"get_weather": {{"city": "Paris",}}}}]{CLOSE}': CallProblem.INVALID_JSON,
        f'{OPEN}{{"get_weather": {{"city": "Paris"}}}}{CLOSE}': CallProblem.MALFORMED,
        f'{OPEN}[{{"name": "get_weather", "arguments": {{}}}}]{CLOSE}': CallProblem.MALFORMED,
        f'{OPEN}[{{"get_weather": "{{}}"}}]{CLOSE}': CallProblem.DOUBLE_ENCODED,
    },
)
