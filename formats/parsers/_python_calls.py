"""Calls in Python's syntax: one of them, or a list in brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from formats.parsers._objects import SEPARATORS
from formats.reading.calls import MISSING, find_schema, settle, tool_names
from formats.reading.frames import NAME_LIMIT
from formats.reading.python_calls import Arguments, ArgumentsScanner, read_arguments
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem

_OPENING = re.compile(r"\[[\w\s(]")
_NOT_NAME = re.compile(r"[^\w.-]")
_NOT_BLANK = re.compile(r"[^ \t]")
_NAME = re.compile(r"[^\W\d][\w.-]*")
MAX_SEPARATORS = 3  # in a row, between two calls


@dataclass(frozen=True, slots=True)
class PythonCall:
    """`name(...)` as far as it was read; without arguments where the output, or what can be a call, ends before."""

    name: str | None
    start: int
    end: int
    arguments: Arguments | None = None
    cut_off: bool = False
    named: bool = False  # at least one argument has a name

    @property
    def readable(self) -> bool:
        return self.arguments is not None and self.arguments.values is not None


def python_call(reader: Reader, start: int) -> Wait[PythonCall | None]:
    """Read the call at `start`, and leave the cursor behind it; None where no name and parenthesis stand there."""
    end = yield from reader.find(_NOT_NAME, start, within=NAME_LIMIT)
    name = reader.slice(start, end)
    if name and not _NAME.fullmatch(name):
        return None
    known = find_schema(reader.tools, name) is not None
    opening = (yield from reader.find(_NOT_BLANK, end)) if known else end
    if (yield from reader.ahead(1, opening)) != "(":
        return None
    reader.move(opening + 1)
    scanner = ArgumentsScanner()
    yield from reader.scan(scanner)
    list_ended = scanner.broken and (yield from reader.ahead(1)) == "]"
    if not (scanner.done or list_ended):
        return PythonCall(name or None, start, reader.at, cut_off=not scanner.broken, named=scanner.named)
    arguments = read_arguments(reader.slice(opening + 1, reader.at - scanner.done))
    if list_ended:
        arguments = replace(arguments, faults=(*arguments.faults, "closing parenthesis missing"))
    return PythonCall(name or None, start, reader.at, arguments)


def add_python_call(reader: Reader, call: PythonCall, problem: CallProblem | None = None) -> None:
    """Add the call; text before it that has no label yet is markup. `problem` is what is wrong with its frame."""
    values = call.arguments.values if call.arguments else None
    faults = call.arguments.faults if call.arguments and call.readable else ()
    if call.cut_off:
        problem = CallProblem.UNCLOSED
    elif faults or values is None:
        problem = CallProblem.MALFORMED
    reader.take("markup", call.start)
    reader.take("tool_call", call.end)
    reader.calls.append(
        settle(
            call.name,
            MISSING if values is None else values,
            call.start,
            call.end,
            tools=reader.tools,
            problem=problem,
            note=", ".join(faults),
        )
    )


def call_list(
    reader: Reader,
    start: int,
    ends: tuple[str, ...],
    *,
    certain: bool = False,
    problem: CallProblem | None = None,
) -> Wait[bool]:
    """Read a list of calls at `start`; False, and nothing taken, where there is none.

    The brackets and commas, and everything before `start` that has no label yet,
    are markup. `ends` are what may follow a list that was not closed. `certain`:
    something in front says that calls follow. `problem` is what is wrong with the
    frame of all of them.
    """
    cursor = reader.at
    begins = _OPENING.fullmatch((yield from reader.ahead(2, start)))
    if begins and (certain or not _is_subscript(reader, start)):
        first = yield from python_call(reader, (yield from reader.past_space(start + 1)))
        if first and (yield from _begins_list(reader, first, ends)):
            yield from _elements(reader, first, ends, problem)
            return True
    reader.move(cursor)
    return False


def _is_subscript(reader: Reader, start: int) -> bool:
    """`data[f(x)]` is an element of data, not a list."""
    before = reader.slice(start - 1, start) if start else ""
    return before.isalnum() or before in tuple("_)]")


def _begins_list(reader: Reader, call: PythonCall, ends: tuple[str, ...]) -> Wait[bool]:
    """Is this call the first of a list? Prose and program text hold brackets as well."""
    known = find_schema(reader.tools, call.name) is not None
    if call.cut_off or call.arguments is None:
        return known or (call.cut_off and call.name is not None and (call.named or not reader.tools))
    if not call.readable and (call.name is None or (reader.tools and not known)):
        return False
    if call.name is None and not call.arguments.values:
        return False
    behind = yield from reader.past_space()
    mark = yield from reader.ahead(1, behind)
    if mark == "]":
        return (yield from reader.ahead(1, behind + 1)) != "("  # else [f()](link)
    other_marks = (*SEPARATORS, *(f"{name}(" for name in tool_names(reader.tools))) if known else ()
    return mark in ("", ",") or bool((yield from reader.sees((*ends, *other_marks), behind)))


def _elements(reader: Reader, first: PythonCall, ends: tuple[str, ...], problem: CallProblem | None) -> Wait[None]:
    call: PythonCall | None = first
    separators = ","
    while call:
        if call.arguments is None and not call.cut_off:
            call = yield from _unreadable(reader, call, ends)
        add_python_call(reader, call, problem if separators == "," else CallProblem.MALFORMED)
        end = reader.at
        position, separators = yield from _past_separators(reader)
        call = yield from python_call(reader, position)
        if call is None and separators and _is_cut_off_name(reader, position):
            call = PythonCall(None, position, reader.size, cut_off=True)
    reader.move(end)
    if (yield from reader.ahead(1, position)) == "]":
        reader.take("markup", position + 1)
        position, separators = yield from _past_separators(reader)
        if separators and (yield from reader.ahead(1, position)) == "[":
            reader.take("markup", position)
    elif position == reader.size or (ends and (yield from reader.sees(ends, position))):
        reader.take("markup", position)


def _past_separators(reader: Reader) -> Wait[tuple[int, str]]:
    """Where the text behind the cursor goes on after white space and separators, and which they were."""
    position, separators = (yield from reader.past_space()), ""
    while len(separators) < MAX_SEPARATORS and (mark := (yield from reader.sees(SEPARATORS, position))):
        separators += mark
        position = yield from reader.past_space(position + 1)
    return position, separators


def _unreadable(reader: Reader, call: PythonCall, ends: tuple[str, ...]) -> Wait[PythonCall]:
    """A call whose arguments are none goes up to the next closing parenthesis."""
    mark = yield from reader.until((")", *ends), None)
    end = reader.at + (mark == ")")
    return PythonCall(call.name, call.start, end, cut_off=mark is None)


def _is_cut_off_name(reader: Reader, start: int) -> bool:
    return reader.ended and bool(_NAME.fullmatch(reader.slice(start, min(reader.size, start + NAME_LIMIT))))


def whole_turn(reader: Reader, start: int, ends: tuple[str, ...]) -> Wait[bool]:
    """Read calls of the tools that stand there without a list, from `start` to the end of the turn.

    False, and nothing taken, if anything else stands among them: then they are
    talked about.
    """
    cursor = reader.at
    calls: list[PythonCall] = []
    position = start
    while call := (yield from python_call(reader, position)):
        if find_schema(reader.tools, call.name) is None:
            break
        calls.append(call)
        position = yield from reader.past_space()
        if (yield from reader.sees(SEPARATORS, position)):
            position = yield from reader.past_space(position + 1)
        if position == reader.size or (yield from reader.sees(ends, position)):
            for each in calls:
                add_python_call(reader, each, CallProblem.MALFORMED)
            return True
    reader.move(cursor)
    return False
