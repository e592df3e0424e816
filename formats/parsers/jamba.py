"""Jamba, xLAM 2 and Apriel: a JSON list of all calls of a turn between one pair of tags.

<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>
"""

from __future__ import annotations

from formats.parsers._lists import list_between, write_list
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem

OPEN, CLOSE = "<tool_calls>", "</tool_calls>"
STOPS = ("<|eom|>", "<|endoftext|>")


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: list_between(OPEN, CLOSE, STOPS)}, stops=STOPS)


FORMAT = OutputFormat(
    name="jamba",
    title="Jamba (JSON list in <tool_calls> tags)",
    reference="https://huggingface.co/ai21labs/AI21-Jamba-Mini-1.5",
    example=f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}]{CLOSE}',
    markers=(OPEN, CLOSE),
    read=read,
    write=write_list(OPEN, CLOSE),
    stops=STOPS[:1],
    servers={"vllm": "jamba"},
    broken={
        f'{OPEN}[{{"name": "get_weather", "arguments": {{"city": "Par': CallProblem.UNCLOSED,
        f"{OPEN}[{{'name': 'get_weather', 'arguments': {{}}}}]{CLOSE}": CallProblem.INVALID_JSON,
        f'{OPEN}{{"name": "get_weather", "arguments": {{}}}}{CLOSE}': CallProblem.MALFORMED,
        f'{OPEN}[{{"arguments": {{"city": "Paris"}}}}]{CLOSE}': CallProblem.MISSING_NAME,
    },
)
