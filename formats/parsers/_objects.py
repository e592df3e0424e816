"""Calls that are bare JSON objects in the midst of text, with nothing in front of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypedDict

from formats.parsers.base import ARGUMENT_KEYS, NAME_KEYS, Handler, Payload, named_call, partial_payload, payload_at
from formats.reading import json_text
from formats.reading.frames import take_closer
from formats.reading.json_text import JsonScanner
from formats.reading.objects import CallFinder
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem

FENCE = "```"
END_TOKENS = (  # of the families that are prompted in words to answer so
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<end_of_turn>",
)
END_OF_TEXT = "</s>"  # also a tag of HTML: an end token only right behind a call
SEPARATORS = (";", ",")  # between calls
_FOLLOW = (*SEPARATORS, "]", FENCE, "{")  # what shows that a call has ended in front of it
_QUOTES = ('"', "'")
_SPACES = (" ", "\n", "\t", "\r")
_OBJECT_OPENERS = tuple(f"{{{mark}" for mark in (*_QUOTES, *_SPACES))
_LIST_OPENERS = tuple(f"[{mark}" for mark in ("{", *_SPACES))
_NOT_INFO = re.compile(r"[^\w+-]")
_NOT_CLOSING, _NOT_CLOSING_OR_SPACE = re.compile(r"[^}]"), re.compile(r"[^}\s]")


class CallKeys(TypedDict):
    """The keys under which an object holds the parts of a call, the first that is there counts."""

    name_keys: tuple[str, ...]
    argument_keys: tuple[str, ...]
    id_keys: tuple[str, ...]


KEYS = CallKeys(name_keys=NAME_KEYS, argument_keys=ARGUMENT_KEYS, id_keys=("id",))


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found out about an object. One that is no call is text up to its end, unless it is broken."""

    is_call: bool
    cut_off: bool = False
    end: int | None = None
    calls: tuple[int, ...] = ()  # within it


class ObjectsInText:
    """Calls that are JSON objects anywhere in the text; made anew for each output.

    An object counts only with a string name and an arguments key. A list, or a
    code fence, around calls is markup, and so is what separates them. An object
    that is no call is text, unchanged; calls that it holds count.
    """

    def __init__(self, ends: tuple[str, ...], keys: CallKeys = KEYS, problem: CallProblem | None = None) -> None:
        self.ends = ends  # what ends a call that is cut off: stop tokens, a wrapper's closer
        self.keys = keys
        self.problem = problem  # what is wrong with the frame of all calls
        self._looks: dict[int, _Look] = {}
        self._opened_in_text = False

    @property
    def openers(self) -> dict[str, Handler]:
        return dict.fromkeys((*_OBJECT_OPENERS, *_LIST_OPENERS, FENCE), self.read)

    def read(self, reader: Reader) -> Wait[bool]:
        start = reader.at
        inside, closers = yield from past_wrapper(reader)
        reader.move(inside)
        look = yield from self._look(reader)
        if look.is_call:
            yield from self._calls(reader, closers, certain=False)
            return True
        if inside > start:  # the object itself comes up again
            reader.move(start)
            return False
        self._looks.pop(start, None)
        if look.end is not None:
            yield from self._text(reader, look.end, look.calls)
            return True
        self._opened_in_text = True
        return False

    def certain(self, reader: Reader, start: int) -> Wait[bool]:
        """Read the calls at `start`, where something in front says that these are calls, whatever keys they have.

        False, and nothing taken, if no object or list of objects stands there.
        """
        cursor = reader.at
        reader.move(start)
        inside, closers = yield from past_wrapper(reader)
        reader.move(inside)
        if (yield from reader.ahead(1)) != "{":
            reader.move(cursor)
            return False
        yield from self._calls(reader, closers, certain=True)
        return True

    def _calls(self, reader: Reader, closers: tuple[str, ...], *, certain: bool) -> Wait[None]:
        """Read the call at the cursor and those that follow it with nothing but separators between.

        What has no label yet is markup: the wrapper, of which `closers` are the
        ends.
        """
        while True:
            reader.take("markup", reader.at)
            self._looks.pop(reader.at, None)
            yield from self._call(reader, stray=not self._opened_in_text)
            if not (yield from self._next(reader, certain)):
                break
        yield from self._close(reader, closers)

    def _call(self, reader: Reader, *, stray: bool) -> Wait[None]:
        payload = yield from bare_payload(reader, self.ends, stray=stray)
        named_call(reader, payload, problem=self.problem, **self.keys)

    def _next(self, reader: Reader, certain: bool) -> Wait[bool]:
        """Move to the call that follows, if there is one; there, an object that is cut off must be one."""
        end = reader.at
        position = yield from reader.past_space()
        if (yield from reader.sees(SEPARATORS, position)):
            position = yield from reader.past_space(position + 1)
        if (yield from reader.ahead(1, position)) != "{":
            return False
        reader.move(position)
        if certain or (look := (yield from self._look(reader))).is_call or look.cut_off:
            return True
        reader.move(end)
        return False

    def _close(self, reader: Reader, closers: tuple[str, ...]) -> Wait[None]:
        """Label what closes the wrapper, and a separator in front of it."""
        position = yield from reader.past_space()
        if (yield from reader.sees(SEPARATORS, position)):
            behind = yield from reader.past_space(position + 1)
            if behind == reader.size or (yield from reader.sees(closers + self.ends, behind)):
                reader.take("markup", behind)
        for closer in closers:
            yield from take_closer(reader, closer)

    def _look(self, reader: Reader) -> Wait[_Look]:
        """Find out whether a call is at the cursor, and leave it there.

        What is found out about an object is remembered for those in it, so that
        no text is looked at again for each of them.
        """
        start = reader.at
        if start not in self._looks:
            inside = yield from reader.past_space(start + 1)
            if (yield from reader.ahead(1)) != "{" or (yield from reader.ahead(1, inside)) not in _QUOTES:
                return _Look(False, cut_off=inside == reader.size)
            yield from self._find_calls(reader)
        return self._looks[start]

    def _find_calls(self, reader: Reader) -> Wait[None]:
        start = reader.at
        finder = CallFinder(name_keys=self.keys["name_keys"], argument_keys=self.keys["argument_keys"])
        state = yield from reader.json(finder)
        if finder.is_call:
            self._looks[start] = _Look(True)
        elif state == "broken" or (state != "whole" and finder.single_quotes):  # prose, or a quote that nothing closes
            calls = set(finder.calls)
            self._looks |= {at: _Look(at in calls, state != "broken") for at in finder.starts}
        else:
            self._looks[start] = _Look(False, state != "whole", reader.at, tuple(finder.calls))
        reader.move(start)

    def _text(self, reader: Reader, end: int, calls: tuple[int, ...]) -> Wait[None]:
        """An object that is no call: text, but for the calls in it."""
        for call in calls:
            reader.take("content", call)
            yield from self._call(reader, stray=False)
        reader.take("content", end)


def end_of_text(reader: Reader) -> Wait[bool]:
    yield from ()
    if not reader.calls or reader.in_text():
        return False
    reader.take("markup", reader.at + len(END_OF_TEXT))
    return True


def past_wrapper(reader: Reader) -> Wait[tuple[int, tuple[str, ...]]]:
    """Where an object would begin behind a code fence or the bracket of a list, and what closes them again."""
    position = reader.at
    closers: tuple[str, ...] = ()
    if (yield from reader.sees((FENCE,))):
        position, closers = (yield from past_fence(reader)), (FENCE,)
    if (yield from reader.ahead(1, position)) == "[":
        position, closers = (yield from reader.past_space(position + 1)), ("]", *closers)
    return position, closers


def past_fence(reader: Reader) -> Wait[int]:
    """Where the text in the code fence begins whose opening is at the cursor."""
    info = yield from reader.find(_NOT_INFO, reader.at + len(FENCE))
    return (yield from reader.past_space(info))


def bare_payload(reader: Reader, ends: tuple[str, ...], *, stray: bool = True) -> Wait[Payload]:
    """Read the object at the cursor that no frame holds, and leave the cursor behind it.

    Where it cannot be read it goes up to the brace that closes it, or up to one
    of `ends`; strings are not told apart there, because a lost quote is the
    likeliest fault. `stray`: closing braces behind it that nothing opened are its.
    """
    start = reader.at
    scanner = JsonScanner(lenient=True)
    state = yield from reader.json(scanner)
    if state == "whole":
        payload = payload_at(reader, start, reader.at)
        return (yield from _with_stray_braces(reader, payload, ends)) if stray else payload
    if state == "broken":
        reader.move(reader.at - scanner.refused)
        if scanner.misses_one_brace:
            text = reader.slice(start, reader.at).rstrip().removesuffix(",").rstrip()
            reader.move(start + len(text))
            return payload_at(reader, start, reader.at)
    lost = None
    if state != "open":
        shown_by = ends if state == "open_string" else ends + _FOLLOW  # other marks prove nothing in an open string
        lost = json_text.lost_quote(reader.slice(scanner.string_start, reader.at), shown_by, scanner.depth)
    if lost is not None:
        reader.move(scanner.string_start + lost)
    closed = lost is not None or (yield from _closed(reader, scanner.depth, ends))
    problem = CallProblem.INVALID_JSON if closed else CallProblem.UNCLOSED
    return partial_payload(reader.slice(start, reader.at), start, reader.at, problem)


def _with_stray_braces(reader: Reader, payload: Payload, ends: tuple[str, ...]) -> Wait[Payload]:
    """Closing braces that touch the value, or stand between it and what may follow a call."""
    end = yield from reader.find(_NOT_CLOSING, payload.end)
    reader.move((yield from reader.find(_NOT_CLOSING_OR_SPACE, end)))
    if reader.at == reader.size or (yield from reader.sees(ends + _FOLLOW)):
        end = payload.end + len(reader.slice(payload.end, reader.at).rstrip())
    reader.move(end)
    if end == payload.end:
        return payload
    note = ", ".join(filter(None, (payload.note, "closing brace too many dropped")))
    return replace(payload, end=end, problem=CallProblem.INVALID_JSON, note=note)


def _closed(reader: Reader, depth: int, ends: tuple[str, ...]) -> Wait[bool]:
    """Move behind the mark that closes what is open, or in front of one of `ends`; False where the output ends."""
    while depth:
        mark = yield from reader.until(("{", "[", "]", "}", *ends), None)
        if mark is None or mark in ends:
            return mark is not None
        reader.move(reader.at + 1)
        depth += 1 if mark in "{[" else -1
    return True
