"""What becomes of a result that is an object instead of text?

Clients send it by mistake, or because a server allows it. It may come out as
JSON, by Python's rules, empty, or not at all.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

OBJECT = {"temperature_kqz": 18, "open": True}


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    rendered = subject.render(user(), assistant("", tool_calls=[call]), result(OBJECT), tools=[tool()])
    label = "a result that is an object"
    if not rendered.ok:
        return failed("raises", "a result that is an object is refused", rendered.evidence(label))
    if "temperature_kqz" not in rendered:
        return failed(
            "dropped", "a result that is an object comes out empty", rendered.evidence(label, "probe value kqz")
        )
    if "'temperature_kqz'" in rendered:
        return failed(
            "corrupted",
            "a result that is an object is written by Python's rules",
            rendered.evidence(label, "'temperature_kqz'"),
        )
    return passed("a result that is an object is written as JSON", rendered.evidence(label, "temperature_kqz"))


CHECK = Check(
    name="result_object",
    title="A result may be an object",
    group="History",
    run=run,
    score="tool_support",
    weight=1,
    requires=("history_result",),
)
