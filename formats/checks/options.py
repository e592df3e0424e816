"""Which options does the template read, and which of them change anything?

Callers pass enable_thinking, reasoning_effort or builtin_tools to models that do
not know them: nothing happens, and nobody is told. Names that the template reads
without setting them are tried with usual values, on a chat with a tool, a call and
its result. Told, not judged.
"""

from __future__ import annotations

from typing import Any

from formats.checks._probes import assistant, result, system, tool, user
from formats.checks.base import Check, Rendered, Result, Subject, passed
from formats.template import options_read

VALUES: tuple[Any, ...] = (True, False, "low", "high", ["probe_kqz"], 1)


def run(subject: Subject) -> Result:
    found = effects(subject)
    if not found:
        return passed("the template reads no option", outcome="none")
    effect = [name for name, values in found.items() if values]
    evidence = [_chat(subject, {name: found[name][0]}).evidence(f"with {name}") for name in effect]
    idle = [name for name in found if name not in effect]
    message = f"options with an effect: {', '.join(effect) or 'none'}" + (
        f"; read, but without effect here: {', '.join(idle)}" if idle else ""
    )
    return passed(message, *evidence, outcome=", ".join(effect) or "no effect")


def effects(subject: Subject) -> dict[str, tuple[Any, ...]]:
    """Each option that the templates read, with those of the tried values that change the prompt."""
    names = sorted(set().union(*(options_read(text) for text in subject.templates.values())))
    default = _chat(subject, {})
    return {
        name: tuple(v for v in VALUES if (r := _chat(subject, {name: v})).ok and r.prompt != default.prompt)
        for name in names
    }


def is_switch(subject: Subject, name: str) -> bool:
    """Whether an option only asks if it is true: any text then does what `true` does."""
    on, word, other = (_chat(subject, {name: value}).prompt for value in (True, "low", "high"))
    return on == word == other


def _chat(subject: Subject, options: dict[str, Any]) -> Rendered:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    turns = (system(), user(), assistant("", reasoning_content="Probe thought kqz.", tool_calls=[call]), result())
    rendered = subject.render(*turns, tools=[tool()], generation=True, options=options)
    return rendered if rendered.ok else subject.render(system(), user(), generation=True, options=options)


CHECK = Check(
    name="options",
    title="Which options have an effect",
    group="Turn behaviour",
    run=run,
)
