"""Mistral: a JSON list behind a token, or (v11 and later) a name and its arguments behind a token each.

[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "a1B2c3D4e"}]
[TOOL_CALLS]get_weather[CALL_ID]a1B2c3D4e[ARGS]{"city": "Paris"}
[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}
[TOOL_CALLS]get_weather{"city": "Paris"}

The last is seen where a server drops [ARGS] as a special token. Calls are written
as the newest models do, with [ARGS].
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from formats.parsers.base import OutputFormat, Payload, add_call, arguments_payload, call_list, read_turn
from formats.reading.calls import MISSING
from formats.reading.frames import cut_off, near
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, ID, ARGS = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"
THINK = ("[THINK]", "[/THINK]")
STOPS = ("</s>",)
ENDS = (OPEN, *STOPS)
_NOT_NAME = re.compile(r"[^\w.:/-]")


def calls(reader: Reader) -> Wait[bool]:
    """The list, or the calls by name, behind the opener."""
    opened = reader.at + len(OPEN)
    start = yield from reader.past_space(opened)
    if (yield from call_list(reader, start, ENDS)):
        return True
    if not (yield from _named_call(reader, start)):
        return start == opened and (yield from _name_cut_off(reader, start))
    while (yield from _unopened_call(reader)):
        pass
    return True


def _named_call(reader: Reader, start: int, problem: CallProblem | None = None) -> Wait[bool]:
    """A name, an id if there is one, and the arguments. A name counts only if what must follow it does."""
    name_end = yield from reader.find(_NOT_NAME, start)
    position = yield from reader.past_space(name_end)
    mark = yield from reader.sees((ARGS, ID, "{"), position)
    if mark is None or (mark == "{" and not (yield from _opens_object(reader, position))):
        return False
    id_start, id_end = position + len(ID), None
    if mark == ID:
        id_end = yield from near(reader, (ARGS, "{"), id_start)
        if id_end is None:
            return False
        position, mark = id_end, (yield from reader.sees((ARGS,), id_end))
    name = reader.slice(start, name_end)
    call_id = reader.slice(id_start, id_end).strip() if id_end not in (None, reader.size) else None
    reader.take("markup", start)
    reader.move(position + (len(ARGS) if mark == ARGS else 0))
    payload = yield from arguments_payload(reader, ENDS)
    add_call(reader, payload, name, payload.arguments, start=start, problem=problem, id=call_id)
    return True


def _opens_object(reader: Reader, brace: int) -> Wait[bool]:
    """Without a token between name and brace, only what looks like JSON counts."""
    inside = yield from reader.past_space(brace + 1)
    return (yield from reader.ahead(1, inside)) in ('"', "'", "}", "")


def _unopened_call(reader: Reader) -> Wait[bool]:
    """A further call, whose opener was left out: its name must be followed by a token."""
    start = yield from reader.past_space()
    name_end = yield from reader.find(_NOT_NAME, start)
    if name_end == start or not (yield from reader.sees((ARGS, ID), name_end)):
        return False
    return (yield from _named_call(reader, start, CallProblem.MALFORMED))


def _name_cut_off(reader: Reader, start: int) -> Wait[bool]:
    """A name with nothing behind it: the output ends in it, or the model ended its turn."""
    name_end = yield from reader.find(_NOT_NAME, start)
    ended = yield from cut_off(reader, (ARGS, ID), name_end)
    if start == reader.size or not (ended or (name_end > start and (yield from reader.sees(ENDS, name_end)))):
        return False
    reader.take("markup", start)
    name = reader.slice(start, name_end) if name_end < reader.size else None
    payload = Payload(start, reader.size if ended else name_end)
    add_call(reader, payload, name, MISSING, problem=CallProblem.UNCLOSED if ended else CallProblem.MALFORMED)
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: calls}, reasoning=THINK, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "".join(f"{OPEN}{c['name']}{ARGS}{json.dumps(c['arguments'], ensure_ascii=False)}" for c in calls)


FORMAT = OutputFormat(
    name="mistral",
    title="Mistral ([TOOL_CALLS])",
    reference="https://docs.mistral.ai/capabilities/function_calling/",
    example='[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
    markers=(OPEN, ID, ARGS),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "mistral", "sglang": "mistral"},
    reasoning=THINK,
    broken={
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Par': CallProblem.UNCLOSED,
        '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris",}}]': CallProblem.INVALID_JSON,
        '[TOOL_CALLS]{"name": "get_weather", "arguments": {}}': CallProblem.MALFORMED,
        '[TOOL_CALLS][ARGS]{"city": "Paris"}': CallProblem.MISSING_NAME,
    },
)
