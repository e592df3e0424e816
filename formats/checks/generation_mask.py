"""Does the template mark what the assistant said, for training?

`{% generation %}` lets transformers return a mask of the assistant's tokens
(return_assistant_tokens_mask), which fine-tuning on answers alone needs. Most
templates do not have it; trainers then patch the template. Told, not judged.
"""

from __future__ import annotations

import re

from formats.checks.base import Check, Result, Subject, passed
from formats.types import Evidence

TAG = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")


def run(subject: Subject) -> Result:
    for name, text in subject.templates.items():
        found = TAG.search(text)
        if found:
            return passed(
                "answers are marked with {% generation %}",
                Evidence(f"template {name}", text, *found.span()),
                outcome="present",
            )
    return passed("answers are not marked with {% generation %}: no assistant mask", outcome="absent")


CHECK = Check(
    name="generation_mask",
    title="Answers are marked for training",
    group="Turn behaviour",
    run=run,
)
