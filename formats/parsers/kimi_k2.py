"""Kimi K2 to K2.7: calls in a section, each with an id that holds the name; the arguments are JSON. All on one line:

<|tool_calls_section_begin|>
<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>
<|tool_calls_section_end|>

`functions.` and the counter are the id's, not the name's. Templates print any id
that they are given, so models learn to write others; the name is read in them
where the tools leave no doubt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from formats.parsers.base import (
    OutputFormat,
    add_call,
    arguments_payload,
    first_problem,
    json_payload,
    named_call,
    read_turn,
    response_template,
)
from formats.reading.calls import tool_names
from formats.reading.frames import cut_off, frame_end, near
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
ONE_SECTION, ONE_SECTION_END = "<|tool_call_section_begin|>", "<|tool_call_section_end|>"  # as some spell it
CALL, CALL_END = "<|tool_call_begin|>", "<|tool_call_end|>"
ARGUMENTS = "<|tool_call_argument_begin|>"
STOPS = ("<|im_end|>", "[EOS]")
SECTION_ENDS = (SECTION_END, ONE_SECTION_END)
ENDS = (CALL_END, CALL, *SECTION_ENDS, *STOPS)

_WRITTEN_ID = re.compile(r"(?:\w[\w.:/-]*)?")
_ID = re.compile(r"functions\.(.+):\d+")
_ID_OF_NAME = re.compile(r"(.+):\d+")
_PLAIN_ID = re.compile(r"functions_(.+)_\d+")  # as clients rewrite ids that allow letters, digits, _ and - only


@dataclass(frozen=True, slots=True)
class _Head:
    """An id, and where what stands behind it begins."""

    id: str | None  # None where the output ends in it
    end: int


def _head(reader: Reader, start: int) -> Wait[_Head | None]:
    """The id in a call that is opened before `start`, if arguments or the end of the output follow it."""
    inside = yield from reader.past_space(start)
    end = yield from near(reader, ("<", "{", " ", "\t", "\n"), inside)
    if end is None or not _WRITTEN_ID.fullmatch(reader.slice(inside, end)):
        return None
    if end == reader.size:
        return _Head(None, end) if end > inside or inside == start else None
    behind = yield from reader.past_space(end)
    follows = (ARGUMENTS, "{", CALL_END)
    if (yield from reader.sees(follows, behind)) or (yield from cut_off(reader, follows, behind)):
        return _Head(reader.slice(inside, end), behind)
    return None


def _name(call_id: str, reader: Reader) -> tuple[str | None, CallProblem | None]:
    """The name that an id holds. An id of another shape holds one if exactly one tool's name fits it."""
    if match := _ID.fullmatch(call_id):
        return match.group(1), None
    tools = tool_names(reader.tools)
    match = _ID_OF_NAME.fullmatch(call_id)
    if match and match.group(1) in tools:
        return match.group(1), None
    fit = [tool for tool in tools if re.fullmatch(rf"(?:functions[.:_]?)?{re.escape(tool)}(?:[.:_]?\d+)?", call_id)]
    if len(fit) == 1:
        return fit[0], CallProblem.MALFORMED
    if match:
        return match.group(1), None
    match = _PLAIN_ID.fullmatch(call_id)
    return (match.group(1), CallProblem.MALFORMED) if match else (None, None)


def _section(reader: Reader) -> Wait[bool]:
    """A section counts only if a call follows. Its end may be missing behind whole calls."""
    opener = yield from reader.sees((SECTION, ONE_SECTION))
    position = reader.at + len(opener or "")
    position = yield from reader.past_space(position)
    if not (yield from reader.sees((CALL,), position)) or not (yield from _head(reader, position + len(CALL))):
        return False
    reader.take("markup", position)
    yield from _calls(reader)
    return True


def _bare_call(reader: Reader) -> Wait[bool]:
    """A call without a section around it counts if it has an id and an object."""
    head = yield from _head(reader, reader.at + len(CALL))
    if head is None or not head.id:
        return False
    opened = yield from reader.sees((ARGUMENTS,), head.end)
    behind = yield from reader.past_space(head.end + len(opened or ""))
    if (yield from reader.sees(("{", '"', CALL_END), behind)) is None and not (opened and behind == reader.size):
        return False
    yield from _calls(reader, CallProblem.MALFORMED)
    return True


def _calls(reader: Reader, problem: CallProblem | None = None) -> Wait[None]:
    """All calls from the cursor on, with nothing between them, and the end of the section."""
    position = reader.at
    while (yield from reader.sees((CALL,), position)):
        yield from _call(reader, position + len(CALL), problem)
        position = yield from reader.past_space()
    _, _, closed = yield from frame_end(reader, SECTION_ENDS)
    reader.take("markup", closed)


def _call(reader: Reader, inside: int, problem: CallProblem | None) -> Wait[None]:
    head = yield from _head(reader, inside)
    reader.take("markup", inside)
    if head is None:
        head = _Head("", inside)
    elif head.id == "" and (yield from reader.sees(("{",), head.end)):
        yield from _named_object(reader)
        return
    name, damaged = _name(head.id or "", reader)
    reader.move(head.end)
    if (yield from reader.sees((ARGUMENTS,))):
        reader.move(reader.at + len(ARGUMENTS))
    elif not (yield from cut_off(reader, (ARGUMENTS,), head.end)):
        problem = first_problem(problem, CallProblem.MALFORMED)
    payload = yield from arguments_payload(reader, ENDS)
    frame_problem, end, closed = yield from frame_end(reader, (CALL_END,), STOPS)
    problem = first_problem(problem, damaged, frame_problem)
    note = "the name is read in an id of another shape" if name and damaged else ""
    whole = replace(payload, start=inside, end=end, note=", ".join(filter(None, (note, payload.note))))
    add_call(reader, whole, name, payload.arguments, problem=problem, id=head.id or None)
    reader.take("markup", closed)


def _named_object(reader: Reader) -> Wait[None]:
    """An object that holds the name and the arguments, where the id should stand."""
    payload = yield from json_payload(reader, ENDS)
    problem, end, closed = yield from frame_end(reader, (CALL_END,), STOPS)
    named_call(reader, replace(payload, end=end), problem=first_problem(problem, CallProblem.MALFORMED))
    reader.take("markup", closed)


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {SECTION: _section, ONE_SECTION: _section, CALL: _bare_call}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"{SECTION}{''.join(_write_call(call, index) for index, call in enumerate(calls))}{SECTION_END}"


def _write_call(call: FunctionCall, index: int) -> str:
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    return f"{CALL}functions.{call['name']}:{index}{ARGUMENTS}{arguments}{CALL_END}"


FORMAT = OutputFormat(
    name="kimi_k2",
    title="Kimi K2 (sections of calls with ids)",
    reference="https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md",
    example=(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    markers=(SECTION, SECTION_END, CALL, ARGUMENTS, CALL_END),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "kimi_k2", "sglang": "kimi_k2"},
    response_template=response_template(
        "<|im_assistant|>assistant<|im_middle|>",
        r"(?:<\|tool_calls_section_begin\|>)?\s*<\|tool_call_begin\|>(?:functions\.)?(?P<name>[^<|]+?):\d+"
        r"<\|tool_call_argument_begin\|>",
        r"<\|tool_call_end\|>(?:\s*<\|tool_calls_section_end\|>)?",
        {"name": "{name}", "arguments": "{content}"},
        r"<\|im_end\|>",
    ),
    broken={
        f'{SECTION}{CALL}functions.get_weather:0{ARGUMENTS}{{"city": "Par': CallProblem.UNCLOSED,
        f'{SECTION}{CALL}functions.get_weather:0{ARGUMENTS}{{"city": "Paris",}}{CALL_END}{SECTION_END}': (
            CallProblem.INVALID_JSON
        ),
        f'{CALL}functions.get_weather:0{ARGUMENTS}{{"city": "Paris"}}{CALL_END}': CallProblem.MALFORMED,
        f'{SECTION}{CALL}call00003{ARGUMENTS}{{"city": "Paris"}}{CALL_END}{SECTION_END}': CallProblem.MISSING_NAME,
        f'{SECTION}{CALL}functions.get_weather:0{ARGUMENTS}"{{}}"{CALL_END}{SECTION_END}': CallProblem.DOUBLE_ENCODED,
    },
)
