"""Pythonic calls, as Llama 3.2, Llama 4 and ToolACE write them: a Python list of calls with literal arguments.

[get_weather(city='Paris'), get_time(zone='CET')]

Llama 4 may put <|python_start|> and <|python_end|> around the list. Parameters
may have names that are no identifiers in Python (`from`, `user-id`), but no name
with a space or a bracket can be written. Calls without the list count only where
they are all of the turn and name tools that were offered; anywhere else they are
talked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from formats.parsers._llama import END, START, STOPS, TAG, Wrappers
from formats.parsers._objects import FENCE, past_fence
from formats.parsers._python_calls import call_list, whole_turn
from formats.parsers.base import Handler, OutputFormat, read_turn
from formats.reading.calls import tool_names
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall

_ENDS = (END, FENCE, *STOPS)


def in_wrapper(reader: Reader, start: int) -> Wait[bool]:
    return (yield from call_list(reader, start, _ENDS, certain=True)) or (yield from whole_turn(reader, start, _ENDS))


def in_text(reader: Reader) -> Wait[bool]:
    return (yield from call_list(reader, reader.at, _ENDS))


def in_fence(reader: Reader) -> Wait[bool]:
    inside = yield from past_fence(reader)
    alone = not (reader.calls or reader.in_text())
    if not (yield from call_list(reader, inside, _ENDS)) and not (
        alone and (yield from whole_turn(reader, inside, _ENDS))
    ):
        return False
    yield from take_closer(reader, FENCE)
    return True


def without_list(reader: Reader) -> Wait[bool]:
    if reader.calls or reader.in_text():
        return False
    return (yield from whole_turn(reader, reader.at, _ENDS))


def read(reader: Reader) -> Wait[None]:
    openers: dict[str, Handler] = {f"{name}(": without_list for name in tool_names(reader.tools)}
    openers |= {"[": in_text, FENCE: in_fence, **Wrappers(in_wrapper).openers}
    yield from read_turn(reader, openers, stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    return f"[{', '.join(map(_call, calls))}]"


def _call(call: FunctionCall) -> str:
    arguments = call["arguments"]
    assert isinstance(arguments, dict)
    return f"{call['name']}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


FORMAT = OutputFormat(
    name="pythonic",
    title="Pythonic (list of Python calls)",
    reference="https://github.com/meta-llama/llama-models/blob/main/models/llama3_2/text_prompt_format.md",
    example="[get_weather(city='Paris')]",
    markers=(TAG, START, END),
    read=read,
    write=write,
    stops=STOPS[:1],
    servers={"vllm": "pythonic", "sglang": "pythonic"},
    broken={
        "[get_weather(city='Par": CallProblem.UNCLOSED,
        '[get_weather("Paris")]': CallProblem.MALFORMED,
        "[get_weather(city=home)]": CallProblem.MALFORMED,
        "[(city='Paris')]": CallProblem.MISSING_NAME,
    },
)
