"""What becomes of a system turn in the middle of a chat?

Agents insert reminders. The template may show them where they stand, move them,
drop them, or refuse the chat.
"""

from __future__ import annotations

from formats.checks._probes import assistant, system, user
from formats.checks.base import Check, Result, Subject, failed, passed

LATE = "Probe late instruction kqz."


def run(subject: Subject) -> Result:
    rendered = subject.render(user(), assistant(), system(LATE), user("Probe next kqz?"))
    label = "a system turn in the middle"
    if not rendered.ok:
        return failed("raises", "a system turn in the middle is refused", rendered.evidence(label))
    at = rendered.prompt.find(LATE)
    if at < 0:
        return failed("dropped", "a system turn in the middle is not in the prompt", rendered.evidence(label))
    if not rendered.prompt.find("Probe answer kqz.") < at < rendered.prompt.find("Probe next kqz?"):
        return failed(
            "merged",
            "a system turn in the middle is moved to another place",
            rendered.evidence(label, LATE),
            credit=0.5,
        )
    if rendered.prompt == subject.render(user(), assistant(), user(LATE), user("Probe next kqz?")).prompt:
        message = "a system turn in the middle is written as if the user had said it"
        return failed("merged", message, rendered.evidence(label, LATE), credit=0.5)
    return passed("a system turn in the middle is shown where it stands", rendered.evidence(label, LATE))


CHECK = Check(
    name="late_system",
    title="A system turn may come late",
    group="Text",
    run=run,
    score="tool_support",
    weight=1,
)
