"""Is an empty list of calls the same as no calls?

SDKs serialise `tool_calls: []` for every assistant turn. Templates that test
whether the key is there, not whether it holds anything, then refuse the turn,
write an empty call, or lose its text.
"""

from __future__ import annotations

from formats.checks._probes import assistant, difference, user
from formats.checks.base import Check, Result, Subject, failed, passed


def run(subject: Subject) -> Result:
    without = subject.render(user(), assistant(), user("Probe next kqz?"))
    empty = subject.render(user(), assistant(tool_calls=[]), user("Probe next kqz?"))
    if without.ok and empty.ok and without.prompt == empty.prompt:
        return passed(
            "tool_calls: [] changes nothing", empty.evidence("tool_calls: []", "Probe answer kqz."), outcome="same"
        )
    proof = difference("no tool_calls", without, "tool_calls: []", empty)
    if not empty.ok:
        return failed("raises", "an assistant turn with tool_calls: [] is refused", *proof)
    if "Probe answer kqz." not in empty:
        return failed("dropped", "tool_calls: [] makes the turn's text disappear", *proof)
    return failed("corrupted", "tool_calls: [] changes the prompt", *proof)


CHECK = Check(
    name="tool_calls_empty",
    title="An empty list of calls is no call",
    group="History",
    run=run,
    score="tool_support",
    weight=2,
)
