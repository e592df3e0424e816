"""Is a call set apart from text by markers?

A bare JSON object may be a call or an answer that happens to be JSON; a parser
must guess, and text beside a call is lost or misread. Markers settle it.
"""

from __future__ import annotations

from formats.checks._probes import call_marker
from formats.checks.base import Check, Result, Subject, failed, passed
from formats.types import Evidence


def run(subject: Subject) -> Result:
    written = subject.detection.written or ""
    marker = call_marker(subject)
    if marker:
        at = written.find(marker)
        return passed(
            f"a call begins with {marker}",
            Evidence("a call", written, *((at, at + len(marker)) if at >= 0 else (None, None))),
        )
    return failed("bare", "a call is bare: nothing tells it from text", Evidence("a call", written))


CHECK = Check(
    name="calls_delimited",
    title="Calls are wrapped in markers",
    group="Output format",
    run=run,
    score="output_format",
    weight=30,
    requires=("call_read",),
)
