"""Is the earlier prompt a prefix of the next one, so that the cache can be used?

A server keeps what it computed for the prompt and goes on from the first
character that differs. Templates that rewrite earlier turns (strip reasoning, move
the tools, add an empty <think>) lose the rest at every turn. Tried with the
template's own default and with enable_thinking on and off.
"""

from __future__ import annotations

from typing import Any

from formats.checks._probes import assistant, user
from formats.checks.base import Check, Rendered, Result, Subject, failed, passed
from formats.errors import FormatsError
from formats.text import common_prefix
from formats.types import Evidence

MODES: dict[str, dict[str, Any]] = {
    "by default": {},
    "with thinking": {"enable_thinking": True},
    "without thinking": {"enable_thinking": False},
}


def run(subject: Subject) -> Result:
    lost: list[str] = []
    evidence: list[Evidence] = []
    for mode, options in MODES.items():
        earlier = subject.render(user(), generation=True, options=options)
        later = subject.render(user(), assistant(), user("Probe next kqz?"), generation=True, options=options)
        if not (earlier.ok and later.ok):
            refused = earlier if not earlier.ok else later
            return failed("raises", "a chat of three turns is refused", refused.evidence("three turns"))
        shared = common_prefix(earlier.prompt, later.prompt)
        if shared < len(earlier.prompt):
            lost.append(f"{mode} from character {shared} on{_tokens(subject, earlier, shared)}")
            evidence += [
                earlier.at(f"earlier, {mode}", shared, len(earlier.prompt)),
                later.at(f"later, {mode}", shared, min(len(later.prompt), shared + 40)),
            ]
    if not lost:
        return passed(
            "the earlier prompt is a prefix of the later one", later.at("later", 0, len(earlier.prompt)), outcome="kept"
        )
    message = "the earlier prompt is no prefix of the later one: " + "; ".join(lost)
    return failed("lost", message, *evidence, credit=1 - len(lost) / len(MODES))


def _tokens(subject: Subject, earlier: Rendered, shared: int) -> str:
    try:
        lost = len(subject.ids(earlier.prompt)) - len(subject.ids(earlier.prompt[:shared]))
    except FormatsError:
        return ""
    return f" ({lost} token{'s' * (lost != 1)} of that prompt lost)"


CHECK = Check(
    name="prefix_kept",
    title="The earlier prompt is a prefix of the next",
    group="Turn behaviour",
    run=run,
    score="tool_support",
    weight=3,
)
