"""A cursor over an output that may still be growing.

A parser is a generator over a Reader: it reads from left to right, and wherever
the text so far does not decide what comes next, the reader waits (`yield`) for
more. A whole output is one piece and the end; a stream is many pieces and the
end. Nothing a parser can ask depends on where one piece stops and the next
begins, so every way of cutting an output gives the same result.

All positions are absolute, in characters of the whole output.
"""

from __future__ import annotations

import io
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

from formats.reading.json_text import JsonScanner
from formats.reading.validation import Budget
from formats.types import ParsedOutput, ParsedToolCall, Segment, SegmentKind, ToolDefinition

T = TypeVar("T")
Wait = Generator[None, None, T]  # yields while it waits for text, returns T
MAX_INDENT = 40  # white space before a label or a call at the start of a line

_NOT_SPACE = re.compile(r"\S")


class Scanner(Protocol):
    """Finds where something ends in text that arrives in pieces, each looked at once."""

    @property
    def done(self) -> bool: ...  # what was looked for has ended

    @property
    def broken(self) -> bool: ...  # it cannot be that from here on

    def scan(self, text: str, position: int, base: int) -> int:
        """Go on at `position`; where it stopped. `base` makes positions in `text` those of the whole output."""

    def end(self) -> None:
        """No more text comes."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Literal strings to look for, and the beginnings of them that a piece may end with."""

    found: re.Pattern[str]
    beginnings: frozenset[str]
    longest: int
    first: frozenset[str]  # the characters that marks begin with

    def unfinished(self, text: str) -> int:
        """How many of the last characters could still become a mark."""
        if self.first.isdisjoint(text[1 - self.longest :] if self.longest > 1 else ""):
            return 0
        for size in range(min(self.longest - 1, len(text)), 0, -1):
            if text[-size:] in self.beginnings:
                return size
        return 0


@lru_cache(maxsize=512)
def marks(strings: tuple[str, ...]) -> Marks:
    longest_first = sorted(set(strings), key=len, reverse=True)
    return Marks(
        re.compile("|".join(map(re.escape, longest_first)) or r"(?!)"),
        frozenset(s[:size] for s in strings for size in range(1, len(s))),
        max(map(len, strings), default=0),
        frozenset(s[0] for s in strings if s),
    )


class Reader:
    """The output so far, a cursor in it, and the segments and calls found before the cursor."""

    def __init__(self, tools: Sequence[ToolDefinition] = (), prompt_suffix: str = "") -> None:
        self.tools = tools
        self.prompt_suffix = prompt_suffix
        self.at = 0  # the cursor
        self.size = 0  # characters fed so far
        self.ended = False
        self.segments: list[Segment] = []
        self.calls: list[ParsedToolCall] = []
        self.budget = Budget()  # for judging the calls
        self._log = io.StringIO()
        self._window = ""  # the text from _base on; the log holds everything, the window what is still looked at
        self._base = 0
        self._taken = 0

    # Input

    def append(self, piece: str) -> None:
        self._window = self._window[self.at - self._base :] + piece
        self._base = self.at
        self._log.seek(self.size)
        self._log.write(piece)
        self.size += len(piece)

    def slice(self, start: int, end: int) -> str:
        self._log.seek(start)
        return self._log.read(end - start)

    def more(self) -> Wait[bool]:
        """Wait for the next piece; False when the output has ended."""
        if not self.ended:
            yield
        return not self.ended

    # Looking: none of these moves the cursor or labels text

    def peek(self, start: int, count: int) -> str:
        """What is there by now of the `count` characters from `start`, which is not before the cursor."""
        return self._window[start - self._base : start - self._base + count]

    def ahead(self, count: int, start: int | None = None) -> Wait[str]:
        """The next `count` characters from `start` (the cursor), fewer only where the output ends."""
        start = self.at if start is None else start
        while self.size < start + count and (yield from self.more()):
            pass
        return self.peek(start, count)

    def sees(self, strings: tuple[str, ...], start: int | None = None) -> Wait[str | None]:
        """The longest of the strings that stands at `start` (the cursor); waits only while it may still become one."""
        start = self.at if start is None else start
        looked_for = marks(strings)
        while True:
            text = self.peek(start, looked_for.longest)
            if self.ended or (text and text not in looked_for.beginnings):
                match = looked_for.found.match(text)
                return match.group() if match else None
            yield from self.more()

    def past_space(self, start: int | None = None) -> Wait[int]:
        """Where the first character that is no white space stands, or the end of the output."""
        position = self.at if start is None else start
        if not self.peek(position, 1).isspace() and position < self.size:
            return position
        return (yield from self.find(_NOT_SPACE, start))

    def find(self, character: re.Pattern[str], start: int | None = None, within: int | None = None) -> Wait[int]:
        """Where the first character that the pattern matches stands, or the end of the output, or of the `within`
        characters that are looked at."""
        cursor, position = self.at, self.at if start is None else start
        last = None if within is None else position + within
        while last is None or position < last:
            match = character.search(self._window, position - self._base)
            if match:
                position = self._base + match.start()
                break
            position = self.at = self.size  # what has been looked at need not be kept while waiting
            if not (yield from self.more()):
                break
        self.move(cursor)
        return position if last is None else min(position, last)

    def in_text(self) -> bool:
        """Does content that is more than white space stand right before the cursor?"""
        last = self.segments[-1] if self.segments else None
        if last is None or last.kind != "content":
            return False
        return last.end - last.start > MAX_INDENT or bool(self.slice(last.start, last.end).strip())

    def at_line_start(self) -> bool:
        """Does nothing but white space stand before the cursor in its line?"""
        before = self.slice(max(0, self.at - MAX_INDENT), self.at)
        indent = before.rstrip(" \t")
        return indent.endswith("\n") or (not indent and self.at < MAX_INDENT)

    # Moving and labelling

    def take(self, kind: SegmentKind, until: int) -> None:
        """Label everything up to `until` that has no label yet, and move the cursor there."""
        if until > self._taken:
            last = self.segments[-1] if self.segments else None
            if last and last.kind == kind and kind != "tool_call":
                self.segments[-1] = Segment(kind, last.start, until)
            else:
                self.segments.append(Segment(kind, self._taken, until))
            self._taken = until
        self.move(until)

    def move(self, position: int) -> None:
        """Put the cursor anywhere, back included; labels do not change."""
        if position < self._base:
            self._window = self.slice(position, self.size)
            self._base = position
        self.at = position

    def until(self, strings: tuple[str, ...], kind: SegmentKind | None) -> Wait[str | None]:
        """Take text as `kind` up to the first of the strings, and return it, the cursor in front; None at the end.

        Text that could still become one of the strings is held back. With kind
        None the cursor moves and nothing is labelled.
        """
        looked_for = marks(strings)
        while True:
            match = looked_for.found.search(self._window, self.at - self._base)
            held = 0
            if not self.ended and (match is None or len(self._window) - match.start() < looked_for.longest):
                held = looked_for.unfinished(self._window[self.at - self._base :][-looked_for.longest :])
            if match and len(self._window) - held >= match.start():  # else one that began earlier may be coming
                self._pass(kind, self._base + match.start())
                return (yield from self.sees(strings))
            self._pass(kind, self.size - held)
            if self.ended:
                return None
            yield

    def json(self, scanner: JsonScanner | None = None) -> Wait[str]:
        """Move the cursor over one JSON value: "whole"; "broken" at the first character or word that no JSON
        may have there; "open" where the output ends inside the value ("open_string": inside a string)."""
        scanner = scanner or JsonScanner()
        yield from self.scan(scanner)
        if scanner.done:
            return "whole"
        if scanner.broken:
            return "broken"
        return "open_string" if scanner.in_string else "open"

    def scan(self, scanner: Scanner) -> Wait[None]:
        """Move the cursor to where the scanner stops, or to the end of the output."""
        while True:
            self.at = self._base + scanner.scan(self._window, self.at - self._base, self._base)
            if scanner.done or scanner.broken:
                return
            if not (yield from self.more()):
                scanner.end()
                return

    def _pass(self, kind: SegmentKind | None, position: int) -> None:
        if kind is None:
            self.at = position
        else:
            self.take(kind, position)

    def result(self) -> ParsedOutput:
        return ParsedOutput(self.slice(0, self.size), tuple(self.segments), tuple(self.calls))
