"""Seed-OSS: parameters between tags, values as they are.

<seed:tool_call>
<function=get_weather>
<parameter=city>Paris</parameter>
</function>
</seed:tool_call>

Values are written without quotes or escapes; the tool's schema says what they
are. So a text cannot be carried that holds `</parameter>` with another
`<parameter=` or `</function>` behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._blocks import Layout, openers, starts_block, write_function
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags, attribute
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<seed:tool_call>", "</seed:tool_call>"
FUNCTION, FUNCTION_END = "<function=", "</function>"
PARAMETER, PARAMETER_END = "<parameter=", "</parameter>"
THINK = ("<seed:think>", "</seed:think>")
STOPS = ("<seed:eos>",)


def _name(reader: Reader) -> Wait[Label]:
    return (yield from attribute(reader, quoted=False))


TAGS = Tags(
    (OPEN, CLOSE), (FUNCTION, FUNCTION_END), PARAMETER, _name, PARAMETER_END, starts_block(OPEN, FUNCTION), STOPS
)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, openers(Layout(TAGS, _name)), reasoning=THINK, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(write_function(call, TAGS) for call in calls)


FORMAT = OutputFormat(
    name="seed_oss",
    title="Seed-OSS (parameters between tags)",
    reference="https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct/blob/main/chat_template.jinja",
    example=f"{OPEN}\n{FUNCTION}get_weather>\n{PARAMETER}city>Paris{PARAMETER_END}\n{FUNCTION_END}\n{CLOSE}",
    markers=(OPEN, CLOSE, FUNCTION, FUNCTION_END, PARAMETER, PARAMETER_END),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "seed_oss"},
    reasoning=THINK,
    broken={
        f"{OPEN}\n{FUNCTION}get_weather>\n{PARAMETER}city>Par": CallProblem.UNCLOSED,
        f"{FUNCTION}get_weather>\n{PARAMETER}city>Paris{PARAMETER_END}\n{FUNCTION_END}": CallProblem.MALFORMED,
        f'{OPEN}\n{{"name": "get_weather", "arguments": {{}}}}\n{CLOSE}': CallProblem.MALFORMED,
        f"{OPEN}\n{FUNCTION}>\n{FUNCTION_END}\n{CLOSE}": CallProblem.MISSING_NAME,
    },
)
