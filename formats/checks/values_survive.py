"""Does every JSON type survive being written and read back?

Each value is put into a call in history, written by the template, read back by
the format's parser, and compared: true, null, nested objects, 2**63, and the text
"03106", which must not become a number.
"""

from __future__ import annotations

from formats.checks._probes import survival
from formats.checks.base import Check, Result, Subject

VALUES: dict[str, object] = {
    "true": True,
    "null": None,
    "a negative number": -3,
    "a fraction": 0.25,
    "2**63": 2**63,
    "a list": [1, "a", None],
    "a nested object": {"a": {"b": [True, {"c": "d"}]}},
    "the text 03106": "03106",
    "the text true": "true",
    "the text null": "null",
}


def run(subject: Subject) -> Result:
    return survival(subject, VALUES, "every JSON type is read back as it was")


CHECK = Check(
    name="values_survive",
    title="Every JSON type survives",
    group="Output format",
    run=run,
    score="output_format",
    weight=5,
    requires=("call_read",),
)
