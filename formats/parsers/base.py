"""What every output format offers, and the readings that many formats share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from formats.reading import json_text
from formats.reading.calls import MISSING, settle
from formats.reading.reader import Reader, Wait
from formats.reading.stream import OutputStream
from formats.types import CallProblem, FunctionCall, ParsedOutput, ToolDefinition

THINK = ("<think>", "</think>")


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """How one family of models writes tool calls.

    `write` and `parse` are inverses. Where a format itself makes that impossible
    (a value that holds the very text that ends it), parse does what the format's
    rules say, and a check reports the loss.
    """

    name: str  # vLLM's --tool-call-parser key where there is one
    title: str
    reference: str  # where its authors describe it
    example: str  # one call on the wire
    markers: tuple[str, ...]  # the literal strings that delimit a call; empty for a format without any
    read: Callable[[Reader], Wait[None]]
    write: Callable[[Sequence[FunctionCall]], str]  # arguments are objects
    broken: Mapping[str, CallProblem] = field(default_factory=dict)  # outputs seen in the wild -> what is wrong
    calls_per_turn: int | None = None  # None: as many as the model likes
    stops: tuple[str, ...] = ()  # strings at which a server should stop generating
    servers: Mapping[str, str] = field(default_factory=dict)  # "vllm" -> its flag's value, "sglang" -> ...
    reasoning: tuple[str, str] | None = THINK
    prompt_suffix: str = ""  # what the format's own template writes before an output, where reading needs it

    def parse(self, text: str, tools: Sequence[ToolDefinition] = (), prompt_suffix: str = "") -> ParsedOutput:
        """Read a whole output. Never raises on any text; the segments tile it."""
        stream = self.stream(tools, prompt_suffix)
        stream.feed(text)
        stream.close()
        return stream.result()

    def stream(self, tools: Sequence[ToolDefinition] = (), prompt_suffix: str = "") -> OutputStream:
        return OutputStream(self.read, tools, prompt_suffix)


Handler = Callable[[Reader], Wait[bool]]


def read_turn(
    reader: Reader,
    openers: Mapping[str, Handler],
    *,
    reasoning: tuple[str, str] | None = THINK,
    stops: tuple[str, ...] = (),
) -> Wait[None]:
    """Read a turn made of text, reasoning and calls that begin with an opener.

    At each opener its handler is run with the cursor in front of it. It takes
    the call and returns True, or returns False without having taken anything:
    then the opener is text, and reading goes on behind its first character.
    Stop tokens are markup. Reasoning opens at the start of a run of text, or has
    been opened by the prompt; nothing in it is a call.
    """
    think_open, think_close = reasoning or ("", "")
    if reasoning and opened_by(reader.prompt_suffix, reasoning):
        yield from _reasoning(reader, think_close)
    marks = (*openers, *stops, *([think_open] if reasoning else []))
    run_start = reader.at
    while (mark := (yield from reader.until(marks, "content"))) is not None:
        start = reader.at
        if mark in openers:
            if (yield from openers[mark](reader)):
                run_start = reader.at
                continue
            reader.take("content", start + 1)
        elif mark in stops:
            reader.take("markup", start + len(mark))
            run_start = reader.at
        elif not reader.slice(run_start, start).strip():
            reader.take("markup", start + len(mark))
            yield from _reasoning(reader, think_close)
            run_start = reader.at
        else:
            reader.take("content", start + len(mark))


def opened_by(prompt_suffix: str, reasoning: tuple[str, str]) -> bool:
    """Did the prompt end inside reasoning?"""
    opened, closed = (prompt_suffix.rfind(tag) for tag in reasoning)
    return opened > closed


def _reasoning(reader: Reader, close: str) -> Wait[None]:
    if (yield from reader.until((close,), "reasoning")) is not None:
        reader.take("markup", reader.at + len(close))


# JSON payloads


@dataclass(frozen=True, slots=True)
class Payload:
    """JSON text inside a frame, and what could be read of it."""

    start: int
    end: int
    value: Any = MISSING  # MISSING where it could not be read
    problem: CallProblem | None = None
    note: str = ""


def json_payload(reader: Reader, ends: tuple[str, ...]) -> Wait[Payload]:
    """Read one JSON value from the cursor (white space skipped), and leave the cursor behind it.

    `ends` are the strings of which one must follow, other than white space: the
    frame's closer, and whatever shows that the closer was left out. They are
    looked for only where the value is not strict JSON: inside a JSON string they
    are text. A value that is not strict JSON ends at the first of them that a
    lenient reading does not place inside a string.
    """
    start = yield from reader.past_space()
    reader.move(start)
    state = yield from reader.json()
    if state == "whole":
        return (yield from _whole(reader, start, ends))
    if state != "broken":
        return (yield from _open(reader, start, ends, state))
    return (yield from _broken(reader, start, ends))


def _whole(reader: Reader, start: int, ends: tuple[str, ...]) -> Wait[Payload]:
    end = reader.at
    try:
        value = json_text.loads(reader.slice(start, end))
    except ValueError as error:
        return Payload(start, end, MISSING, CallProblem.INVALID_JSON, str(error))
    extra = yield from _closing_marks(reader)
    if extra and ends and ((yield from reader.sees(ends, (yield from reader.past_space(extra)))) or reader.ended):
        reader.move(extra)
        return Payload(start, extra, value, CallProblem.INVALID_JSON, "closing brace too many dropped")
    reader.move(end)
    return Payload(start, end, value)


def _closing_marks(reader: Reader) -> Wait[int | None]:
    """Where a run of stray closing braces behind the value ends, if there is one."""
    position, end = (yield from reader.past_space()), None
    while (yield from reader.ahead(1, position)) == "}":
        end = position + 1
        position = yield from reader.past_space(end)
    return end


def _open(reader: Reader, start: int, ends: tuple[str, ...], state: str) -> Wait[Payload]:
    """The output ended inside the value: unless a closer stands in the string that never closed."""
    reader.move(start)
    if state == "open_string" and ends and (yield from reader.until(ends, None)) is not None:
        text = reader.slice(start, reader.at)
        return Payload(start, reader.at, json_text.members(text) or MISSING, CallProblem.INVALID_JSON)
    reader.move(reader.size)
    text = reader.slice(start, reader.size)
    return Payload(start, reader.size, json_text.members(text) or MISSING, CallProblem.UNCLOSED)


CLOSERS_TRIED = 8  # closers inside strings of one broken value: a bound that keeps the work linear


def _broken(reader: Reader, start: int, ends: tuple[str, ...]) -> Wait[Payload]:
    reader.move(start)
    first: int | None = None
    for _ in range(CLOSERS_TRIED):
        found = yield from reader.until(ends, None)
        end = reader.at
        text = reader.slice(start, end)
        repaired = json_text.repair(text)
        if repaired and not text[repaired.end :].strip():
            return Payload(start, end, repaired.value, CallProblem.INVALID_JSON, repaired.note)
        first = end if first is None else first
        if found is None or not json_text.ends_in_string(text):
            break
        reader.move(end + 1)
    reader.move(first if first is not None else start)
    text = reader.slice(start, reader.at)
    unclosed = reader.at == reader.size
    problem = CallProblem.UNCLOSED if unclosed else CallProblem.INVALID_JSON
    return Payload(start, reader.at, json_text.members(text) or MISSING, problem)


NAME_KEYS = ("name",)
ARGUMENT_KEYS = ("arguments", "parameters")


def named_call(
    reader: Reader,
    payload: Payload,
    *,
    problem: CallProblem | None = None,
    name_keys: tuple[str, ...] = NAME_KEYS,
    argument_keys: tuple[str, ...] = ARGUMENT_KEYS,
    id_keys: tuple[str, ...] = ("id",),
) -> None:
    """Add the call that an object like {"name": ..., "arguments": {...}} makes."""
    value = payload.value if isinstance(payload.value, dict) else {}
    name = next((value[key] for key in name_keys if key in value), None)
    arguments = next((value[key] for key in argument_keys if key in value), MISSING)
    call_id = next((value[key] for key in id_keys if isinstance(value.get(key), str)), None)
    add_call(reader, payload, name, arguments, problem=problem, id=call_id)


def add_call(
    reader: Reader,
    payload: Payload,
    name: Any,
    arguments: Any,
    *,
    start: int | None = None,
    problem: CallProblem | None = None,
    id: str | None = None,
) -> None:
    """Add one attempted call and label its text; a problem of the JSON comes before one of the frame."""
    first = payload.start if start is None else start
    reader.take("tool_call", payload.end)
    worst = min((p for p in (payload.problem, problem) if p is not None), key=list(CallProblem).index, default=None)
    reader.calls.append(
        settle(name, arguments, first, payload.end, tools=reader.tools, problem=worst, id=id, note=payload.note)
    )
