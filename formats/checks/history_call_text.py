"""Is the text beside a call kept?

Models often say something before they call. A template that writes either the
text or the call makes the model forget what it said, or what it did.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

SAID = "Probe remark kqz."


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    rendered = subject.render(user(), assistant(SAID, tool_calls=[call]), result(), tools=[tool()])
    label = "text beside a call"
    if not rendered.ok:
        return failed("raises", "text beside a call is refused", rendered.evidence(label))
    if SAID not in rendered:
        return failed(
            "dropped", "the text beside a call is not in the prompt", rendered.evidence(label, "probe value kqz")
        )
    if "probe value kqz" not in rendered:
        return failed("dropped", "the call is lost when there is text beside it", rendered.evidence(label, SAID))
    return passed("the text and the call are both in the prompt", rendered.evidence(label, SAID))


CHECK = Check(
    name="history_call_text",
    title="Text beside a call stays in history",
    group="History",
    run=run,
    score="tool_support",
    weight=3,
    requires=("history_call",),
)
