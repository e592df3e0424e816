"""Are a call's arguments taken as JSON text, as the OpenAI API returns them?

Agents hand back what the API gave them: arguments as a string of JSON. Templates
that expect an object encode it a second time (the model sees escaped quotes), or
refuse it. The prompt must be the same as for the object.
"""

from __future__ import annotations

import json

from formats.checks._probes import assistant, difference, result, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

ARGUMENTS = {"probe_key_kqz": "probe value kqz"}
AS_TEXT = json.dumps(ARGUMENTS)


def run(subject: Subject) -> Result:
    as_text, as_object = (
        subject.render(
            user(),
            assistant(
                "",
                tool_calls=[
                    {"id": "kqz00call", "type": "function", "function": {"name": "probe_call_kqz", "arguments": a}}
                ],
            ),
            result(),
            tools=[tool()],
        )
        for a in (AS_TEXT, ARGUMENTS)
    )
    if not as_text.ok:
        return failed("raises", "arguments given as JSON text are refused", as_text.evidence("arguments as text"))
    proof = difference("arguments as text", as_text, "arguments as an object", as_object)
    if as_text.prompt == as_object.prompt:
        return passed(
            "JSON text and an object give the same prompt", as_text.evidence("arguments as text", "probe value kqz")
        )
    encoded = json.dumps(AS_TEXT)[1:-1]
    if encoded in as_text:
        return failed("corrupted", "arguments given as JSON text are encoded twice", *proof)
    if "{{" in as_text.prompt and "probe value kqz" in as_text:
        return failed("corrupted", "arguments given as JSON text get a second pair of braces", *proof)
    if "probe value kqz" not in as_text:
        return failed("dropped", "arguments given as JSON text are lost", *proof)
    if not as_object.ok:
        return passed(
            "JSON text is written as it is; only text is accepted", as_text.evidence("arguments as text", AS_TEXT)
        )
    if AS_TEXT in as_text or (json.loads(AS_TEXT) == ARGUMENTS and "probe_key_kqz" in as_text):
        return passed("JSON text is written as it is; an object differs in layout only", *proof)
    return failed("corrupted", "JSON text and an object give different arguments", *proof)


CHECK = Check(
    name="arguments_text",
    title="Arguments may be JSON text",
    group="History",
    run=run,
    score="tool_support",
    weight=4,
    requires=("history_call",),
)
