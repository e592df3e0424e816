"""The calls in a conversation, whichever way they were typed, and which result answers which call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from formats.types import JsonObject, Message


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an assistant turn: {"function": {"name", "arguments"}}, or flat, as `conversation` takes both."""

    message: int  # the place of its message, and its own place in it
    index: int
    id: Any  # None where it has none
    name: str
    arguments: JsonObject | str | None
    value: JsonObject  # as it was typed

    @property
    def path(self) -> str:
        return f"messages[{self.message}].tool_calls[{self.index}]"

    @property
    def is_flat(self) -> bool:
        return "function" not in self.value

    @property
    def arguments_path(self) -> str:
        return f"{self.path}.arguments" if self.is_flat else f"{self.path}.function.arguments"


def calls_of(message: Message, place: int) -> tuple[Call, ...]:
    """The calls of the message that stands at `place`."""
    calls = []
    for index, value in enumerate(message.get("tool_calls") or ()):
        typed: JsonObject = dict(value)
        function = typed.get("function", typed)
        calls.append(Call(place, index, typed.get("id"), function["name"], function.get("arguments"), typed))
    return tuple(calls)


def answered_calls(messages: Sequence[Message]) -> dict[int, Call]:
    """Place of a tool result -> the call it answers; results without a call of theirs are left out.

    A result names its call by `tool_call_id`. One that has no id answers the first open call of the turn before it
    that has its `name`, or simply the first open one where it has no name either.
    """
    answers: dict[int, Call] = {}
    by_id: dict[str, list[Call]] = {}  # open calls; an id may be any JSON
    turn: dict[int, Call] = {}  # open calls of the last turn that has any
    for place, message in enumerate(messages):
        calls = calls_of(message, place)
        if calls:
            turn = {call.index: call for call in calls}
            for call in calls:
                by_id.setdefault(dumps(call.id), []).append(call)
        elif message["role"] == "tool":
            asked, name = message.get("tool_call_id"), message.get("name")
            if asked is None:
                found = next((call for call in turn.values() if name is None or call.name == name), None)
            else:
                found = next(reversed(by_id.get(dumps(asked), [])), None)
            if found is not None:
                answers[place] = found
                by_id[dumps(found.id)].remove(found)
                if turn.get(found.index) is found:
                    del turn[found.index]
    return answers


def arguments_object(arguments: JsonObject | str | None) -> JsonObject | None:
    """The arguments as an object, out of their JSON text if need be; None where they are none. No arguments are {}."""
    if arguments is None:
        return {}
    if isinstance(arguments, dict):
        return arguments
    value = loads(arguments)
    return value if isinstance(value, dict) else None


def loads(text: str) -> object:
    """The value of a JSON text, None where it is not JSON (NaN and half characters are not)."""
    try:
        value: object = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return value


def dumps(value: object) -> str:
    """JSON text on one line, characters as they are: the way transformers' tojson writes it."""
    return json.dumps(value, ensure_ascii=False)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
