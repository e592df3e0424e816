"""How many tokens does one call cost?

One call with one short argument, as the template writes it, in the model's own
tokens. Told, not judged.
"""

from __future__ import annotations

from formats.checks.base import Check, Result, Subject, passed
from formats.types import Evidence


def run(subject: Subject) -> Result:
    written = subject.detection.written or ""
    count = len(subject.ids(written))
    return passed(f"one call with one argument costs {count} tokens", Evidence("a call", written), outcome=str(count))


CHECK = Check(
    name="call_cost",
    title="What one call costs",
    group="Output format",
    run=run,
    requires=("call_read",),
)
