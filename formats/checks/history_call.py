"""Is a call that the assistant made kept in history: its name, and every argument?

A template that drops it shows the model a result that nobody asked for, and
teaches it to answer without calling.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user, words_missing
from formats.checks.base import Check, Result, Subject, failed, passed

WORDS = {"name": "probe_call_kqz", "argument": "probe_key_kqz", "value": "probe value kqz"}
CALL = ("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})


def run(subject: Subject) -> Result:
    before = subject.render(user(), tools=[tool()])
    chat = (user(), assistant("", tool_calls=[subject.call(*CALL)]), result("18C"))
    rendered = subject.render(*chat, tools=[tool()])
    if not rendered.ok:
        return failed("raises", "history with a call and its result is refused", rendered.evidence("call and result"))
    if "probe value kqz" not in rendered:
        dropped = subject.render(*chat).ok and "probe value kqz" in subject.render(*chat)
        more = " (it is kept only when no tools are given)" if dropped else ""
        return failed("dropped", f"the call is not in the prompt{more}", rendered.evidence("call and result"))
    written = rendered.prompt.count("probe_call_kqz") - before.prompt.count("probe_call_kqz")
    missing = words_missing(rendered, WORDS) or (["name"] if written < 1 else [])
    proof = rendered.evidence("call and result", "probe value kqz")
    if missing:
        return failed("corrupted", f"the call is in the prompt without its {', '.join(missing)}", proof)
    return passed("name, argument and value of the call are in the prompt", proof)


CHECK = Check(
    name="history_call",
    title="A call stays in history",
    group="History",
    run=run,
    score="tool_support",
    weight=15,
)
