"""Where do the tool definitions stand: in the system turn, in a user turn, or in a block of their own?

It decides what a cached prefix covers (definitions in the last user turn move
with every turn), and whose words they seem to be. This is told, not judged.
"""

from __future__ import annotations

from formats.checks._probes import alike, assistant, system, tells, tool, user
from formats.checks.base import Check, Rendered, Result, Subject, passed
from formats.types import JsonObject

SYSTEM, FIRST, LAST = "Probe instruction kqz.", "Probe question kqz?", "Probe follow-up kqz?"
TURNS = {"system turn": SYSTEM, "first user turn": FIRST, "last user turn": LAST}


def run(subject: Subject) -> Result:
    chat: tuple[JsonObject, ...] = (system(SYSTEM), user(FIRST), assistant(), user(LAST))
    if not subject.render(*chat, tools=[tool()]).ok:
        chat = chat[1:]  # a template without a system role
    plain, rendered = subject.render(*chat), subject.render(*chat, tools=[tool()])
    at = rendered.prompt.find("Probe description kqz.")
    proof = rendered.at("one tool, two questions", at, at + len("Probe description kqz."))
    holders = [turn for turn, text in TURNS.items() if _inside(text, plain, rendered, at)]
    where = holders[0] if holders else "a block of their own"
    message = f"the definitions stand in {'the ' if holders else ''}{where}"
    return passed(message + ", so they move with every turn" * (where == "last user turn"), proof, outcome=where)


def _inside(text: str, plain: Rendered, rendered: Rendered, at: int) -> bool:
    """Do the definitions stand between a turn's text and the mark that is at its edge where there are no tools?"""
    place = rendered.prompt.find(text)
    if text not in plain or place < 0:
        return False
    between = rendered.prompt[min(place + len(text), at) : max(place, at)]
    if any(other in between for other in TURNS.values()):
        return False
    before, behind = alike(text, plain, rendered)
    return not tells(before if at < place else behind)


CHECK = Check(
    name="tools_place",
    title="Where the tools stand",
    group="Tool definitions",
    run=run,
    requires=("shows_tools",),
)
