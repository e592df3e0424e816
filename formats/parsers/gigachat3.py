"""GigaChat 3: one call a turn, a JSON object behind a token.

<|function_call|>{"name": "get_weather", "arguments": {"city": "Paris"}}<|message_sep|>
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from formats.parsers.base import OutputFormat, json_payload, named_call, read_turn
from formats.reading.frames import cut_off
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN = "<|function_call|>"
SPELLINGS = (OPEN, "function call<|role_sep|>\n")  # the second one by earlier weights
STOPS = ("<|message_sep|>", "</s>")


def behind_token(reader: Reader) -> Wait[bool]:
    """The token counts only if an object follows it. Nothing closes the call but the end of the turn."""
    opener = yield from reader.sees(SPELLINGS)
    inside = yield from reader.past_space(reader.at + len(opener or ""))
    if (yield from reader.ahead(1, inside)) != "{":
        return False
    reader.take("markup", inside)
    payload = yield from json_payload(reader, (OPEN, *STOPS))
    behind = yield from reader.past_space()
    over = (yield from reader.sees((OPEN, *STOPS), behind)) or (yield from cut_off(reader, STOPS, behind))
    problem = None if over else CallProblem.MALFORMED
    named_call(reader, replace(payload, end=reader.at), problem=problem)
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, dict.fromkeys(SPELLINGS, behind_token), stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "".join(f"{OPEN}{json.dumps(call, ensure_ascii=False)}" for call in calls)


FORMAT = OutputFormat(
    name="gigachat3",
    title="GigaChat 3 (JSON behind a token)",
    reference="https://huggingface.co/ai-sage/GigaChat3-10B-A1.8B",
    example=f'{OPEN}{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}',
    markers=SPELLINGS,
    read=read,
    write=write,
    calls_per_turn=1,
    stops=STOPS[:1],
    servers={"vllm": "gigachat3", "sglang": "gigachat3"},
    broken={
        f'{OPEN}{{"name": "get_weather", "arguments": {{"city": "Par': CallProblem.UNCLOSED,
        f"{OPEN}{{'name': 'get_weather', 'arguments': {{}}}}": CallProblem.INVALID_JSON,
        f'{OPEN}{{"name": "get_weather", "arguments": {{}}}} and more': CallProblem.MALFORMED,
        f'{OPEN}{{"arguments": {{"city": "Paris"}}}}': CallProblem.MISSING_NAME,
    },
)
