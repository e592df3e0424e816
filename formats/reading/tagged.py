"""Arguments between tags, without quotes or escapes: where each value ends.

A value may hold the very tags that would end it. So a closing tag counts only if
what may follow it does follow; a reading in which every tag has its place wins
over one that must assume that a tag was left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from formats.reading.calls import MISSING, find_schema
from formats.reading.frames import near
from formats.reading.reader import Reader, Wait
from formats.reading.typed import ToolSchema, Typed, typed_value
from formats.types import CallProblem, JsonObject


@dataclass(frozen=True, slots=True)
class Label:
    """A name or key out of an opening tag; `whole` if the tag is written as the format writes it."""

    text: str | None  # None where the output ends in it, or nothing can be made of it
    whole: bool = True
    types: frozenset[str] | None = None  # of the argument's value, where its tag states them; else the schema does


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of one format. `function` and `call` are the same where a call has but one pair of tags."""

    call: tuple[str, str]  # around a call, or around all calls of a turn
    function: tuple[str, str]  # around a name and its arguments
    key: str  # begins the tag that opens an argument
    read_key: Callable[[Reader], Wait[Label]]  # run behind `key`; leaves the cursor where the value begins
    value_end: str
    starts_call: Callable[[Reader], Wait[bool]]  # is a whole call at the cursor, where the first of `call` stands?
    stops: tuple[str, ...]
    padded: bool = False  # values stand on lines of their own
    unwrap: Callable[[str], Typed | None] = lambda text: None  # a value that is marked as text, without its marks


@dataclass(slots=True)
class Body:
    """The arguments of a call, as far as they are certain, and what is wrong with them or with their frame."""

    values: JsonObject = field(default_factory=dict)
    problem: CallProblem | None = None
    closed: bool = False  # the function's own closing tag is there
    readable: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> Any:
        """All arguments, or none at all where one of them cannot be told."""
        return self.values if self.readable else MISSING

    def fault(self, problem: CallProblem, note: str = "", *, readable: bool = True) -> None:
        """Of several faults the first in order is the call's problem; each may be worth a note."""
        self.readable = self.readable and readable
        self.notes += [note] if note else []
        if self.problem is None or list(CallProblem).index(problem) < list(CallProblem).index(self.problem):
            self.problem = problem


def attribute(reader: Reader, *, quoted: bool) -> Wait[Label]:
    """Read the name in an opening tag, with or without quotes, and move the cursor behind the tag."""
    start = yield from reader.past_space()
    quote = yield from reader.sees(('"', "'"), start)
    start += 1 if quote else 0
    end = yield from near(reader, (quote, "\n") if quote else (">", "<", "\n"), start)
    if end is None or end == reader.size:
        return Label(None)
    name = reader.slice(start, end).strip()
    behind = yield from reader.past_space(end + 1 if quote and (yield from reader.sees((quote,), end)) else end)
    close = yield from near(reader, (">", "<", "\n"), behind)
    closed = (yield from reader.sees((">",), close)) is not None if close is not None else False
    reader.move(close + 1 if close is not None and closed else behind)
    return Label(name, closed and bool(quote) == quoted)


def read_body(reader: Reader, tags: Tags, name: Label, *, in_key: bool = False) -> Wait[Body]:
    """Read the arguments behind the name, and the function's closing tag if it is there; the cursor stands behind.

    `in_key`: the tag that opens the first argument was left out, and the cursor
    stands where its key begins.
    """
    body = Body()
    if not name.whole:
        body.fault(CallProblem.MALFORMED, "the tag with the name is written in another way")
    schema = ToolSchema(find_schema(reader.tools, name.text) if name.text else None)
    end = yield from _arguments(reader, tags, schema, body, in_key)
    if end == tags.function[1]:
        reader.move(reader.at + len(end))
        body.closed = True
    elif end is None or end in tags.stops:
        body.fault(CallProblem.UNCLOSED, readable=False)
    else:
        body.fault(CallProblem.MALFORMED, "the closing tag of the call was left out")
    return body


def _arguments(reader: Reader, tags: Tags, schema: ToolSchema, body: Body, in_key: bool) -> Wait[str | None]:
    """Read arguments up to a tag that is none of theirs, and return it, the cursor in front; None at the end."""
    known = (tags.key, *tags.function, *tags.call, *tags.stops)
    if in_key:
        body.fault(CallProblem.MALFORMED, "the opening tag of the first key was left out")
        yield from _argument(reader, tags, schema, body, own_line=False)
    while True:
        reader.move((yield from reader.past_space()))
        own_line = reader.at_line_start()
        tag = yield from reader.sees(known)
        if tag is None:
            tag = yield from reader.until(known, None)
            body.fault(CallProblem.MALFORMED, readable=False)
        if tag != tags.key:
            return tag
        reader.move(reader.at + len(tag))
        yield from _argument(reader, tags, schema, body, own_line)


def _argument(reader: Reader, tags: Tags, schema: ToolSchema, body: Body, own_line: bool) -> Wait[None]:
    """Read a key and its value, the cursor behind what opens the tag of the key."""
    key = yield from tags.read_key(reader)
    if not key.text:
        body.fault(CallProblem.MALFORMED, readable=False)
        return
    if not key.whole:
        body.fault(CallProblem.MALFORMED, f"{key.text}: its opening tags are written in another way")

    def is_next(reader: Reader) -> Wait[bool]:
        """Does the tag at the cursor open an argument that is still to come, in the layout of this one?"""
        if own_line and not reader.at_line_start():
            return False
        reader.move(reader.at + len(tags.key))
        label = yield from tags.read_key(reader)
        if not label.text or not label.whole or label.text in (key.text, *body.values):
            return False
        declared = schema.declares(label.text)
        return own_line if declared is None else declared

    raw = yield from _raw_value(reader, tags, is_next)
    if raw is None:
        body.fault(CallProblem.UNCLOSED, readable=False)
        return
    if not raw.whole:
        body.fault(CallProblem.MALFORMED, f"{key.text}: the closing tag was left out", readable=raw.certain)
    types = schema.types(key.text) if key.types is None else key.types
    typed = tags.unwrap(raw.text) or typed_value(raw.text, types)
    body.values[key.text] = typed.value
    if typed.repair:
        body.fault(CallProblem.INVALID_JSON, f"{key.text}: {typed.repair}")


# Where a value ends


@dataclass(frozen=True, slots=True)
class _RawValue:
    text: str
    whole: bool = True  # its closing tag is there
    certain: bool = True  # without one, that no other place could be its end


def _raw_value(reader: Reader, tags: Tags, is_next: Callable[[Reader], Wait[bool]]) -> Wait[_RawValue | None]:
    """Read a value; None if the output ends in it. The cursor stands behind its closing tag, or where one is missing.

    Two things besides its closing tag end a value: the next argument of the
    call; and the end of the call, or another whole call, with nothing of this
    one behind it. A whole call with text behind it is a quotation.
    """
    start = reader.at
    fallback: int | None = None
    quotation: int | None = None
    certain = True
    marks = (tags.value_end, tags.key, tags.function[1], *tags.call)
    while (mark := (yield from reader.until(marks, None))) is not None:
        at, behind = reader.at, reader.at + len(mark)
        if mark == tags.call[0]:
            if (yield from tags.starts_call(reader)):
                fallback = quotation if fallback is None else fallback
                if fallback is not None:
                    break
                quotation = at
        elif quotation is not None:
            if mark == tags.call[1]:
                fallback = quotation if (yield from _is_over(reader, tags, behind)) else None
                quotation = None
        elif mark == tags.value_end:
            if (yield from _ends_value(reader, tags, behind)):
                reader.move(behind)
                return _RawValue(_unpadded(reader.slice(start, at), tags.padded, tags.padded))
            certain = certain and fallback is not None
        elif mark == tags.key:
            if (yield from is_next(reader)):
                fallback = at
                break
        elif fallback is None and (yield from _ends_call(reader, tags, mark, behind)):
            fallback = at
        reader.move(behind)
    if fallback is None:
        return None
    reader.move(fallback)
    return _RawValue(_unpadded(reader.slice(start, fallback), tags.padded, True), False, certain)


def _unpadded(text: str, before: bool, behind: bool) -> str:
    """Without the line break on each side that belongs to the layout."""
    text = text.removeprefix("\n") if before else text
    return text.removesuffix("\n") if behind else text


def _ends_value(reader: Reader, tags: Tags, behind: int) -> Wait[bool]:
    """Does what may follow a value's closing tag follow it?"""
    following = yield from reader.past_space(behind)
    tag = yield from reader.sees((tags.key, *tags.function, *tags.call), following)
    if tag == tags.call[0]:
        reader.move(following)
        return (yield from tags.starts_call(reader))
    if tag == tags.call[1] != tags.function[1]:
        behind = following + len(tag)
        last_in_line = "\n" in reader.slice(behind, (yield from reader.past_space(behind)))
        return last_in_line or (yield from _is_over(reader, tags, behind))
    return tag is not None


def _ends_call(reader: Reader, tags: Tags, mark: str, behind: int) -> Wait[bool]:
    """Would a closing tag of the call, met within a value, be in its place?"""
    if mark == tags.call[1]:
        return (yield from _is_over(reader, tags, behind))
    following = yield from reader.past_space(behind)
    return (yield from reader.sees((*tags.call, tags.function[0]), following)) is not None


def _is_over(reader: Reader, tags: Tags, behind: int) -> Wait[bool]:
    """Is what stands behind a whole call another call, or the end of the turn?"""
    following = yield from reader.past_space(behind)
    if following == reader.size:
        return True
    return (yield from reader.sees((tags.call[0], *tags.stops), following)) is not None
