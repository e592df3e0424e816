"""Are parallel calls kept: two calls in one turn, and their two results?

Agents send what the model did. Templates that allow one call a turn refuse the
history; worse are those that write the first call and both results, so that one
answer belongs to no question.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

FIRST, SECOND = "probe first kqz", "probe second kqz"


def run(subject: Subject) -> Result:
    calls = [
        subject.call("probe_call_kqz", {"probe_key_kqz": v}, id)
        for v, id in ((FIRST, "kqz000001"), (SECOND, "kqz000002"))
    ]
    results = result("result one kqz", "kqz000001"), result("result two kqz", "kqz000002")
    rendered = subject.render(user(), assistant("", tool_calls=calls), *results, tools=[tool()])
    label = "two calls, two results"
    if not rendered.ok:
        return failed("raises", "two calls in one turn are refused", rendered.evidence(label))
    missing = [w for w in (FIRST, SECOND, "result one kqz", "result two kqz") if w not in rendered]
    if missing:
        kept = FIRST if FIRST in rendered else "result one kqz"
        message = f"of two calls and two results, {len(missing)} are lost ({', '.join(missing)})"
        return failed("dropped", message, rendered.evidence(label, kept))
    return passed("both calls and both results are in the prompt", rendered.evidence(label, SECOND))


CHECK = Check(
    name="history_parallel",
    title="Parallel calls and results stay in history",
    group="History",
    run=run,
    score="tool_support",
    weight=10,
    requires=("history_call",),
)
