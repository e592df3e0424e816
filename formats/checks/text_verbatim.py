"""Is the text of a turn carried unchanged?

White space at the ends, Unicode, text that looks like HTML or like Jinja: what the
user typed is what the model must read. Each kind is rendered in a user turn and
looked for, character by character.
"""

from __future__ import annotations

from formats.checks._probes import user
from formats.checks.base import Check, Result, Subject, failed, not_applicable, passed
from formats.types import Evidence

TEXTS = {
    "inner white space": "kqz a  b\t\tc\n\n\nd kqz",
    "Unicode": "kqz naïve 東京 🌧️ \u202eRTL e\u0301 kqz",
    "HTML": "kqz <b>&amp; & 'x' \"y\"</b> <!-- c --> kqz",
    "Jinja": "kqz {{ messages }} {% if x %} {# c #} kqz",
    "backslashes": "kqz \\n C:\\new\\table kqz",
    "white space at the ends": "\n  kqz padded kqz  \n",
}


def run(subject: Subject) -> Result:
    if not any("kqz" in subject.render(user(text)) for text in TEXTS.values()) and subject.render(user()).ok:
        shown = subject.render(user(TEXTS["HTML"])).evidence("HTML")
        return failed("dropped", "a user's text is not in the prompt where it is given as a string", shown)
    faults: list[str] = []
    evidence: list[Evidence] = []
    trimmed = False
    for what, text in TEXTS.items():
        rendered = subject.render(user(text))
        if not rendered.ok and what == next(iter(TEXTS)):
            return not_applicable("the template refuses a single user turn", rendered.evidence(what))
        if text in rendered:
            continue
        if text.strip() in rendered:
            trimmed = True
        else:
            faults.append(what)
        evidence.append(rendered.evidence(what, text.strip()))
    if faults:
        return failed(
            "corrupted", f"changed on the way: {', '.join(faults)}", *evidence, credit=1 - len(faults) / len(TEXTS)
        )
    if trimmed:
        return failed(
            "trimmed",
            "white space at the ends of a turn is cut off; all else is carried unchanged",
            *evidence,
            credit=0.8,
        )
    return passed(
        "every kind of text is carried unchanged", subject.render(user(TEXTS["HTML"])).evidence("HTML", TEXTS["HTML"])
    )


CHECK = Check(
    name="text_verbatim",
    title="Any text is carried unchanged",
    group="Text",
    run=run,
    score="tool_support",
    weight=3,
)
