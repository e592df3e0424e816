"""Are the system's and the user's own words left untouched when there are tools?

Some templates put the definitions into the user's turn: the model reads them as
if the user had written them, in front of the question. Others drop the system
text, or change it. The same chat is rendered with and without a tool: the marks that
stand directly before and behind the question must be the same.
"""

from __future__ import annotations

from formats.checks._probes import alike, difference, system, tells, tool, user
from formats.checks.base import Check, Result, Subject, failed, not_applicable, passed
from formats.types import JsonObject

SYSTEM, USER = "Probe instruction kqz.", "Probe question kqz?"


def run(subject: Subject) -> Result:
    chat: tuple[JsonObject, ...] = (system(), user())
    plain, with_tools = subject.render(*chat), subject.render(*chat, tools=[tool()])
    if plain.ok and not with_tools.ok:
        return failed("raises", "a chat with system text is refused once there are tools", with_tools.evidence("tool"))
    if not plain.ok or not tells(plain.prompt.partition(USER)[0].rpartition(SYSTEM)[2]):
        chat = chat[1:]  # no system role, or one in the user's turn: the user's text alone is asked about
        plain, with_tools = subject.render(*chat), subject.render(*chat, tools=[tool()])
    lost = [word for word in (SYSTEM, USER) if word in plain and word not in with_tools]
    if lost:
        message = f"{'the system text' if lost[0] == SYSTEM else 'the question'} is gone once there are tools"
        return failed("dropped", message, plain.evidence("without tools", lost[0]), with_tools.evidence("with a tool"))
    if USER not in plain or not tells(plain.prompt.partition(USER)[0].rpartition(SYSTEM)[2]):
        return not_applicable("nothing marks the user's turn", plain.evidence("without tools", USER))
    before, behind = alike(USER, plain, with_tools)
    end, end_with_tools = (rendered.prompt.partition(USER)[2] for rendered in (plain, with_tools))
    proof = difference("without tools", plain, "with a tool", with_tools)
    if not tells(before) or (end != end_with_tools and not tells(behind)):
        if "probe_call_kqz" in with_tools.prompt[proof[1].start : proof[1].end]:
            return failed("merged", "the definitions stand in the user's turn, as if the user had written them", *proof)
        return failed("merged", "the user's turn holds other text once there are tools", *proof)
    return passed("the user's turn is the same with and without tools", *proof)


CHECK = Check(
    name="tools_beside_text",
    title="Tools leave the user's and the system's words alone",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=5,
    requires=("shows_tools",),
)
