"""Plain JSON: an object with a name and arguments, anywhere in the text, in a list or in a code fence.

{"name": "get_weather", "arguments": {"city": "Paris"}}

What models write that were told in words to answer with JSON. Nothing announces
a call, so an object counts only with a string name and an arguments key; every
other object is part of the answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from formats.parsers._objects import END_OF_TEXT, END_TOKENS, ObjectsInText, end_of_text
from formats.parsers.base import OutputFormat, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall


def read(reader: Reader) -> Wait[None]:
    openers = ObjectsInText((*END_TOKENS, END_OF_TEXT)).openers | {END_OF_TEXT: end_of_text}
    yield from read_turn(reader, openers, stops=END_TOKENS)


def write(calls: Sequence[FunctionCall]) -> str:
    return json.dumps(calls[0] if len(calls) == 1 else list(calls), ensure_ascii=False)


FORMAT = OutputFormat(
    name="plain",
    title="Plain JSON object",
    reference="https://platform.openai.com/docs/api-reference/chat/object",
    example='{"name": "get_weather", "arguments": {"city": "Paris"}}',
    markers=(),
    read=read,
    write=write,
    broken={
        '```json\n{"name": "get_weather", "arguments": {"city": "Par': CallProblem.UNCLOSED,
        "{'name': 'get_weather', 'arguments': {'city': 'Paris'}}": CallProblem.INVALID_JSON,
        '{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}': CallProblem.DOUBLE_ENCODED,
        '{"name": "get_weather", "arguments": "Paris"}': CallProblem.ARGUMENTS_NOT_OBJECT,
    },
)
