"""Can a call be recognised from its first token?

A server that streams must decide at once whether to show text. Where a turn with a
call begins with a marker, the first token tells; a bare object has to be held back
until it has shown what it is.
"""

from __future__ import annotations

from formats.checks._probes import call_marker
from formats.checks.base import Check, Result, Subject, failed, passed
from formats.types import Evidence


def run(subject: Subject) -> Result:
    written = subject.detection.written or ""
    marker = call_marker(subject)
    proof = Evidence("a call", written)
    if marker and (subject.detection.prompt_suffix.endswith(marker) or written.lstrip().startswith(marker)):
        return passed(f"the first token tells: {marker}", proof, outcome="first token")
    if marker:
        return passed(f"{marker} stands behind other text, which tells as well", proof, outcome="marker")
    return failed("late", "a call is known only when its name has been read", proof)


CHECK = Check(
    name="first_token",
    title="A call is recognised from its first token",
    group="Output format",
    run=run,
    score="output_format",
    weight=5,
    requires=("call_read",),
)
