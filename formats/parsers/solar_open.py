"""Solar Open: messages in channels; in one of them calls, each an id, a name and JSON behind tokens. All on one line:

<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Paris"}
<|tool_call:end|><|calls|>

Thoughts and text are messages of the same turn: <|think|>...<|end|>, and behind
the next <|begin|>assistant <|content|>...<|end|>. The prompt ends in front of the
first channel's token. Upstage's own build of vLLM has a parser for it, by the
same name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from formats.parsers.base import (
    Handler,
    OutputFormat,
    add_call,
    arguments_payload,
    first_problem,
    read_turn,
)
from formats.reading.frames import cut_off, frame_end, near
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

CALLS, CALLS_END = "<|tool_calls|>", "<|calls|>"
CALL, CALL_END = "<|tool_call:begin|>", "<|tool_call:end|>"
NAME, ARGUMENTS = "<|tool_call:name|>", "<|tool_call:args|>"
MESSAGE, CONTENT = "<|begin|>assistant", "<|content|>"
THINK = ("<|think|>", "<|end|>")
STOPS = (CALLS_END, "<|end|>", "<|flush|>")
ENDS = (CALL_END, CALL, *STOPS)

_ID = re.compile(r"[\w.:-]*")
_ID_LENGTH = 10  # of letters a to z and digits, as the template tells the model


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands in front of the arguments, which begin at `end`."""

    id: str | None
    name: str | None
    end: int
    problem: CallProblem | None = None


def _head(reader: Reader, start: int) -> Wait[_Head | None]:
    """Id and name of a call that is opened before `start`, if the name's token or the output's end follows the id."""
    inside = yield from reader.past_space(start)
    id_end = yield from near(reader, ("<", " ", "\t", "\n", "{"), inside)
    if id_end is None or not _ID.fullmatch(call_id := reader.slice(inside, id_end)):
        return None
    if id_end == reader.size:
        return _Head(None, None, id_end) if id_end > inside or inside == start else None
    behind = yield from reader.past_space(id_end)
    if not (yield from reader.sees((NAME,), behind)):
        return _Head(None, None, reader.size) if (yield from cut_off(reader, (NAME,), behind)) else None
    name_start = behind + len(NAME)
    name_end = yield from near(reader, (ARGUMENTS, "<", "\n", "{"), name_start)
    if name_end is None or name_end == reader.size:
        return _Head(call_id, None, name_start if name_end is None else name_end)
    name = reader.slice(name_start, name_end).strip()
    if (yield from reader.sees((ARGUMENTS,), name_end)):
        return _Head(call_id, name, name_end + len(ARGUMENTS))
    cut = yield from cut_off(reader, (ARGUMENTS,), name_end)
    return _Head(call_id, name, reader.size if cut else name_end, None if cut else CallProblem.MALFORMED)


def _markup(token: str) -> Handler:
    def take(reader: Reader) -> Wait[bool]:
        yield from ()  # it never has to wait for more
        reader.take("markup", reader.at + len(token))
        return True

    return take


def _channel(reader: Reader) -> Wait[bool]:
    """The channel of calls counts only if a call follows."""
    position = yield from reader.past_space(reader.at + len(CALLS))
    if not (yield from reader.sees((CALL,), position)) or not (yield from _head(reader, position + len(CALL))):
        return False
    reader.take("markup", position)
    yield from _calls(reader)
    return True


def _bare_call(reader: Reader) -> Wait[bool]:
    """A call in another channel counts if it has a name."""
    head = yield from _head(reader, reader.at + len(CALL))
    if head is None or not head.name:
        return False
    yield from _calls(reader, CallProblem.MALFORMED)
    return True


def _calls(reader: Reader, problem: CallProblem | None = None) -> Wait[None]:
    """All calls from the cursor on, with nothing between them."""
    position = reader.at
    while (yield from reader.sees((CALL,), position)):
        yield from _call(reader, position + len(CALL), problem)
        position = yield from reader.past_space()


def _call(reader: Reader, inside: int, problem: CallProblem | None) -> Wait[None]:
    head = yield from _head(reader, inside)
    reader.take("markup", inside)
    head = head or _Head(None, None, inside, CallProblem.MALFORMED)
    reader.move(head.end)
    payload = yield from arguments_payload(reader, ENDS)
    frame_problem, end, closed = yield from frame_end(reader, (CALL_END,), STOPS)
    whole = replace(payload, start=inside, end=end)
    problem = first_problem(problem, head.problem, frame_problem)
    add_call(reader, whole, head.name, payload.arguments, problem=problem, id=head.id or None)
    reader.take("markup", closed)


HANDLERS = {CALLS: _channel, CALL: _bare_call, MESSAGE: _markup(MESSAGE), CONTENT: _markup(CONTENT)}


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, HANDLERS, reasoning=THINK, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"{CALLS}{''.join(_write_call(call, index) for index, call in enumerate(calls))}{CALLS_END}"


def _write_call(call: FunctionCall, index: int) -> str:
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    return f"{CALL}{f'call{index}':0<{_ID_LENGTH}}{NAME}{call['name']}{ARGUMENTS}{arguments}{CALL_END}"


FORMAT = OutputFormat(
    name="solar_open",
    title="Solar Open (calls in a channel, with ids)",
    reference="https://huggingface.co/upstage/Solar-Open-100B",
    example=(
        "<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>get_weather<|tool_call:args|>"
        '{"city": "Paris"}<|tool_call:end|><|calls|>'
    ),
    markers=(CALLS, CALL, NAME, ARGUMENTS, CALL_END, CALLS_END),
    read=read,
    write=write,
    stops=(CALLS_END, "<|flush|>"),
    reasoning=THINK,
    broken={
        f'{CALLS}{CALL}a1b2c3d4e5{NAME}get_weather{ARGUMENTS}{{"city": "Par': CallProblem.UNCLOSED,
        f'{CALLS}{CALL}a1b2c3d4e5{NAME}get_weather{ARGUMENTS}{{"city": "Paris",}}{CALL_END}{CALLS_END}': (
            CallProblem.INVALID_JSON
        ),
        f'{CALL}a1b2c3d4e5{NAME}get_weather{ARGUMENTS}{{"city": "Paris"}}{CALL_END}': CallProblem.MALFORMED,
        f'{CALLS}{CALL}a1b2c3d4e5{NAME}{ARGUMENTS}{{"city": "Paris"}}{CALL_END}{CALLS_END}': CallProblem.MISSING_NAME,
        f'{CALLS}{CALL}a1b2c3d4e5{NAME}get_weather{ARGUMENTS}"{{}}"{CALL_END}{CALLS_END}': CallProblem.DOUBLE_ENCODED,
    },
)
