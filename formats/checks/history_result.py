"""Does the tool's result reach the model, readable and as a result?

It may be dropped, refused, quoted where it should not be (JSON text inside JSON
text), not quoted where it must be (`{"content": 18C}` is no JSON), or be shown as
if the user had said it.
"""

from __future__ import annotations

import re

from formats.attribution import CONTROL, block
from formats.checks.base import Check, Rendered, Result, Subject, assistant, failed, passed, result, tool, user

RESULT = "18C probe result kqz"
UNQUOTED = re.compile(r'[{,]\s*"[^"\n]{1,40}":\s*$')


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    rendered = subject.render(user(), assistant("", tool_calls=[call]), result(RESULT), tools=[tool()])
    if not rendered.ok:
        return failed("raises", "history with a tool result is refused", rendered.evidence("call and result"))
    at = rendered.prompt.find(RESULT)
    if at < 0:
        return failed("dropped", "the result is not in the prompt", rendered.evidence("call and result"))
    proof = rendered.at("call and result", at, at + len(RESULT))
    if UNQUOTED.search(rendered.prompt[:at]):
        return failed("corrupted", "the result stands inside JSON without quotes, which is no JSON", proof)
    if _as_user(subject, rendered, at):
        message = "the result is shown as a user turn without a word that it is a tool's"
        return failed("merged", message, proof, credit=0.5)
    return passed("the result is in the prompt, readable", proof)


def _as_user(subject: Subject, rendered: Rendered, at: int) -> bool:
    """Is the result's turn written exactly as that of a user who says the same?"""
    said = subject.render(user(), assistant("kqz"), user(RESULT), tools=[tool()])
    place = said.prompt.find(RESULT)
    if place < 0:
        return False
    return _turn(rendered, at) == _turn(said, place)


def _turn(rendered: Rendered, at: int) -> tuple[str, str]:
    """The block of text around a position, and the control token in front of it."""
    start, end = block(rendered.prompt, at)
    token = next((m.group() for m in CONTROL.finditer(rendered.prompt, 0, start) if m.end() == start), "")
    return token, rendered.prompt[start:end].strip()


CHECK = Check(
    name="history_result",
    title="A tool's result reaches the model",
    group="History",
    run=run,
    score="tool_support",
    weight=10,
)
