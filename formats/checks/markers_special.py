"""Are the markers single tokens of the vocabulary, or plain text?

A marker that is one token cannot be misspelt, is seen at once by a stop rule, and
cannot be split between two pieces of a stream. Told by token ids.
"""

from __future__ import annotations

from formats.checks._probes import call_marker
from formats.checks.base import Check, Result, Subject, failed, passed
from formats.types import Evidence


def run(subject: Subject) -> Result:
    marker = call_marker(subject)
    ids = subject.ids(marker)
    written = Evidence("a call", subject.detection.written or "")
    if len(ids) == 1:
        return passed(f"{marker} is one token ({ids[0]})", written, outcome="one token")
    return failed("plain text", f"{marker} is plain text: {len(ids)} tokens", written, credit=0.5)


CHECK = Check(
    name="markers_special",
    title="Markers are single tokens",
    group="Output format",
    run=run,
    score="output_format",
    weight=5,
    requires=("calls_delimited",),
)
