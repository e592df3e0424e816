"""DeepSeek V3.2 and V4: invocations in one block; each parameter says whether it is text or JSON.

<｜DSML｜function_calls>
<｜DSML｜invoke name="get_weather">
<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
</｜DSML｜invoke>
</｜DSML｜function_calls>

V4 calls the block tool_calls; both are read. Text is written without escapes, so
one cannot be carried that holds `</｜DSML｜parameter>` with another parameter or
the end of the invocation behind it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from formats.parsers._blocks import Layout, openers, starts_block
from formats.parsers._tagged import write_value
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.frames import near
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags, attribute
from formats.types import CallProblem, FunctionCall

BAR = "｜DSML｜"
BLOCKS = ("function_calls", "tool_calls")
INVOKE, INVOKE_END = f"<{BAR}invoke name=", f"</{BAR}invoke>"
PARAMETER, PARAMETER_END = f"<{BAR}parameter name=", f"</{BAR}parameter>"
STOPS = ("<｜end▁of▁sentence｜>",)

_KEY = re.compile(r'\s*"([^"\n]*)"\s+string\s*=\s*"(true|false)"\s*>')
_JSON_TYPES = frozenset({"null", "boolean", "integer", "number", "array", "object"})


def _name(reader: Reader) -> Wait[Label]:
    return (yield from attribute(reader, quoted=True))


def _key(reader: Reader) -> Wait[Label]:
    """A parameter's name, and what its tag says of the value."""
    end = yield from near(reader, (">", "\n"), reader.at)
    if end is None or end == reader.size:
        return Label(None)
    match = _KEY.fullmatch(reader.slice(reader.at, end + 1))
    if match is None:  # without the attribute, or without quotes
        label = yield from attribute(reader, quoted=True)
        reader.move(max(reader.at, end + 1))
        return Label(label.text, False)
    reader.move(end + 1)
    return Label(match[1], types=frozenset({"string"}) if match[2] == "true" else _JSON_TYPES)


def _layout(block: str) -> Layout:
    call = f"<{BAR}{block}>", f"</{BAR}{block}>"
    starts = starts_block(call[0], INVOKE)
    return Layout(Tags(call, (INVOKE, INVOKE_END), PARAMETER, _key, PARAMETER_END, starts, STOPS), _name)


LAYOUTS = tuple(map(_layout, BLOCKS))
OPENERS = {**openers(LAYOUTS[1]), **openers(LAYOUTS[0])}


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, OPENERS, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    opener, closer = LAYOUTS[0].tags.call
    return f"{opener}\n{''.join(map(_write_call, calls))}{closer}"


def _write_call(call: FunctionCall) -> str:
    assert isinstance(call["arguments"], dict)
    parameters = "".join(
        f'{PARAMETER}"{key}" string="{str(isinstance(value, str)).lower()}">{write_value(value, LAYOUTS[0].tags)}'
        f"{PARAMETER_END}\n"
        for key, value in call["arguments"].items()
    )
    return f'{INVOKE}"{call["name"]}">\n{parameters}{INVOKE_END}\n'


_EXAMPLE = f'{INVOKE}"get_weather">\n{PARAMETER}"city" string="true">Paris{PARAMETER_END}\n{INVOKE_END}\n'

FORMAT = OutputFormat(
    name="deepseek_v32",
    title="DeepSeek V3.2, V4 (typed parameters between tags)",
    reference="https://huggingface.co/deepseek-ai/DeepSeek-V3.2",
    example=f"<{BAR}function_calls>\n{_EXAMPLE}</{BAR}function_calls>",
    markers=(*(m for layout in LAYOUTS for m in layout.tags.call), INVOKE, INVOKE_END, PARAMETER, PARAMETER_END),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "deepseek_v32", "sglang": "deepseekv32"},
    broken={
        f'<{BAR}function_calls>\n{INVOKE}"get_weather">\n{PARAMETER}"city" string="true">Par': CallProblem.UNCLOSED,
        _EXAMPLE: CallProblem.MALFORMED,
        f'<{BAR}tool_calls>\n{INVOKE}"get_weather">\n{PARAMETER}"city">Paris{PARAMETER_END}\n{INVOKE_END}\n'
        f"</{BAR}tool_calls>": CallProblem.MALFORMED,
        f'<{BAR}function_calls>\n{INVOKE}"">\n{INVOKE_END}\n</{BAR}function_calls>': CallProblem.MISSING_NAME,
    },
)
