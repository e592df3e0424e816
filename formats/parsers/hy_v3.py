"""Hunyuan 3: all calls of a turn in one block; in each a name, then keys and values in tags.

<tool_calls>
<tool_call>get_weather<tool_sep>
<arg_key>city</arg_key>
<arg_value>Paris</arg_value>
</tool_call>
</tool_calls>

The public weights write `:opensource` at the end of each tag; both spellings are
read. Values are written without quotes or escapes; the tool's schema says what
they are. So a text cannot be carried that holds `</arg_value>` with another key or
the end of the call behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._blocks import Layout, key_and_value, openers, starts_block, word
from formats.parsers._tagged import write_value
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Tags
from formats.types import CallProblem, FunctionCall

SPELLINGS = ("", ":opensource")
STOPS = ("<｜hy_eos｜>", "<｜hy_eos:opensource｜>")


def _pair(name: str, spelling: str) -> tuple[str, str]:
    return f"<{name}{spelling}>", f"</{name}{spelling}>"


def _layout(spelling: str) -> Layout:
    block, call, key, value = (_pair(name, spelling) for name in ("tool_calls", "tool_call", "arg_key", "arg_value"))
    read_key = key_and_value(key[1], value[0])
    tags = Tags(block, call, key[0], read_key, value[1], starts_block(block[0], call[0]), STOPS)
    return Layout(tags, word(f"<tool_sep{spelling}>"))


LAYOUTS = tuple(map(_layout, SPELLINGS))
OPENERS = {opener: handler for layout in LAYOUTS for opener, handler in openers(layout).items()}
SEP, KEY, KEY_END, VALUE = "<tool_sep>", "<arg_key>", "</arg_key>", "<arg_value>"
TAGS = LAYOUTS[0].tags


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, OPENERS, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    opener, closer = TAGS.call
    return f"{opener}\n{''.join(map(_write_call, calls))}{closer}"


def _write_call(call: FunctionCall) -> str:
    assert isinstance(call["arguments"], dict)
    arguments = "".join(
        f"{KEY}{key}{KEY_END}\n{VALUE}{write_value(value, TAGS)}{TAGS.value_end}\n"
        for key, value in call["arguments"].items()
    )
    opener, closer = TAGS.function
    return f"{opener}{call['name']}{SEP}\n{arguments}{closer}\n"


_CALL = f"<tool_call>get_weather{SEP}\n{KEY}city{KEY_END}\n{VALUE}Paris</arg_value>\n</tool_call>\n"

FORMAT = OutputFormat(
    name="hy_v3",
    title="Hunyuan 3 (keys and values in one block)",
    reference="https://huggingface.co/tencent/Hy3-preview",
    example=f"<tool_calls>\n{_CALL}</tool_calls>",
    markers=(
        SEP,
        *(
            mark
            for spelling in SPELLINGS
            for name in ("tool_calls", "tool_call", "arg_key", "arg_value")
            for mark in _pair(name, spelling)
        ),
    ),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "hy_v3"},
    broken={
        f"<tool_calls>\n<tool_call>get_weather{SEP}\n{KEY}city{KEY_END}\n{VALUE}Par": CallProblem.UNCLOSED,
        _CALL: CallProblem.MALFORMED,
        f"<tool_calls>\n{_CALL.replace(SEP, '')}</tool_calls>": CallProblem.MALFORMED,
        f"<tool_calls>\n{_CALL.replace('get_weather', '')}</tool_calls>": CallProblem.MISSING_NAME,
    },
)
