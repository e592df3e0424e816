"""What the formats of Gemma share: each call between its own tokens, the arguments in a syntax of their own.

<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>

Keys are bare and sorted, strings stand between quotes that are tokens, nothing
is escaped. So a text cannot be carried that holds such a quote with something
behind it that may follow a string; any other one in it is text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from formats.parsers._gemma_values import Quotes, Read, Unreadable, read_object, write_value
from formats.parsers._tagged import json_call
from formats.parsers.base import Handler, Payload, add_call
from formats.reading.calls import MISSING, find_schema
from formats.reading.frames import cut_off, near, take_closer
from formats.reading.reader import Reader, Wait
from formats.reading.typed import ToolSchema
from formats.types import CallProblem, FunctionCall

CALL = "call:"

_NAME = re.compile(r"(?:\w[\w.:/-]*)?")
_BEFORE_STRING = (":", "=", ",", "{", "[", "(")
_LOOK_BACK, _LOOK_AHEAD = 40, 80  # characters: enough for any layout around a string
_KEY_AFTER_STRING = re.compile(r"\s*([\w.-]+)\s*[:=]")
_CLOSERS, _CLOSERS_IN_PARENTHESES = r"}\]", r"}\])"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The tokens of one format, and its word for null."""

    open: str
    close: str
    quote: str
    stops: tuple[str, ...]
    null: str = "null"


@functools.cache
def _after_string(dialect: Dialect, closers: str) -> re.Pattern[str]:
    """What may stand behind a string; `closers` are what closes objects and lists."""
    token = "|".join(map(re.escape, (dialect.close, dialect.open, *dialect.stops)))
    follows = rf"""(?: $ | [}}\])] | {re.escape(dialect.quote)} | [{{\["'] | [^\s:=,{{}}\[\]()<>"']+ \s* (?: [:=] | $ )
                   | (?: -?\d[\d.eE+-]* | true | false | null | None ) \s* [,}}\])] )"""
    ends = rf"(?: $ | {token} | <[|a-z_]*$ | ,\s* {follows} )"
    return re.compile(rf"\s* (?: : | [{closers}\s]* {ends} ) | [\w.-]+ [:=]", re.VERBOSE)


@dataclass(slots=True)
class _Body:
    """Where the arguments end, and the quotes in them, as positions of the output."""

    start: int
    schema: ToolSchema
    after_string: re.Pattern[str]
    mark: str | None = None  # what stands there; "" is text of another kind, None the end of the output
    strings: dict[int, int] = field(default_factory=dict)
    stray: list[int] = field(default_factory=list)
    open_string: bool = False

    def quotes(self, dialect: Dialect) -> Quotes:
        strings = {opened - self.start: closed - self.start for opened, closed in self.strings.items()}
        return Quotes(dialect.quote, strings, tuple(position - self.start for position in self.stray))


def _find_body(dialect: Dialect, reader: Reader, name: str | None) -> Wait[_Body]:
    """Move the cursor from the first brace to the end of the call; inside a string nothing ends it."""
    in_parentheses = yield from reader.sees(("(",))
    schema = ToolSchema(find_schema(reader.tools, name) if name else None)
    closers = _CLOSERS_IN_PARENTHESES if in_parentheses else _CLOSERS
    body = _Body(reader.at, schema, _after_string(dialect, closers))
    quote, close = dialect.quote, dialect.close
    while (mark := (yield from reader.until((quote, close, dialect.open, *dialect.stops), None))) == quote:
        opened = reader.at
        before = reader.slice(max(body.start, opened - _LOOK_BACK), opened).rstrip()
        reader.move(opened + len(quote))
        if before and not before.endswith(_BEFORE_STRING):
            body.stray.append(opened)
            continue
        closed = yield from _find_string_end(dialect, reader, body)
        if closed is None:
            body.open_string = True
            mark = yield from reader.sees((close,))
            break
        body.strings[opened] = closed
        reader.move(closed + len(quote))
    body.mark = mark
    return body


def _find_string_end(dialect: Dialect, reader: Reader, body: _Body) -> Wait[int | None]:
    """Where a string is closed. None, the cursor in front of the call's end or at the output's, where it is not."""
    quote, close = dialect.quote, dialect.close
    while (mark := (yield from reader.until((quote, close), None))) is not None:
        at = reader.at
        if mark == quote:
            following = yield from reader.ahead(_LOOK_AHEAD, at + len(quote))
            key = _KEY_AFTER_STRING.match(following)
            if body.after_string.match(following) or (key and body.schema.declares(key.group(1))):
                return at
        else:
            behind = yield from reader.past_space(at + len(close))
            if behind == reader.size or (yield from reader.sees((dialect.open, *dialect.stops), behind)):
                return None
        reader.move(at + len(mark))
    return None


@dataclass(frozen=True, slots=True)
class _Head:
    name: str | None  # None where the output ends in it
    end: int
    whole: bool = True  # `call:` is there


def _head(dialect: Dialect, reader: Reader, start: int) -> Wait[_Head | None]:
    """The name of a call whose text begins at `start`, up to its arguments or whatever stands in their place."""
    called = yield from reader.sees((CALL,), start)
    inside = start + len(called or "")
    end = yield from near(reader, ("{", "(", "<", "\n", " "), inside)
    if end is None or not _NAME.fullmatch(name := reader.slice(inside, end)):
        return None
    if end == reader.size:
        return _Head(None, end) if called else None
    end = yield from reader.past_space(end)
    follows = yield from reader.sees(("{", "(", dialect.close), end)
    if called and (follows or name or (end < reader.size and (yield from cut_off(reader, (dialect.close,), end)))):
        return _Head(name.rstrip(":"), end)
    return _Head(name, end, whole=False) if name and follows == "{" else None


@dataclass(frozen=True, slots=True)
class _Found:
    name: str | None
    body: _Body
    read: Read | None  # None where the arguments cannot be read, or there are none
    absent: bool


def _find_arguments(dialect: Dialect, reader: Reader, head: _Head) -> Wait[_Found]:
    """Read what stands behind a name, and leave the cursor at the call's end."""
    reader.move(head.end)
    absent = (yield from reader.sees((dialect.close,))) is not None
    body = yield from _find_body(dialect, reader, head.name)
    text = reader.slice(body.start, reader.at)
    ends = body.mark in (dialect.close, dialect.open)
    try:
        read = None if absent or body.open_string else read_object(text, body.quotes(dialect), ends=ends)
    except Unreadable:
        read = None
    if read and body.mark in (None, *dialect.stops):
        behind = text[read.end :].strip()
        if not dialect.close.startswith(behind):  # text of another kind follows
            reader.move(body.start + read.end)
            body.mark = ""
    return _Found(head.name, body, read, absent)


def _add(dialect: Dialect, reader: Reader, start: int, found: _Found, notes: tuple[str, ...]) -> None:
    """Add the call that ends at the cursor."""
    read, body = found.read, found.body
    if read:
        behind = reader.slice(body.start + read.end, reader.at).strip()
        behind_note = "text behind the arguments passed over" if behind.strip("}") else "closing brace too many dropped"
        notes += (*read.notes, *([behind_note] if behind and body.mark == dialect.close else []))
    problem = None
    if body.mark is None or body.mark in dialect.stops:
        problem = CallProblem.UNCLOSED
    elif notes or body.mark != dialect.close or not (read or found.absent):
        problem = CallProblem.MALFORMED
    arguments = read.value if read else {} if found.absent else MISSING
    add_call(reader, Payload(start, reader.at, problem=problem, note=", ".join(notes)), found.name, arguments)


def openers(dialect: Dialect) -> Mapping[str, Handler]:
    """The handlers of one output's turn, made anew for each, so that no text is searched twice."""
    searched = 0

    def tool_call(reader: Reader) -> Wait[bool]:
        """An opening token counts only if `call:` and a name follow it, or an object."""
        inside = yield from reader.past_space(reader.at + len(dialect.open))
        if (yield from json_call(reader, inside, (dialect.open, dialect.close), dialect.stops)):
            return True
        head = yield from _head(dialect, reader, inside)
        if head is None:
            return False
        reader.take("markup", inside)
        found = yield from _find_arguments(dialect, reader, head)
        _add(dialect, reader, inside, found, () if head.whole else ("call: was left out",))
        yield from take_closer(reader, dialect.close)
        return True

    def bare_call(reader: Reader) -> Wait[bool]:
        """A call without an opening token counts only if its arguments are read and the closing token follows."""
        nonlocal searched
        start = reader.at
        head = yield from _head(dialect, reader, start)
        if head is None or not head.name or start < searched or (yield from reader.ahead(1, head.end)) != "{":
            return False
        found = yield from _find_arguments(dialect, reader, head)
        if found.body.mark != dialect.close or found.read is None:
            searched = reader.at
            reader.move(start)
            return False
        _add(dialect, reader, start, found, ("the opening token was left out",))
        yield from take_closer(reader, dialect.close)
        return True

    return {dialect.open: tool_call, CALL: bare_call}


def write(dialect: Dialect, calls: Sequence[FunctionCall]) -> str:
    """The calls as the template writes them."""

    def written(call: FunctionCall) -> str:
        arguments = write_value(call["arguments"], dialect.quote, dialect.null)
        return f"{dialect.open}{CALL}{call['name']}{arguments}{dialect.close}"

    return "".join(map(written, calls))
