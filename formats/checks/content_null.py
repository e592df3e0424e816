"""Does null content beside a call give the same prompt as empty content?

The OpenAI API returns `"content": null` beside calls. transformers drops keys
that are null, so the template sees no content at all: some write the word None
into the prompt, some fail. `""` is the form that every template takes.
"""

from __future__ import annotations

from formats.checks._probes import difference, result, tool, user
from formats.checks.base import Check, Result, Subject, call_lost, failed, passed
from formats.types import JsonObject


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    turns: list[JsonObject] = [{"role": "assistant", "tool_calls": [call], "content": c} for c in ("", None)]
    empty, null = (subject.render(user(), turn, result(), tools=[tool()]) for turn in turns)
    if lost := call_lost(empty, null):
        return lost
    if null.ok and null.prompt == empty.prompt:
        return passed(
            'null and "" give the same prompt', null.evidence("content null", "probe value kqz"), outcome="same"
        )
    proof = difference('content ""', empty, "content null", null)
    if not null.ok:
        return failed("raises", 'null content beside a call is refused: the template needs a string, "" works', *proof)
    invented = next((w for w in ("None", "undefined", "null") if null.prompt.count(w) > empty.prompt.count(w)), None)
    if invented:
        return failed("corrupted", f"null content puts the word {invented} into the prompt", *proof)
    return failed("corrupted", 'null and "" give different prompts', *proof, credit=0.5)


CHECK = Check(
    name="content_null",
    title="Null content beside a call is empty content",
    group="History",
    run=run,
    score="tool_support",
    weight=3,
)
