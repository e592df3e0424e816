"""Hermes, as Qwen 2.5, Qwen 3 and NousResearch Hermes write it: a JSON object between tags.

<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris"}}
</tool_call>
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from formats.parsers.base import (
    Handler,
    OutputFormat,
    call_list,
    first_problem,
    json_payload,
    named_call,
    read_turn,
    response_template,
)
from formats.reading.frames import frame_end, take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
STOPS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>")
UNOPENED = '{"name"'  # how an object begins whose opening tag was left out


def openers(stops: tuple[str, ...]) -> Mapping[str, Handler]:
    """The handlers of a turn of calls between tags, for a model that ends its turns with `stops`."""
    ends = (CLOSE, OPEN, *stops)

    def tagged(reader: Reader) -> Wait[bool]:
        """An opening tag counts only if an object follows it. A list of them is another model's layout."""
        inside = yield from reader.past_space(reader.at + len(OPEN))
        if (yield from reader.ahead(1, inside)) == "{":
            reader.take("markup", inside)
            yield from _objects(reader, ends, stops)
            return True
        if not (yield from call_list(reader, inside, ends, problem=CallProblem.MALFORMED)):
            return False
        yield from take_closer(reader, CLOSE)
        return True

    return {OPEN: tagged, UNOPENED: _unopened}


def _objects(reader: Reader, ends: tuple[str, ...], stops: tuple[str, ...]) -> Wait[None]:
    """The object, and any that stand with it in one pair of tags: those lack tags of their own."""
    opens, missing = "{", None  # the opening tag of all but the first
    while opens == "{":
        payload = yield from json_payload(reader, ends)
        problem, end, closed = yield from frame_end(reader, (CLOSE,), stops)
        named_call(reader, replace(payload, end=end), problem=first_problem(problem, missing))
        missing = CallProblem.MALFORMED
        behind = yield from reader.past_space()
        opens = yield from reader.ahead(1, behind)
        reader.take("markup", behind if opens == "{" else closed)


def _unopened(reader: Reader) -> Wait[bool]:
    """An object at the start of a run of text, with nothing but the closing tag to say that it is a call."""
    start = reader.at
    if reader.in_text():
        return False
    whole = (yield from reader.json()) == "whole"
    closed = whole and (yield from reader.sees((CLOSE,), (yield from reader.past_space())))
    reader.move(start)
    if not closed:
        return False
    named_call(reader, (yield from json_payload(reader, (CLOSE,))), problem=CallProblem.MALFORMED)
    yield from take_closer(reader, CLOSE)
    return True


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, openers(STOPS), stops=STOPS)


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
    response_template=response_template(
        "<|im_start|>assistant\n", "<tool_call>", "</tool_call>", "{content}", r"<\|im_end\|>|<\|endoftext\|>"
    ),
    broken={
        '<tool_call>\n{"name": "get_weather", "arg': CallProblem.UNCLOSED,
        "<tool_call>\n{'name': 'get_weather', 'arguments': {}}\n</tool_call>": CallProblem.INVALID_JSON,
        '{"name": "get_weather", "arguments": {}}\n</tool_call>': CallProblem.MALFORMED,
        '<tool_call>\n{"arguments": {}}\n</tool_call>': CallProblem.MISSING_NAME,
        '<tool_call>\n{"name": "f", "arguments": "x"}\n</tool_call>': CallProblem.ARGUMENTS_NOT_OBJECT,
    },
)
