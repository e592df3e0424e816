"""MiniCPM5: a function with its name and parameters as attributes of tags.

<function name="get_weather"><param name="city">Paris</param></function>

Values are written as they are, and the tool's schema says what they are; text that
holds a sign of XML's is put between <![CDATA[ and ]]>, in which nothing is escaped.
So a text cannot be carried that holds `]]></param>` with another parameter or the
end of the function behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._blocks import Layout, openers, starts_function
from formats.parsers._tagged import write_value
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags, attribute
from formats.reading.typed import Typed
from formats.types import CallProblem, FunctionCall

FUNCTION, FUNCTION_END = "<function name=", "</function>"
PARAM, PARAM_END = "<param name=", "</param>"
CDATA, CDATA_END = "<![CDATA[", "]]>"
STOPS = ("<|im_end|>", "</s>")


def _name(reader: Reader) -> Wait[Label]:
    return (yield from attribute(reader, quoted=True))


def _unwrap(text: str) -> Typed | None:
    inside = text.strip()
    if len(inside) < len(CDATA + CDATA_END) or not (inside.startswith(CDATA) and inside.endswith(CDATA_END)):
        return None
    return Typed(inside[len(CDATA) : -len(CDATA_END)])


TAGS = Tags(
    (FUNCTION, FUNCTION_END),
    (FUNCTION, FUNCTION_END),
    PARAM,
    _name,
    PARAM_END,
    starts_function(FUNCTION, _name, (PARAM, FUNCTION_END)),
    STOPS,
    unwrap=_unwrap,
)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, openers(Layout(TAGS, _name)), stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(map(_write_call, calls))


def _write_call(call: FunctionCall) -> str:
    assert isinstance(call["arguments"], dict)
    parameters = "".join(f'{PARAM}"{key}">{_written(value)}{PARAM_END}' for key, value in call["arguments"].items())
    return f'{FUNCTION}"{call["name"]}">{parameters}{FUNCTION_END}'


def _written(value: object) -> str:
    text = write_value(value, TAGS)
    marked = isinstance(value, str) and any(sign in text for sign in "<&\n")
    return f"{CDATA}{text}{CDATA_END}" if marked else text


FORMAT = OutputFormat(
    name="minicpm5",
    title="MiniCPM5 (parameters as tags with attributes)",
    reference="https://huggingface.co/openbmb/MiniCPM5-1B",
    example=f'{FUNCTION}"get_weather">{PARAM}"city">Paris{PARAM_END}{FUNCTION_END}',
    markers=(FUNCTION, FUNCTION_END, PARAM, PARAM_END),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "minicpm5", "sglang": "minicpm5"},
    broken={
        f'{FUNCTION}"get_weather">{PARAM}"city">Par': CallProblem.UNCLOSED,
        f"{FUNCTION}get_weather>{PARAM}city>Paris{PARAM_END}{FUNCTION_END}": CallProblem.MALFORMED,
        f'{FUNCTION}"get_time">{PARAM}"city">Paris{FUNCTION_END}': CallProblem.MALFORMED,
        f'{FUNCTION}"get_weather">{{"city": "Paris"}}{FUNCTION_END}': CallProblem.MALFORMED,
    },
)
