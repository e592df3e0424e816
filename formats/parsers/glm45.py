"""GLM-4.5 to GLM-5: a name, then keys and values in tags. 4.7 and 5 write the same without line breaks.

<tool_call>get_weather
<arg_key>city</arg_key>
<arg_value>Paris</arg_value>
</tool_call>

Values are written without quotes or escapes; the tool's schema says what they
are. So a text cannot be carried that holds `</arg_value>` with `<arg_key>` or
`</tool_call>` behind it, unless it quotes a whole call; nor one that quotes the
beginning of a call alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from formats.parsers._blocks import write_keyed
from formats.parsers._tagged import add_tagged_call, json_arguments, json_call
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.calls import tool_names
from formats.reading.frames import cut_off, near, take_closer
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags, read_body
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
KEY, KEY_END = "<arg_key>", "</arg_key>"
VALUE, VALUE_END = "<arg_value>", "</arg_value>"
STOPS = ("<|observation|>", "<|user|>", "<|endoftext|>")

_NAME = re.compile(r"\w[^\s<>{}()\"'`]*")
_NAME_END = ("<", "{", " ", "\t", "\n")


def _key(reader: Reader) -> Wait[Label]:
    """A key, up to where its value begins. A key without a value is none."""
    start = reader.at
    end = yield from near(reader, (KEY_END, "<", "\n"), start)
    if end is None or end == reader.size:
        return Label(None)
    closed = yield from reader.sees((KEY_END,), end)
    value = yield from reader.past_space(end + len(closed or ""))
    opened = yield from reader.sees((VALUE, KEY, CLOSE), value)
    if opened in (KEY, CLOSE) or not (opened or closed) or value == reader.size:
        reader.move(value)
        return Label(None)
    reader.move(value + len(opened) if opened else value)
    return Label(reader.slice(start, end).strip(), bool(closed and opened))


def _starts_call(reader: Reader) -> Wait[bool]:
    head = yield from _head(reader)
    return head is not None and not head.cut_off


TAGS = Tags((OPEN, CLOSE), (OPEN, CLOSE), KEY, _key, VALUE_END, _starts_call, STOPS)


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands between the opening tag and the arguments."""

    name: Label
    end: int
    in_key: bool = False  # the first key's own opening tag was left out; the key begins at `end`
    cut_off: bool = False  # the output ends before it is certain that this is a call


def _head(reader: Reader) -> Wait[_Head | None]:
    """The name, if a name stands behind the opening tag at the cursor and a tag of the call or nothing behind it."""
    opened = reader.at + len(OPEN)
    start = yield from reader.past_space(opened)
    if (yield from reader.sees((KEY,), start)):
        return _Head(Label(""), start)
    end = yield from near(reader, _NAME_END, start)
    on_line = start == opened or "\n" in reader.slice(opened, start)
    name = reader.slice(start, end) if end is not None else ""
    if end is None or not _NAME.fullmatch(name):
        return None
    if end == reader.size:
        return _Head(Label(None), end, cut_off=True) if on_line else None
    behind = yield from reader.past_space(end)
    if (yield from reader.sees((KEY, CLOSE, "{"), behind)):
        return _Head(Label(name), behind)
    if (yield from cut_off(reader, (KEY, CLOSE), behind)):
        return _Head(Label(name), behind, cut_off=True) if on_line else None
    return (yield from _head_with_key(reader, name, start, behind))


def _head_with_key(reader: Reader, name: str, start: int, behind: int) -> Wait[_Head | None]:
    """A name with the first key right behind it, whose opening tag was left out; glued to it, if the tools say so."""
    if (yield from reader.sees((KEY_END,), behind)):
        tool = max(filter(name.startswith, tool_names(reader.tools)), key=len, default="")
        return _Head(Label(tool), start + len(tool), in_key=True) if tool not in ("", name) else None
    key_end = yield from near(reader, (KEY_END, *_NAME_END), behind)
    if key_end is None or not (yield from reader.sees((KEY_END,), key_end)):
        return None
    return _Head(Label(name), behind, in_key=True)


def _tool_call(reader: Reader) -> Wait[bool]:
    """An opening tag counts only if a name or a key follows it, or an object."""
    start = reader.at
    inside = yield from reader.past_space(start + len(OPEN))
    if (yield from json_call(reader, inside, TAGS.call, STOPS)):
        return True
    head = yield from _head(reader)
    reader.move(start)
    if head is None:
        return False
    reader.take("markup", inside)
    reader.move(head.end)
    if (yield from json_arguments(reader, inside, head.name, TAGS)):
        return True
    body = yield from read_body(reader, TAGS, head.name, in_key=head.in_key)
    end = reader.at - len(CLOSE) if body.closed else reader.at
    add_tagged_call(reader, inside, end, head.name, body)
    yield from take_closer(reader, CLOSE)
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: _tool_call}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(write_keyed(call, TAGS, KEY_END, VALUE) for call in calls)


FORMAT = OutputFormat(
    name="glm45",
    title="GLM-4.5 to GLM-5 (keys and values between tags)",
    reference="https://huggingface.co/zai-org/GLM-4.5/blob/main/chat_template.jinja",
    example="<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>",
    markers=(OPEN, CLOSE, KEY, KEY_END, VALUE, VALUE_END),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "glm45", "sglang": "glm45"},
    broken={
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Par": CallProblem.UNCLOSED,
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n</tool_call>": CallProblem.MALFORMED,
        "<tool_call>get_weather<arg_key>city</arg_key>Paris</arg_value></tool_call>": CallProblem.MALFORMED,
        '<tool_call>get_weather\n{"city": "Paris"}\n</tool_call>': CallProblem.MALFORMED,
        "<tool_call><arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>": CallProblem.MISSING_NAME,
    },
)
