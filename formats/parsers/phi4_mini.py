"""Phi-4-mini: a JSON list of calls, between the call tokens or behind the word functools.

<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|/tool_call|>
functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]

The model's own template shows how tools are listed, not how a call is written;
both layouts are seen, and both are read. Calls are written with the tokens.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from formats.parsers.base import OutputFormat, call_list, read_turn
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE, WORD = "<|tool_call|>", "<|/tool_call|>", "functools"
STOPS = ("<|end|>", "<|endoftext|>")


def between_tokens(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(OPEN))
    if not (yield from call_list(reader, inside, (CLOSE, OPEN, *STOPS))):
        return False
    yield from take_closer(reader, CLOSE)
    return True


def behind_word(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(WORD))
    return (yield from call_list(reader, inside, (WORD, *STOPS)))


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: between_tokens, WORD: behind_word}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"{OPEN}{json.dumps(list(calls), ensure_ascii=False)}{CLOSE}"


FORMAT = OutputFormat(
    name="phi4_mini",
    title="Phi-4-mini (JSON list)",
    reference="https://huggingface.co/microsoft/Phi-4-mini-instruct",
    example='<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|/tool_call|>',
    markers=(OPEN, CLOSE, WORD),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "phi4_mini_json"},
    broken={
        'functools[{"name": "get_weather", "arguments": {"city": "Par': CallProblem.UNCLOSED,
        "<|tool_call|>[{'name': 'get_weather', 'arguments': {}}]<|/tool_call|>": CallProblem.INVALID_JSON,
        '<|tool_call|>{"name": "get_weather", "arguments": {}}<|/tool_call|>': CallProblem.MALFORMED,
        'functools[{"arguments": {"city": "Paris"}}]': CallProblem.MISSING_NAME,
    },
)
