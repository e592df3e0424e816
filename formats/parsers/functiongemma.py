"""FunctionGemma: Gemma 4's syntax between tokens of its own.

<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>

Keys are bare and sorted, strings stand between <escape>, nothing is escaped. So
a text cannot be carried that holds <escape> with something behind it that may
follow a string; any other <escape> in it is text. Null is printed as None.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers import _gemma
from formats.parsers._gemma import CALL, Dialect
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE, QUOTE = "<start_function_call>", "<end_function_call>", "<escape>"
STOPS = ("<end_of_turn>", "<start_function_response>", "<eos>")
DIALECT = Dialect(OPEN, CLOSE, QUOTE, STOPS, null="None")


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, _gemma.openers(DIALECT), stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return _gemma.write(DIALECT, calls)


FORMAT = OutputFormat(
    name="functiongemma",
    title="FunctionGemma (bare keys, <escape> around text)",
    reference="https://ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices",
    example="<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>",
    markers=(OPEN, CLOSE, QUOTE),
    read=read,
    write=write,
    stops=STOPS[:2],
    servers={"vllm": "functiongemma"},
    broken={
        f"{OPEN}{CALL}get_weather{{city:{QUOTE}Par": CallProblem.UNCLOSED,
        f'{OPEN}{CALL}get_weather{{"city": "Paris"}}{CLOSE}': CallProblem.MALFORMED,
        f"{OPEN}{CALL}get_weather{{city:{QUOTE}Paris{QUOTE}days:3}}{CLOSE}": CallProblem.MALFORMED,
        f"{OPEN}{CALL}{{city:{QUOTE}Paris{QUOTE}}}{CLOSE}": CallProblem.MISSING_NAME,
    },
)
