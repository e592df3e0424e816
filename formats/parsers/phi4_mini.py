"""Phi-4-mini: a JSON list of calls, between the call tokens or behind the word functools.

<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|/tool_call|>
functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]

The model's own template shows how tools are listed, not how a call is written;
both layouts are seen, and both are read. Calls are written with the tokens.
"""

from __future__ import annotations

from collections.abc import Mapping

from formats.parsers._lists import list_between, write_list
from formats.parsers.base import Handler, OutputFormat, call_list, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem

OPEN, CLOSE, WORD = "<|tool_call|>", "<|/tool_call|>", "functools"
PLURAL, PLURAL_CLOSE = "<|tool_calls|>", "<|/tool_calls|>"  # as a prompt in wide use misspells them
STOPS = ("<|end|>", "<|endoftext|>")


def behind_word(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(WORD))
    return (yield from call_list(reader, inside, (WORD, *STOPS)))


OPENERS: Mapping[str, Handler] = {
    OPEN: list_between(OPEN, CLOSE, STOPS),
    WORD: behind_word,
    PLURAL: list_between(PLURAL, PLURAL_CLOSE, STOPS, CallProblem.MALFORMED),
    WORD + PLURAL: list_between(WORD + PLURAL, PLURAL_CLOSE, STOPS, CallProblem.MALFORMED),
}


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, OPENERS, stops=STOPS)


FORMAT = OutputFormat(
    name="phi4_mini",
    title="Phi-4-mini (JSON list)",
    reference="https://huggingface.co/microsoft/Phi-4-mini-instruct",
    example='<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|/tool_call|>',
    markers=(OPEN, CLOSE, WORD),
    read=read,
    write=write_list(OPEN, CLOSE),
    stops=STOPS[:1],
    servers={"vllm": "phi4_mini_json"},
    broken={
        'functools[{"name": "get_weather", "arguments": {"city": "Par': CallProblem.UNCLOSED,
        "<|tool_call|>[{'name': 'get_weather', 'arguments': {}}]<|/tool_call|>": CallProblem.INVALID_JSON,
        '<|tool_call|>{"name": "get_weather", "arguments": {}}<|/tool_call|>': CallProblem.MALFORMED,
        'functools[{"arguments": {"city": "Paris"}}]': CallProblem.MISSING_NAME,
    },
)
