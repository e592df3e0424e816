"""Calls whose arguments stand between tags, added to an output; and those where JSON stands in place of the tags."""

from __future__ import annotations

from dataclasses import replace

from formats.parsers.base import Payload, add_call, json_payload, named_call
from formats.reading.frames import frame_end
from formats.reading.reader import Reader, Wait
from formats.reading.tagged import Body, Label, Tags
from formats.types import CallProblem


def add_tagged_call(
    reader: Reader, start: int, end: int, name: Label, body: Body, problem: CallProblem | None = None
) -> None:
    payload = Payload(start, end, body.arguments, body.problem, "; ".join(body.notes))
    add_call(reader, payload, name.text, payload.value, problem=problem)


def json_call(reader: Reader, start: int, tags: Tags) -> Wait[bool]:
    """Read an object at `start` that holds name and arguments: Hermes' layout between this format's tags.

    False, and nothing taken, where there is none.
    """
    if (yield from reader.ahead(1, start)) != "{":
        return False
    key = yield from reader.past_space(start + 1)
    if (yield from reader.ahead(1, key)) != '"':
        return False
    reader.take("markup", start)
    payload = yield from json_payload(reader, (tags.call[1], tags.call[0], *tags.stops))
    problem, end, closed = yield from frame_end(reader, (tags.call[1],), tags.stops)
    note = ", ".join(filter(None, ("the call in JSON", payload.note)))
    named_call(reader, replace(payload, end=end, note=note), problem=problem or CallProblem.MALFORMED)
    reader.take("markup", closed)
    return True


def json_arguments(reader: Reader, start: int, name: Label, tags: Tags) -> Wait[bool]:
    """Read a JSON object at the cursor, where the first argument's tag should stand, for the call from `start` on.

    False, and nothing taken, where there is none.
    """
    inside = yield from reader.past_space()
    if (yield from reader.ahead(1, inside)) != "{":
        return False
    payload = yield from json_payload(reader, (tags.function[1], *tags.call, *tags.stops))
    problem, end, closed = yield from frame_end(reader, (tags.function[1],), tags.stops)
    note = ", ".join(filter(None, ("arguments in JSON", payload.note)))
    whole = replace(payload, start=start, end=end, note=note)
    add_call(reader, whole, name.text, payload.arguments, problem=problem or CallProblem.MALFORMED)
    reader.take("markup", closed)
    return True
