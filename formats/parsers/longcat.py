"""LongCat: a name, then keys and values in tags, all with the model's own prefix.

<longcat_tool_call>get_weather
<longcat_arg_key>city</longcat_arg_key>
<longcat_arg_value>Paris</longcat_arg_value>
</longcat_tool_call>

Values are written without quotes or escapes; the tool's schema says what they
are. So a text cannot be carried that holds `</longcat_arg_value>` with another
key or the end of the call behind it. Earlier outputs hold a JSON object in place
of the name and the keys: it is read, and called malformed.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._blocks import Layout, key_and_value, openers, starts_function, word, write_keyed
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Tags
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<longcat_tool_call>", "</longcat_tool_call>"
KEY, KEY_END = "<longcat_arg_key>", "</longcat_arg_key>"
VALUE, VALUE_END = "<longcat_arg_value>", "</longcat_arg_value>"
THINK = ("<longcat_think>", "</longcat_think>")
STOPS = ("</longcat_s>",)

_name = word()
TAGS = Tags(
    (OPEN, CLOSE),
    (OPEN, CLOSE),
    KEY,
    key_and_value(KEY_END, VALUE),
    VALUE_END,
    starts_function(OPEN, _name, (KEY, CLOSE)),
    STOPS,
)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, openers(Layout(TAGS, _name)), reasoning=THINK, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(write_keyed(call, TAGS, KEY_END, VALUE) for call in calls)


FORMAT = OutputFormat(
    name="longcat",
    title="LongCat (keys and values between tags)",
    reference="https://huggingface.co/meituan-longcat/LongCat-Flash-Chat",
    example=f"{OPEN}get_weather\n{KEY}city{KEY_END}\n{VALUE}Paris{VALUE_END}\n{CLOSE}",
    markers=(OPEN, CLOSE, KEY, KEY_END, VALUE, VALUE_END),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "longcat"},
    reasoning=THINK,
    broken={
        f"{OPEN}get_weather\n{KEY}city{KEY_END}\n{VALUE}Par": CallProblem.UNCLOSED,
        f"{OPEN}get_weather\n{KEY}city{KEY_END}\nParis{VALUE_END}\n{CLOSE}": CallProblem.MALFORMED,
        f'{OPEN}{{"name": "get_weather", "arguments": {{}}}}{CLOSE}': CallProblem.MALFORMED,
        f"{OPEN}get_weather\n{KEY}city\n{VALUE}Paris{VALUE_END}\n{CLOSE}": CallProblem.MALFORMED,
    },
)
