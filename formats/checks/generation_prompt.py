"""Is add_generation_prompt honoured?

With it the prompt must go on to the opening of the assistant's turn; without it,
end before. A template that ignores it makes models continue the user's turn, or
spoils fine-tuning data with a turn that was never said.
"""

from __future__ import annotations

from formats.checks._probes import difference, user
from formats.checks.base import Check, Result, Subject, failed, passed


def run(subject: Subject) -> Result:
    without, opened = subject.render(user()), subject.render(user(), generation=True)
    proof = difference("without", without, "with add_generation_prompt", opened)
    if not (without.ok and opened.ok):
        return failed("raises", "a single user turn is refused", *proof)
    if without.prompt == opened.prompt:
        return failed("no effect", "add_generation_prompt changes nothing", *proof)
    if not opened.prompt.startswith(without.prompt):
        return failed(
            "corrupted", "add_generation_prompt changes what stands before the assistant's turn", *proof, credit=0.5
        )
    added = opened.prompt[len(without.prompt) :]
    return passed(f"add_generation_prompt adds {added!r}", *proof)


CHECK = Check(
    name="generation_prompt",
    title="add_generation_prompt opens the assistant's turn",
    group="Turn behaviour",
    run=run,
    score="tool_support",
    weight=3,
)
