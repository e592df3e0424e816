"""Gemma's own syntax for values: bare keys, and strings between quotes that are tokens, in which nothing is escaped.

{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],exact:{x:true,y:null}}

What models write in its place is read too, where one reading is certain: JSON's
and Python's quotes, `=` for `:`, parentheses for braces, a missing comma, one
missing brace at the end, text without its quotes. Each liberty is noted.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from formats.reading import json_text
from formats.types import JsonObject

_SPACE = re.compile(r"\s*")
_BARE_KEY = re.compile(r"[^\s:=,{}\[\]()<>\"']+")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_BARE_VALUE = re.compile(r"[^,{}\[\]()<>:]+")
_STRUCTURE = re.compile(r"[{}\[\]]|,\s*[\w.-]+\s*[:=]")
_QUOTED = re.compile(r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\"""", re.DOTALL)
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "None": None}  # None: as older templates print it
_CLOSERS = {"{": "}", "(": ")", "[": "]"}


class Unreadable(Exception):
    """No reading of the text is certain."""


@dataclass(frozen=True, slots=True)
class Quotes:
    """The quotes in a text: where each string that one opens is closed, and those that close what none opened."""

    mark: str  # the quote itself
    strings: Mapping[int, int]
    stray: tuple[int, ...]  # in order


@dataclass(frozen=True, slots=True)
class Read:
    value: JsonObject
    end: int
    notes: tuple[str, ...]  # empty where the text is as Gemma's template writes it


def read_object(text: str, quotes: Quotes, *, ends: bool) -> Read:
    """The object at the start of a text. `ends`: the text is whole, so that a last brace may have been forgotten.

    Raises Unreadable where it is none, or is cut off.
    """
    reader = _Reader(text, quotes, ends)
    value = reader.arguments()
    return Read(value, reader.position, tuple(reader.notes))


def write_value(value: Any, quote: str, null: str) -> str:
    """A value as the template writes it, with its quote and its word for null."""

    def written(value: Any) -> str:
        if isinstance(value, str):
            return f"{quote}{value}{quote}"
        if isinstance(value, dict):
            members = sorted(value.items(), key=lambda member: member[0].lower())
            return "{" + ",".join(f"{_write_key(key, quote)}:{written(member)}" for key, member in members) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(written, value)) + "]"
        return null if value is None else json.dumps(value)

    return written(value)


def _write_key(key: str, quote: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else f"{quote}{key}{quote}"


class _Reader:
    def __init__(self, text: str, quotes: Quotes, ends: bool) -> None:
        self.text = text
        self.quotes = quotes
        self.ends = ends
        self.position = 0
        self.notes: dict[str, None] = {}  # an ordered set
        self._unquoted_from = list(map(self._last_structure, (0, *quotes.stray), quotes.stray))

    def _last_structure(self, start: int, end: int) -> int:
        """The last place in front of a stray quote where the text that it closes cannot have begun any more."""
        return max((match.start() for match in _STRUCTURE.finditer(self.text, start, end)), default=start)

    def arguments(self) -> JsonObject:
        inside = _skip(self.text, 1)
        if self.text[:1] != "{" or self.text[inside : inside + 1] != "{":
            return self._object(0)
        self._note("two pairs of braces")
        self.position = inside
        value = self._object(1)
        if self._peek() == "}":
            self.position += 1
        elif not self.ends or self._peek():
            raise Unreadable
        return value

    def _object(self, depth: int) -> JsonObject:
        closer = self._open(depth)
        if closer == ")":
            self._note("parentheses for braces")
        members: JsonObject = {}
        while self._goes_on(closer, depth, bool(members)):
            key = self._key()
            mark = self._peek()
            if mark not in (":", "="):
                raise Unreadable
            if mark == "=":
                self._note("= for :")
            self.position += 1
            members[key] = self._value(depth + 1)
        return members

    def _list(self, depth: int) -> list[Any]:
        closer = self._open(depth)
        items: list[Any] = []
        while self._goes_on(closer, depth, bool(items)):
            items.append(self._value(depth + 1))
        return items

    def _open(self, depth: int) -> str:
        mark = self._peek()
        if mark not in ("{", "(", "[") or depth > json_text.MAX_DEPTH:
            raise Unreadable
        self.position += 1
        return _CLOSERS[mark]

    def _goes_on(self, closer: str, depth: int, any_before: bool) -> bool:
        """Move to the next member or item; False, and behind the closer, where there is none."""
        mark = self._peek()
        comma = mark == "," and any_before
        if comma:
            self.position += 1
            mark = self._peek()
        if mark == closer:
            self.position += 1
        elif mark == "" and self.ends and depth == 0 and any_before:
            self._note("one closing brace added")
        elif mark == "":
            raise Unreadable
        else:
            if any_before and not comma:
                self._note("a comma was left out")
            return True
        if comma:
            self._note("trailing comma dropped")
        return False

    def _key(self) -> str:
        mark = self._peek()
        if self._at_quote() or mark in ('"', "'"):
            return self._string(mark)
        return self._match(_BARE_KEY)

    def _value(self, depth: int) -> Any:
        mark = self._peek()
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._list(depth)
        if mark in ('"', "'") or self._at_quote():
            return self._string(mark)
        return self._bare()

    def _string(self, mark: str) -> str:
        if mark == "<":
            start, end = self.position + len(self.quotes.mark), self.quotes.strings.get(self.position)
            if end is None:
                raise Unreadable
            self.position = end + len(self.quotes.mark)
            return self.text[start:end]
        self._note("quotes of another kind")
        found = json_text.repair(self._match(_QUOTED))
        if found is None:
            raise Unreadable
        return str(found.value)

    def _bare(self) -> Any:
        """A number, a word, or text whose quotes are missing."""
        index = bisect_left(self.quotes.stray, self.position)
        if index < len(self.quotes.stray) and self._unquoted_from[index] < self.position:
            stray = self.quotes.stray[index]
            text = self.text[self.position : stray]
            self.position = stray + len(self.quotes.mark)
            self._note("an opening quote was left out")
            return text
        word = self._match(_BARE_VALUE).strip()
        if word in _WORDS:
            return _WORDS[word]
        try:
            return json_text.loads(word)
        except ValueError:
            self._note("text without quotes")
            return {"True": True, "False": False}.get(word, word)

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        if not match or not match.group().strip():
            raise Unreadable
        self.position = match.end()
        return match.group()

    def _at_quote(self) -> bool:
        return self.text.startswith(self.quotes.mark, self.position)

    def _peek(self) -> str:
        self.position = _skip(self.text, self.position)
        return self.text[self.position : self.position + 1]

    def _note(self, note: str) -> None:
        self.notes[note] = None


def _skip(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]  # matches always
