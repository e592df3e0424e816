"""Calls whose arguments stand between tags, added to an output; and those where JSON stands in place of the tags."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

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


def json_call(reader: Reader, start: int, call: tuple[str, str], stops: tuple[str, ...]) -> Wait[bool]:
    """Read an object at `start` that holds name and arguments: Hermes' layout between the tags of another `call`.

    False, and nothing taken, where there is none.
    """
    opener, closer = call
    if (yield from reader.ahead(1, start)) != "{":
        return False
    key = yield from reader.past_space(start + 1)
    if (yield from reader.ahead(1, key)) != '"':
        return False
    reader.take("markup", start)
    payload = yield from json_payload(reader, (closer, opener, *stops))
    problem, end, closed = yield from frame_end(reader, (closer,), stops)
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


def write_value(value: Any, tags: Tags) -> str:
    """A string as it is, anything else as JSON, in which a tag can be escaped."""
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    holds_tag = tags.value_end in text or tags.call[0] in text
    return text.replace("<", r"\u003c") if holds_tag else text
