"""Remedies that a button applies to a conversation; each is pure, and applying it twice is applying it once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from formats.content import is_parts, joined
from formats.tool_calls import Call, answered_calls, calls_of, dumps, loads
from formats.types import Conversation, JsonObject, Message

_NINE = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass(frozen=True, slots=True)
class Fix:
    name: str
    title: str  # what a button says
    what: str  # what it does, and whom it helps
    apply: Callable[[Conversation], Conversation]
    checks: tuple[str, ...] = ()  # the checks whose finding it remedies

    def applicable(self, conversation: Conversation) -> bool:
        """Whether it changes anything."""
        return self.apply(conversation) != conversation


def _decode_arguments(conversation: Conversation) -> Conversation:
    def decoded(message: Message, place: int) -> Message:
        calls = calls_of(message, place)
        return _with_calls(message, [_decoded(call) for call in calls]) if calls else message

    return _each(conversation, decoded)


def _decoded(call: Call) -> JsonObject:
    """The call with an object in place of the JSON text of one, however often it was encoded."""
    value: object = call.arguments
    while isinstance(value, str):
        value = loads(value)
    if not isinstance(call.arguments, str) or not isinstance(value, dict):
        return call.value
    if call.is_flat:
        return {**call.value, "arguments": value}
    return {**call.value, "function": {**call.value["function"], "arguments": value}}


def _empty_content(conversation: Conversation) -> Conversation:
    def filled(message: Message, place: int) -> Message:
        if message.get("content") is not None:
            return message
        rest = {key: value for key, value in message.items() if key not in ("role", "content")}
        return cast(Message, {"role": message["role"], "content": "", **rest})

    return _each(conversation, filled)


def _nine_characters(conversation: Conversation) -> Conversation:
    """One new id for one old id, wherever it stands; a result gets the id of the call it answers.

    Calls of one turn never share an id: a result that had none would otherwise be taken for the other one's.
    """
    messages = conversation.messages
    ids = [call.id for place, message in enumerate(messages) for call in calls_of(message, place)]
    used = [old for old in (*ids, *(message.get("tool_call_id") for message in messages)) if _is_nine(old)]
    fresh = (name for number in range(1, 100_000) if (name := f"call{number:05d}") not in used)
    renamed: dict[str, str] = {}

    def new_id(old: Any) -> str:
        if _is_nine(old):
            return str(old)
        key = dumps(old)
        if old is None or key not in renamed:  # calls without an id are different calls
            renamed[key] = next(fresh)
        return renamed[key]

    answers = answered_calls(messages)
    given: dict[tuple[int, int], str] = {}

    def rewritten(message: Message, place: int) -> Message:
        calls = calls_of(message, place)
        taken: set[str] = set()
        for call in calls:
            new = new_id(call.id)
            given[place, call.index] = next(fresh) if new in taken else new
            taken.add(given[place, call.index])
        if calls:
            return _with_calls(message, [{**call.value, "id": given[place, call.index]} for call in calls])
        if message["role"] != "tool":
            return message
        answered = answers.get(place)
        asked = given[answered.message, answered.index] if answered else new_id(message.get("tool_call_id"))
        return cast(Message, {**message, "tool_call_id": asked})

    return _each(conversation, rewritten)


def _is_nine(value: object) -> bool:
    return isinstance(value, str) and _NINE.fullmatch(value) is not None


def _split_calls(conversation: Conversation) -> Conversation:
    """Results stand behind their call as far as they follow its turn; those of other turns stay where they are.

    A turn whose call is answered only later, and by its place alone, stays whole: apart, another call would take the
    answer.
    """
    answers = answered_calls(conversation.messages)
    whole = {
        answered.message
        for place, answered in answers.items()
        if conversation.messages[place].get("tool_call_id") is None
        and any(message["role"] != "tool" for message in conversation.messages[answered.message + 1 : place])
    }
    messages: list[Message] = []
    waiting: dict[tuple[int, int], list[Message]] = {}  # turns of a call, and its results
    strays: list[Message] = []

    def close() -> None:
        messages.extend(message for turn in waiting.values() for message in turn)
        messages.extend(strays)
        waiting.clear()
        strays.clear()

    for place, message in enumerate(conversation.messages):
        answered = answers.get(place)
        if message["role"] == "tool" and waiting:
            own = waiting.get((answered.message, answered.index)) if answered else None
            (strays if own is None else own).append(message)
            continue
        close()
        calls = calls_of(message, place)
        if len(calls) < 2 or place in whole:
            messages.append(message)
            continue
        for call in calls:
            kept = message if call.index == 0 else cast(Message, {"role": message["role"], "content": ""})
            waiting[place, call.index] = [_with_calls(kept, [call.value])]
    close()
    return replace(conversation, messages=tuple(messages))


def _system_into_user(conversation: Conversation) -> Conversation:
    """Each system text goes in front of the next user turn; where none follows, it becomes one."""
    messages: list[Message] = []
    waiting: object = None
    users = [place for place, message in enumerate(conversation.messages) if message["role"] == "user"]
    for place, message in enumerate(conversation.messages):
        content = message.get("content")
        if message["role"] in ("system", "developer"):
            if users and place < users[-1]:
                waiting = joined(waiting, content)
            else:
                messages.append(cast(Message, {"role": "user", "content": joined(None, content)}))
        elif message["role"] == "user" and waiting is not None:
            messages.append(cast(Message, {**message, "content": joined(waiting, content)}))
            waiting = None
        else:
            messages.append(message)
    return replace(conversation, messages=tuple(messages))


def _results_as_text(conversation: Conversation) -> Conversation:
    def as_text(message: Message, place: int) -> Message:
        content: object = message.get("content")
        if message["role"] != "tool" or content is None or isinstance(content, str) or is_parts(content):
            return message
        return cast(Message, {**message, "content": dumps(content)})

    return _each(conversation, as_text)


def _each(conversation: Conversation, change: Callable[[Message, int], Message]) -> Conversation:
    return replace(conversation, messages=tuple(change(m, place) for place, m in enumerate(conversation.messages)))


def _with_calls(message: Message, calls: Iterable[JsonObject]) -> Message:
    return cast(Message, {**message, "tool_calls": list(calls)})


FIXES: Mapping[str, Fix] = {
    fix.name: fix
    for fix in (
        Fix(
            "decode_arguments",
            "Arguments as objects",
            "Turns the JSON text of a call's arguments, as the OpenAI API has it, into the object that most templates "
            "need; text that is no JSON object stays.",
            _decode_arguments,
            ("arguments_text",),
        ),
        Fix(
            "empty_content",
            "Empty text for no content",
            'Writes "" where content is null or missing: some templates print None for it, others refuse it.',
            _empty_content,
            ("content_null", "content_missing"),
        ),
        Fix(
            "nine_character_ids",
            "Ids of nine characters",
            "Gives every call and its result an id of nine letters and digits, which the templates of Mistral ask for.",
            _nine_characters,
            ("call_ids",),
        ),
        Fix(
            "split_calls",
            "One call in each turn",
            "Makes a turn of its own of every parallel call, with its result behind it, for templates that take a "
            "single call.",
            _split_calls,
            ("history_parallel",),
        ),
        Fix(
            "system_into_user",
            "System text into the user's turn",
            "Moves system and developer texts in front of the next user text, for templates that have no such role.",
            _system_into_user,
            ("system_role", "developer_role"),
        ),
        Fix(
            "results_as_text",
            "Results as JSON text",
            "Turns a tool's result that is an object, a list or a number into its JSON text, which every template can "
            "print.",
            _results_as_text,
            ("result_object",),
        ),
    )
}
