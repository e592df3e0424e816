"""Does the prompt tell the model how to answer with a call?

A model that was trained on one format may know it by heart; any other, and any
fine-tune, needs to be told. What the template adds beside the definitions when
there are tools is searched for the marks of a call: the delimiters of the format
that the template itself writes, or its keys where it has no delimiters.
"""

from __future__ import annotations

from formats.checks._probes import added_by_tools, format_words, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed


def run(subject: Subject) -> Result:
    rendered = subject.render(user(), tools=[tool()])
    added = added_by_tools(subject)
    told = [word for word in format_words(subject) if word in added]
    if told:
        return passed(f"the prompt shows how a call is written ({told[0]})", rendered.evidence("one tool", told[0]))
    message = "the prompt lists the tools but does not say how to call one: the model must know it by heart"
    return failed("dropped", message, rendered.evidence("one tool", "probe_call_kqz"))


CHECK = Check(
    name="call_instructions",
    title="The prompt tells how to write a call",
    group="Call instructions",
    run=run,
    score="tool_support",
    weight=6,
    requires=("shows_tools",),
    needs_format=True,
)
