"""Llama 3 and 4: JSON objects with the name and the parameters, and nothing around them.

{"name": "get_weather", "parameters": {"city": "Paris"}}

<|python_tag|> may stand in front; the official templates write it only for
built-in tools: <|python_tag|>brave_search.call(query="..."). Several calls are
separated by a semicolon, by white space, or, in Llama 4, by nothing. Code behind
the tag is text: it is for an interpreter, and no call of a tool.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from formats.parsers._llama import END, START, STOPS, TAG, Wrappers
from formats.parsers._objects import ObjectsInText
from formats.parsers._python_calls import add_python_call, call_list, python_call
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.calls import find_schema
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

BUILT_IN = ".call"
_ENDS = (END, *STOPS)


def read(reader: Reader) -> Wait[None]:
    objects = ObjectsInText(_ENDS)

    def in_wrapper(reader: Reader, start: int) -> Wait[bool]:
        return (
            (yield from objects.certain(reader, start))
            or (yield from call_list(reader, start, _ENDS, certain=True, problem=CallProblem.MALFORMED))
            or (yield from built_in_call(reader, start))
        )

    yield from read_turn(reader, {**objects.openers, **Wrappers(in_wrapper).openers}, stops=STOPS)


def built_in_call(reader: Reader, start: int) -> Wait[bool]:
    """Read `tool.call(name="value")` behind a wrapper's token; False, and nothing taken, where anything else stands.

    A tool of the conversation may be called so too, in the wrong layout.
    """
    cursor = reader.at
    call = yield from python_call(reader, start)
    if call and call.name:
        name = call.name.removesuffix(BUILT_IN)
        is_built_in = name != call.name and (call.readable or call.cut_off)
        if is_built_in or find_schema(reader.tools, name) is not None:
            problem = None if name != call.name else CallProblem.MALFORMED
            add_python_call(reader, replace(call, name=name), problem)
            return True
    reader.move(cursor)
    return False


def write(calls: Sequence[FunctionCall]) -> str:
    objects = ({"name": call["name"], "parameters": call["arguments"]} for call in calls)
    return "; ".join(json.dumps(each, ensure_ascii=False) for each in objects)


FORMAT = OutputFormat(
    name="llama3_json",
    title="Llama 3 JSON object",
    reference="https://github.com/meta-llama/llama-models/blob/main/models/llama3_1/prompt_format.md",
    example='{"name": "get_weather", "parameters": {"city": "Paris"}}',
    markers=(TAG, START, END),
    read=read,
    write=write,
    stops=STOPS[:2],
    servers={"vllm": "llama3_json", "sglang": "llama3"},
    broken={
        '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Par': CallProblem.UNCLOSED,
        '{"name": "get_weather", "parameters": {"city": "Paris", "metric": True}}': CallProblem.INVALID_JSON,
        '{"name": "get_weather", "parameters": "{\\"city\\": \\"Paris\\"}"}': CallProblem.DOUBLE_ENCODED,
        '<|python_tag|>{"parameters": {"city": "Paris"}}': CallProblem.MISSING_NAME,
    },
)
