"""Do the tools stand in the prompt as strict JSON?

Models are trained on tool definitions as JSON. Some templates build the text by
hand: quotes and line breaks of a description are not escaped, braces do not
match, or the definition becomes another notation altogether (TypeScript, Python,
XML). One tool whose description holds quotes, a line break and a backslash is
rendered; somewhere in the prompt there must be a JSON value that equals the
definition, its function, or an object with its name, description and parameters.
"""

from __future__ import annotations

from typing import Any

from formats.checks._probes import find_json, json_at, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

DESCRIPTION = 'Probe "quoted" kqz,\na second line and a back\\slash.'
TOOL = tool(description=DESCRIPTION)
FUNCTION = TOOL["function"]


def run(subject: Subject) -> Result:
    rendered = subject.render(user(), tools=[TOOL])
    if not rendered.ok:
        return failed("raises", "a description with quotes and a line break is refused", rendered.evidence("one tool"))
    found = _definition(rendered.prompt)
    if found:
        message = "the definition stands in the prompt as JSON, equal to what was given"
        return passed(message, rendered.at("one tool", *found))
    parameters = find_json(rendered.prompt, FUNCTION["parameters"])
    if parameters:
        message = "the parameters are JSON, but the definition around them is not"
        return failed("corrupted", message, rendered.at("one tool", *parameters))
    proof = rendered.evidence("one tool", FUNCTION["name"])
    if f'"{FUNCTION["name"]}"' in rendered:
        return failed("corrupted", "the definition looks like JSON, but is none, or not the JSON that was given", proof)
    message = "the definition is written in a notation of the template's own, not in JSON"
    return failed("own notation", message, proof, credit=0.5)


def _definition(prompt: str) -> tuple[int, int] | None:
    """An object that holds all three parts as they were given, whatever it calls them."""
    start = prompt.find("{")
    while start >= 0:
        value, end = json_at(prompt, start)
        if end and isinstance(value, dict) and _holds(value):
            return start, end
        start = prompt.find("{", start + 1)
    return None


def _holds(value: dict[str, Any]) -> bool:
    parts = list(value.values())
    return all(FUNCTION[key] in parts for key in ("name", "description", "parameters"))


CHECK = Check(
    name="tools_are_json",
    title="Tool definitions are strict JSON",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=40,
    requires=("shows_tools",),
)
