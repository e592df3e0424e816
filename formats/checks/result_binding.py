"""How does the model know which call a result answers: by id, by name, or by position?

With parallel calls it matters: results in another order are taken for each
other's where only the position binds them. This is told, not judged.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, passed

ID = "kqz0bound"


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"}, ID)
    before = subject.render(user(), assistant("", tool_calls=[call]), tools=[tool()])
    after = subject.render(
        user(), assistant("", tool_calls=[call]), result(id=ID, name="probe_call_kqz"), tools=[tool()]
    )
    label = "call and result"
    if not before.ok:
        return passed(
            "a call without its result is refused, so the place of the result cannot be told",
            before.evidence(label),
            outcome="unknown",
        )
    for bound, word in (("id", ID), ("name", "probe_call_kqz")):
        if after.prompt.count(word) > before.prompt.count(word):
            at = after.prompt.rfind(word)
            return passed(
                f"a result is bound to its call by {bound}", after.at(label, at, at + len(word)), outcome=f"by {bound}"
            )
    return passed(
        "a result is bound to its call by its position alone",
        after.evidence(label, "probe result kqz"),
        outcome="by position",
    )


CHECK = Check(
    name="result_binding",
    title="What binds a result to its call",
    group="History",
    run=run,
    requires=("history_result",),
)
