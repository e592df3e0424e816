"""JSON as outputs hold it: scanned piece by piece, read strictly, repaired only where one reading is certain.

Strict means RFC 8259. Python's json module is more generous: NaN and Infinity,
which are no JSON, are refused here. So is what a Python value cannot hold:
numbers of thousands of digits or beyond a double, and absurd nesting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"[-+.\w]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_MARKS = frozenset(" \t\n\r{}[]:,\"'")
_STRICT_STRING = re.compile(r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_LENIENT_STRING = {
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL),
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+", re.DOTALL),
}
_LITERALS = ("true", "false", "null")
_VALUE_PLACES = ("value", "first_value", "next_value")
_KEY_PLACES = ("first_key", "next_key")
_ANY_PLACES = _VALUE_PLACES + _KEY_PLACES
AT_ONCE = 8192  # characters
MAX_DEPTH = 100  # deeper than any real call, and well within Python's own recursion limit


@dataclass(frozen=True, slots=True)
class Reading:
    """A value, where it ends in its text, and what a person should know about how it was read."""

    value: Any
    end: int
    note: str = ""


@dataclass(slots=True)
class JsonScanner:
    """Finds the end of one JSON value in text that arrives in pieces, without looking at anything twice.

    `scan` returns where it stopped; `done` and `broken` tell why. With neither
    set it has used the whole piece and waits for the next one.

    A lenient scanner finds where a value that is nearly JSON ends: it passes over
    single quotes, bare words, trailing commas, line breaks and unknown escapes in
    strings, all of which leave the value's end in no doubt.
    """

    lenient: bool = False
    done: bool = False
    broken: bool = False
    in_string: bool = False
    string_start: int = -1  # of the last string, or of the object or list itself; as `scan` counts from its `base`
    refused: int = 0  # characters of the word that broke it, which have been passed over
    reading: Reading | None = None  # of the value, where it was read on the way
    _new: bool = True
    _stack: list[str] = field(default_factory=list)
    _expect: str = "value"  # value, first_value, next_value, key, first_key, next_key, colon, comma
    _word: list[str] = field(default_factory=list)
    _escape: str = ""
    _quote: str = '"'

    def scan(self, text: str, position: int = 0, base: int = 0) -> int:
        if self._new and type(self) is JsonScanner and not self.lenient:
            position = self._at_once(text, position)
        while position < len(text) and not (self.done or self.broken):
            if self.in_string:
                position = self._string(text, position)
            elif self._word or text[position] not in _MARKS:
                position = self._read_word(text, position)
            else:
                position = self._mark(text, position, base)
        return position

    def _at_once(self, text: str, position: int) -> int:
        """Most values are short, and there as a whole: the decoder reads them faster than any scan."""
        position = _skip(text, position)
        self._new = position == len(text)
        if text[position : position + 1] in ("{", "["):
            self.reading = _plain_reading(text[position : position + AT_ONCE])
        if not self.reading:
            return position
        self.done = True
        return position + self.reading.end

    def end(self) -> None:
        """No more text comes: a number or word that stands alone is whole now."""
        if self._word and not self._stack:
            self._close_word()

    @property
    def depth(self) -> int:
        """How many closing marks are still to come."""
        return len(self._stack)

    @property
    def misses_one_brace(self) -> bool:
        """Would one closing brace here, or in front of the comma just passed, make the value whole?"""
        return self._stack == ["{"] and not self.in_string and self._expect in ("comma", "next_key")

    @property
    def at_key(self) -> bool:
        """Is a string here, or the one that goes on here, a key?"""
        return self._expect in _KEY_PLACES

    @property
    def after_comma(self) -> bool:
        return self._expect in ("next_key", "next_value")

    def _string(self, text: str, position: int) -> int:
        if self._escape:
            return self._finish_escape(text, position)
        body = _LENIENT_STRING[self._quote] if self.lenient else _STRICT_STRING
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
        is_unicode = (self._escape + text[position : position + 2])[1:2] == "u" and not self.lenient
        wanted = 6 if is_unicode else 2
        piece = text[position : position + wanted - len(self._escape)]
        self._escape += piece
        if len(self._escape) == wanted and (is_unicode or self._escape[1:] != "u" or self.lenient):
            self.broken = not (self.lenient or _ESCAPE.fullmatch(self._escape))
            self._escape = ""
        return position + len(piece)

    def _read_word(self, text: str, position: int) -> int:
        match = _WORD.match(text, position)
        if match:
            self._word.append(match.group())
            position = match.end()
        if position < len(text):
            self._close_word()
        return position

    def _close_word(self) -> None:
        word = "".join(self._word)
        self._word.clear()
        places = _ANY_PLACES if self.lenient else _VALUE_PLACES
        known = (self.lenient and self._stack) or word in _LITERALS or _NUMBER.fullmatch(word)
        self.broken = not (word and known and self._expect in places)
        if self.broken:
            self.refused = len(word)
        else:
            self._value_ended()

    def _mark(self, text: str, position: int, base: int) -> int:
        """White space or one of JSON's own marks."""
        after_space = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # matches always
        if after_space > position:
            return after_space
        mark, expect = text[position], self._expect
        if (mark == '"' or (mark == "'" and self.lenient)) and expect in _ANY_PLACES:
            self.in_string, self._quote, self.string_start = True, mark, base + position
        elif mark in "{[" and expect in _VALUE_PLACES:
            if not self._stack:
                self.string_start = base + position
            self._stack.append(mark)
            self._expect = "first_key" if mark == "{" else "first_value"
        elif mark in "}]" and self._may_close(mark):
            self._stack.pop()
            self._expect = "value"
            self._value_ended()
        elif mark == ":" and expect == "colon":
            self._expect = "value"
        elif mark == "," and expect == "comma":
            self._expect = "next_key" if self._stack[-1] == "{" else "next_value"
        else:
            self.broken = True
            return position
        return position + 1

    def _may_close(self, mark: str) -> bool:
        opener, kind = ("{", "key") if mark == "}" else ("[", "value")
        places = ("comma", f"first_{kind}", *((f"next_{kind}",) if self.lenient else ()))
        return self._stack[-1:] == [opener] and self._expect in places

    def _value_ended(self) -> None:
        if not self._stack:
            self.done = True
        elif self._expect in _KEY_PLACES:
            self._expect = "colon"
        else:
            self._expect = "comma"


# Reading


def loads(text: str) -> Any:
    """The value of strict JSON text, white space around it. Raises ValueError, worded for a person, for all else."""
    reading = read(text)
    if text[reading.end :].strip(" \t\n\r"):
        raise ValueError("text behind the value")
    return reading.value


def read(text: str, start: int = 0) -> Reading:
    """The strict JSON value at `start`. Raises ValueError, worded for a person, where there is none.

    JSON leaves open what a key given twice or half a surrogate pair means: the
    last key counts, half a pair becomes U+FFFD, and the note says so.
    """
    start = _skip(text, start)
    if plain := _plain_reading(text, start):
        return plain
    notes: dict[str, None] = {}  # an ordered set
    if _may_be_deep(text, start, len(text)) and _depth(text, start) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    value, end = _decoder(notes).raw_decode(text, start)
    if _SURROGATE_ESCAPE.search(text, start, end):
        value = _whole_characters(value, notes)
    return Reading(value, end, ", ".join(notes))


def _decoder(notes: dict[str, None], strict: bool = True) -> json.JSONDecoder:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            notes["a key is given twice: the last one counts"] = None
        return found

    return json.JSONDecoder(
        object_pairs_hook=members, parse_int=_int, parse_float=_float, parse_constant=_no_constant, strict=strict
    )


def _int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError(f"a number of {len(digits)} digits") from None


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number beyond the range of a double")
    return value


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


class _Unusual(Exception):
    """The value needs a note."""


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unusual
    return found


_PLAIN = json.JSONDecoder(object_pairs_hook=_unique_members, parse_float=_float, parse_constant=_no_constant)


def _plain_reading(text: str, start: int = 0) -> Reading | None:
    """The value at `start` if it is one about which there is nothing to say."""
    try:
        value, end = _PLAIN.raw_decode(text, start)
    except (ValueError, RecursionError, _Unusual):
        return None
    if _may_be_deep(text, start, end) or _SURROGATE_ESCAPE.search(text, start, end):
        return None
    return Reading(value, end)


def _may_be_deep(text: str, start: int, end: int) -> bool:
    return text.count("[", start, end) + text.count("{", start, end) > MAX_DEPTH


def _depth(text: str, start: int) -> int:
    """The deepest nesting of the value at `start`, or one more than allowed."""
    depth = deepest = 0
    for mark in _OUTSIDE_STRINGS.finditer(text, start):
        if mark.group() in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark.group() in "]}":
            depth -= 1
            if depth <= 0:
                break
        if deepest > MAX_DEPTH:
            break
    return deepest


_OUTSIDE_STRINGS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _whole_characters(value: Any, notes: dict[str, None]) -> Any:
    if isinstance(value, dict):
        return {_whole_characters(k, notes): _whole_characters(v, notes) for k, v in value.items()}
    if isinstance(value, list):
        return [_whole_characters(item, notes) for item in value]
    if isinstance(value, str) and _LONE_SURROGATE.search(value):
        notes["half a surrogate pair, which is no character, became U+FFFD"] = None
        return _LONE_SURROGATE.sub("\ufffd", value)
    return value


def members(text: str) -> dict[str, Any]:
    """The members of a JSON object that is cut off or broken, as far as each is whole and certain."""
    found: dict[str, Any] = {}
    reader = _Lenient(text)
    mark = "{"
    while reader.peek() == mark:
        mark = ","
        reader.position += 1
        try:
            key, value = reader.member(1)
        except (_Unrepairable, RecursionError):
            break
        follows = reader.peek()
        if follows not in (",", "}", "") or (follows == "" and not isinstance(value, (dict, list, str))):
            break  # `3` at the very end may be the beginning of `36`
        found[key] = value
    return found


def _skip(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]  # matches always


# Repair


def lost_quote(text: str, ends: tuple[str, ...], missing: int) -> int | None:
    """Where one of `ends` stands in a string that never closed, if its closing quote must have been lost before it:
    the string holds exactly the closing marks that are missing, and nothing but white space behind them."""
    position = depth = 0
    for match in re.finditer("|".join(map(re.escape, ends)) or r"(?!)", text):
        piece = text[position : match.start()]
        depth += sum(piece.count(mark) for mark in "]}") - sum(piece.count(mark) for mark in "[{")
        position = match.start()
        if depth == missing > 0 and piece.rstrip().endswith(("]", "}")):
            return position
    return None


def repair(text: str) -> Reading | None:
    """Read the value that strict JSON rejects at the start of a text, if exactly one reading is certain.

    Repairs: raw line breaks in strings, trailing commas, Python's True / False /
    None and single quotes, one closing brace too few at the very end. Anything
    else (a missing quote, a bare word, a missing comma) is not guessed at.
    """
    reader = _Lenient(text)
    try:
        value = reader.value(0)
    except (_Unrepairable, RecursionError):
        return None
    return Reading(value, reader.position, ", ".join(reader.notes))


class _Unrepairable(Exception):
    """The text has no certain reading."""


_LENIENT_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
}
_QUOTED = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL),
}
_AS_JSON_STRING = re.compile(r'\\.|"', re.DOTALL)


class _Lenient:
    """A reader of nearly-JSON that notes each liberty it takes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.notes: dict[str, None] = {}  # an ordered set

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _Unrepairable
        mark = self.peek()
        if mark == "{":
            return dict(self._items("}", depth, lambda: self.member(depth + 1)))
        if mark == "[":
            return self._items("]", depth, lambda: self.value(depth + 1))
        if mark and mark in "\"'":
            return self._string(mark)
        return self._word()

    def member(self, depth: int) -> tuple[str, Any]:
        mark = self.peek()
        if not mark or mark not in "\"'":
            raise _Unrepairable
        key = self._string(mark)
        if self.peek() != ":":
            raise _Unrepairable
        self.position += 1
        return key, self.value(depth)

    def _items(self, closer: str, depth: int, read: Callable[[], Any]) -> list[Any]:
        items: list[Any] = []
        self.position += 1
        while self.peek() != closer:
            if self.peek() == "" and items and depth == 0 and closer == "}":
                self.notes["one closing brace added"] = None
                return items
            items.append(read())
            if self.peek() == ",":
                self.position += 1
                if self.peek() == closer:
                    self.notes["trailing comma dropped"] = None
            elif self.peek() != closer and (depth or self.peek() != ""):
                raise _Unrepairable
        self.position += 1
        return items

    def _string(self, quote: str) -> str:
        match = _QUOTED[quote].match(self.text, self.position)
        if not match:
            raise _Unrepairable
        self.position = match.end()
        body = match.group(1)
        if quote == "'":
            self.notes["single quotes read as Python's"] = None
        if quote == "'" or "\\'" in body:
            body = _AS_JSON_STRING.sub(lambda m: {"\\'": "'", '"': '\\"'}.get(m.group(), m.group()), body)
        elif "\\" not in body and body.isprintable():
            return body
        try:
            value: str = _decoder(self.notes).decode(f'"{body}"')
        except ValueError:
            try:
                value = _decoder(self.notes, strict=False).decode(f'"{body}"')
            except ValueError:
                raise _Unrepairable from None
            self.notes["raw line break in a string kept"] = None
        return str(_whole_characters(value, self.notes))

    def _word(self) -> Any:
        match = _WORD.match(self.text, self.position)
        word = match.group() if match else ""
        if word not in _LENIENT_WORDS and not _NUMBER.fullmatch(word):
            raise _Unrepairable
        self.position += len(word)
        if word in ("True", "False", "None"):
            self.notes["Python's True, False and None read as JSON's"] = None
        if word in _LENIENT_WORDS:
            return _LENIENT_WORDS[word]
        try:
            return _decoder(self.notes).decode(word)
        except ValueError:
            raise _Unrepairable from None

    def peek(self) -> str:
        self.position = _skip(self.text, self.position)
        return self.text[self.position : self.position + 1]
