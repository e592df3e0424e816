"""Does the prompt change with the day?

A template that reads the clock makes another prompt of the same chat tomorrow:
caches are lost, tests fail at midnight, and nobody can say what the model saw.
The same chat is rendered for two dates.
"""

from __future__ import annotations

import datetime

from formats.checks._probes import difference, system, tool, user
from formats.checks.base import Check, Result, Subject, failed, passed

ONE, OTHER = datetime.date(2024, 7, 26), datetime.date(2031, 12, 5)


def run(subject: Subject) -> Result:
    for chat, tools in (((system(), user()), None), ((system(), user()), [tool()]), ((user(),), None)):
        one, other = (subject.render(*chat, tools=tools, today=day) for day in (ONE, OTHER))
        if one.prompt != other.prompt:
            proof = difference(ONE.isoformat(), one, OTHER.isoformat(), other)
            return failed("reads the clock", "the prompt changes with the day", *proof)
    return passed(
        "the prompt is the same on every day", subject.render(system(), user()).evidence("any day"), outcome="same"
    )


CHECK = Check(
    name="clock",
    title="The prompt does not depend on the day",
    group="Nothing added",
    run=run,
    score="tool_support",
    weight=3,
)
