"""A JSON list of all calls of a turn between one pair of tags: what formats of that kind share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from formats.parsers.base import Handler, call_list
from formats.reading.frames import take_closer
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall


def list_between(opener: str, closer: str, stops: tuple[str, ...], problem: CallProblem | None = None) -> Handler:
    """The opening tag counts only if a list, or one call without a list, follows it."""

    def read_list(reader: Reader) -> Wait[bool]:
        inside = yield from reader.past_space(reader.at + len(opener))
        if not (yield from call_list(reader, inside, (closer, opener, *stops), problem=problem)):
            return False
        yield from take_closer(reader, closer)
        return True

    return read_list


def write_list(opener: str, closer: str) -> Callable[[Sequence[FunctionCall]], str]:
    return lambda calls: f"{opener}{json.dumps(list(calls), ensure_ascii=False)}{closer}"
