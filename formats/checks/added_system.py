"""Does the template write a system prompt of its own?

Where a chat has no system turn, some templates put one in its place ("You are a
helpful assistant"), and where the role is developer, that is what the model gets
instead of the developer's words. It costs tokens and changes answers.
"""

from __future__ import annotations

import re

from formats.attribution import blocks
from formats.checks._probes import system, user
from formats.checks.added_dates import DATED_LINE
from formats.checks.added_environment import LABEL_LINE
from formats.checks.base import Check, Rendered, Result, Subject, failed, passed

DATE_LENGTH = 60  # characters of a line that tells a date, at most
WORDS = re.compile(r"(?:[^\W\d_]+[ ,.;:!?'-]+){3,}[^\W\d_]{2,}")


def run(subject: Subject) -> Result:
    alone, with_system = subject.render(user()), subject.render(system(), user())
    always, default = _sentence(with_system), _sentence(alone)
    if default:
        where = "even beside the chat's own system text" if always else "where a chat has none"
        text = alone.prompt[default[0] : default[1]].strip()
        message = f"the template writes a system prompt of its own {where}: “{text[:80]}”"
        return failed(
            "default injected", message, alone.at("a user turn alone", *default), credit=0.0 if always else 0.5
        )
    return passed("no system prompt is put in", alone.evidence("a user turn alone"), outcome="nothing added")


def _sentence(rendered: Rendered) -> tuple[int, int] | None:
    """The first stretch of prose that is not the probe's, nor a line that other checks speak of."""
    for start, end in blocks(rendered.prompt):
        for found in WORDS.finditer(rendered.prompt, start, end):
            first = max(start, rendered.prompt.rfind("\n", 0, found.start()) + 1)
            last = rendered.prompt.find("\n", found.end(), end)
            line = rendered.prompt[first : end if last < 0 else last]
            if "kqz" not in line and not _dated(line) and not LABEL_LINE.search(line):
                return first, first + len(line)
    return None


def _dated(line: str) -> bool:
    """Is a date all that the line tells?"""
    return len(line) < DATE_LENGTH and DATED_LINE.search(line) is not None


CHECK = Check(
    name="added_system",
    title="No system prompt is added",
    group="Nothing added",
    run=run,
    score="tool_support",
    weight=2,
)
