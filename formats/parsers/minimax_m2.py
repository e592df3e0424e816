"""MiniMax-M2, M2.1, M2.5 and M2.7: all calls of a turn in one block, values as they are between tags.

<minimax:tool_call>
<invoke name="get_weather">
<parameter name="city">Paris</parameter>
</invoke>
</minimax:tool_call>

Values are written without quotes or escapes; the tool's schema says what they
are. So a text cannot be carried that holds `</parameter>` with `<parameter name=`
or `</invoke>` behind it, unless it quotes a whole block; nor one that quotes the
beginning of a block alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._tagged import add_tagged_call, json_arguments, json_call, write_value
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.frames import near, take_closer
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags, attribute, read_body
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<minimax:tool_call>", "</minimax:tool_call>"
INVOKE, INVOKE_END = "<invoke", "</invoke>"
PARAMETER, PARAMETER_END = "<parameter name=", "</parameter>"
NAME = "name="
STOPS = ("[e~[",)


def _key(reader: Reader) -> Wait[Label]:
    return (yield from attribute(reader, quoted=True))


def _name(reader: Reader) -> Wait[Label]:
    """The name of an invocation, the cursor behind `<invoke`; empty if the attribute is missing."""
    start = yield from reader.past_space()
    if (yield from reader.sees((NAME,), start)):
        reader.move(start + len(NAME))
        return (yield from attribute(reader, quoted=True))
    end = yield from near(reader, (">",), start)
    if end is None or end == reader.size:
        return Label(None)
    reader.move(end + 1)
    return Label("")


def _starts_block(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(OPEN))
    return (yield from reader.sees((INVOKE,), inside)) is not None


TAGS = Tags((OPEN, CLOSE), (INVOKE, INVOKE_END), PARAMETER, _key, PARAMETER_END, _starts_block, STOPS)


def _block(reader: Reader) -> Wait[bool]:
    """A block counts only if an invocation follows, or an object. Its closing tag may be missing behind whole calls."""
    position = reader.at + len(OPEN)
    if not (yield from _starts_block(reader)):
        return (yield from json_call(reader, (yield from reader.past_space(position)), TAGS.call, STOPS))
    while (yield from reader.sees((INVOKE,), (position := (yield from reader.past_space(position))))):
        reader.take("markup", position)
        yield from _invocation(reader, opened=True)
        position = reader.at
    yield from take_closer(reader, CLOSE)
    return True


def _bare_invocation(reader: Reader) -> Wait[bool]:
    """An invocation without the block around it counts if it has a name and anything in it."""
    start = reader.at
    reader.move(start + len(INVOKE))
    name = yield from _name(reader)
    inside = yield from reader.past_space()
    starts = bool(name.text) and (yield from reader.sees((PARAMETER, INVOKE_END), inside)) is not None
    reader.move(start)
    if starts:
        yield from _invocation(reader, opened=False)
        yield from take_closer(reader, CLOSE)
    return starts


def _invocation(reader: Reader, *, opened: bool) -> Wait[None]:
    start = reader.at
    reader.move(start + len(INVOKE))
    name = yield from _name(reader)
    if (yield from json_arguments(reader, start, name, TAGS)):
        return
    body = yield from read_body(reader, TAGS, name)
    if not opened:
        body.fault(CallProblem.MALFORMED, "the opening tag of the block was left out")
    add_tagged_call(reader, start, reader.at, name, body)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: _block, INVOKE: _bare_invocation}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"{OPEN}\n{''.join(map(_write_call, calls))}{CLOSE}"


def _write_call(call: FunctionCall) -> str:
    assert isinstance(call["arguments"], dict)
    parameters = "".join(
        f'{PARAMETER}"{key}">{write_value(value, TAGS)}{PARAMETER_END}\n' for key, value in call["arguments"].items()
    )
    return f'{INVOKE} {NAME}"{call["name"]}">\n{parameters}{INVOKE_END}\n'


FORMAT = OutputFormat(
    name="minimax_m2",
    title="MiniMax-M2 (invocations in one block)",
    reference="https://github.com/MiniMax-AI/MiniMax-M2/blob/main/docs/tool_calling_guide.md",
    example=(
        '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</invoke>\n</minimax:tool_call>"
    ),
    markers=(OPEN, CLOSE, INVOKE, INVOKE_END, PARAMETER, PARAMETER_END),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "minimax_m2", "sglang": "minimax-m2"},
    broken={
        '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Par': CallProblem.UNCLOSED,
        '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
        "</minimax:tool_call>": CallProblem.MALFORMED,
        '<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>': CallProblem.MALFORMED,
        '<minimax:tool_call>\n<invoke>\n<parameter name="city">Paris</parameter>\n</invoke>\n'
        "</minimax:tool_call>": CallProblem.MISSING_NAME,
    },
)
