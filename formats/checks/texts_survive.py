"""Does any text survive being written and read back?

Text in arguments may hold quotes, line breaks, HTML, other scripts, and the very
marker that closes a call. Each is written by the template and read by the format's
parser.
"""

from __future__ import annotations

from formats.checks._probes import survival
from formats.checks.base import Check, Result, Subject

TEXTS: dict[str, object] = {
    "quotes": "say \"hi\" and 'bye'",
    "line breaks": "one\n\n\ttwo\n",
    "backslashes": "C:\\new\\table \\n",
    "HTML": "<b>&amp; & 'x'</b>",
    "Unicode": "naïve 東京 🧑\u200d🌾",
    "braces": "}]}{[",
    "empty": "",
}


def run(subject: Subject) -> Result:
    markers = {f"the marker {m}": f"before {m} after" for m in (subject.format.markers if subject.format else ())}
    return survival(subject, {**TEXTS, **markers}, "any text is read back as it was, the format's own markers too")


CHECK = Check(
    name="texts_survive",
    title="Any text survives",
    group="Output format",
    run=run,
    score="output_format",
    weight=5,
    requires=("call_read",),
)
