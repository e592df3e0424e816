"""Is a switch given as text taken for what it says?

`enable_thinking: "false"` from a form or an environment variable is text, and any
text is true to a template: the switch does the opposite of what was meant. Told,
not judged: nearly no template guards against it.
"""

from __future__ import annotations

from typing import Any

from formats.checks._probes import user
from formats.checks.base import Check, Rendered, Result, Subject, failed, not_applicable, passed
from formats.template import options_read


def run(subject: Subject) -> Result:
    for name in sorted(set().union(*(options_read(text) for text in subject.templates.values()))):
        on, off, text = (_with(subject, {name: value}) for value in (True, False, "false"))
        if not (on.ok and off.ok) or on.prompt == off.prompt:
            continue
        if text.ok and text.prompt != off.prompt:
            proof = off.evidence(f"{name}: false"), text.evidence(f'{name}: "false"')
            return failed(
                "corrupted", f'{name}: "false" as text does not switch off: give the JSON value false', *proof
            )
        return passed(f'{name}: "false" as text is not taken for true', text.evidence(f'{name}: "false"'))
    return not_applicable("the template has no switch")


def _with(subject: Subject, options: dict[str, Any]) -> Rendered:
    return subject.render(user(), generation=True, options=options)


CHECK = Check(
    name="options_typed",
    title="A switch given as text is not taken for true",
    group="Turn behaviour",
    run=run,
)
