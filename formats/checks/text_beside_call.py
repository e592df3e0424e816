"""Can text beside a call be told from the call?

A turn with text and a call is written by the template; the parser must give back
both, each by itself.
"""

from __future__ import annotations

from formats.checks._probes import assistant, read_turn_back
from formats.checks.base import Check, Result, Subject, failed, passed

SAID = "Probe remark kqz."


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    parsed, proof = read_turn_back(subject, assistant(SAID, tool_calls=[call]))
    if parsed is None:
        return failed("raises", "text beside a call is refused", proof)
    if SAID not in parsed.raw:
        return failed("dropped", "text beside a call is not written at all", proof)
    if SAID in parsed.content and [c.arguments for c in parsed.calls] == [{"probe_key_kqz": "probe value kqz"}]:
        return passed("text and call are read back, each by itself", proof)
    if SAID in (parsed.reasoning or ""):
        return failed("merged", "text beside a call is written as reasoning, and read back as that", proof, credit=0.5)
    return failed("corrupted", "text beside a call cannot be told from it", proof)


CHECK = Check(
    name="text_beside_call",
    title="Text beside a call can be told from it",
    group="Output format",
    run=run,
    score="output_format",
    weight=5,
    requires=("call_read",),
)
