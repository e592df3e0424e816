"""Can an answer be begun for the model, and is the beginning exact?

With continue_final_message the prompt must end with the very text of the last
turn, its white space included: a lost space or line break changes the first token.
"""

from __future__ import annotations

from formats.checks._probes import assistant, user
from formats.checks.base import Check, Result, Subject, failed, passed

BEGUN = "Probe prefill kqz: "


def run(subject: Subject) -> Result:
    rendered = subject.render(user(), assistant(BEGUN), continue_final=True)
    label = "continue_final_message"
    if not rendered.ok:
        return failed("raises", "the last turn cannot be continued", rendered.evidence(label))
    if rendered.prompt.endswith(BEGUN):
        return passed("the prompt ends with the begun answer, exactly", rendered.evidence(label, BEGUN))
    if rendered.prompt.endswith(BEGUN.rstrip()):
        return failed(
            "trimmed",
            "the begun answer loses the white space at its end",
            rendered.evidence(label, BEGUN.rstrip()),
            credit=0.5,
        )
    return failed(
        "corrupted", "the prompt does not end with the begun answer", rendered.evidence(label, "Probe prefill")
    )


CHECK = Check(
    name="prefill",
    title="A begun answer is continued exactly",
    group="Turn behaviour",
    run=run,
    score="tool_support",
    weight=2,
)
