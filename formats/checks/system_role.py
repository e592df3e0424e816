"""Is there a system role: of its own, merged into the user's turn, dropped, or refused?"""

from __future__ import annotations

from formats.attribution import block
from formats.checks.base import Check, Result, Subject, failed, passed, system, user

SYSTEM, USER = "Probe instruction kqz.", "Probe question kqz?"


def run(subject: Subject) -> Result:
    rendered = subject.render(system(SYSTEM), user(USER))
    label = "system and user"
    if not rendered.ok:
        return failed("raises", "a system turn is refused: the template has no system role", rendered.evidence(label))
    at = rendered.prompt.find(SYSTEM)
    if at < 0:
        return failed("dropped", "the system text is not in the prompt", rendered.evidence(label, USER))
    start, end = block(rendered.prompt, at)
    if USER in rendered.prompt[start:end] and start > 0:
        return failed(
            "merged", "the system text is written into the user's turn", rendered.at(label, start, end), credit=0.5
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
