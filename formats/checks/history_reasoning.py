"""What becomes of the reasoning of earlier turns?

Most templates strip it, as their models were trained to expect; then no answer
with reasoning is a prefix of the next prompt. Some keep it beside calls. This is
told, not judged.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, passed

THOUGHT = "Probe thought kqz."


def run(subject: Subject) -> Result:
    earlier = subject.render(user(), assistant(reasoning_content=THOUGHT), user("Probe next kqz?"))
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    pending = subject.render(
        user(), assistant("", reasoning_content=THOUGHT, tool_calls=[call]), result(), tools=[tool()]
    )
    kept, beside = THOUGHT in earlier, THOUGHT in pending
    proof = (
        earlier.evidence("an earlier turn", THOUGHT),
        pending.evidence("beside a call that was just answered", THOUGHT),
    )
    if kept:
        return passed("reasoning of earlier turns is kept", *proof, outcome="kept")
    if beside:
        return passed(
            "reasoning is stripped from earlier turns, kept beside the call being answered",
            *proof,
            outcome="kept beside calls",
        )
    return passed("reasoning_content in history is not shown to the model", *proof, outcome="stripped")


CHECK = Check(
    name="history_reasoning",
    title="What becomes of reasoning in history",
    group="History",
    run=run,
)
