"""JSON as outputs hold it: scanned piece by piece, read strictly, repaired only where one reading is certain.

Strict means RFC 8259. Python's json module is more generous: NaN and Infinity,
which are no JSON, are refused here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"[-+.0-9A-Za-z]+")
_IN_STRING = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_LITERALS = ("true", "false", "null")
MAX_DEPTH = 500  # deeper than any real call, and well within Python's own recursion limit


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
_RELAXED = json.JSONDecoder(parse_constant=_no_constant, strict=False)


@dataclass(slots=True)
class JsonScanner:
    """Finds the end of one JSON value in text that arrives in pieces, without looking at anything twice.

    `scan` returns where it stopped; `done` and `broken` tell why. With neither
    set it has used the whole piece and waits for the next one. A lenient scanner
    goes on over everything that `repair` can mend inside a value.
    """

    lenient: bool = False
    done: bool = False
    broken: bool = False
    in_string: bool = False
    string_at: int = 0  # where the last string began, in the text last scanned
    _stack: list[str] = field(default_factory=list)
    _quote: str = '"'
    _expect: str = "value"  # value, first_value, key, first_key, colon, comma
    _word: str = ""
    _escape: str = ""

    def scan(self, text: str, position: int = 0) -> int:
        while position < len(text) and not (self.done or self.broken):
            if self.in_string:
                position = self._string(text, position)
            elif self._word or _WORD.match(text, position):
                position = self._read_word(text, position)
            else:
                position = self._mark(text, position)
        return position

    def end(self) -> None:
        """No more text comes: a number or word that stands alone is whole now."""
        if self._word and not self._stack:
            self._close_word()

    @property
    def unclosed(self) -> str:
        """The closing marks that are still to come, in order."""
        return "".join("}" if mark == "{" else "]" for mark in reversed(self._stack))

    @property
    def misses_only_its_closers(self) -> bool:
        """Could the value end here, were its closing marks written?"""
        return bool(self._stack) and not (self.in_string or self._word) and self._expect == "comma"

    def _string(self, text: str, position: int) -> int:
        if self._escape:
            return self._finish_escape(text, position)
        body = _IN_STRING if not self.lenient else _IN_LENIENT_STRING[self._quote]
        position = body.match(text, position).end()  # type: ignore[union-attr]  # matches always
        if position == len(text):
            return position
        if text[position] == self._quote:
            self.in_string = False
            self._value_ended()
            return position + 1
        if text[position] == "\\":
            return self._finish_escape(text, position)
        self.broken = True  # a raw control character
        return position

    def _finish_escape(self, text: str, position: int) -> int:
        wanted = 6 if (self._escape + text[position : position + 2])[1:2] == "u" else 2
        piece = text[position : position + wanted - len(self._escape)]
        self._escape += piece
        if len(self._escape) == wanted and (wanted == 6 or self._escape[1:] != "u"):
            self.broken = not (_ESCAPE.fullmatch(self._escape) or (self.lenient and self._escape == "\\'"))
            self._escape = ""
        return position + len(piece)

    def _read_word(self, text: str, position: int) -> int:
        match = _WORD.match(text, position)
        if match:
            self._word += match.group()
            position = match.end()
        if position < len(text):
            self._close_word()
        return position

    def _close_word(self) -> None:
        value = self._word in (_LENIENT_WORDS if self.lenient else _LITERALS) or _NUMBER.fullmatch(self._word)
        self.broken = not (value and self._expect in ("value", "first_value"))
        self._word = ""
        if not self.broken:
            self._value_ended()

    def _mark(self, text: str, position: int) -> int:
        """White space or one of JSON's own marks."""
        after_space = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # matches always
        if after_space > position:
            return after_space
        mark, expect = text[position], self._expect
        if self.lenient and self._trailing_comma and mark == self.unclosed[:1]:
            expect = "comma"
        if (mark == '"' or (self.lenient and mark == "'")) and expect in ("value", "first_value", "key", "first_key"):
            self.in_string, self._quote, self.string_at = True, mark, position
        elif mark in "{[" and expect in ("value", "first_value"):
            self._stack.append(mark)
            self._expect = "first_key" if mark == "{" else "first_value"
        elif (mark == "}" and self._stack[-1:] == ["{"] and expect in ("first_key", "comma")) or (
            mark == "]" and self._stack[-1:] == ["["] and expect in ("first_value", "comma")
        ):
            self._stack.pop()
            self._expect = "value"
            self._value_ended()
        elif mark == ":" and expect == "colon":
            self._expect = "value"
        elif mark == "," and expect == "comma":
            self._expect = "key" if self._stack[-1] == "{" else "value"
        else:
            self.broken = True
            return position
        return position + 1

    def _value_ended(self) -> None:
        if not self._stack:
            self.done = True
        elif self._expect in ("key", "first_key"):
            self._expect = "colon"
        else:
            self._expect = "comma"


def loads(text: str) -> Any:
    """The value of strict JSON text. Raises ValueError for anything else, absurd nesting and endless digits too."""
    try:
        value, end = _DECODER.raw_decode(text, _SPACE.match(text).end())  # type: ignore[union-attr]
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text[end:].strip(" \t\n\r"):
        raise ValueError("text behind the value")
    return value


def members(text: str) -> dict[str, Any]:
    """The members of a JSON object that is cut off or broken, as far as each is whole and read strictly."""
    found: dict[str, Any] = {}
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    mark = "{"
    while text[position : position + 1] == mark:
        mark = ","
        try:
            key, position = _DECODER.raw_decode(text, _skip(text, position + 1))
            position = _skip(text, position)
            if not isinstance(key, str) or text[position : position + 1] != ":":
                break
            start = _skip(text, position + 1)
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, (dict, list, str)) and position >= len(text.rstrip()):
            break  # `3` at the very end may be the beginning of `36`
        found[key] = value
        position = _skip(text, position)
    return found


def _skip(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]


class _Unrepairable(Exception):
    """The text has no certain reading. `in_string`: it ended inside a string."""

    def __init__(self, in_string: bool = False) -> None:
        super().__init__()
        self.in_string = in_string


@dataclass(frozen=True, slots=True)
class Repaired:
    value: Any
    end: int  # where the value ends in the text
    note: str  # what was repaired, for a person


def repair(text: str) -> Repaired | None:
    """Read a value that strict JSON rejects, if exactly one reading is certain.

    Repairs: raw line breaks in strings, trailing commas, Python's True / False /
    None and single quotes, one closing brace too few at the very end. Anything
    else (a missing quote, a bare word, a missing comma) is not guessed at.
    """
    try:
        return _Lenient(text).read()
    except (_Unrepairable, RecursionError):
        return None


def ends_in_string(text: str) -> bool:
    """Does a lenient reader stand inside a string when this text ends?"""
    try:
        _Lenient(text).read()
    except _Unrepairable as error:
        return error.in_string
    except RecursionError:
        return False
    return False


_LENIENT_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
}
_SINGLE = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


class _Lenient:
    """A reader of nearly-JSON that notes each liberty it takes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.notes: dict[str, None] = {}  # an ordered set

    def read(self) -> Repaired:
        value = self._value(0)
        return Repaired(value, self.position, ", ".join(self.notes))

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _Unrepairable
        mark = self._peek()
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._items("]", depth, lambda: self._value(depth + 1))
        if mark and mark in "\"'":
            return self._string(mark)
        return self._word()

    def _object(self, depth: int) -> dict[str, Any]:
        def member() -> tuple[str, Any]:
            mark = self._peek()
            if not mark or mark not in "\"'":
                raise _Unrepairable
            key = self._string(mark)
            if self._peek() != ":":
                raise _Unrepairable
            self.position += 1
            return key, self._value(depth + 1)

        return dict(self._items("}", depth, member))

    def _items(self, closer: str, depth: int, read: Callable[[], Any]) -> list[Any]:
        items: list[Any] = []
        self.position += 1
        while self._peek() != closer:
            if self._peek() == "" and items and depth == 0 and closer == "}":
                self.notes["one closing brace added"] = None
                return items
            items.append(read())
            if self._peek() == ",":
                self.position += 1
                if self._peek() == closer:
                    self.notes["trailing comma dropped"] = None
            elif self._peek() != closer and (depth or self._peek() != ""):
                raise _Unrepairable
        self.position += 1
        return items

    def _string(self, quote: str) -> str:
        match = (_SINGLE if quote == "'" else _DOUBLE).match(self.text, self.position)
        if not match:
            raise _Unrepairable(in_string=True)
        self.position = match.end()
        body = match.group(1)
        if quote == "'":
            self.notes["single quotes read as Python's"] = None
            body = re.sub(r"\\'|\"", lambda m: "'" if m.group() == "\\'" else '\\"', body)
        try:
            value: str = _DECODER.decode(f'"{body}"')
        except ValueError:
            try:
                value = _RELAXED.decode(f'"{body}"')
            except ValueError:
                raise _Unrepairable from None
            self.notes["raw line break in a string kept"] = None
        return value

    def _word(self) -> Any:
        match = _WORD.match(self.text, self.position)
        word = match.group() if match else ""
        if word in _LENIENT_WORDS:
            if word in ("True", "False", "None"):
                self.notes["Python's True, False and None read as JSON's"] = None
            self.position += len(word)
            return _LENIENT_WORDS[word]
        if not _NUMBER.fullmatch(word):
            raise _Unrepairable
        self.position += len(word)
        try:
            return _DECODER.decode(word)
        except ValueError:
            raise _Unrepairable from None

    def _peek(self) -> str:
        self.position = _skip(self.text, self.position)
        return self.text[self.position : self.position + 1]
