"""Gemma 4: each call between its own tokens, the arguments in a syntax of their own.

<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>

Keys are bare and sorted, strings stand between <|"|>, nothing is escaped. So a
text cannot be carried that holds <|"|> with something behind it that may follow
a string; any other <|"|> in it is text.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers import _gemma
from formats.parsers._gemma import CALL, Dialect
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE, QUOTE = "<|tool_call>", "<tool_call|>", '<|"|>'
STOPS = ("<turn|>", "<|tool_response>", "<eos>")
REASONING = ("<|channel>thought", "<channel|>")
DIALECT = Dialect(OPEN, CLOSE, QUOTE, STOPS)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, _gemma.openers(DIALECT), reasoning=REASONING, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return _gemma.write(DIALECT, calls)


FORMAT = OutputFormat(
    name="gemma4",
    title="Gemma 4 (bare keys, quotes as tokens)",
    reference="https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4",
    example='<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>',
    markers=(OPEN, CLOSE, QUOTE),
    read=read,
    write=write,
    stops=STOPS[:2],
    servers={"vllm": "gemma4", "sglang": "gemma4"},
    reasoning=REASONING,
    broken={
        f"{OPEN}{CALL}get_weather{{city:{QUOTE}Par": CallProblem.UNCLOSED,
        f'{OPEN}{CALL}get_weather{{{{"city": "Paris"}}}}{CLOSE}': CallProblem.MALFORMED,
        f"{OPEN}{CALL}get_weather{{city:{QUOTE}Paris{QUOTE}days:3}}{CLOSE}": CallProblem.MALFORMED,
        f"{OPEN}{CALL}get_weather{{city:Paris{QUOTE}}}{CLOSE}": CallProblem.MALFORMED,
        f"{OPEN}{CALL}{{city:{QUOTE}Paris{QUOTE}}}{CLOSE}": CallProblem.MISSING_NAME,
    },
)
