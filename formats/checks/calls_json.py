"""Are a call's arguments strict JSON, or a syntax of the model's own?

JSON says what is text and what is a number, null or a list. Tags and Python-like
calls do not: a parser needs the tool's schema to know whether 03106 is a number.
"""

from __future__ import annotations

from formats.checks._probes import find_json
from formats.checks.base import Check, Result, Subject, failed, passed
from formats.detect import CALL
from formats.types import Evidence


def run(subject: Subject) -> Result:
    written = subject.detection.written or ""
    found = find_json(written, CALL["arguments"])
    if found:
        return passed("arguments are strict JSON", Evidence("a call", written, *found), outcome="JSON")
    return failed(
        "own syntax",
        "arguments are not JSON: reading them needs rules of the format's own",
        Evidence("a call", written),
    )


CHECK = Check(
    name="calls_json",
    title="Arguments are strict JSON",
    group="Output format",
    run=run,
    score="output_format",
    weight=10,
    requires=("call_read",),
)
