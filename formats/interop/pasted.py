"""A pasted text -> one JSON value: JSON itself, the first of several lines, Python text, or JSON inside a log line."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import Any

from formats.conversation import parse_json
from formats.errors import BadConversation, FormatsError
from formats.interop.base import Loss
from formats.python_text import parse_module

MAX_CHARACTERS = 4_000_000
_ATTEMPTS = 20  # places in a longer text where JSON may begin


@dataclass(frozen=True, slots=True)
class Pasted:
    value: Any
    how: str = ""  # how the value was found, where the text is not simply its JSON
    lost: tuple[Loss, ...] = ()


def read_pasted(text: str) -> Pasted:
    """The value in a text; FormatsError in words where there is none."""
    if len(text) > MAX_CHARACTERS:
        words = f"{len(text):,} characters are too many; up to {MAX_CHARACTERS:,} are read. Paste one request"
        raise FormatsError(words, "too_large")
    try:
        return Pasted(parse_json(text))
    except BadConversation as error:
        found = _lines(text) or _python(text) or _inside(text)
        if found is None:
            raise error from None
        return found


def _lines(text: str) -> Pasted | None:
    """JSON Lines: the first row is taken."""
    lines = [(number, line) for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1) if line.strip()]
    if len(lines) < 2 or not all(line.lstrip()[0] in "{[" for _, line in lines):
        return None
    try:
        value = parse_json(lines[0][1])
    except BadConversation:
        return None
    others = f"lines {lines[1][0]} to {lines[-1][0]}" if len(lines) > 2 else f"line {lines[1][0]}"
    return Pasted(value, "the first of several lines", (Loss(others, "only the first line is taken"),))


def _python(text: str) -> Pasted | None:
    """A Python literal, or assignments of literals to names such as messages and tools."""
    try:
        body = parse_module(text.strip().removeprefix("\ufeff")).body
        match body:
            case [ast.Expr(value)]:
                return Pasted(ast.literal_eval(value), "read as Python text")
        named = {}
        for statement in body:
            match statement:
                case ast.Assign([ast.Name(name)], value):
                    named[name] = ast.literal_eval(value)
                case _:
                    return None
    except (FormatsError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    if len(named) == 1:
        return Pasted(next(iter(named.values())), "read as Python text")
    return Pasted(named, "read as Python text") if named else None


def _inside(text: str) -> Pasted | None:
    """The first JSON object or list in a longer text, such as a log line or a curl command."""
    decoder = json.JSONDecoder()
    for start in [match.start() for match, _ in zip(re.finditer(r"[{\[]", text), range(_ATTEMPTS), strict=False)]:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if not value:
            continue
        around = [("the text before it", text[:start]), ("the text behind it", text[end:])]
        lost = tuple(Loss("", f"{where} is not taken: {_short(words)}") for where, words in around if words.strip())
        return Pasted(value, "found inside other text", lost)
    return None


def _short(text: str) -> str:
    words = " ".join(text[:400].split())
    return words if len(words) <= 80 else f"{words[:77]}..."
