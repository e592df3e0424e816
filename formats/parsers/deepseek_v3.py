"""DeepSeek V3 and R1: a type, a name and a fenced JSON object for each call, all calls in one section.

<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
```json
{"city": "Paris"}
```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from formats.parsers.base import (
    Handler,
    OutputFormat,
    Payload,
    add_call,
    arguments_payload,
    first_problem,
    read_turn,
    response_template,
)
from formats.reading.calls import MISSING
from formats.reading.frames import cut_off, frame_end, near
from formats.reading.reader import Reader, Wait, marks
from formats.types import CallProblem, FunctionCall

SECTION, SECTION_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, SEP, CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
# how distilled models spell the section's opener
MISSPELT = ("<｜tool_calls_begin｜>", "<｜tool calls begin｜>", "<｜tool\\_calls\\_begin｜>", "<｜tool▁calls｜>")
STOPS = ("<｜end▁of▁sentence｜>",)
TYPE = "function"
FENCE = "```"

_FRAME = (CALL_END, CALL, SECTION_END, *STOPS)
_JSON_BEGINS = ("{", "[", '"')
_NOT_INFO = re.compile(r"[^\w+-]")

Layout = Literal["fenced", "bare"]  # V3 and R1; V3.1


def openers(layout: Layout) -> Mapping[str, Handler]:
    """The handlers of a section of calls in one layout. Calls in the other are read, and called malformed."""

    def section(problem: CallProblem | None) -> Handler:
        def read_section(reader: Reader) -> Wait[bool]:
            opener = yield from reader.sees((SECTION, *MISSPELT))
            start = yield from reader.past_space(reader.at + len(opener or ""))
            if not (yield from _call(reader, start, layout, problem, first=True)):
                return False
            while (yield from _call(reader, (yield from reader.past_space()), layout, problem)):
                pass
            end = yield from reader.past_space()
            if (yield from reader.sees((SECTION_END,), end)):
                reader.take("markup", end + len(SECTION_END))
            elif (yield from cut_off(reader, (SECTION_END, CALL), end)):
                reader.take("markup", reader.size)
            return True

        return read_section

    unopened = section(CallProblem.MALFORMED)
    return {SECTION: section(None), **dict.fromkeys((*MISSPELT, CALL), unopened)}


def _call(
    reader: Reader, opener: int, layout: Layout, problem: CallProblem | None, *, first: bool = False
) -> Wait[bool]:
    """The call that opens at `opener`. Its opener counts only with one word behind it, and a mark of the frame.

    The first call of a section may have lost its opener, if the separator is there.
    """
    opened = yield from reader.sees((CALL,), opener)
    if not (opened or first):
        return False
    start = opener + len(opened or "")
    head_end = yield from near(reader, (SEP, *_FRAME) if opened else (SEP,), start)
    head = reader.peek(start, (head_end or start) - start)
    if head_end is None or len(head.split()) > 1 or (head_end == reader.size and not opened):
        return False
    if not opened:
        problem = CallProblem.MALFORMED
    if head_end == reader.size:
        return _cut_off_in_word(reader, start, start, named=layout == "bare" and not head.startswith(TYPE + "<"))
    name: str | None = head.strip()
    if not (yield from reader.sees((SEP,), head_end)):
        return bool(name) and (yield from _end(reader, start, name, Payload(start, head_end), CallProblem.MALFORMED))
    position = yield from reader.past_space(head_end + len(SEP))
    is_json = (yield from reader.ahead(1, position)) in _JSON_BEGINS
    is_fence = yield from reader.sees((FENCE,), position)
    written: Layout = "bare" if is_json or (name != TYPE and (is_fence or layout == "bare")) else "fenced"
    if written == "fenced":
        name_start = position
        name_end = yield from near(reader, ("\n", "{", FENCE, *_FRAME), name_start)
        if name_end is None:
            return False
        if name_end == reader.size:
            return _cut_off_in_word(reader, start, name_start, named=True)
        name, position = reader.peek(name_start, name_end - name_start).strip(), name_end
    reader.take("markup", start)
    reader.move(position)
    payload, fenced = yield from _arguments(reader)
    fits = written == layout and fenced == (layout == "fenced")
    return (yield from _end(reader, start, name, payload, problem if fits else CallProblem.MALFORMED))


def _cut_off_in_word(reader: Reader, start: int, word_start: int, named: bool) -> bool:
    """The output ends in the word: it is a name only if the mark behind it has begun."""
    word = reader.slice(word_start, reader.size)
    mark = marks((SEP, *_FRAME, FENCE)).unfinished(word)
    if not reader.slice(start, reader.size).strip() or (word_start == start and word[:1].isspace() and not mark):
        return False
    name = word[:-mark].strip() if named and mark else None
    reader.take("markup", start)
    add_call(reader, Payload(start, reader.size, MISSING, CallProblem.UNCLOSED), name, MISSING)
    return True


def _arguments(reader: Reader) -> Wait[tuple[Payload, bool | None]]:
    """The arguments, and whether a fence is around them; None for half a fence, or one that says another language."""
    opening = yield from reader.past_space()
    if not (yield from reader.sees((FENCE,), opening)):
        return (yield from arguments_payload(reader, _FRAME)), False
    info = yield from reader.find(_NOT_INFO, opening + len(FENCE))
    fenced: bool | None = reader.peek(opening + len(FENCE), info - opening - len(FENCE)) == "json" or None
    reader.move(info)
    payload = yield from arguments_payload(reader, (FENCE + CALL_END, *_FRAME), between=(FENCE,))
    behind = yield from reader.past_space()
    if (yield from reader.sees((FENCE,), behind)):
        reader.move(behind + len(FENCE))
        return replace(payload, end=reader.at), fenced
    if (yield from cut_off(reader, (FENCE,), behind)):
        reader.move(reader.size)
    return replace(payload, end=reader.at), None


def _end(reader: Reader, start: int, name: str | None, payload: Payload, problem: CallProblem | None) -> Wait[bool]:
    """Add the call whose last part ends at the payload's end, and take its closer."""
    reader.take("markup", start)
    reader.move(payload.end)
    wrong, end, closed = yield from frame_end(reader, (CALL_END,), STOPS)
    payload = replace(payload, end=end)
    add_call(reader, payload, name, payload.arguments, start=start, problem=first_problem(problem, wrong))
    reader.take("markup", closed)
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, openers("fenced"), stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    written = (_written(c["name"], json.dumps(c["arguments"], ensure_ascii=False)) for c in calls)
    return SECTION + "\n".join(written) + SECTION_END


def _written(name: str, arguments: str) -> str:
    return f"{CALL}{TYPE}{SEP}{name}\n{FENCE}json\n{arguments}\n{FENCE}{CALL_END}"


FORMAT = OutputFormat(
    name="deepseek_v3",
    title="DeepSeek V3, R1 (fenced JSON)",
    reference="https://huggingface.co/deepseek-ai/DeepSeek-V3-0324",
    example=SECTION + _written("get_weather", '{"city": "Paris"}') + SECTION_END,
    markers=(SECTION, CALL, SEP, CALL_END, SECTION_END),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "deepseek_v3", "sglang": "deepseekv3"},
    response_template=response_template(
        "<｜Assistant｜>",
        f"(?:{SECTION})?\\s*{CALL}function{SEP}(?P<name>[^<｜\\n]+)\\n```json\\n",
        f"\\n```{CALL_END}(?:\\s*{SECTION_END})?",
        {"name": "{name}", "arguments": "{content}"},
        "<｜end▁of▁sentence｜>",
    ),
    broken={
        f'{SECTION}{CALL}{TYPE}{SEP}get_weather\n```json\n{{"city": "Par': CallProblem.UNCLOSED,
        SECTION + _written("get_weather", '{"city": "Paris",}') + SECTION_END: CallProblem.INVALID_JSON,
        f'{SECTION}{CALL}get_weather{SEP}{{"city": "Paris"}}{CALL_END}{SECTION_END}': CallProblem.MALFORMED,
        SECTION + _written("", '{"city": "Paris"}') + SECTION_END: CallProblem.MISSING_NAME,
    },
)
