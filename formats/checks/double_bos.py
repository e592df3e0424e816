"""Does a prompt begin with one beginning-of-text token, not two?

Most templates write it themselves. A server that tokenises the prompt with
add_special_tokens=True then adds a second one, and answers get worse without a
word. By token ids: the prompt itself must not begin with it twice.
"""

from __future__ import annotations

from formats.checks._probes import system, user
from formats.checks.base import Check, Result, Subject, failed, not_applicable, passed


def run(subject: Subject) -> Result:
    rendered = subject.render(system(), user())
    if not rendered.ok:
        rendered = subject.render(user())
    bos = subject.special_tokens.get("bos_token", "")
    ids, bos_ids = subject.ids(rendered.prompt)[:2], subject.ids(bos) if bos else []
    if not rendered.ok or len(bos_ids) != 1:
        return not_applicable("the model has no beginning-of-text token")
    if ids == bos_ids * 2:
        message = f"the prompt begins with {bos} twice (ids {ids})"
        return failed("doubled", message, rendered.at("system and user", 0, len(bos) * 2))
    if ids[:1] == bos_ids:
        message = f"the template writes {bos} itself (id {ids[0]}): tokenise the prompt with add_special_tokens=False"
        return passed(message, rendered.at("system and user", 0, len(bos)), outcome="one")
    return passed(f"the template does not write {bos}: the server adds it, if the model wants it", outcome="none")


CHECK = Check(
    name="double_bos",
    title="The prompt begins with at most one BOS",
    group="Nothing added",
    run=run,
    score="tool_support",
    weight=2,
)
