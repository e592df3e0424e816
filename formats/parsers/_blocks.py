"""Calls whose arguments stand between tags, one by one or in a block: what formats of that kind share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from formats.parsers._tagged import add_tagged_call, json_arguments, json_call, write_value
from formats.parsers.base import Handler
from formats.reading.frames import cut_off, near, take_closer
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Label, Tags, read_body
from formats.types import CallProblem, FunctionCall

_WORD = re.compile(r"\w[^\s<>{}()\"'`]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """Tags, and how the name is read behind the function's opening tag."""

    tags: Tags
    read_name: Callable[[Reader], Wait[Label]]


def starts_block(call: str, function: str) -> Callable[[Reader], Wait[bool]]:
    """Does a function stand in the block that opens at the cursor?"""

    def starts(reader: Reader) -> Wait[bool]:
        inside = yield from reader.past_space(reader.at + len(call))
        return (yield from reader.sees((function,), inside)) is not None

    return starts


def starts_function(
    opener: str, read_name: Callable[[Reader], Wait[Label]], follow: tuple[str, ...]
) -> Callable[[Reader], Wait[bool]]:
    """Does the function that opens at the cursor have a name, and an argument or its end behind it?"""

    def starts(reader: Reader) -> Wait[bool]:
        reader.move(reader.at + len(opener))
        name = yield from read_name(reader)
        inside = yield from reader.past_space()
        if not name.text:
            return False
        return (yield from reader.sees(follow, inside)) is not None or (yield from cut_off(reader, follow, inside))

    return starts


def word(closer: str | None = None) -> Callable[[Reader], Wait[Label]]:
    """A name as text behind the opening tag, up to `closer`, or to whatever follows."""

    def read(reader: Reader) -> Wait[Label]:
        start = yield from reader.past_space()
        end = yield from near(reader, ("<", "\n", "{"), start)
        text = "" if end is None else reader.slice(start, end).strip()
        if end is None or end == reader.size or (text and not _WORD.fullmatch(text)):
            return Label(None)
        closed = closer is None or (yield from reader.sees((closer,), end)) is not None
        reader.move(end + len(closer) if closer and closed else end)
        return Label(text, closed)

    return read


def key_and_value(key_end: str, value: str) -> Callable[[Reader], Wait[Label]]:
    """A key between tags of its own, and the tag that opens its value."""

    def read(reader: Reader) -> Wait[Label]:
        start = reader.at
        end = yield from near(reader, (key_end, "<", "\n"), start)
        if end is None or end == reader.size:
            return Label(None)
        closed = yield from reader.sees((key_end,), end)
        inside = yield from reader.past_space(end + len(closed or ""))
        opened = yield from reader.sees((value,), inside)
        reader.move(inside + len(opened or ""))
        if not (closed or opened) or inside == reader.size:
            return Label(None)
        return Label(reader.slice(start, end).strip(), bool(closed and opened))

    return read


def openers(layout: Layout) -> Mapping[str, Handler]:
    """The handlers of a turn: of blocks, and of functions that stand in none."""
    tags = layout.tags
    block, function = tags.call[0], tags.function[0]
    in_block = block != function
    counts = starts_function(function, layout.read_name, (tags.key, tags.function[1], "{"))

    def whole_block(reader: Reader) -> Wait[bool]:
        """A block counts only if a function follows, or an object. Its end may be missing behind whole calls."""
        position = yield from reader.past_space(reader.at + len(block))
        if not (yield from reader.sees((function,), position)):
            return (yield from json_call(reader, position, tags.call, tags.stops))
        while (yield from reader.sees((function,), position)):
            reader.take("markup", position)
            yield from read_call(reader, None)
            position = yield from reader.past_space()
        yield from take_closer(reader, tags.call[1])
        return True

    def alone(reader: Reader) -> Wait[bool]:
        """A function by itself counts if it has a name, and anything in it."""
        start = reader.at
        inside = yield from reader.past_space(start + len(function))
        if not in_block and (yield from json_call(reader, inside, tags.call, tags.stops)):
            return True
        counted = yield from counts(reader)
        reader.move(start)
        if counted:
            yield from read_call(reader, "the opening tag of the block was left out" if in_block else None)
        if counted and in_block:
            yield from take_closer(reader, tags.call[1])
        return counted

    def read_call(reader: Reader, fault: str | None) -> Wait[None]:
        start = reader.at
        reader.move(start + len(function))
        name = yield from layout.read_name(reader)
        if (yield from json_arguments(reader, start, name, tags)):
            return
        body = yield from read_body(reader, tags, name)
        if fault:
            body.fault(CallProblem.MALFORMED, fault)
        add_tagged_call(reader, start, reader.at, name, body)

    return {block: whole_block, function: alone} if in_block else {function: alone}


def write_keyed(call: FunctionCall, tags: Tags, key_end: str, value: str) -> str:
    """A call as its name and, line by line, its keys and values, each between tags of its own."""
    assert isinstance(call["arguments"], dict)
    arguments = "".join(
        f"{tags.key}{key}{key_end}\n{value}{write_value(each, tags)}{tags.value_end}\n"
        for key, each in call["arguments"].items()
    )
    return f"{tags.call[0]}{call['name']}\n{arguments}{tags.call[1]}"


def write_function(call: FunctionCall, tags: Tags) -> str:
    """A call in a block of its own: a function's tag with the name, and one for each parameter."""
    assert isinstance(call["arguments"], dict)
    line = "\n" if tags.padded else ""
    parameters = "".join(
        f"{tags.key}{key}>{line}{write_value(value, tags)}{line}{tags.value_end}\n"
        for key, value in call["arguments"].items()
    )
    (opener, closer), (function, function_end) = tags.call, tags.function
    return f"{opener}\n{function}{call['name']}>\n{parameters}{function_end}\n{closer}"
