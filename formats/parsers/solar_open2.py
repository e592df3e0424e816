"""Solar Open 2: a name, then keys and values, each behind a token of its own.

<|tool_call:start|>get_weather
<|tool_arg:start|>city<|tool_arg:value|>Paris<|tool_arg:end|>
<|tool_call:end|>

Values are written without quotes or escapes; the tool's schema says what they
are. So a text cannot be carried that holds `<|tool_arg:end|>` with another key or
the end of the call behind it. Upstage's own builds of vLLM and SGLang have a
parser for it; the servers themselves have none.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._blocks import Layout, openers, starts_function, word
from formats.parsers._tagged import write_value
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.frames import near
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<|tool_call:start|>", "<|tool_call:end|>"
KEY, VALUE, VALUE_END = "<|tool_arg:start|>", "<|tool_arg:value|>", "<|tool_arg:end|>"
THINK = ("<|think:start|>", "<|think:end|>")
STOPS = ("<|im:end|>",)


def _key(reader: Reader) -> Wait[Label]:
    """A key, up to the token that opens its value."""
    start = reader.at
    end = yield from near(reader, (VALUE, "<", "\n"), start)
    if end is None or end == reader.size:
        return Label(None)
    opened = yield from reader.sees((VALUE,), end)
    reader.move(end + len(opened or ""))
    return Label(reader.slice(start, end).strip(), opened is not None)


_name = word()
TAGS = Tags((OPEN, CLOSE), (OPEN, CLOSE), KEY, _key, VALUE_END, starts_function(OPEN, _name, (KEY, CLOSE)), STOPS)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, openers(Layout(TAGS, _name)), reasoning=THINK, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(map(_write_call, calls))


def _write_call(call: FunctionCall) -> str:
    assert isinstance(call["arguments"], dict)
    arguments = "".join(
        f"{KEY}{key}{VALUE}{write_value(value, TAGS)}{VALUE_END}\n" for key, value in call["arguments"].items()
    )
    return f"{OPEN}{call['name']}\n{arguments}{CLOSE}"


FORMAT = OutputFormat(
    name="solar_open2",
    title="Solar Open 2 (keys and values behind tokens)",
    reference="https://huggingface.co/upstage/Solar-Open2-250B",
    example=f"{OPEN}get_weather\n{KEY}city{VALUE}Paris{VALUE_END}\n{CLOSE}",
    markers=(OPEN, CLOSE, KEY, VALUE, VALUE_END),
    read=read,
    write=write,
    stops=STOPS,
    reasoning=THINK,
    broken={
        f"{OPEN}get_weather\n{KEY}city{VALUE}Par": CallProblem.UNCLOSED,
        f"{OPEN}get_weather\n{KEY}city\nParis{VALUE_END}\n{CLOSE}": CallProblem.MALFORMED,
        f'{OPEN}{{"name": "get_weather", "arguments": {{}}}}{CLOSE}': CallProblem.MALFORMED,
        f'{OPEN}get_weather\n{{"city": "Paris"}}\n{CLOSE}': CallProblem.MALFORMED,
    },
)
