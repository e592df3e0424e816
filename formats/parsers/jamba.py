"""Jamba, xLAM 2 and Apriel: a JSON list of all calls of a turn between one pair of tags.

<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from formats.parsers.base import OutputFormat, call_list, read_turn
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<tool_calls>", "</tool_calls>"
STOPS = ("<|eom|>", "<|endoftext|>")


def tagged(reader: Reader) -> Wait[bool]:
    """The tag counts only if a list, or one call without a list, follows it."""
    inside = yield from reader.past_space(reader.at + len(OPEN))
    if not (yield from call_list(reader, inside, (CLOSE, OPEN, *STOPS))):
        return False
    yield from take_closer(reader, CLOSE)
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: tagged}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"{OPEN}{json.dumps(list(calls), ensure_ascii=False)}{CLOSE}"


FORMAT = OutputFormat(
    name="jamba",
    title="Jamba (JSON list in <tool_calls> tags)",
    reference="https://huggingface.co/ai21labs/AI21-Jamba-Mini-1.5",
    example=f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}]{CLOSE}',
    markers=(OPEN, CLOSE),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "jamba"},
    broken={
        f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Par': CallProblem.UNCLOSED,
        f"{OPEN}[{{'name': 'get_weather', 'arguments': {{}}}}]{CLOSE}": CallProblem.INVALID_JSON,
        f'{OPEN}{{"name": "get_weather", "arguments": {{}}}}{CLOSE}': CallProblem.MALFORMED,
        f'{OPEN}[{{"arguments": {{"city": "Paris"}}}}]{CLOSE}': CallProblem.MISSING_NAME,
    },
)
