"""Hunyuan A13B and its smaller kin: a name and a fenced JSON object for each call, all calls in one block.

<tool_calls><tool_call>get_weather
```json
{"city": "Paris"}
```</tool_call></tool_calls>

Prompts that servers give out teach a JSON list between the outer tags, which is
read as well.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from formats.parsers.base import (
    OutputFormat,
    Payload,
    add_call,
    arguments_payload,
    call_list,
    first_problem,
    read_turn,
)
from formats.reading.calls import MISSING
from formats.reading.frames import cut_off, frame_end, near, take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<tool_calls>", "</tool_calls>"
CALL, CALL_END = "<tool_call>", "</tool_call>"
FENCE, JSON_FENCE = "```", "```json"
STOPS = ("<｜hy_eos｜>", "<|eos|>")

_FRAME = (CALL_END, CALL, CLOSE, *STOPS)


def block(reader: Reader) -> Wait[bool]:
    """The tag counts only if a call, or a list of them, follows it."""
    position = yield from reader.past_space(reader.at + len(OPEN))
    if not (yield from reader.sees((CALL,), position)):
        if not (yield from call_list(reader, position, (CLOSE, OPEN, *STOPS))):
            return False
    else:
        while (yield from reader.sees((CALL,), position)):
            if not (yield from _call(reader, position)):
                return bool(reader.calls)
            position = yield from reader.past_space()
    yield from take_closer(reader, CLOSE)
    return True


def _call(reader: Reader, opener: int) -> Wait[bool]:
    start = opener + len(CALL)
    end = yield from near(reader, ("\n", FENCE, "{", *_FRAME), start)
    name = None if end is None else reader.slice(start, end).strip()
    if end is None or name is None or len(name.split()) > 1:
        return False
    reader.take("markup", start)
    if end == reader.size:
        add_call(reader, Payload(start, end, MISSING, CallProblem.UNCLOSED), None, MISSING)
        return True
    reader.move(end)
    payload, fenced = yield from _arguments(reader)
    wrong, end, closed = yield from frame_end(reader, (CALL_END,), STOPS)
    problem = first_problem(None if fenced else CallProblem.MALFORMED, wrong)
    add_call(reader, replace(payload, end=end), name, payload.arguments, start=start, problem=problem)
    reader.take("markup", closed)
    return True


def _arguments(reader: Reader) -> Wait[tuple[Payload, bool]]:
    """The arguments, and whether a whole fence is around them."""
    opening = yield from reader.past_space()
    fence = yield from reader.sees((JSON_FENCE, FENCE), opening)
    if fence is None:
        return (yield from arguments_payload(reader, _FRAME)), False
    reader.move(opening + len(fence))
    payload = yield from arguments_payload(reader, (FENCE + CALL_END, *_FRAME), between=(FENCE,))
    behind = yield from reader.past_space()
    if (yield from reader.sees((FENCE,), behind)):
        reader.move(behind + len(FENCE))
    elif (yield from cut_off(reader, (FENCE,), behind)):
        reader.move(reader.size)
    return replace(payload, end=reader.at), fence == JSON_FENCE


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: block}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"{OPEN}{''.join(map(_write_call, calls))}{CLOSE}"


def _write_call(call: FunctionCall) -> str:
    return f"{CALL}{call['name']}\n{JSON_FENCE}\n{json.dumps(call['arguments'], ensure_ascii=False)}\n{FENCE}{CALL_END}"


_CALL = f'{CALL}get_weather\n{JSON_FENCE}\n{{"city": "Paris"}}\n{FENCE}{CALL_END}'

FORMAT = OutputFormat(
    name="hunyuan_a13b",
    title="Hunyuan A13B (fenced JSON)",
    reference="https://huggingface.co/tencent/Hunyuan-A13B-Instruct",
    example=f"{OPEN}{_CALL}{CLOSE}",
    markers=(OPEN, CLOSE, CALL, CALL_END, JSON_FENCE),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "hunyuan_a13b"},
    broken={
        f'{OPEN}{CALL}get_weather\n{JSON_FENCE}\n{{"city": "Par': CallProblem.UNCLOSED,
        f"{OPEN}{_CALL.replace('}', ',}')}{CLOSE}": CallProblem.INVALID_JSON,
        f'{OPEN}{CALL}get_weather\n{{"city": "Paris"}}{CALL_END}{CLOSE}': CallProblem.MALFORMED,
        f"{OPEN}{_CALL.replace('get_weather', '')}{CLOSE}": CallProblem.MISSING_NAME,
    },
)
