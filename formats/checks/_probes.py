"""What checks are written with: probes to render, and ways to read what a template made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from formats.checks.base import Rendered, Result, Subject, failed, passed
from formats.detect import ASK, CALL, cut_turn
from formats.parsers.base import OutputFormat
from formats.text import common_prefix
from formats.types import Evidence, JsonObject, ParsedOutput, ParsedToolCall

# Probes: words that occur nowhere else, so that finding one proves where it came from.


def user(content: Any = "Probe question kqz?") -> JsonObject:
    return {"role": "user", "content": content}


def system(content: Any = "Probe instruction kqz.") -> JsonObject:
    return {"role": "system", "content": content}


def assistant(content: Any = "Probe answer kqz.", **more: Any) -> JsonObject:
    return {"role": "assistant", "content": content, **more}


def result(content: Any = "probe result kqz", id: str = "kqz00call", name: str = "probe_call_kqz") -> JsonObject:
    return {"role": "tool", "tool_call_id": id, "name": name, "content": content}


def tool(
    name: str = "probe_call_kqz",
    description: str | None = "Probe description kqz.",
    properties: JsonObject | None = None,
) -> JsonObject:
    """A tool with the given properties, all required; by default one string."""
    properties = properties or {"probe_key_kqz": {"type": "string", "description": "Probe parameter kqz."}}
    function: JsonObject = {"name": name}
    if description is not None:
        function["description"] = description
    function["parameters"] = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": function}


# Reading prompts


def find_json(text: str, wanted: Any) -> tuple[int, int] | None:
    """The range of a JSON value in the text that equals `wanted` (an object or a list), wherever it stands."""
    mark = "{" if isinstance(wanted, dict) else "["
    start = text.find(mark)
    while start >= 0:
        value, end = json_at(text, start)
        if end and value == wanted:
            return start, end
        start = text.find(mark, start + 1)
    return None


def json_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at `start`, and its end; (None, 0) where none does."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, 0


_DECODER = json.JSONDecoder()


def format_words(subject: Subject) -> tuple[str, ...]:
    """What shows that a text speaks of the template's own format: its delimiters, or the keys of a bare call."""
    written = subject.detection.written or ""
    if subject.format is None:
        return ()
    opener = call_marker(subject)
    delimiters = tuple(dict.fromkeys([m for m in subject.format.markers if len(m) > 3 and m in written] + [opener]))
    return delimiters if opener else ('"parameters"', '"arguments"', "[func_name")


def added_by_tools(subject: Subject) -> str:
    """The text that a tool adds to a prompt, without the tool's own words."""
    plain, rendered = subject.render(user()), subject.render(user(), tools=[tool()])
    start = common_prefix(plain.prompt, rendered.prompt)
    tail = common_prefix(plain.prompt[start:][::-1], rendered.prompt[start:][::-1])
    added = rendered.prompt[start : len(rendered.prompt) - tail]
    found = next(
        (f for v in (tool(), tool()["function"], tool()["function"]["parameters"]) if (f := find_json(added, v))), None
    )
    return added[: found[0]] + added[found[1] :] if found else added


CLOSING = re.compile(r"^</|^\[/|end|^<[^|]*\|>$", re.IGNORECASE)  # what a marker that closes something looks like


def call_marker(subject: Subject) -> str:
    """The marker that opens the call that the template writes, "" for a bare call.

    A marker that is closed again before the call (around text, say) opens something else.
    """
    output_format, detection = subject.format, subject.detection
    if output_format is None or detection.written is None:
        return ""
    before = detection.prompt_suffix + detection.written[: detection.written.find(CALL["name"])]
    for marker in sorted((m for m in output_format.markers if len(m) > 2), key=before.find):
        at = before.rfind(marker)
        if at >= 0 and not CLOSING.search(marker) and not _closed(before[at + len(marker) :], output_format):
            return marker
    return _before_call(subject, before)


def _before_call(subject: Subject, before: str) -> str:
    """A marker that the format does not know: what the template writes before a call's JSON, and not before text."""
    opened = _JSON_BEGINS.sub("", before, count=1)
    said = subject.render(user(ASK["content"]), assistant(), tools=[tool()]).prompt.rpartition("Probe answer kqz.")[0]
    shared = next(n for n in range(len(opened), -1, -1) if opened[:n] in said)
    if opened[shared - 1 : shared] in ("<", "["):  # two markers may begin alike
        shared -= 1
    marker = opened[shared:].strip()
    return marker if said and tells(marker) and not CLOSING.search(marker) else ""


_JSON_BEGINS = re.compile(r"\s*(?:(?:\[\s*)*\{.*|\[\s*$)", re.DOTALL)


def _closed(text: str, output_format: OutputFormat) -> bool:
    return any(marker in text for marker in output_format.markers if CLOSING.search(marker))


def read_turn_back(
    subject: Subject, turn: JsonObject, tools: Sequence[JsonObject] = ()
) -> tuple[ParsedOutput | None, Evidence]:
    """An assistant turn as the template writes it, read by the format's own parser; None where it is refused.

    `tools` are for the parser alone, which takes types from them: what the template makes of them is not asked here.
    """
    after = subject.render(user(), turn, tools=[tool()])
    if not after.ok or subject.format is None:
        return None, after.evidence("the turn")
    plain, opened = (subject.render(user(), tools=[tool()], generation=g).prompt for g in (False, True))
    cuts = cut_turn(after.prompt, plain, opened)
    parsed = [subject.format.parse(text, tools or [tool()], suffix) for text, suffix in cuts]  # type: ignore[arg-type]
    best = max(parsed, key=lambda p: sum(call.problem is None for call in p.calls))
    return best, Evidence("the turn as it is written", best.raw)


def read_calls(
    subject: Subject, turn: JsonObject, tools: Sequence[JsonObject] = ()
) -> tuple[tuple[ParsedToolCall, ...] | None, Evidence]:
    parsed, proof = read_turn_back(subject, turn, tools)
    return (parsed.calls if parsed else None), proof


JSON_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def survival(subject: Subject, values: Mapping[str, Any], kept: str) -> Result:
    """Which of the values are the same after being written in a call and read back; `kept` says that all are."""
    lost: list[str] = []
    evidence: list[Evidence] = []
    for what, value in values.items():
        arguments = {"probe_key_kqz": value, "other_kqz": "probe value kqz"}
        schemas: JsonObject = {key: {"type": JSON_TYPES[type(v)]} for key, v in arguments.items()}
        turn = assistant("", tool_calls=[subject.call("probe_call_kqz", arguments)])
        calls, proof = read_calls(subject, turn, [tool(properties=schemas)])
        if calls is None or [(c.name, c.arguments) for c in calls] != [("probe_call_kqz", arguments)]:
            lost.append(what)
            evidence.append(replace(proof, label=f"{what}: {proof.label}"))
    if not lost:
        return passed(kept)
    return failed(
        "corrupted", f"not read back as written: {', '.join(lost)}", *evidence, credit=1 - len(lost) / len(values)
    )


def words_missing(rendered: Rendered, words: Mapping[str, str]) -> list[str]:
    """The names of those probe words that are not in the prompt."""
    return [what for what, word in words.items() if word not in rendered.prompt]


def alike(text: str, a: Rendered, b: Rendered) -> tuple[str, str]:
    """What stands directly before and behind a text in both prompts; empty where one of them does not hold it."""
    before_a, _, after_a = a.prompt.partition(text)
    before_b, _, after_b = b.prompt.partition(text)
    if text not in a or text not in b:
        return "", ""
    behind = after_a[: common_prefix(after_a, after_b)]
    return before_a[len(before_a) - common_prefix(before_a[::-1], before_b[::-1]) :], behind


def tells(text: str) -> bool:
    """Can this be what marks off a turn? White space and a bracket that two texts share by chance cannot."""
    return sum(letter.isalnum() for letter in text) > 1


def difference(label_a: str, a: Rendered, label_b: str, b: Rendered) -> tuple[Evidence, ...]:
    """Two renders as proof, each marked from the first difference to the end of what differs."""
    if not (a.ok and b.ok):
        return a.evidence(label_a), b.evidence(label_b)
    start = common_prefix(a.prompt, b.prompt)
    tail = common_prefix(a.prompt[start:][::-1], b.prompt[start:][::-1])
    return a.at(label_a, start, len(a.prompt) - tail), b.at(label_b, start, len(b.prompt) - tail)
