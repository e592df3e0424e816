"""gpt-oss, in OpenAI's harmony format: messages with a channel, and a recipient where one is a call.

<|channel|>analysis<|message|>They ask about Paris.<|end|><|start|>assistant
<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>

The messages touch; the line is broken here only for its length. What is in the
analysis channel is reasoning, in any other content. A message to functions is a
call, whatever its channel, and wherever in the header the recipient stands. In
reasoning only a new message that needs no recipient, or the start token, counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import regex

from formats.parsers.base import OutputFormat, Payload, add_call, arguments_payload, first_problem
from formats.reading.calls import MISSING
from formats.reading.frames import cut_off, frame_end, near
from formats.reading.reader import Reader, Wait, marks
from formats.types import CallProblem, FunctionCall, SegmentKind

START, CHANNEL, CONSTRAIN, MESSAGE = "<|start|>", "<|channel|>", "<|constrain|>", "<|message|>"
END, CALL, RETURN = "<|end|>", "<|call|>", "<|return|>"
ENDS = (END, CALL, RETURN)
ASSISTANT = "assistant"
NAMESPACE = "functions."
BUILT_IN = ("python", "browser.", "container.")  # the model's own tools
PEOPLE = (ASSISTANT, "user", "all")  # recipients that are no tools

# A role, a recipient, a channel, a recipient, a type of content: all may be left out. Models stutter in the channel.
_HEADER = regex.compile(
    r"\s*(?:<\|start\|>\s*[\w.-]*\s*)?(?:to=(?P<to>[^\s<]*)\s*)?"
    r"(?:<\|channel\|>\s*(?:(?P<channel>analysis|commentary|final)[?\d]*|\?+)\s*"
    r"(?:(?:to=(?P<to>[^\s<]*)|<\|constrain\|>\s*\w*|json|code|text|[?\d]+|(?:analysis|commentary|final)[?\d]*)\s*)*)*"
)


@dataclass(frozen=True, slots=True)
class _Header:
    """What stands in front of a message."""

    end: int  # behind the message token, or where the header ends without it
    kind: SegmentKind  # of the message, where it has no recipient
    recipient: str | None = None
    problem: CallProblem | None = None


def _header(reader: Reader, start: int, before: str = "") -> Wait[_Header | None]:
    """The header at `start`, of which the prompt wrote `before`; None where there is none."""
    end = yield from near(reader, (MESSAGE, *ENDS), start, in_line=False)
    if end is None:
        return None
    written = reader.peek(start, end - start)
    mark = yield from reader.sees((MESSAGE, *ENDS), end)
    if mark == MESSAGE:
        return _read_header(before + written, end + len(MESSAGE))
    if mark is None:
        begun = marks((MESSAGE,)).unfinished(written)
        whole = written[:-begun] if begun else written
        known = _read_header(before + written, end, cut_off=True) or _read_header(before + whole, end, cut_off=True)
        if known is None or written in (START, CHANNEL):
            return None
        named = begun or not written.endswith(f"to={known.recipient}")
        return replace(known, recipient=known.recipient and (known.recipient if named else NAMESPACE))
    header = _read_header(before + written, end)
    return replace(header, problem=CallProblem.MALFORMED) if header and header.recipient is not None else None


def _read_header(text: str, end: int, cut_off: bool = False) -> _Header | None:
    match = _HEADER.fullmatch(text, partial=cut_off)
    if not match:
        return None
    recipient = next((to for to in match.captures("to") if to not in PEOPLE), None)
    kind: SegmentKind = "reasoning" if match.captures("channel")[-1:] == ["analysis"] else "content"
    return _Header(end, kind, recipient, CallProblem.UNCLOSED if cut_off else None)


def _message(reader: Reader, before: str = "") -> Wait[bool]:
    """A header, and the call or text behind it."""
    start = reader.at
    header = yield from _header(reader, start, before)
    if header is None:
        return False
    reader.take("markup", start)
    if header.recipient is not None:
        yield from _call(reader, start, header)
    else:
        reader.take("markup", header.end)
        yield from _text(reader, header.kind)
    return True


def _call(reader: Reader, start: int, header: _Header) -> Wait[None]:
    recipient = header.recipient or ""
    in_namespace = recipient.startswith((NAMESPACE, *BUILT_IN)) or not recipient
    problem = first_problem(header.problem, None if in_namespace else CallProblem.MALFORMED)
    name = recipient.removeprefix(NAMESPACE)
    if header.problem:
        add_call(reader, Payload(start, header.end), name, MISSING, start=start, problem=problem)
        return
    reader.move(header.end)
    payload = yield from arguments_payload(reader, (*ENDS, START, CHANNEL))
    wrong, end, closed = yield from frame_end(reader, (CALL,))
    if wrong is not CallProblem.UNCLOSED:  # the call token is a stop token: servers cut it off
        problem = first_problem(problem, wrong)
    payload = replace(payload, end=end)
    add_call(reader, payload, name, payload.arguments, start=start, problem=problem)
    reader.take("markup", closed)


def _text(reader: Reader, kind: SegmentKind) -> Wait[None]:
    """The text of a message, up to its end token or the next message."""
    while (mark := (yield from reader.until((START, CHANNEL, *ENDS), kind))) is not None:
        if mark in ENDS:
            if (yield from _end(reader, mark)):
                return
        else:
            header = yield from _header(reader, reader.at)
            in_reasoning = kind == "reasoning" and mark == CHANNEL
            if header and not (in_reasoning and header.recipient is not None):
                return
        reader.take(kind, reader.at + 1)


def _end(reader: Reader, mark: str) -> Wait[bool]:
    """An end token counts only where the output ends, or a message does begin, behind it."""
    end = reader.at + len(mark)
    behind = yield from reader.past_space(end)
    unstarted = yield from reader.sees((ASSISTANT + CHANNEL, f"{ASSISTANT} to="), behind)
    follows = unstarted or (yield from reader.sees((START, CHANNEL, *ENDS), behind))
    if not follows and not (yield from cut_off(reader, (START, CHANNEL, *ENDS), behind)):
        return False
    reader.take("markup", behind + len(ASSISTANT) if unstarted else end)
    return True


def _begin(reader: Reader) -> Wait[None]:
    """The output goes on with the message that the prompt began."""
    begun = reader.prompt_suffix
    for mark in ENDS:
        begun = begun.rpartition(mark)[2]
    begun = begun[max(0, begun.rfind(START)) :] or START + ASSISTANT
    head, message, text = begun.rpartition(MESSAGE)
    if message:
        header = _read_header(head, 0)
        if header and header.recipient is None:
            yield from _text(reader, header.kind)
        elif header and not text.strip():
            yield from _call(reader, 0, header)
        return
    first = yield from reader.past_space()
    if CHANNEL in begun or (yield from reader.sees((CHANNEL, CONSTRAIN, MESSAGE, "to="), first)):
        yield from _message(reader, begun)


def read(reader: Reader) -> Wait[None]:
    yield from _begin(reader)
    while (mark := (yield from reader.until((START, CHANNEL, *ENDS), "content"))) is not None:
        if not (yield from _end(reader, mark) if mark in ENDS else _message(reader)):
            reader.take("content", reader.at + 1)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"{START}{ASSISTANT}".join(
        f"{CHANNEL}commentary to={NAMESPACE}{c['name']} {CONSTRAIN}json{MESSAGE}"
        f"{json.dumps(c['arguments'], ensure_ascii=False)}{CALL}"
        for c in calls
    )


FORMAT = OutputFormat(
    name="openai",
    title="gpt-oss (harmony channels)",
    reference="https://cookbook.openai.com/articles/openai-harmony",
    example=f'{CHANNEL}commentary to=functions.get_weather {CONSTRAIN}json{MESSAGE}{{"city": "Paris"}}{CALL}',
    markers=(START, CHANNEL, CONSTRAIN, MESSAGE, *ENDS),
    read=read,
    write=write,
    stops=(CALL, RETURN),
    servers={"vllm": "openai", "sglang": "gpt-oss"},
    reasoning=(f"{CHANNEL}analysis{MESSAGE}", END),
    broken={
        f'{CHANNEL}commentary to=functions.get_weather {CONSTRAIN}json{MESSAGE}{{"city": "Par': CallProblem.UNCLOSED,
        f'{CHANNEL}commentary to=functions.get_weather{MESSAGE}{{"city": "Paris",}}{CALL}': CallProblem.INVALID_JSON,
        f'{CHANNEL}commentary to=get_weather {CONSTRAIN}json{MESSAGE}{{"city": "Paris"}}{CALL}': CallProblem.MALFORMED,
        f"{CHANNEL}commentary to=functions. {CONSTRAIN}json{MESSAGE}{{}}{CALL}": CallProblem.MISSING_NAME,
    },
)
