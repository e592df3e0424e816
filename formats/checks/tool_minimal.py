"""Does a minimal tool work: without a description, without parameters, with a parameter without a type?

All three are legal in the OpenAI API and common in MCP servers. Templates that
read the keys unasked refuse them, or write "None" and "undefined" to the model.
"""

from __future__ import annotations

from formats.checks._probes import user
from formats.checks.base import Check, Result, Subject, failed, passed
from formats.types import Evidence, JsonObject


def _tool(**function: object) -> JsonObject:
    return {"type": "function", "function": {"name": "probe_call_kqz", **function}}


def _parameters(properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties}


MINIMAL = {
    "no description": _tool(parameters=_parameters({"probe_key_kqz": {"type": "string", "description": "Probe."}})),
    "no parameters": _tool(description="Probe."),
    "no properties": _tool(description="Probe.", parameters=_parameters({})),
    "no type": _tool(description="Probe.", parameters=_parameters({"probe_key_kqz": {"description": "Probe."}})),
}


def run(subject: Subject) -> Result:
    faults: list[str] = []
    evidence: list[Evidence] = []
    refused = False
    for what, tool in MINIMAL.items():
        rendered = subject.render(user(), tools=[tool])
        fault = "is refused" if not rendered.ok else "" if "probe_call_kqz" in rendered else "loses the tool"
        invented = next((word for word in ("None", "undefined", "Undefined") if word in rendered.prompt), None)
        if not fault and invented:
            fault = f"writes {invented} into the prompt"
        if fault:
            faults.append(f"{what} {fault}")
            evidence.append(rendered.evidence(what, invented))
            refused = refused or not rendered.ok
    if not faults:
        proof = subject.render(user(), tools=[MINIMAL["no type"]]).evidence("no type", "probe_call_kqz")
        return passed("tools without description, parameters or types are shown", proof)
    outcome = "raises" if refused else "corrupted"
    return failed(outcome, "; ".join(faults), *evidence, credit=1 - len(faults) / len(MINIMAL))


CHECK = Check(
    name="tool_minimal",
    title="A tool without description, parameters or types works",
    group="Tool definitions",
    run=run,
    score="tool_support",
    weight=3,
    requires=("shows_tools",),
)
