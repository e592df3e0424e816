"""Qwen3-Coder, Qwen3.5 and Qwen3.6: arguments between tags, each value on lines of its own.

<tool_call>
<function=get_weather>
<parameter=city>
Paris
</parameter>
</function>
</tool_call>

Values are written without quotes or escapes; the tool's schema says what they
are. So a text cannot be carried that holds `</parameter>` with `<parameter=` or
`</function>` behind it, unless it quotes a whole call; nor one that quotes the
beginning of a call alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._blocks import write_function
from formats.parsers._tagged import add_tagged_call, json_arguments, json_call
from formats.parsers.base import OutputFormat, read_turn, response_template
from formats.reading.frames import NAME_LIMIT, cut_off, frame_end, take_closer
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags, attribute, read_body
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
FUNCTION, FUNCTION_END = "<function=", "</function>"
PARAMETER, PARAMETER_END = "<parameter=", "</parameter>"
STOPS = ("<|im_end|>", "<|endoftext|>")


def _name(reader: Reader) -> Wait[Label]:
    return (yield from attribute(reader, quoted=False))


def _starts_call(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(OPEN))
    if not (yield from reader.sees((FUNCTION,), inside)):
        return False
    reader.move(inside)
    return (yield from _starts_function(reader))


def _starts_function(reader: Reader) -> Wait[bool]:
    """Does the function tag at the cursor have a parameter, or nothing, in it? The cursor ends somewhere behind."""
    reader.move(reader.at + len(FUNCTION))
    yield from _name(reader)
    inside = yield from reader.past_space()
    return (yield from reader.sees((PARAMETER, FUNCTION_END), inside)) is not None


TAGS = Tags((OPEN, CLOSE), (FUNCTION, FUNCTION_END), PARAMETER, _name, PARAMETER_END, _starts_call, STOPS, padded=True)


def _tool_call(reader: Reader) -> Wait[bool]:
    """An opening tag counts only if a function follows it: a tag that is cut off, or has no text behind it in its line.

    An object counts too.
    """
    inside = yield from reader.past_space(reader.at + len(OPEN))
    if not (yield from reader.sees((FUNCTION,), inside)):
        return (yield from json_call(reader, inside, TAGS.call, STOPS))
    start = reader.at
    reader.move(inside + len(FUNCTION))
    name = yield from _name(reader)
    counts = yield from _stands_alone(reader, name)
    reader.move(start)
    if counts:
        reader.take("markup", inside)
        yield from _function(reader, opened=True)
    return counts


def _stands_alone(reader: Reader, name: Label) -> Wait[bool]:
    if name.text is None:
        return reader.ended and reader.size - reader.at <= NAME_LIMIT
    inside = yield from reader.past_space()
    tags = (PARAMETER, FUNCTION_END, CLOSE, "{")
    if "\n" in reader.slice(reader.at, inside) or (yield from reader.sees(tags, inside)):
        return True
    return (yield from cut_off(reader, tags, inside))


def _bare_function(reader: Reader) -> Wait[bool]:
    """A function without the tag around it, which Qwen3-Coder leaves out at times after some words of text."""
    start = reader.at
    starts = yield from _starts_function(reader)
    reader.move(start)
    if starts:
        yield from _function(reader, opened=False)
    return starts


def _function(reader: Reader, *, opened: bool) -> Wait[None]:
    start = reader.at
    reader.move(start + len(FUNCTION))
    name = yield from _name(reader)
    if (yield from json_arguments(reader, start, name, TAGS)):
        yield from take_closer(reader, CLOSE)
        return
    body = yield from read_body(reader, TAGS, name)
    if opened and body.closed:
        problem, end, closed = yield from frame_end(reader, (CLOSE,), STOPS)
        add_tagged_call(reader, start, end, name, body, problem)
        reader.take("markup", closed)
        return
    if not opened:
        body.fault(CallProblem.MALFORMED, "the opening tag was left out")
    add_tagged_call(reader, start, reader.at, name, body)
    yield from take_closer(reader, CLOSE)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: _tool_call, FUNCTION: _bare_function}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(write_function(call, TAGS) for call in calls)


FORMAT = OutputFormat(
    name="qwen3_coder",
    title="Qwen3-Coder (parameters between tags)",
    reference="https://huggingface.co/Qwen/Qwen3-Coder-480B-A35B-Instruct/blob/main/qwen3coder_tool_parser.py",
    example="<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
    markers=(OPEN, CLOSE, FUNCTION, FUNCTION_END, PARAMETER, PARAMETER_END),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "qwen3_coder", "sglang": "qwen3_coder"},
    response_template=response_template(
        "<|im_start|>assistant\n",
        r"<tool_call>\s*<function=(?P<name>[^>\n]+)>",
        r"</function>\s*</tool_call>",
        {"name": "{name}", "arguments": "{content}"},
        r"<\|im_end\|>|<\|endoftext\|>",
        content="xml-inline",
        tag_pattern=r"<parameter=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</parameter>",
    ),
    broken={
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nPar": CallProblem.UNCLOSED,
        "<function=get_time>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>": CallProblem.MALFORMED,
        "<tool_call>\n<function=get_time>\n<parameter=city>\nParis\n</function>\n</tool_call>": CallProblem.MALFORMED,
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>': CallProblem.MALFORMED,
        "<tool_call>\n<function=>\n</function>\n</tool_call>": CallProblem.MISSING_NAME,
    },
)
