"""Is the format that the prompt tells the one that the template writes for calls in history?

Where the two differ, the model is told one thing and shown another, and the
parser that fits the one fails on the other.
"""

from __future__ import annotations

from formats.checks._probes import added_by_tools, format_words, tool, user
from formats.checks.base import Check, Result, Subject, failed, not_applicable, passed
from formats.parsers import FORMATS
from formats.types import Evidence


def run(subject: Subject) -> Result:
    added = added_by_tools(subject)
    written = Evidence("what the template writes for a call", subject.detection.written or "")
    rendered = subject.render(user(), tools=[tool()])
    own = set(format_words(subject))
    if any(word in added for word in own):
        told = next(word for word in format_words(subject) if word in added)
        return passed(f"told and written are both {subject.format.title}", rendered.evidence("told", told), written)  # type: ignore[union-attr]
    mark = next((m for f in FORMATS.values() for m in f.markers if len(m) > 3 and m not in own and m in added), None)
    if mark:
        message = f"the prompt tells of {mark}, but history is written as {subject.format.title}"  # type: ignore[union-attr]
        return failed("corrupted", message, rendered.evidence("told", mark), written)
    return not_applicable("the prompt does not tell any format")


CHECK = Check(
    name="instructions_match",
    title="The format told is the format written",
    group="Call instructions",
    run=run,
    score="tool_support",
    weight=3,
    requires=("shows_tools",),
    needs_format=True,
)
