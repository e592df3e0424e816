"""Where do the tool definitions stand: in the system turn, in a user turn, or in a block of their own?

It decides what a cached prefix covers (definitions in the last user turn move
with every turn), and whose words they seem to be. This is told, not judged.
"""

from __future__ import annotations

from formats.attribution import block
from formats.checks.base import Check, Result, Subject, assistant, passed, system, tool, user
from formats.types import JsonObject

FIRST, LAST = "Probe question kqz?", "Probe follow-up kqz?"
TEXTS = {"the system turn": "Probe instruction kqz.", "the first user turn": FIRST, "the last user turn": LAST}


def run(subject: Subject) -> Result:
    chat: tuple[JsonObject, ...] = (system(), user(FIRST), assistant(), user(LAST))
    rendered = subject.render(*chat, tools=[tool()])
    if not rendered.ok:
        chat = chat[1:]  # a template without a system role
        rendered = subject.render(*chat, tools=[tool()])
    start, end = block(rendered.prompt, rendered.prompt.find("Probe description kqz."))
    inside = rendered.prompt[start:end]
    holders = [where for where, text in TEXTS.items() if text in inside]
    where = " together with ".join(holders) or "a block of their own"
    moving = LAST in inside and FIRST not in inside
    message = f"the definitions stand in {where}" + (", so they move with every turn" if moving else "")
    return passed(message, rendered.at("one tool, two questions", start, end), outcome=where.removeprefix("the "))


CHECK = Check(
    name="tools_place",
    title="Where the tools stand",
    group="Tool definitions",
    run=run,
    requires=("shows_tools",),
)
