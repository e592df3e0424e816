"""Cohere's Command models: R7B and A put a JSON list between action tokens, R a fenced list behind a word.

<|START_ACTION|>[
    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}
]<|END_ACTION|>

Action:
```json
[{"tool_name": "get_weather", "parameters": {"city": "Paris"}}]```

The newer models put tokens around what they think and answer, too. Calls are
written as R7B writes them. A server that leaves out special tokens takes the
opener away: such calls are read, and their frame is called wrong.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from formats.parsers._objects import FENCE, CallKeys, ObjectsInText, past_fence
from formats.parsers.base import Handler, OutputFormat, call_list, opened_by, read_turn
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE, LABEL = "<|START_ACTION|>", "<|END_ACTION|>", "Action:"
THINKING = ("<|START_THINKING|>", "<|END_THINKING|>")
TEXT = (("<|START_RESPONSE|>", "<|END_RESPONSE|>"), ("<|START_TEXT|>", "<|END_TEXT|>"))
STOPS = ("<|END_OF_TURN_TOKEN|>",)
KEYS = CallKeys(
    name_keys=("tool_name", "name"), argument_keys=("parameters", "arguments"), id_keys=("tool_call_id", "id")
)
FIRST_MARKS = {"[": "{", "{": '"'}  # what begins calls, and what must follow it


def read(reader: Reader) -> Wait[None]:
    if reader.prompt_suffix.rstrip().endswith(LABEL):
        yield from labelled_list(reader, (yield from reader.past_space()))
    openers: dict[str, Handler] = {OPEN: between_tokens, LABEL: behind_label}
    for tokens in TEXT:
        openers |= _around_text(reader, tokens)
    openers |= ObjectsInText((CLOSE, *STOPS), KEYS | {"name_keys": ("tool_name",)}, CallProblem.MALFORMED).openers
    yield from read_turn(reader, openers, reasoning=THINKING, stops=STOPS)


def between_tokens(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(OPEN))
    if not (yield from call_list(reader, inside, (CLOSE, *STOPS), **KEYS)):
        return False
    yield from take_closer(reader, CLOSE)
    return True


def behind_label(reader: Reader) -> Wait[bool]:
    if not reader.at_line_start():
        return False
    return (yield from labelled_list(reader, (yield from reader.past_space(reader.at + len(LABEL)))))


def labelled_list(reader: Reader, start: int) -> Wait[bool]:
    """The list behind the word, mostly in a code fence; False, and nothing taken, where anything else stands."""
    cursor = reader.at
    reader.move(start)
    if (yield from reader.sees((FENCE,))):
        reader.move((yield from past_fence(reader)))
    payload = FIRST_MARKS.get((yield from reader.ahead(1)))
    first = yield from reader.past_space(reader.at + 1)
    if payload and (yield from reader.ahead(1, first)) == payload:
        yield from call_list(reader, reader.at, (FENCE, *STOPS), **KEYS)
        yield from take_closer(reader, FENCE)
        return True
    reader.move(cursor)
    return False


def _around_text(reader: Reader, tokens: tuple[str, str]) -> dict[str, Handler]:
    """The tokens around an answer. They count where they can: one that opens where text begins, one that closes if
    it was opened or nothing follows. Elsewhere they are talked about."""
    opener, closer = tokens
    is_open = opened_by(reader.prompt_suffix, tokens)

    def opens(reader: Reader) -> Wait[bool]:
        nonlocal is_open
        yield from ()
        if reader.in_text():
            return False
        is_open = True
        reader.take("markup", reader.at + len(opener))
        return True

    def closes(reader: Reader) -> Wait[bool]:
        nonlocal is_open
        behind = yield from reader.past_space(reader.at + len(closer))
        if not (is_open or behind == reader.size or (yield from reader.sees((OPEN, *STOPS), behind))):
            return False
        is_open = False
        reader.take("markup", reader.at + len(closer))
        return True

    return {opener: opens, closer: closes}


def write(calls: Sequence[FunctionCall]) -> str:
    objects = (
        {"tool_call_id": str(number), "tool_name": call["name"], "parameters": call["arguments"]}
        for number, call in enumerate(calls)
    )
    lines = ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in objects)
    return f"{OPEN}[\n{lines}\n]{CLOSE}"


FORMAT = OutputFormat(
    name="cohere_command",
    title="Cohere Command (R7B, A and R)",
    reference="https://docs.cohere.com/docs/prompting-command-r",
    example=(
        '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}'
        "\n]<|END_ACTION|>"
    ),
    markers=(OPEN, CLOSE, LABEL),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "cohere_command3", "sglang": "cohere_command4"},
    reasoning=THINKING,
    broken={
        '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parame': CallProblem.UNCLOSED,
        '<|START_ACTION|>[{"tool_name": "get_weather", "parameters": {"city": "Paris",}}]<|END_ACTION|>': (
            CallProblem.INVALID_JSON
        ),
        '<|START_ACTION|>{"tool_name": "get_weather", "parameters": {}}<|END_ACTION|>': CallProblem.MALFORMED,
        '[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {}}\n]': CallProblem.MALFORMED,
        'Action: ```json\n[{"parameters": {"city": "Paris"}}]```': CallProblem.MISSING_NAME,
    },
)
