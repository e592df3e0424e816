"""Must user and assistant take turns?

Two user turns in a row happen when a call failed or a message was edited. Some
templates refuse them; it is better to know than to find out in production.
"""

from __future__ import annotations

from formats.checks._probes import assistant, system, user
from formats.checks.base import Check, Result, Subject, failed, passed


def run(subject: Subject) -> Result:
    lead = () if subject.render(user()).ok else (system(),)  # some refuse any chat without a system turn
    two = subject.render(*lead, user("Probe one kqz."), user("Probe two kqz."))
    first = subject.render(*lead, assistant(), user())
    if not two.ok:
        return failed("raises", "two user turns in a row are refused", two.evidence("two user turns"))
    if "Probe one kqz." not in two or "Probe two kqz." not in two:
        return failed("dropped", "of two user turns in a row one is lost", two.evidence("two user turns"))
    if not first.ok:
        return failed(
            "raises", "a chat that the assistant begins is refused", first.evidence("assistant first"), credit=0.5
        )
    return passed("turns may come in any order", two.evidence("two user turns", "Probe two kqz."))


CHECK = Check(
    name="alternation",
    title="Turns need not alternate",
    group="Text",
    run=run,
    score="tool_support",
    weight=1,
)
