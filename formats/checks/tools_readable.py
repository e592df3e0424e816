"""Are letters beyond ASCII, and signs such as < and &, shown as they are?

A template that escapes them makes the model read \\u6771 for 東 and &lt; for <:
text in other scripts costs twice the tokens and more, and is harder to understand.
Tried in a tool's description, a call's argument and a result.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed
from formats.types import Evidence

TEXTS = {"a description": "kqz 東京 é <d> &", "an argument": "kqz 大阪 ü <a> &", "a result": "kqz 京都 ñ <r> &"}


def run(subject: Subject) -> Result:
    description, argument, answer = TEXTS.values()
    call = subject.call("probe_call_kqz", {"probe_key_kqz": argument})
    rendered = subject.render(
        user(), assistant("", tool_calls=[call]), result(answer), tools=[tool(description=description)]
    )
    if not rendered.ok:
        rendered = subject.render(user(), tools=[tool(description=description)])
    escaped: list[str] = []
    evidence: list[Evidence] = []
    for what, text in TEXTS.items():
        if text not in rendered and any(sign in rendered for sign in _escaped(text)):
            escaped.append(what)
            evidence.append(rendered.evidence(what, next(sign for sign in _escaped(text) if sign in rendered)))
    if escaped:
        message = f"letters or signs are escaped in {', '.join(escaped)}"
        return failed("corrupted", message, *evidence, credit=1 - len(escaped) / len(TEXTS))
    return passed(
        "letters of every script and HTML's signs are shown as they are", rendered.evidence("one loop", "kqz")
    )


def _escaped(text: str) -> tuple[str, ...]:
    """How the text looks after a filter that escapes: its first letter beyond ASCII, its tag."""
    letter = next(c for c in text if ord(c) > 127)
    tag = text[text.index("<") + 1]
    return f"\\u{ord(letter):04x}", f"&lt;{tag}&gt;", f"\\u003c{tag}\\u003e"


CHECK = Check(
    name="tools_readable",
    title="Letters and signs of every kind are shown as they are",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=2,
)
