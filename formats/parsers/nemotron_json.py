"""Llama Nemotron and Nemotron Nano: a JSON list of all calls of a turn between one pair of tags.

<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</TOOLCALL>
"""

from __future__ import annotations

from formats.parsers._lists import list_between, write_list
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem

OPEN, CLOSE = "<TOOLCALL>", "</TOOLCALL>"
STOPS = ("<|eot_id|>", "<SPECIAL_12>")


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: list_between(OPEN, CLOSE, STOPS)}, stops=STOPS)


FORMAT = OutputFormat(
    name="nemotron_json",
    title="Nemotron (JSON list in <TOOLCALL> tags)",
    reference="https://huggingface.co/nvidia/Llama-3.1-Nemotron-Nano-8B-v1",
    example=f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}]{CLOSE}',
    markers=(OPEN, CLOSE),
    read=read,
    write=write_list(OPEN, CLOSE),
    stops=STOPS[:1],
    broken={
        f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Par': CallProblem.UNCLOSED,
        f"{OPEN}[{{'name': 'get_weather', 'arguments': {{}}}}]{CLOSE}": CallProblem.INVALID_JSON,
        f'{OPEN}{{"name": "get_weather", "arguments": {{}}}}{CLOSE}': CallProblem.MALFORMED,
        f'{OPEN}[{{"arguments": {{"city": "Paris"}}}}]{CLOSE}': CallProblem.MISSING_NAME,
    },
)
