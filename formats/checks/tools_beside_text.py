"""Are the system's and the user's own words left untouched when there are tools?

Some templates put the definitions into the user's turn: the model reads them as
if the user had written them, in front of the question. Others drop the system
text, or change it. The same chat is rendered with and without a tool; the blocks
that hold the two texts must be the same, but for what is added to the system's.
"""

from __future__ import annotations

from formats.attribution import block
from formats.checks.base import Check, Rendered, Result, Subject, failed, passed, system, tool, user
from formats.types import JsonObject

SYSTEM, USER = "Probe instruction kqz.", "Probe question kqz?"


def run(subject: Subject) -> Result:
    chat: tuple[JsonObject, ...] = (system(), user())
    plain, with_tools = subject.render(*chat), subject.render(*chat, tools=[tool()])
    if plain.ok and not with_tools.ok:
        return failed("raises", "a chat with system text is refused once there are tools", with_tools.evidence("tool"))
    if not plain.ok:
        chat = chat[1:]  # no system role: the user's text alone is asked about
        plain, with_tools = subject.render(*chat), subject.render(*chat, tools=[tool()])
    lost = [word for word in (SYSTEM, USER) if word in plain and word not in with_tools]
    if lost:
        message = f"{'the system text' if lost[0] == SYSTEM else 'the question'} is gone once there are tools"
        return failed("dropped", message, plain.evidence("without tools", lost[0]), with_tools.evidence("with a tool"))
    own, seen = _block(plain, USER), _block(with_tools, USER)
    proof = plain.evidence("without tools", USER), with_tools.evidence("with a tool", seen)
    if "probe_call_kqz" in seen:
        return failed("merged", "the definitions stand in the user's turn, as if the user had written them", *proof)
    if own.strip() != seen.strip():
        return failed("merged", "the user's turn holds other text once there are tools", *proof)
    return passed("the user's turn is the same with and without tools", *proof)


def _block(rendered: Rendered, text: str) -> str:
    start, end = block(rendered.prompt, rendered.prompt.find(text))
    return rendered.prompt[start:end]


CHECK = Check(
    name="tools_beside_text",
    title="Tools leave the user's and the system's words alone",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=5,
    requires=("shows_tools",),
)
