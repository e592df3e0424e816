"""Hermes, as Qwen 2.5, Qwen 3 and NousResearch Hermes write it: a JSON object between tags.

<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris"}}
</tool_call>
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from formats.parsers.base import OutputFormat, json_payload, named_call, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
STOPS = ("<|im_end|>", "<|endoftext|>")


def tagged_call(reader: Reader) -> Wait[bool]:
    """One object between the tags. An opener counts only if an object follows it."""
    start = reader.at
    inside = yield from reader.past_space(start + len(OPEN))
    if (yield from reader.ahead(1, inside)) != "{":
        return False
    reader.take("markup", inside)
    payload = yield from json_payload(reader, (CLOSE, OPEN, *STOPS))
    behind = yield from reader.past_space(payload.end)
    closer = yield from reader.sees((CLOSE,), behind)
    problem = None
    if closer is None:
        at_end = behind == reader.size or (yield from reader.sees(STOPS, behind))
        problem = CallProblem.UNCLOSED if at_end else CallProblem.MALFORMED
    named_call(reader, payload, problem=problem)
    if closer:
        reader.take("markup", behind + len(closer))
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, {OPEN: tagged_call}, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(f"{OPEN}\n{json.dumps(call, ensure_ascii=False)}\n{CLOSE}" for call in calls)


FORMAT = OutputFormat(
    name="hermes",
    title="Hermes (JSON in <tool_call> tags)",
    reference="https://github.com/NousResearch/Hermes-Function-Calling",
    example='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    markers=(OPEN, CLOSE),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "hermes", "sglang": "qwen25"},
    broken={
        '<tool_call>\n{"name": "get_weather", "arg': CallProblem.UNCLOSED,
        "<tool_call>\n{'name': 'get_weather', 'arguments': {}}\n</tool_call>": CallProblem.INVALID_JSON,
        '<tool_call>\n{"arguments": {}}\n</tool_call>': CallProblem.MISSING_NAME,
        '<tool_call>\n{"name": "f", "arguments": "x"}\n</tool_call>': CallProblem.ARGUMENTS_NOT_OBJECT,
    },
)
