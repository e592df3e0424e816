"""Are a call's arguments taken as an object, as transformers passes them, and written as JSON?

Python's True, False and None instead of true, false and null, single quotes or
sorted keys show that the template wrote the object by Python's rules. The model
then learns to write arguments that no JSON parser reads.
"""

from __future__ import annotations

from formats.checks._probes import assistant, result, tool, user
from formats.checks.base import Check, Result, Subject, failed, not_applicable, passed
from formats.types import JsonObject

ARGUMENTS: JsonObject = {"probe_key_kqz": "probe value kqz", "flag_kqz": True, "none_kqz": None, "list_kqz": [1, "a"]}


def run(subject: Subject) -> Result:
    function = {"name": "probe_call_kqz", "arguments": ARGUMENTS}
    turn = assistant("", tool_calls=[{"id": "kqz00call", "type": "function", "function": function}])
    rendered = subject.render(user(), turn, result(), tools=[tool()])
    label = "arguments as an object"
    if not rendered.ok:
        return failed(
            "raises", "arguments given as an object are refused: only JSON text works", rendered.evidence(label)
        )
    if "probe value kqz" not in rendered:
        return not_applicable("the call is not in the prompt")
    at = rendered.prompt.rfind("flag_kqz")
    seen = rendered.prompt[at : at + 120]
    python = [word for word in ("True", "None", "'a'") if word in seen]
    if python and not _tagged(seen):
        message = f"values are written by Python's rules, not JSON's: {', '.join(python)}"
        return failed("corrupted", message, rendered.evidence(label, python[0]))
    if python:
        message = f"values are written as {', '.join(python)} where the tool was given true or null"
        return failed("corrupted", message, rendered.evidence(label, python[0]), credit=0.5)
    return passed("an object is written by JSON's rules", rendered.evidence(label, "probe value kqz"))


def _tagged(seen: str) -> bool:
    """Is each value in a tag of its own, where a bare True is at least readable?"""
    return seen.startswith("flag_kqz") and ">" in seen[:12]


CHECK = Check(
    name="arguments_object",
    title="Arguments may be an object, and are written as JSON",
    group="History",
    run=run,
    score="tool_support",
    weight=3,
    requires=("history_call",),
)
