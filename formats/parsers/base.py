"""What every output format offers, and the readings that many formats share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from formats.reading import json_text
from formats.reading.calls import MISSING, settle
from formats.reading.frames import cut_off
from formats.reading.json_text import JsonScanner, Reading
from formats.reading.reader import Reader, Wait
from formats.reading.stream import OutputStream
from formats.types import CallProblem, FunctionCall, JsonObject, ParsedOutput, ToolDefinition

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
    response_template: Mapping[str, Any] | None = None  # for transformers' parse_response, where it can be written

    def parse(self, text: str, tools: Sequence[ToolDefinition] = (), prompt_suffix: str = "") -> ParsedOutput:
        """Read a whole output. Never raises on any text; the segments tile it."""
        stream = self.stream(tools, prompt_suffix)
        stream.feed(text)
        stream.close()
        return stream.result()

    def stream(self, tools: Sequence[ToolDefinition] = (), prompt_suffix: str = "") -> OutputStream:
        return OutputStream(self.read, tools, prompt_suffix)


def response_template(
    start: str, opening: str, closing: str, call: Any, end: str, *, content: str = "json", **arguments: Any
) -> JsonObject:
    """The same format in transformers' own terms, for `tokenizer.response_template`.

    `start` opens the assistant's turn; `opening`, `closing` and `end` (of the turn) are
    regular expressions, the first with the groups that `call` takes its parts from.
    Source: transformers/utils/chat_parsing/response_templates.py.
    """
    calls: JsonObject = {
        "open_pattern": rf"\s*{opening}",
        "close_pattern": closing,
        "repeats": True,
        "content": content,
        "transform": {"type": "function", "function": call},
    }
    if arguments:
        calls["content_args"] = arguments
    return {
        "defaults": {"role": "assistant"},
        "start_anchor": start,
        "fields": {
            "reasoning_content": {"open": THINK[0], "close": THINK[1], "content": "text"},
            "tool_calls": calls,
            "content": {"close_pattern": rf"\s*(?:{end})", "content": "text"},
        },
    }


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
    partial: bool = False  # the value holds only those members of an object that are whole

    @property
    def arguments(self) -> Any:
        """The value, where it is a call's arguments: all of them or none."""
        return MISSING if self.partial else self.value


def json_payload(
    reader: Reader, ends: tuple[str, ...], *, between: tuple[str, ...] = (), outer: int = 0
) -> Wait[Payload]:
    """Read one JSON value from the cursor (white space skipped), and leave the cursor behind it.

    `ends` are the strings of which one must follow, other than white space: the
    frame's closer, and whatever shows that the closer was left out. They are
    looked for only where the value is neither JSON nor nearly JSON: inside a
    string they are text. `between` are the marks of a list around the value:
    they may follow it as well, but are too common to be looked for. `outer`
    counts the closing marks that stand between the value and `ends`.
    """
    start = yield from reader.past_space()
    reader.move(start)
    scanner = JsonScanner()
    state = yield from reader.json(scanner)
    if state == "broken":
        reader.move(start)
        scanner = JsonScanner(lenient=True)
        state = yield from reader.json(scanner)
    if state == "whole":
        return (yield from _whole(reader, start, ends + between, scanner.reading))
    if state == "broken" and scanner.misses_one_brace:
        next_element = between and scanner.after_comma and (yield from reader.ahead(1)) == "{"
        if next_element or (yield from reader.sees(ends + between)):
            return _without_last_brace(reader, start)
    return (yield from _unreadable(reader, start, ends, scanner, outer))


def arguments_payload(reader: Reader, ends: tuple[str, ...], *, between: tuple[str, ...] = ()) -> Wait[Payload]:
    """As `json_payload`, but what may follow the arguments shows, right at the cursor, that none were written."""
    begins = yield from reader.past_space()
    if (yield from reader.sees(ends + between, begins)):
        return Payload(reader.at, reader.at)
    if (yield from cut_off(reader, ends, begins)):
        return Payload(reader.at, reader.size, problem=CallProblem.UNCLOSED)
    return (yield from json_payload(reader, ends, between=between))


def _whole(reader: Reader, start: int, follow: tuple[str, ...], reading: Reading | None = None) -> Wait[Payload]:
    """A value whose end is certain; closing braces behind it that nothing opened belong to it."""
    end = reader.at
    extra = yield from _closing_marks(reader)
    if extra:
        behind = yield from reader.past_space(extra)
        if not ((yield from reader.sees(follow, behind)) or (yield from cut_off(reader, follow, behind))):
            extra = None
    payload = Payload(start, end, reading.value) if reading else payload_at(reader, start, end)
    reader.move(extra or end)
    if not extra:
        return payload
    note = ", ".join(filter(None, (payload.note, "closing brace too many dropped")))
    return Payload(start, extra, payload.value, CallProblem.INVALID_JSON, note)


def _closing_marks(reader: Reader) -> Wait[int | None]:
    """Where a run of stray closing braces behind the value ends, if there is one."""
    position, end = (yield from reader.past_space()), None
    while (yield from reader.ahead(1, position)) == "}":
        end = position + 1
        position = yield from reader.past_space(end)
    return end


def payload_at(reader: Reader, start: int, end: int) -> Payload:
    """The value of text that is JSON or nearly JSON."""
    text = reader.slice(start, end)
    try:
        reading = json_text.read(text)
    except ValueError as error:
        repaired = json_text.repair(text)
        if repaired is None or text[repaired.end :].strip():
            return partial_payload(text, start, end, CallProblem.INVALID_JSON, str(error))
        return Payload(start, end, repaired.value, CallProblem.INVALID_JSON, repaired.note)
    return Payload(start, end, reading.value, None, reading.note)


def _without_last_brace(reader: Reader, start: int) -> Payload:
    """An object whose frame goes on where its last brace should stand."""
    text = reader.slice(start, reader.at).rstrip()
    text = text.removesuffix(",").rstrip()
    payload = payload_at(reader, start, start + len(text))
    reader.move(payload.end)
    return payload


def _unreadable(reader: Reader, start: int, ends: tuple[str, ...], scanner: JsonScanner, outer: int) -> Wait[Payload]:
    """A value that is not even nearly JSON, or is cut off: it goes up to the frame's end, if there is one."""
    runs_out = reader.at == reader.size and (scanner.depth or scanner.in_string or reader.at == start)
    lost = None
    if scanner.depth and (scanner.in_string or scanner.broken):
        lost = json_text.lost_quote(reader.slice(scanner.string_start, reader.at), ends, scanner.depth + outer)
    if lost is not None:
        reader.move(scanner.string_start + lost)
    elif not runs_out:
        yield from reader.until(ends, None)
    text = reader.slice(start, reader.at)
    closed = not scanner.depth or text.rstrip().endswith(("}", "]"))
    ended = lost is not None or reader.at < reader.size or (not runs_out and closed)
    return partial_payload(text, start, reader.at, CallProblem.INVALID_JSON if ended else CallProblem.UNCLOSED)


def partial_payload(text: str, start: int, end: int, problem: CallProblem, note: str = "") -> Payload:
    return Payload(start, end, json_text.members(text) or MISSING, problem, note, partial=True)


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
    if payload.problem is None and value is not payload.value:
        problem = first_problem(problem, CallProblem.MALFORMED)
    if isinstance(value.get("function"), dict) and not any(key in value for key in name_keys):
        value = value | value["function"]  # as the OpenAI API nests it
        problem = first_problem(problem, CallProblem.MALFORMED)
    name = next((value[key] for key in name_keys if key in value), None)
    arguments = next((value[key] for key in argument_keys if key in value), MISSING)
    call_id = next((value[key] for key in id_keys if isinstance(value.get(key), str)), None)
    add_call(reader, payload, name, arguments, problem=problem, id=call_id)


def call_list(
    reader: Reader,
    start: int,
    ends: tuple[str, ...],
    *,
    problem: CallProblem | None = None,
    name_keys: tuple[str, ...] = NAME_KEYS,
    argument_keys: tuple[str, ...] = ARGUMENT_KEYS,
    id_keys: tuple[str, ...] = ("id",),
    add: Callable[..., None] = named_call,
) -> Wait[bool]:
    """Read a JSON list of calls at `start`, element by element; False, and nothing taken, where there is none.

    Everything in front of `start` without a label and the list's own marks are
    markup, so that a fault of one call, or of the list, is no other call's. One
    object without a list around it is a call in the wrong frame. `ends` are the
    strings behind the list, one of which may follow; `problem` is what is wrong
    with the frame. `add` adds the call that one element makes.
    """

    def call(payload: Payload, wrong: CallProblem | None) -> None:
        keys = {"name_keys": name_keys, "argument_keys": argument_keys, "id_keys": id_keys}
        add(reader, payload, problem=wrong, **keys)

    if (yield from reader.ahead(1, start)) == "{":
        reader.take("markup", start)
        call((yield from json_payload(reader, ends)), CallProblem.MALFORMED)
        return True
    if (yield from reader.ahead(1, start)) != "[":
        return False
    first = yield from reader.past_space(start + 1)
    if (yield from reader.ahead(1, first)) not in ("{", "[", "]", ""):
        return False
    if first == reader.size:
        reader.take("markup", start)
        call((yield from json_payload(reader, ends)), None)
        return True
    reader.take("markup", first)
    next_calls = tuple(f'{{"{key}"' for key in name_keys)
    depth = 1
    while depth and (mark := (yield from reader.ahead(1))) and not (yield from reader.sees(ends)):
        if mark in ("[", "]", ","):
            depth += (mark == "[") - (mark == "]")
            reader.take("markup", reader.at + 1)
        elif (yield from cut_off(reader, ends, reader.at)):
            break
        else:
            payload = yield from json_payload(reader, ends + next_calls, between=(",", "]"), outer=depth)
            call(payload, CallProblem.MALFORMED if depth > 1 else problem)  # in a list in the list
        if depth:
            reader.take("markup", (yield from reader.past_space()))
    return True


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
    settled = settle(
        name,
        arguments,
        first,
        payload.end,
        tools=reader.tools,
        problem=first_problem(payload.problem, problem),
        id=id,
        note=payload.note,
        budget=reader.budget,
    )
    reader.calls.append(settled)


def first_problem(*problems: CallProblem | None) -> CallProblem | None:
    """Of several problems of one call, the one that is named."""
    return min(filter(None, problems), key=_ORDER.__getitem__, default=None)


_ORDER = {problem: place for place, problem in enumerate(CallProblem)}
