"""Does the prompt show the model the tools it may call?

A template that ignores `tools` leaves the model to guess names and arguments;
the prompt looks fine and the calls come out wrong. One tool is rendered whose
name, description, parameters and their descriptions are words that occur
nowhere else, and each of them must be in the prompt.
"""

from __future__ import annotations

from formats.checks._probes import tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

WORDS = {
    "name": "probe_call_kqz",
    "description": "Probe description kqz.",
    "parameters": "probe_key_kqz",
    "parameter descriptions": "Probe parameter kqz.",
}


def run(subject: Subject) -> Result:
    rendered = subject.render(user(), tools=[tool()])
    if not rendered.ok:
        return failed("raises", "the template refuses a conversation with tools", rendered.evidence("one tool"))
    missing = [what for what, word in WORDS.items() if word not in rendered]
    evidence = rendered.evidence("one tool", "probe_call_kqz")
    if len(missing) == len(WORDS):
        return failed("dropped", "tools are ignored: nothing of them is in the prompt", evidence)
    if missing:
        return failed("corrupted", f"the prompt shows the tool without its {', '.join(missing)}", evidence)
    return passed("name, description, parameters and their descriptions are all in the prompt", evidence)


CHECK = Check(
    name="shows_tools",
    title="The prompt shows the tools",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=30,
)
