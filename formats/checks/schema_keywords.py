"""Which parts of a tool's schema reach the model?

A keyword that dies on the way (an enum that is not printed, a union that becomes
"any", a default that vanishes) makes calls wrong in ways that nobody sees. For
each keyword the same tool is rendered twice, differing in that keyword alone: if
both prompts are the same, the keyword has died. This works for every notation.
"""

from __future__ import annotations

from formats.checks._probes import user
from formats.checks.base import Check, Rendered, Result, Subject, failed, passed
from formats.types import Evidence, JsonObject

TEXT: JsonObject = {"type": "string"}


def _tool(
    schema: JsonObject, *, required: bool = True, defs: JsonObject | None = None, returns: JsonObject | None = None
) -> JsonObject:
    parameters: JsonObject = {"type": "object", "properties": {"probe_key_kqz": schema}}
    if required:
        parameters["required"] = ["probe_key_kqz"]
    if defs:
        parameters["$defs"] = defs
    function: JsonObject = {"name": "probe_call_kqz", "description": "Probe.", "parameters": parameters}
    if returns:
        function["return"] = returns
    return {"type": "function", "function": function}


def _object(inner: JsonObject) -> JsonObject:
    return {"type": "object", "properties": {"inner_kqz": inner}}


REF: JsonObject = {"$ref": "#/$defs/shape"}

# keyword -> two tools that differ in nothing else
PAIRS: dict[str, tuple[JsonObject, JsonObject]] = {
    "type": (_tool(TEXT), _tool({"type": "boolean"})),
    "description": (_tool({**TEXT, "description": "First kqz."}), _tool({**TEXT, "description": "Second kqz."})),
    "enum": (_tool({**TEXT, "enum": ["one", "two"]}), _tool({**TEXT, "enum": ["one", "three"]})),
    "default": (_tool({**TEXT, "default": "one"}), _tool({**TEXT, "default": "two"})),
    "required": (_tool(TEXT), _tool(TEXT, required=False)),
    "nested properties": (_tool(_object({"type": "string"})), _tool(_object({"type": "boolean"}))),
    "array items": (
        _tool({"type": "array", "items": {"type": "string"}}),
        _tool({"type": "array", "items": {"type": "boolean"}}),
    ),
    "anyOf": (
        _tool({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        _tool({"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
    ),
    "$ref": (_tool(REF, defs={"shape": {"type": "string"}}), _tool(REF, defs={"shape": {"type": "boolean"}})),
    "return": (
        _tool(TEXT, returns={"type": "string", "description": "Returned kqz."}),
        _tool(TEXT, returns={"type": "number", "description": "Given back kqz."}),
    ),
}


def run(subject: Subject) -> Result:
    dead: dict[str, str] = {}
    evidence: list[Evidence] = []
    for keyword, pair in PAIRS.items():
        first, second = (subject.render(user(), tools=[tool]) for tool in pair)
        fate = _fate(first, second)
        if fate:
            dead[keyword] = fate
            evidence.append((second if first.ok else first).evidence(f"{keyword}: {fate}", "probe_key_kqz"))
    if not dead:
        proof = subject.render(user(), tools=[PAIRS["anyOf"][0]]).evidence("anyOf as one example", "probe_key_kqz")
        return passed(f"all {len(PAIRS)} keywords tried reach the prompt", proof)
    outcome = "raises" if "refused" in dead.values() else "dropped"
    message = f"{len(PAIRS) - len(dead)} of {len(PAIRS)} keywords reach the prompt; lost: {', '.join(dead)}"
    return failed(outcome, message, *evidence, credit=1 - len(dead) / len(PAIRS))


def _fate(first: Rendered, second: Rendered) -> str | None:
    if not (first.ok and second.ok):
        return "refused"
    return "no trace in the prompt" if first.prompt == second.prompt else None


CHECK = Check(
    name="schema_keywords",
    title="Every keyword of a tool's schema reaches the prompt",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=10,
    requires=("shows_tools",),
)
