"""Does the template write lines about an environment that nobody asked for?

"Environment: ipython" or "Reasoning: medium" tell the model of a world that the
caller may not have: a Python shell, a mode. Looked for are lines of the shape
"Label: value", of one to three words, in what is neither the messages' text, nor the tools', nor the words
that tell how to call them.
"""

from __future__ import annotations

import re

from formats.attribution import blocks
from formats.checks._probes import system, tool, user
from formats.checks.added_dates import DATED_LINE
from formats.checks.base import Check, Result, Subject, failed, passed

LABEL = r"[A-Z][A-Za-z]{2,20}(?: [A-Za-z]{2,20}){0,2}"
VALUE = r"""(?!(?:system|user|assistant|tool)$)[A-Za-z0-9][^\s{}<>"]*(?: [^\s{}<>"]+){0,2}"""  # not who speaks
LABEL_LINE = re.compile(rf"^{LABEL}: ?{VALUE}$", re.MULTILINE)


def run(subject: Subject) -> Result:
    rendered = subject.render(system(), user(), tools=[tool()])
    if not rendered.ok:
        rendered = subject.render(user())
    label = "system, user and a tool"
    for start, end in blocks(rendered.prompt):
        text = rendered.prompt[start:end]
        if "probe_call_kqz" in text:
            text = text[: text.find("probe_call_kqz")] if "Probe instruction kqz." not in text else ""
        for found in LABEL_LINE.finditer(text):
            if not DATED_LINE.match(found.group()) and "kqz" not in found.group():
                at = start + found.start()
                message = f"the template tells the model of an environment nobody asked for: “{found.group()}”"
                return failed("added", message, rendered.at(label, at, at + len(found.group())))
    return passed("no line about an environment is written", rendered.evidence(label), outcome="nothing added")


CHECK = Check(
    name="added_environment",
    title="No environment is added",
    group="Nothing added",
    run=run,
    score="tool_support",
    weight=15,
)
