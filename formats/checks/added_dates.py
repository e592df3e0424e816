"""Does the template write dates that nobody asked for?

A line like "Today Date: 26 Jul 2024" or a knowledge cut-off is read by the model
as the truth, even where the chat is about another day; where it comes from the
clock, the same request is another prompt tomorrow. Dates are looked for in what
is neither the messages' text nor the tools'.
"""

from __future__ import annotations

import re

from formats.checks._probes import system, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
ISO, DAY_FIRST = r"\b\d{4}-\d{2}(?:-\d{2})?\b", rf"\b\d{{1,2}} {MONTH}\.? \d{{4}}"
MONTH_FIRST = rf"\b{MONTH}\.?(?: ?\d{{1,2}},)? \d{{4}}"
DATED_LINE = re.compile(rf"^.*?(?:{ISO}|{DAY_FIRST}|{MONTH_FIRST}).*$", re.MULTILINE)


def run(subject: Subject) -> Result:
    rendered = subject.render(system(), user(), tools=[tool()])
    if not rendered.ok:
        rendered = subject.render(user())
    found = DATED_LINE.search(rendered.prompt)
    if found:
        proof = rendered.at("system, user and a tool", *found.span())
        return failed("added", f"the template writes a date of its own: “{found.group().strip()[:80]}”", proof)
    alone = subject.render(user())
    found = DATED_LINE.search(alone.prompt)
    if found:
        message = f"where a chat has no system turn, the template writes a date: “{found.group().strip()[:80]}”"
        return failed("added by default", message, alone.at("a user turn alone", *found.span()), credit=0.5)
    return passed(
        "no date is written that nobody asked for",
        rendered.evidence("system, user and a tool"),
        outcome="nothing added",
    )


CHECK = Check(
    name="added_dates",
    title="No date is added",
    group="Nothing added",
    run=run,
    score="tool_support",
    weight=15,
)
