"""A pasted text -> one JSON value: JSON itself, a streamed answer, the first of several lines, Python text, or JSON
inside a log line.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, replace
from typing import Any

from formats.conversation import parse_json
from formats.errors import BadConversation, FormatsError
from formats.interop import streams
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
        found: Pasted | None = Pasted(parse_json(text))
    except BadConversation as error:
        found = _events(text) or _lines(text) or _python(text) or _inside(text)
        if found is None and text.strip() and not re.search(r"[{\[]", text):
            words = "no JSON and no Python was found in this text: paste messages, tools, a request or a response"
            raise BadConversation(words) from None
        if found is None:
            raise error from None
    assert found is not None
    return (_joined(found.value) or found) if isinstance(found.value, list) else found


def _joined(values: list[object], ended: bool = False) -> Pasted | None:
    """The answer that the pieces of a stream make; None where they are something else."""
    whole = streams.joined(values, ended)
    if whole is None:
        return None
    pieces = f"{whole.pieces:,} streamed piece{'' if whole.pieces == 1 else 's'}"
    return Pasted(whole.body, f"joined from {pieces}", whole.lost)


_FIELD = re.compile(r"(data|event|id|retry)?:")
_DONE = "[DONE]"  # OpenAI's last word in a stream


def _events(text: str) -> Pasted | None:
    """Server-sent events: a streamed answer, or the first of several values."""
    lines = list(enumerate(text.removeprefix("\ufeff").split("\n"), 1))
    data = [(number, line.removeprefix("data:").strip()) for number, line in lines if line.startswith("data:")]
    values, lost = _values([(number, line) for number, line in data if line not in ("", _DONE)])
    if not values:
        if any(line.startswith("{") for _, line in data):
            raise BadConversation("the event stream is cut off within its first event: nothing in it can be read")
        return None
    if others := " ".join(line for _, line in lines if line.strip() and not _FIELD.match(line)):
        lost.append(Loss("", f"the text around the events is not taken: {_short(others)}"))
    found = _joined(values, ended=any(line == _DONE for _, line in data))
    if found is None:
        if len(values) > 1:
            lost.append(Loss("", "only the first event is taken"))
        found = Pasted(values[0], "found in an event")
    return replace(found, lost=(*lost, *found.lost))


def _lines(text: str) -> Pasted | None:
    """JSON Lines: a streamed answer, or the first of several rows."""
    lines = [(number, line) for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1) if line.strip()]
    if len(lines) < 2 or not all(line.lstrip()[0] in "{[" for _, line in lines):
        return None
    values, lost = _values(lines)
    if not values or (lost and lost[0].path == f"line {lines[0][0]}"):
        return None
    found = _joined(values)
    if found is not None:
        return replace(found, lost=(*lost, *found.lost))
    others = f"lines {lines[1][0]} to {lines[-1][0]}" if len(lines) > 2 else f"line {lines[1][0]}"
    return Pasted(values[0], "the first of several lines", (Loss(others, "only the first line is taken"),))


def _values(lines: list[tuple[int, str]]) -> tuple[list[object], list[Loss]]:
    """The JSON of lines, and those that are none."""
    values, lost = [], []
    for number, line in lines:
        try:
            values.append(parse_json(line))
        except BadConversation:
            lost.append(Loss(f"line {number}", f"is cut off or no JSON, and not taken: {_short(line)}"))
    return values, lost


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
