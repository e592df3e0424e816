"""Granite: a JSON list behind a token (3.x), or an object between tags as Hermes writes it (4.x).

<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]
<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris"}}
</tool_call>

Granite 3.1 and later write the list behind <tool_call>, too. Calls are written as
3.x does. Granite 3.3 puts its answer between <response> and </response>.
"""

from __future__ import annotations

from formats.parsers import hermes
from formats.parsers._lists import list_between, write_list
from formats.parsers.base import OutputFormat, call_list, read_turn
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem

OPEN = "<|tool_call|>"
ANSWER, ANSWER_END = "<response>", "</response>"
STOPS = ("<|end_of_text|>",)


def token_list(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(OPEN))
    return (yield from call_list(reader, inside, (OPEN, *STOPS)))


def tag_list(reader: Reader) -> Wait[bool]:
    inside = yield from reader.past_space(reader.at + len(hermes.OPEN))
    if (yield from reader.ahead(1, inside)) != "[":
        return (yield from hermes.openers(STOPS)[hermes.OPEN](reader))
    return (yield from list_between(hermes.OPEN, hermes.CLOSE, STOPS)(reader))


def answer(reader: Reader) -> Wait[bool]:
    """The answer's opening tag stands where a run of text begins; elsewhere it is text."""
    yield from ()  # what stands in front decides: no waiting
    if reader.in_text():
        return False
    reader.take("markup", reader.at + len(ANSWER))
    return True


def answer_end(reader: Reader) -> Wait[bool]:
    """The answer's closing tag stands where the text ends, or a call begins."""
    behind = yield from reader.past_space(reader.at + len(ANSWER_END))
    if behind < reader.size and not (yield from reader.sees((OPEN, hermes.OPEN, *STOPS), behind)):
        return False
    reader.take("markup", behind)
    return True


def read(reader: Reader) -> Wait[None]:
    openers = {OPEN: token_list, **hermes.openers(STOPS), hermes.OPEN: tag_list}
    yield from read_turn(reader, {**openers, ANSWER: answer, ANSWER_END: answer_end}, stops=STOPS)


FORMAT = OutputFormat(
    name="granite",
    title="Granite (JSON list, or objects in tags)",
    reference="https://www.ibm.com/granite/docs/models/granite",
    example='<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    markers=(OPEN, hermes.OPEN, hermes.CLOSE),
    read=read,
    write=write_list(OPEN, ""),
    stops=STOPS,
    servers={"vllm": "granite"},
    broken={
        '<|tool_call|>[{"name": "get_weather", "arguments": {"ci': CallProblem.UNCLOSED,
        '<tool_call>\n{"name": "get_weather", "arguments": {}}}\n</tool_call>': CallProblem.INVALID_JSON,
        '<|tool_call|>{"name": "get_weather", "arguments": {}}': CallProblem.MALFORMED,
        '<|tool_call|>[{"arguments": {"city": "Paris"}}]': CallProblem.MISSING_NAME,
    },
)
