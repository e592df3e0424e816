"""Which ids may calls have?

The OpenAI API makes ids like call_abc123; Ollama sends none; some templates demand
nine letters and digits, or print ids for the model to repeat. The rule is found
by trying.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Rendered, Result, Subject, failed, passed

LONG, NINE = "call_kqz_0123456789abcdef", "kqz00call"


def run(subject: Subject) -> Result:
    nine, long, none = _with(subject, NINE), _with(subject, LONG), _with(subject, None)
    if nine.ok and not long.ok:
        message = f"ids like {LONG} are refused: the template wants exactly nine letters and digits"
        return failed("raises", message, long.evidence("a long id"))
    if nine.ok and not none.ok:
        return failed("raises", "calls without an id are refused", none.evidence("no id"), credit=0.5)
    if LONG in long:
        return passed("any id works, and the model sees it", long.evidence("a long id", LONG), outcome="kept")
    return passed("any id works; ids are not shown to the model", long.evidence("a long id"), outcome="not shown")


def _with(subject: Subject, id: str | None) -> Rendered:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"}, id or "")
    answer = result(id=id or "")
    if id is None:
        del call["id"], answer["tool_call_id"]
    return subject.render(user(), assistant("", tool_calls=[call]), answer, tools=[tool()])


CHECK = Check(
    name="call_ids",
    title="Calls may have any id, or none",
    group="History",
    run=run,
    score="tool_support",
    weight=3,
    requires=("history_call",),
)
