"""Is there a system role: of its own, merged into the user's turn, dropped, or refused?"""

from __future__ import annotations

from formats.checks._probes import alike, assistant, system, tells, user
from formats.checks.base import Check, Result, Subject, failed, passed

SYSTEM, USER = "Probe instruction kqz.", "Probe question kqz?"


def run(subject: Subject) -> Result:
    rendered = subject.render(system(SYSTEM), user(USER))
    label = "system and user"
    if not rendered.ok:
        return failed("raises", "a system turn is refused: the template has no system role", rendered.evidence(label))
    at = rendered.prompt.find(SYSTEM)
    if at < 0:
        return failed("dropped", "the system text is not in the prompt", rendered.evidence(label, USER))
    between, user_text, _ = rendered.prompt[at + len(SYSTEM) :].partition(USER)
    later = subject.render(system(SYSTEM), user("Probe first kqz?"), assistant(), user(USER))
    mark, _ = alike(USER, later if later.ok else subject.render(user(USER)), rendered)  # what begins a user's turn
    if user_text and not tells(mark[-len(between) :] if between else ""):
        end = at + len(SYSTEM + between + USER)
        return failed(
            "merged", "the system text is written into the user's turn", rendered.at(label, at, end), credit=0.5
        )
    return passed("the system text stands in a turn of its own", rendered.evidence(label, SYSTEM))


CHECK = Check(
    name="system_role",
    title="There is a system role",
    group="Text",
    run=run,
    score="tool_support",
    weight=5,
)
