"""What becomes of the developer role?

OpenAI's newer models call the system role developer, and agents send it. It may
be native, written as a system turn, dropped without a word, or refused.
"""

from __future__ import annotations

from formats.checks._probes import system, user
from formats.checks.base import Check, Result, Subject, failed, passed

TEXT = "Probe instruction kqz."


def run(subject: Subject) -> Result:
    rendered = subject.render({"role": "developer", "content": TEXT}, user())
    label = "developer and user"
    if not rendered.ok:
        return failed("raises", "the developer role is refused", rendered.evidence(label))
    if TEXT not in rendered:
        default = subject.render(user()).prompt == rendered.prompt and "system" in rendered.prompt
        more = "; a default system prompt stands in its place" if default else ""
        return failed("dropped", f"the developer's text is not in the prompt{more}", rendered.evidence(label))
    if rendered.prompt == subject.render(system(TEXT), user()).prompt:
        return passed(
            "a developer turn is written as the system turn", rendered.evidence(label, TEXT), outcome="merged"
        )
    for role in ("user", "assistant"):
        if rendered.prompt == subject.render({"role": role, "content": TEXT}, user()).prompt:
            message = f"a developer turn is written as if the {role} had said it"
            return failed("merged", message, rendered.evidence(label, TEXT), credit=0.5)
    return passed("a developer turn is shown under its own role", rendered.evidence(label, TEXT))


CHECK = Check(
    name="developer_role",
    title="The developer role is understood",
    group="Text",
    run=run,
    score="tool_support",
    weight=1,
)
