"""Llama Nemotron and Nemotron Nano: a JSON list of all calls of a turn between one pair of tags.

<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</TOOLCALL>
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from formats.parsers.base import OutputFormat, call_list, read_turn
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<TOOLCALL>", "</TOOLCALL>"
STOPS = ("<|eot_id|>", "<SPECIAL_12>")


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
    name="nemotron_json",
    title="Nemotron (JSON list in <TOOLCALL> tags)",
    reference="https://huggingface.co/nvidia/Llama-3.1-Nemotron-Nano-8B-v1",
    example=f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}]{CLOSE}',
    markers=(OPEN, CLOSE),
    read=read,
    write=write,
    stops=STOPS[:1],
    broken={
        f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Par': CallProblem.UNCLOSED,
        f"{OPEN}[{{'name': 'get_weather', 'arguments': {{}}}}]{CLOSE}": CallProblem.INVALID_JSON,
        f'{OPEN}{{"name": "get_weather", "arguments": {{}}}}{CLOSE}': CallProblem.MALFORMED,
        f'{OPEN}[{{"arguments": {{"city": "Paris"}}}}]{CLOSE}': CallProblem.MISSING_NAME,
    },
)
