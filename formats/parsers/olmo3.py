"""Olmo 3: Python calls with literal arguments, one a line, in one pair of tags.

<function_calls>get_weather(city="Paris")
get_time(zone="CET")</function_calls>

Values are written as JSON; Python's own literals are read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from formats.parsers._python_calls import PythonCall, add_python_call, python_call
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<function_calls>", "</function_calls>"
STOPS = ("<|im_end|>", "<|endoftext|>")

_NAME = re.compile(r"[^\W\d][\w.-]*")


def block(reader: Reader) -> Wait[bool]:
    """The tag counts only if a call follows it, or the beginning of a name up to the end of the output."""
    position = yield from reader.past_space(reader.at + len(OPEN))
    call = yield from _call(reader, position)
    if call is None:
        return False
    while call is not None:
        add_python_call(reader, call)
        position = yield from reader.past_space()
        if (yield from reader.sees((",", ";"), position)):
            position = yield from reader.past_space(position + 1)
        call = yield from _call(reader, position)
    yield from take_closer(reader, CLOSE)
    return True


def _call(reader: Reader, position: int) -> Wait[PythonCall | None]:
    """The call at `position`; one that no rule reads goes up to the closing tag or the end of its line."""
    call = yield from python_call(reader, position)
    if call is None:
        rest = reader.peek(position, reader.size - position) if reader.ended else ""
        return PythonCall(None, position, reader.size, cut_off=True) if _NAME.fullmatch(rest) else None
    if call.arguments is None and not call.cut_off:
        found = yield from reader.until((CLOSE, "\n", *STOPS), None)
        return PythonCall(call.name, call.start, reader.at, cut_off=found is None)
    return call


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: block}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return OPEN + "\n".join(map(_write_call, calls)) + CLOSE


def _write_call(call: FunctionCall) -> str:
    assert isinstance(call["arguments"], dict)
    written = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call["arguments"].items())
    return f"{call['name']}({', '.join(written)})"


FORMAT = OutputFormat(
    name="olmo3",
    title="Olmo 3 (Python calls in tags)",
    reference="https://huggingface.co/allenai/Olmo-3-7B-Instruct",
    example=f'{OPEN}get_weather(city="Paris"){CLOSE}',
    markers=(OPEN, CLOSE),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "olmo3"},
    broken={
        f'{OPEN}get_weather(city="Par': CallProblem.UNCLOSED,
        f'{OPEN}get_weather("Paris"){CLOSE}': CallProblem.MALFORMED,
        f"{OPEN}get_weather(city=home){CLOSE}": CallProblem.MALFORMED,
        f"{OPEN}(city='Paris'){CLOSE}": CallProblem.MISSING_NAME,
    },
)
