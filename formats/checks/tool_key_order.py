"""Does the order of a definition's keys survive?

Sorted or rearranged keys are still the same JSON, but not the same prompt: the
model sees another text than in training, and a cached prefix is lost when a
client changes nothing but the order.
"""

from __future__ import annotations

from typing import Any

from formats.checks._probes import find_json, json_at, user
from formats.checks.base import Check, Result, Subject, failed, not_applicable, passed

PARAMETERS = {
    "type": "object",
    "required": ["zeta_kqz"],
    "properties": {
        "zeta_kqz": {"type": "string", "description": "Z."},
        "alpha_kqz": {"description": "A.", "type": "string"},
    },
}
TOOL = {"type": "function", "function": {"name": "probe_call_kqz", "description": "Probe.", "parameters": PARAMETERS}}


def run(subject: Subject) -> Result:
    rendered = subject.render(user(), tools=[TOOL])
    found = find_json(rendered.prompt, PARAMETERS) if rendered.ok else None
    if not found:
        return not_applicable("the parameters are not JSON in the prompt", rendered.evidence("one tool"))
    value, _ = json_at(rendered.prompt, found[0])
    if _order(value) == _order(PARAMETERS):
        return passed("keys stand in the order they were given in", rendered.at("one tool", *found))
    message = f"keys are rearranged: {', '.join(value)} instead of {', '.join(PARAMETERS)}"
    return failed("corrupted", message, rendered.at("one tool", *found))


def _order(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, _order(item)) for key, item in value.items()]
    return [_order(item) for item in value] if isinstance(value, list) else None


CHECK = Check(
    name="tool_key_order",
    title="Keys of a definition keep their order",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=1,
    requires=("shows_tools",),
)
