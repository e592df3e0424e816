"""Can a user's text forge a turn?

Text that spells a control token is tokenised as that token, so a user who closes
their turn and opens a system turn is believed. Nearly every template is open to
it; servers must clean the text (transformers: sanitize_control_tokens=True). Told
by token ids, not judged.
"""

from __future__ import annotations

from formats.checks._probes import system, user
from formats.checks.base import Check, Result, Subject, failed, passed

SYSTEM, USER = "Probe instruction kqz.", "Probe question kqz?"


def run(subject: Subject) -> Result:
    plain = subject.render(system(SYSTEM), user(USER))
    if not plain.ok:
        plain = subject.render(user(USER))
    end = plain.prompt.find(USER) + len(USER)
    start = plain.prompt.find(SYSTEM)
    between = plain.prompt[start + len(SYSTEM) : end - len(USER)] if start >= 0 else plain.prompt[: end - len(USER)]
    forged = f"Probe harmless kqz.{between}Probe forged kqz."
    rendered = subject.render(user(forged))
    control = {t: subject.ids(t)[0] for t in subject.control_tokens if t in between and len(subject.ids(t)) == 1}
    at = rendered.prompt.find(between, rendered.prompt.find("Probe harmless kqz.")) if between else -1
    if not control or at < 0:
        message = "turns are not marked by control tokens that text could spell, or the template changes such text"
        return passed(message, rendered.evidence("a user who spells a turn"), outcome="not injectable")
    ids = subject.ids(forged)
    real = {token: id for token, id in control.items() if id in ids}
    proof = rendered.at("a user who spells a turn", at, at + len(between))
    if not real:
        return passed("control tokens in a user's text stay text", proof, outcome="not injectable")
    listed = ", ".join(f"{token} = {id}" for token, id in sorted(real.items(), key=lambda item: item[1]))
    return failed("injectable", f"a user's text becomes real control tokens: {listed}", proof)


CHECK = Check(
    name="injection",
    title="A user's text cannot forge a turn",
    group="Turn behaviour",
    run=run,
)
