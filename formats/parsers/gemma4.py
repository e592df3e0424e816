"""Gemma 4: each call between its own tokens, the arguments in a syntax of their own.

<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>

Keys are bare and sorted, strings stand between <|"|>, nothing is escaped. So a
text cannot be carried that holds <|"|> with something behind it that may follow
a string; any other <|"|> in it is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from formats.parsers._gemma_values import QUOTE, Quotes, Read, Unreadable, read_object, write_value
from formats.parsers._tagged import json_call
from formats.parsers.base import OutputFormat, Payload, add_call, read_turn
from formats.reading.calls import MISSING, find_schema
from formats.reading.frames import cut_off, near, take_closer
from formats.reading.reader import Reader, Wait
from formats.reading.typed import ToolSchema
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<|tool_call>", "<tool_call|>"
CALL = "call:"
STOPS = ("<turn|>", "<|tool_response>", "<eos>")
REASONING = ("<|channel>thought", "<channel|>")

_NAME = re.compile(r"(?:\w[\w.:/-]*)?")
_BEFORE_STRING = (":", "=", ",", "{", "[", "(")
_LOOK_BACK, _LOOK_AHEAD = 40, 80  # characters: enough for any layout around a string
_TOKEN = r"(?: <tool_call\|> | <\|tool_ | <turn\|> | <eos> | <[|a-z_]*$ )"
_NEXT = r"""(?: $ | [}\])] | <\|"\|> | [{\["'] | [^\s:=,{}\[\]()<>"']+ \s* (?: [:=] | $ )
           | (?: -?\d[\d.eE+-]* | true | false | null | None ) \s* [,}\])] )"""
_AFTER_STRING = {
    closers: re.compile(rf"\s* (?: : | [{closers}\s]* (?: $ | {_TOKEN} | ,\s* {_NEXT} ) ) | [\w.-]+ [:=]", re.VERBOSE)
    for closers in (r"}\]", r"}\])")
}
_KEY_AFTER_STRING = re.compile(r"\s*([\w.-]+)\s*[:=]")


@dataclass(slots=True)
class _Body:
    """Where the arguments end, and the quotes in them, as positions of the output."""

    start: int
    schema: ToolSchema
    closers: str  # what closes objects and lists, as a key of _AFTER_STRING
    mark: str | None = None  # what stands there; "" is text of another kind, None the end of the output
    strings: dict[int, int] = field(default_factory=dict)
    stray: list[int] = field(default_factory=list)
    open_string: bool = False

    def quotes(self) -> Quotes:
        strings = {opened - self.start: closed - self.start for opened, closed in self.strings.items()}
        return Quotes(strings, tuple(position - self.start for position in self.stray))


def _find_body(reader: Reader, name: str | None) -> Wait[_Body]:
    """Move the cursor from the first brace to the end of the call; inside a string nothing ends it."""
    in_parentheses = yield from reader.sees(("(",))
    schema = ToolSchema(find_schema(reader.tools, name) if name else None)
    body = _Body(reader.at, schema, r"}\])" if in_parentheses else r"}\]")
    while (mark := (yield from reader.until((QUOTE, CLOSE, OPEN, *STOPS), None))) == QUOTE:
        opened = reader.at
        before = reader.slice(max(body.start, opened - _LOOK_BACK), opened).rstrip()
        reader.move(opened + len(QUOTE))
        if before and not before.endswith(_BEFORE_STRING):
            body.stray.append(opened)
            continue
        closed = yield from _find_string_end(reader, body)
        if closed is None:
            body.open_string = True
            mark = yield from reader.sees((CLOSE,))
            break
        body.strings[opened] = closed
        reader.move(closed + len(QUOTE))
    body.mark = mark
    return body


def _find_string_end(reader: Reader, body: _Body) -> Wait[int | None]:
    """Where a string is closed. None, the cursor in front of the call's end or at the output's, where it is not."""
    while (mark := (yield from reader.until((QUOTE, CLOSE), None))) is not None:
        at = reader.at
        if mark == QUOTE:
            following = yield from reader.ahead(_LOOK_AHEAD, at + len(QUOTE))
            key = _KEY_AFTER_STRING.match(following)
            if _AFTER_STRING[body.closers].match(following) or (key and body.schema.declares(key.group(1))):
                return at
        else:
            behind = yield from reader.past_space(at + len(CLOSE))
            if behind == reader.size or (yield from reader.sees((OPEN, *STOPS), behind)):
                return None
        reader.move(at + len(mark))
    return None


@dataclass(frozen=True, slots=True)
class _Head:
    name: str | None  # None where the output ends in it
    end: int
    whole: bool = True  # `call:` is there


def _head(reader: Reader, start: int) -> Wait[_Head | None]:
    """The name of a call whose text begins at `start`, up to its arguments or whatever stands in their place."""
    called = yield from reader.sees((CALL,), start)
    inside = start + len(called or "")
    end = yield from near(reader, ("{", "(", "<", "\n", " "), inside)
    if end is None or not _NAME.fullmatch(name := reader.slice(inside, end)):
        return None
    if end == reader.size:
        return _Head(None, end) if called else None
    end = yield from reader.past_space(end)
    follows = yield from reader.sees(("{", "(", CLOSE), end)
    if called and (follows or name or (end < reader.size and (yield from cut_off(reader, (CLOSE,), end)))):
        return _Head(name.rstrip(":"), end)
    return _Head(name, end, whole=False) if name and follows == "{" else None


def _tool_call(reader: Reader) -> Wait[bool]:
    """An opening token counts only if `call:` and a name follow it, or an object."""
    inside = yield from reader.past_space(reader.at + len(OPEN))
    if (yield from json_call(reader, inside, (OPEN, CLOSE), STOPS)):
        return True
    head = yield from _head(reader, inside)
    if head is None:
        return False
    reader.take("markup", inside)
    found = yield from _find_arguments(reader, head)
    _add(reader, inside, found, () if head.whole else ("call: was left out",))
    yield from take_closer(reader, CLOSE)
    return True


class _BareCalls:
    """Calls without an opening token in front; made anew for each output, so that no text is searched twice."""

    def __init__(self) -> None:
        self._searched = 0

    def read(self, reader: Reader) -> Wait[bool]:
        """Such a call counts only if its arguments are read and the closing token follows."""
        start = reader.at
        head = yield from _head(reader, start)
        if head is None or not head.name or start < self._searched or (yield from reader.ahead(1, head.end)) != "{":
            return False
        found = yield from _find_arguments(reader, head)
        if found.body.mark != CLOSE or found.read is None:
            self._searched = reader.at
            reader.move(start)
            return False
        _add(reader, start, found, ("the opening token was left out",))
        yield from take_closer(reader, CLOSE)
        return True


@dataclass(frozen=True, slots=True)
class _Found:
    name: str | None
    body: _Body
    read: Read | None  # None where the arguments cannot be read, or there are none
    absent: bool


def _find_arguments(reader: Reader, head: _Head) -> Wait[_Found]:
    """Read what stands behind a name, and leave the cursor at the call's end."""
    reader.move(head.end)
    absent = (yield from reader.sees((CLOSE,))) is not None
    body = yield from _find_body(reader, head.name)
    text = reader.slice(body.start, reader.at)
    try:
        read = None if absent or body.open_string else read_object(text, body.quotes(), ends=body.mark in (CLOSE, OPEN))
    except Unreadable:
        read = None
    if read and body.mark in (None, *STOPS):
        behind = text[read.end :].strip()
        if not CLOSE.startswith(behind):  # text of another kind follows
            reader.move(body.start + read.end)
            body.mark = ""
    return _Found(head.name, body, read, absent)


def _add(reader: Reader, start: int, found: _Found, notes: tuple[str, ...]) -> None:
    """Add the call that ends at the cursor."""
    read, body = found.read, found.body
    if read:
        behind = reader.slice(body.start + read.end, reader.at).strip()
        behind_note = "text behind the arguments passed over" if behind.strip("}") else "closing brace too many dropped"
        notes += (*read.notes, *([behind_note] if behind and body.mark == CLOSE else []))
    problem = None
    if body.mark is None or body.mark in STOPS:
        problem = CallProblem.UNCLOSED
    elif notes or body.mark != CLOSE or not (read or found.absent):
        problem = CallProblem.MALFORMED
    arguments = read.value if read else {} if found.absent else MISSING
    add_call(reader, Payload(start, reader.at, problem=problem, note=", ".join(notes)), found.name, arguments)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: _tool_call, CALL: _BareCalls().read}, reasoning=REASONING, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "".join(f"{OPEN}{CALL}{call['name']}{write_value(call['arguments'])}{CLOSE}" for call in calls)


FORMAT = OutputFormat(
    name="gemma4",
    title="Gemma 4 (bare keys, quotes as tokens)",
    reference="https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4",
    example='<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|>',
    markers=(OPEN, CLOSE, QUOTE),
    read=read,
    write=write,
    stops=STOPS[:2],
    servers={"vllm": "gemma4", "sglang": "gemma4"},
    reasoning=REASONING,
    broken={
        f"{OPEN}{CALL}get_weather{{city:{QUOTE}Par": CallProblem.UNCLOSED,
        f'{OPEN}{CALL}get_weather{{{{"city": "Paris"}}}}{CLOSE}': CallProblem.MALFORMED,
        f"{OPEN}{CALL}get_weather{{city:{QUOTE}Paris{QUOTE}days:3}}{CLOSE}": CallProblem.MALFORMED,
        f"{OPEN}{CALL}get_weather{{city:Paris{QUOTE}}}{CLOSE}": CallProblem.MALFORMED,
        f"{OPEN}{CALL}{{city:{QUOTE}Paris{QUOTE}}}{CLOSE}": CallProblem.MISSING_NAME,
    },
)
