"""Is content as a list of text parts shown as its text?

The OpenAI API and most agents send `[{"type": "text", "text": ...}]`. Templates
that expect a string print Python's idea of the list into the prompt, or an empty
turn.
"""

from __future__ import annotations

from formats.checks._probes import difference, user
from formats.checks.base import Check, Result, Subject, failed, passed


def run(subject: Subject) -> Result:
    text = "Probe question kqz?"
    plain, parts = subject.render(user(text)), subject.render(user([{"type": "text", "text": text}]))
    if plain.ok and plain.prompt == parts.prompt:
        return passed(
            "a list with one text part gives the same prompt as the text",
            parts.evidence("content as parts", text),
            outcome="same",
        )
    proof = difference("content as text", plain, "content as parts", parts)
    if not parts.ok:
        return failed("raises", "content as a list of parts is refused", *proof)
    if "'text'" in parts or '"text"' in parts:
        return failed("corrupted", "the list itself is printed into the prompt", *proof)
    if text not in parts:
        return failed("dropped", "content as a list of parts comes out empty", *proof)
    return failed("corrupted", "parts and text give different prompts", *proof, credit=0.5)


CHECK = Check(
    name="content_parts",
    title="Content may be a list of text parts",
    group="Text",
    run=run,
    score="tool_support",
    weight=2,
)
