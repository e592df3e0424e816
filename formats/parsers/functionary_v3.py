"""Functionary: a recipient and its JSON, in the layouts of its versions.

>>>all
Let me look.>>>get_weather
{"city": "Paris"}

v3.2 writes this; its prompts end with the first >>>, and `all` is the user.

<function=get_weather>{"city": "Paris"}</function>

v3.1 writes this, v2 the first of the next two, and Llama models tuned on
Functionary's data the other. Calls are written as v3.2 does.

<|from|>assistant
<|recipient|>get_weather
<|content|>{"city": "Paris"}<|stop|>
<|start|>function<|message|>{"name": "get_weather", "arguments": {"city": "Paris"}}<|call|>
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from formats.parsers.base import (
    OutputFormat,
    Payload,
    add_call,
    arguments_payload,
    json_payload,
    named_call,
    read_turn,
)
from formats.reading.calls import MISSING, find_schema
from formats.reading.frames import cut_off, frame_end, near
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

ARROWS, USER = ">>>", "all"
TAG, TAG_END = "<function=", "</function>"
FROM, RECIPIENT, CONTENT = "<|from|>", "<|recipient|>", "<|content|>"
START, MESSAGE, CALL = "<|start|>", "<|message|>", "<|call|>"
STOPS = ("<|eot_id|>", "<|eom_id|>", "<|stop|>", "<|end|>", "<|end_of_text|>")
_WORD = re.compile(r"[\w.:/-]*")
_JSON_BEGINS = ("{", '"')


def arrows(reader: Reader) -> Wait[bool]:
    return (yield from _addressed(reader, reader.at + len(ARROWS)))


def _addressed(reader: Reader, start: int) -> Wait[bool]:
    """v3.2: a recipient alone in its line. It counts only if it is the user, or JSON follows it."""
    line_end = yield from near(reader, ("\n",), start)
    name = reader.peek(start, (line_end or start) - start).rstrip()
    if line_end is None or not _WORD.fullmatch(name):
        return False
    if line_end == reader.size:
        return bool(name) and _cut_off_in_name(reader, start, name)
    body = yield from reader.past_space(line_end)
    begins = yield from reader.ahead(1, body)
    if name == USER:
        reader.take("markup", line_end)
    elif begins in (*_JSON_BEGINS, "") or find_schema(reader.tools, name) is not None:
        yield from _call(reader, start, name, line_end, (ARROWS, *STOPS))
    else:
        return False
    return True


def _call(reader: Reader, start: int, name: str, body: int, ends: tuple[str, ...]) -> Wait[None]:
    """A call whose arguments are the last thing in it."""
    reader.take("markup", start)
    reader.move(body)
    payload = yield from arguments_payload(reader, ends)
    add_call(reader, payload, name, payload.arguments, start=start)


def _cut_off_in_name(reader: Reader, start: int, name: str) -> bool:
    """The output ends in a recipient, which may be the user."""
    reader.take("markup", start)
    if USER.startswith(name):
        reader.take("markup", reader.size)
    else:
        add_call(reader, Payload(start, reader.size, MISSING, CallProblem.UNCLOSED), None, MISSING)
    return True


def tagged(reader: Reader) -> Wait[bool]:
    """v3.1: the name in a tag. It counts only if JSON follows it, or its end."""
    start = reader.at + len(TAG)
    name_end = yield from near(reader, (">", "{"), start)
    name = reader.peek(start, (name_end or start) - start).strip()
    if name_end is None or not _WORD.fullmatch(name):
        return False
    if name_end == reader.size:
        return bool(name) and _cut_off_in_name(reader, start, name)
    problem = CallProblem.MALFORMED if (yield from reader.ahead(1, name_end)) == "{" else None
    body = yield from reader.past_space(name_end + (problem is None))
    begins = (yield from reader.ahead(1, body)) in (*_JSON_BEGINS, "")
    if not begins and not (yield from reader.sees((TAG_END,), body)):
        return False
    reader.take("markup", start)
    reader.move(body)
    payload = yield from arguments_payload(reader, (TAG_END, TAG, *STOPS))
    wrong, end, closed = yield from frame_end(reader, (TAG_END,), STOPS)
    add_call(reader, replace(payload, end=end), name, payload.arguments, start=start, problem=wrong or problem)
    reader.take("markup", closed)
    return True


def sender(reader: Reader) -> Wait[bool]:
    """v2: who writes, and to whom."""
    role_end = yield from near(reader, ("\n", RECIPIENT), reader.at + len(FROM))
    if role_end is None:
        return False
    start = yield from reader.past_space(role_end)
    if (yield from reader.sees((RECIPIENT,), start)):
        return (yield from _to_recipient(reader, start + len(RECIPIENT)))
    if not (yield from cut_off(reader, (RECIPIENT,), start)):
        return False
    reader.take("markup", reader.size)
    return True


def recipient(reader: Reader) -> Wait[bool]:
    return (yield from _to_recipient(reader, reader.at + len(RECIPIENT)))


def _to_recipient(reader: Reader, start: int) -> Wait[bool]:
    name_end = yield from near(reader, ("\n", CONTENT), start)
    name = reader.peek(start, (name_end or start) - start).strip()
    if name_end is None or not _WORD.fullmatch(name):
        return False
    if name_end == reader.size:
        return bool(name) and _cut_off_in_name(reader, start, name)
    position = yield from reader.past_space(name_end)
    opens = yield from reader.sees((CONTENT,), position)
    if not opens and not (yield from cut_off(reader, (CONTENT,), position)):
        return False
    body = position + len(CONTENT) if opens else reader.size
    if name == USER:
        reader.take("markup", body)
    else:
        yield from _call(reader, start, name, body, (FROM, *STOPS))
    return True


def message(reader: Reader) -> Wait[bool]:
    """A message with a role; what has the role of a function is a call."""
    start = reader.at + len(START)
    role_end = yield from near(reader, (MESSAGE,), start)
    if role_end is None or role_end == reader.size:
        return False
    role = reader.peek(start, role_end - start).strip()
    reader.take("markup", role_end + len(MESSAGE))
    if role == "function":
        payload = yield from json_payload(reader, (CALL, START, *STOPS))
        problem, end, closed = yield from frame_end(reader, (CALL,))
        problem = None if problem is CallProblem.UNCLOSED else problem  # a stop token: servers cut it off
        named_call(reader, replace(payload, end=end), problem=problem)
        reader.take("markup", closed)
    return True


def read(reader: Reader) -> Wait[None]:
    suffix = reader.prompt_suffix.rstrip()
    if suffix.endswith(ARROWS):
        yield from _addressed(reader, reader.at)
    elif suffix.endswith(RECIPIENT):
        yield from _to_recipient(reader, reader.at)
    openers = {ARROWS: arrows, TAG: tagged, FROM: sender, RECIPIENT: recipient, START: message}
    yield from read_turn(reader, openers, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return ARROWS.join(f"{c['name']}\n{json.dumps(c['arguments'], ensure_ascii=False)}" for c in calls)


FORMAT = OutputFormat(
    name="functionary_v3",
    title="Functionary (v3.2, v3.1, v2)",
    reference="https://github.com/MeetKai/functionary",
    example='get_weather\n{"city": "Paris"}',
    markers=(ARROWS, TAG, TAG_END, FROM, RECIPIENT, CONTENT, START, MESSAGE, CALL),
    read=read,
    write=write,
    stops=("<|eot_id|>", "<|stop|>"),
    prompt_suffix=ARROWS,
    broken={
        '>>>get_weather\n{"city": "Par': CallProblem.UNCLOSED,
        "<function=get_weather>{'city': 'Paris'}</function>": CallProblem.INVALID_JSON,
        '<function=get_weather{"city": "Paris"}</function>': CallProblem.MALFORMED,
        '<function=>{"city": "Paris"}</function>': CallProblem.MISSING_NAME,
        '>>>get_weather\n"{\\"city\\": \\"Paris\\"}"': CallProblem.DOUBLE_ENCODED,
    },
)
