"""Does a parser read back the call that the template writes?

The template shows the model how a call looks; a server needs a parser that reads
it. The call is written by the template and given to every parser of this app. If
none returns exactly that call, servers will find none either.
"""

from __future__ import annotations

from formats.checks.base import Check, Result, Subject, failed, passed
from formats.types import Evidence


def run(subject: Subject) -> Result:
    detection = subject.detection
    if detection.written is None:
        if detection.refusal:
            return failed(
                "raises", "a call in history is refused", Evidence("a call in history: refused", detection.refusal)
            )
        return failed("dropped", "the template writes no call, so it teaches no format")
    written = Evidence("what the template writes for a call", detection.written)
    if subject.format is None:
        return failed("unread", "the template writes a call that no parser reads", written)
    return passed(f"{subject.format.title} reads back what the template writes", written, outcome=subject.format.name)


CHECK = Check(
    name="call_read",
    title="A parser reads the calls that the template writes",
    group="Output format",
    run=run,
    score="output_format",
    weight=30,
)
