"""Arguments in Python's call syntax: f(city="Paris", days=-3).

Read by rules of its own, not by Python's grammar: a parameter may be called
`from` or `user-id`, and true, false and null count as Python's True, False and
None. Only literals are values; a variable, an expression or a value without a
name cannot be assigned.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from formats.reading.json_text import MAX_DEPTH
from formats.types import JsonObject

T = TypeVar("T")
_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<word>[\w.]+)|(?P<quote>["'])|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<assign>[=:])|(?P<comma>,)|(?P<operator>[-+*/%]+)"""
)
_IN_BRACKETS = re.compile(r"""[^"'()\[\]{}]+""")
_PREFIXES = frozenset(("r", "b", "u", "f", "rb", "br", "rf", "fr"))
_LONGEST_PREFIX = 2
_STRING_BODY = {
    '"': re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL),
    "'": re.compile(r"(?:[^'\\]++|\\.)*+", re.DOTALL),
    '"""': re.compile(r'(?:[^"\\]++|\\.|"(?=[^"]|"[^"]))*+', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]++|\\.|'(?=[^']|'[^']))*+", re.DOTALL),
}
_CLOSER = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True)
class ArgumentsScanner:
    """Finds the closing parenthesis of a call's arguments in text that arrives in pieces; it starts behind the opening
    one. Broken where the text cannot be arguments: what looked like a call is prose then."""

    done: bool = False
    broken: bool = False
    named: bool = False  # a name with a value was seen
    _expect: str = "item"  # item, word, name, value, next
    _word: str = ""  # the beginning of the word that goes on here
    _quote: str = ""
    _brackets: list[str] = field(default_factory=list)

    def scan(self, text: str, position: int, base: int) -> int:
        while position < len(text) and not (self.done or self.broken):
            before = position
            if self._quote:
                position = self._string(text, position)
            elif self._brackets:
                position = self._in_brackets(text, position)
            else:
                position = self._token(text, position)
            if position == before:  # three quotes, or an escape, may be coming
                break
        return position

    def end(self) -> None:
        """No more text comes: arguments that are open stay open."""

    def _string(self, text: str, position: int) -> int:
        position = _STRING_BODY[self._quote].match(text, position).end()  # type: ignore[union-attr]  # matches always
        if text.startswith(self._quote, position):
            position += len(self._quote)
            self._quote = ""
            if not self._brackets:
                self._expect = "next"
        return position

    def _open_string(self, text: str, position: int) -> int:
        quote = text[position]
        if text[position : position + 3] in (quote, quote * 2):
            return position  # undecided
        self._quote = quote * 3 if text.startswith(quote * 3, position) else quote
        return position + len(self._quote)

    def _in_brackets(self, text: str, position: int) -> int:
        match = _IN_BRACKETS.match(text, position)
        if match:
            return match.end()
        if text[position] in "\"'":
            return self._open_string(text, position)
        if text[position] in _CLOSER:
            self._brackets.append(_CLOSER[text[position]])
            self.broken = len(self._brackets) > MAX_DEPTH
        elif text[position] in self._brackets:
            while self._brackets.pop() != text[position]:
                pass
            if not self._brackets:
                self._expect = "next"
        elif text[position] == ")":
            self.done = True  # a bracket was left open
        else:
            self.broken = True
        return position + 1

    def _token(self, text: str, position: int) -> int:
        match = _TOKEN.match(text, position)
        kind = match.lastgroup if match else None
        if match is None or kind is None:
            self.broken = True
            return position
        if kind == "word":
            return self._in_word(match.group(), match.end())
        if kind == "quote":
            return self._before_string(text, position)
        self._word = ""
        accepted = _GRAMMAR[kind].get(self._expect)
        self.broken = accepted is None or (kind == "close" and match.group() != ")")
        if self.broken or accepted is None:
            return position
        self._expect = accepted
        self.named |= kind == "assign"
        self.done = kind == "close"
        if kind == "open":
            self._brackets.append(_CLOSER[match.group()])
        return match.end()

    def _in_word(self, word: str, end: int) -> int:
        if not self._word:
            accepted = _GRAMMAR["word"].get(self._expect)
            if accepted is None:
                self.broken = True
                return end - len(word)
            self._expect = accepted
        self._word = (self._word + word)[: _LONGEST_PREFIX + 1]
        return end

    def _before_string(self, text: str, position: int) -> int:
        prefixed = self._word.lower() in _PREFIXES
        if not (prefixed or (not self._word and self._expect in ("item", "value", "next"))):
            self.broken = True
            return position
        end = self._open_string(text, position)
        if end > position:
            self._word = ""
        return end


_GRAMMAR: dict[str, dict[str, str]] = {  # kind of token -> where it may stand -> what is expected behind it
    "space": {place: place for place in ("item", "word", "name", "value", "next")},
    "word": {"item": "word", "value": "next", "next": "name"},
    "assign": {"word": "value", "name": "value", "next": "value"},
    "comma": {"word": "item", "value": "item", "next": "item"},
    "close": {"item": "", "word": "", "value": "", "next": ""},
    "open": {"item": "next", "word": "next", "value": "next", "next": "next"},
    "operator": {"item": "item", "word": "value", "value": "value", "next": "value"},
}


# Values


@dataclass(frozen=True, slots=True)
class Arguments:
    """The named values of a call; None where one cannot be read or assigned. `faults`: what Python would refuse."""

    values: JsonObject | None
    faults: tuple[str, ...] = ()


def read_arguments(text: str) -> Arguments:
    """Read what stands between the parentheses of a call."""
    reader = _Literals(text)
    try:
        values = reader.arguments()
    except (_NotLiteral, RecursionError):
        return Arguments(None, tuple(reader.faults))
    return Arguments(values, tuple(reader.faults))


class _NotLiteral(Exception):
    """The text holds something that is no literal, or has no name."""


_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\W\d][\w.-]*")
_NUMBER = re.compile(
    r"(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9_]+)?)"
)
_CONSTANT = re.compile(r"[A-Za-z]+")
_CONSTANTS: dict[str, Any] = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_PREFIX = re.compile(r"[rRbBuUfF]{0,2}(?=[\"'])")
_ESCAPE = re.compile(
    r"\\(?:(\n)|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|N\{([^}]+)\}|(.))", re.DOTALL
)
_SIMPLE_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SIMPLE_ESCAPES["v"] = "\v"
_SURROGATES = re.compile("[\ud800-\udfff]+")


class _Literals:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.faults: dict[str, None] = {}  # an ordered set

    def arguments(self) -> JsonObject:
        values: JsonObject = {}
        while self._peek():
            name = self._name()
            if name in values:
                raise _NotLiteral  # which of the two is meant?
            values[name] = self._value(0)
            if self._peek() == ",":
                self.position += 1
            elif self._peek():
                self.faults["comma missing"] = None
        return values

    def _name(self) -> str:
        if self._peek() in ("'", '"'):
            name = self._string()
            self.faults["quotes around a parameter's name"] = None
        else:
            match = _NAME.match(self.text, self.position)
            if not match:
                raise _NotLiteral
            name = match.group()
            self.position = match.end()
        mark = self._peek()
        if mark == ":":
            self.faults["colon in place of ="] = None
        elif mark != "=":
            raise _NotLiteral
        self.position += 1
        return name

    def _value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _NotLiteral
        mark = self._peek()
        if mark == "{":
            return dict(self._items("}", lambda: self._member(depth + 1))[0])
        if mark == "[":
            return self._items("]", lambda: self._value(depth + 1))[0]
        if mark == "(":
            items, commas = self._items(")", lambda: self._value(depth + 1))
            return items[0] if len(items) == 1 and not commas else items
        if _PREFIX.match(self.text, self.position):
            return self._strings()
        return self._word()

    def _member(self, depth: int) -> tuple[str, Any]:
        key = self._value(depth)
        if isinstance(key, bool) or not isinstance(key, (str, int, float)) or self._peek() != ":":
            raise _NotLiteral
        self.position += 1
        return str(key), self._value(depth)

    def _items(self, closer: str, read: Callable[[], T]) -> tuple[list[T], int]:
        """What stands between two brackets, and how many commas do."""
        items: list[T] = []
        commas = 0
        self.position += 1
        while self._peek() != closer:
            items.append(read())
            if self._peek() == ",":
                self.position += 1
                commas += 1
            elif self._peek() != closer:
                raise _NotLiteral
        self.position += 1
        return items, commas

    def _strings(self) -> str:
        """One string, or several that Python joins because nothing stands between them."""
        parts = [self._string()]
        while self._peek() and _PREFIX.match(self.text, self.position):
            parts.append(self._string())
        return "".join(parts)

    def _string(self) -> str:
        prefix = _PREFIX.match(self.text, self.position).group().lower()  # type: ignore[union-attr]  # looked before
        start = self.position + len(prefix)
        quote = self.text[start : start + 3]
        quote = quote if quote in _STRING_BODY else quote[0]
        end = _STRING_BODY[quote].match(self.text, start + len(quote)).end()  # type: ignore[union-attr]  # always
        body = self.text[start + len(quote) : end]
        computed = "f" in prefix and ("{" in body or "}" in body)
        if "b" in prefix or computed or not self.text.startswith(quote, end):
            raise _NotLiteral
        self.position = end + len(quote)
        if len(quote) == 1 and "\n" in body and "\n" in _ESCAPE.sub("", body):
            self.faults["line break in a string"] = None
        value = body if "r" in prefix else _ESCAPE.sub(_unescape, body)
        return value if value.isascii() else _SURROGATES.sub(_whole_characters, value)

    def _word(self) -> Any:
        constant = _CONSTANT.match(self.text, self.position)
        if constant:
            self.position = constant.end()
            if constant.group() not in _CONSTANTS or self._in_word():
                raise _NotLiteral
            return _CONSTANTS[constant.group()]
        negative = False
        while (mark := self._peek()) and mark in "+-":
            negative ^= mark == "-"
            self.position += 1
        value = self._number()
        return -value if negative else value

    def _number(self) -> int | float:
        match = _NUMBER.match(self.text, self.position)
        self.position = match.end() if match else self.position
        if not match or self._in_word():
            raise _NotLiteral
        digits = match.group()
        whole = digits[:2].lower() in ("0x", "0o", "0b") or digits.replace("_", "").isdecimal()
        try:
            value = int(digits, 0) if whole else float(digits)
        except ValueError:  # a leading zero, thousands of digits
            raise _NotLiteral from None
        if isinstance(value, float) and not math.isfinite(value):
            raise _NotLiteral
        return value

    def _in_word(self) -> bool:
        following = self.text[self.position : self.position + 1]
        return following.isalnum() or following in ("_", ".")

    def _peek(self) -> str:
        self.position = _SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]  # matches always
        return self.text[self.position : self.position + 1]


def _unescape(match: re.Match[str]) -> str:
    continued, byte, short, long, octal, name, other = match.groups()
    if continued:
        return ""
    try:
        if name:
            return unicodedata.lookup(name)
        if byte or short or long:
            return chr(int(byte or short or long, 16))
        if octal:
            return chr(int(octal, 8))
    except (KeyError, ValueError, OverflowError):
        raise _NotLiteral from None
    if other in ("x", "u", "U", "N"):
        raise _NotLiteral
    return _SIMPLE_ESCAPES.get(other, "\\" + other)


def _whole_characters(match: re.Match[str]) -> str:
    """Two halves of a surrogate pair are one character, as in JSON; one half alone is none."""
    return match.group().encode("utf-16", "surrogatepass").decode("utf-16", "replace")
