"""Is a result that is JSON text shown as it is?

Results are mostly JSON. Templates that encode the text once more show the model
escaped quotes ({\"temperature\": 18}), which cost tokens and are harder to read.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

TEXT = '{"temperature_kqz": 18, "place": "Köln"}'


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    rendered = subject.render(user(), assistant("", tool_calls=[call]), result(TEXT), tools=[tool()])
    label = "a result that is JSON text"
    if not rendered.ok:
        return failed("raises", "a result that is JSON text is refused", rendered.evidence(label))
    if TEXT in rendered:
        return passed("JSON text in a result is shown as it is", rendered.evidence(label, TEXT))
    if "temperature_kqz" not in rendered:
        return failed("dropped", "the result is not in the prompt", rendered.evidence(label))
    if 'temperature_kqz\\"' in rendered:
        return failed(
            "corrupted", "JSON text in a result is encoded a second time", rendered.evidence(label, "temperature_kqz")
        )
    return failed(
        "corrupted", "JSON text in a result is changed", rendered.evidence(label, "temperature_kqz"), credit=0.5
    )


CHECK = Check(
    name="result_json",
    title="A result that is JSON text is shown as it is",
    group="History",
    run=run,
    score="tool_support",
    weight=3,
    requires=("history_result",),
)
