"""What was read in an output as the message that an API would return, and as the next turns of a conversation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from formats.types import Conversation, JsonObject, Message, ParsedOutput, ParsedToolCall


def to_message(parsed: ParsedOutput, taken: frozenset[str] = frozenset()) -> Message:
    """The assistant message in the OpenAI shape: arguments as JSON text, content null beside calls.

    Calls whose name or arguments could not be read are left out. An id that the
    output gives is kept; other calls get nine letters and digits, which is the
    strictest rule that templates have, none of them in `taken`.
    """
    message: JsonObject = {"role": "assistant", "content": parsed.content}
    if parsed.reasoning is not None:
        message["reasoning_content"] = parsed.reasoning
    calls = [call for call in parsed.calls if call.name is not None and call.arguments is not None]
    if calls:
        message["content"] = parsed.content or None
        ids = _ids(calls, taken)
        message["tool_calls"] = [_call(call, id) for call, id in zip(calls, ids, strict=True)]
    return message  # type: ignore[return-value]  # a Message by shape


def _call(call: ParsedToolCall, id: str) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _ids(calls: list[ParsedToolCall], taken: frozenset[str]) -> list[str]:
    free = (id for n in range(len(taken) + 2 * len(calls) + 1) if (id := f"call{n:05d}") not in taken)
    given = {call.id for call in calls}
    return [call.id or next(id for id in free if id not in given) for call in calls]


def next_turn(conversation: Conversation, parsed: ParsedOutput) -> Conversation:
    """The conversation with the output as its next message, arguments as objects, and an empty result for each call."""
    taken = frozenset(
        call["id"]
        for message in conversation.messages
        for call in (message.get("tool_calls") or [])
        if isinstance(call, dict) and isinstance(call.get("id"), str)
    )
    message: dict[str, Any] = dict(to_message(parsed, taken))
    results: list[Message] = []
    for call in message.get("tool_calls", []):
        function = call["function"]
        function["arguments"] = json.loads(function["arguments"])
        results.append({"role": "tool", "tool_call_id": call["id"], "name": function["name"], "content": ""})
    if "tool_calls" in message:
        message["content"] = message["content"] or ""
    messages = (*conversation.messages, message, *results)
    return replace(conversation, messages=messages)  # type: ignore[arg-type]  # messages by shape
