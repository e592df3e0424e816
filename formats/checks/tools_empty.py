"""Is an empty list of tools the same as no tools?

Agents often send `tools: []`. Templates that test `tools is not none` then open a
tool section with nothing in it, or announce functions that do not exist.
"""

from __future__ import annotations

from formats.checks._probes import difference, system, user
from formats.checks.base import Check, Result, Subject, failed, passed


def run(subject: Subject) -> Result:
    chat = (system(), user())
    none, empty = subject.render(*chat), subject.render(*chat, tools=[])
    if none.prompt == empty.prompt and none.ok and empty.ok:
        return passed("tools: [] gives the same prompt as no tools", empty.evidence("tools: []"), outcome="same")
    proof = difference("no tools", none, "tools: []", empty)
    if not empty.ok:
        return failed("raises", "tools: [] is refused", *proof)
    return failed("corrupted", "tools: [] changes the prompt although there is no tool", *proof)


CHECK = Check(
    name="tools_empty",
    title="An empty list of tools is no tools",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=2,
)
