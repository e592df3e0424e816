"""Does a call without a content key give the same prompt as empty content?

Many clients leave the key out beside calls. Templates that read it unasked fail
on it, or write "None" or "undefined" to the model.
"""

from __future__ import annotations

from formats.checks._probes import difference, result, tool, user
from formats.checks.base import Check, Result, Subject, call_lost, failed, passed


def run(subject: Subject) -> Result:
    call = subject.call("probe_call_kqz", {"probe_key_kqz": "probe value kqz"})
    empty = subject.render(user(), {"role": "assistant", "content": "", "tool_calls": [call]}, result(), tools=[tool()])
    missing = subject.render(user(), {"role": "assistant", "tool_calls": [call]}, result(), tools=[tool()])
    if lost := call_lost(empty, missing):
        return lost
    if missing.ok and missing.prompt == empty.prompt:
        return passed(
            'no content and "" give the same prompt', missing.evidence("no content", "probe value kqz"), outcome="same"
        )
    proof = difference('content ""', empty, "no content key", missing)
    if not missing.ok:
        return failed(
            "raises", 'a call without a content key is refused: the template needs a string, "" works', *proof
        )
    return failed("corrupted", 'no content and "" give different prompts', *proof)


CHECK = Check(
    name="content_missing",
    title="A call without content is a call with empty content",
    group="History",
    run=run,
    score="tool_support",
    weight=2,
)
