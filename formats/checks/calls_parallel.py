"""Can one turn hold several calls, and are they told apart?

Two calls are written by the template and read back by the format's parser.
"""

from __future__ import annotations

from formats.checks._probes import assistant, read_calls
from formats.checks.base import Check, Result, Subject, failed, passed


def run(subject: Subject) -> Result:
    wanted = [("probe_call_kqz", {"probe_key_kqz": v}) for v in ("probe one kqz", "probe two kqz")]
    calls = [subject.call(name, arguments, f"kqz00000{n}") for n, (name, arguments) in enumerate(wanted)]
    read, proof = read_calls(subject, assistant("", tool_calls=calls))
    if read is None:
        return failed("raises", "two calls in one turn are refused", proof)
    if [(c.name, c.arguments) for c in read] == wanted:
        return passed("two calls in one turn are read back", proof)
    return failed("dropped", f"of two calls in one turn {len(read)} can be read back", proof)


CHECK = Check(
    name="calls_parallel",
    title="One turn may hold several calls",
    group="Output format",
    run=run,
    score="output_format",
    weight=10,
    requires=("call_read",),
)
