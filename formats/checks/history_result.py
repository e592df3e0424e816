"""Does the tool's result reach the model, readable and as a result?

It may be dropped, refused, quoted where it should not be (JSON text inside JSON
text), not quoted where it must be (`{"content": 18C}` is no JSON), or be shown as
if the user had said it.
"""

from __future__ import annotations

import re

from formats.checks._probes import assistant, result, tells, tool, user
from formats.checks.base import Check, Rendered, Result, Subject, failed, passed
from formats.text import common_prefix

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
    if _as_user(subject, rendered):
        message = "the result is shown as a user turn without a word that it is a tool's"
        return failed("merged", message, proof, credit=0.5)
    return passed("the result is in the prompt, readable", proof)


def _as_user(subject: Subject, rendered: Rendered) -> bool:
    """Does the mark that begins a user's turn stand directly before the result?"""
    chat = subject.render(user(), assistant("kqz"), user("Probe next kqz?"), tools=[tool()])
    first, later = (chat.prompt.partition(said)[0] for said in ("Probe question kqz?", "Probe next kqz?"))
    mark = first[len(first) - common_prefix(first[::-1], later[::-1]) :]
    return tells(mark) and rendered.prompt.partition(RESULT)[0].endswith(mark)


CHECK = Check(
    name="history_result",
    title="A tool's result reaches the model",
    group="History",
    run=run,
    score="tool_support",
    weight=10,
)
