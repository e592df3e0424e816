"""What a check is, what it examines, and the helpers it is written with."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from formats import template as chat
from formats.detect import ASK, CALL, DATE, TOOL, cut_turn, detect_one
from formats.errors import FormatsError
from formats.parsers import FORMATS
from formats.parsers.base import OutputFormat
from formats.text import common_prefix
from formats.types import (
    Conversation,
    Detection,
    Evidence,
    Finding,
    JsonObject,
    ParsedOutput,
    ParsedToolCall,
    Status,
    Tokenizer,
)

RenderOne = Callable[[str, Conversation, Mapping[str, str], datetime.date], str]


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a template made of a probe: a prompt, or its refusal in its own words."""

    prompt: str = ""
    error: str | None = None

    @property
    def ok(self) -> bool:
        return self.error is None

    def __contains__(self, text: str) -> bool:
        return text in self.prompt

    def evidence(self, label: str, mark: str | None = None) -> Evidence:
        """This render as proof; `mark` is the text in it to look at."""
        if self.error is not None:
            return Evidence(f"{label}: refused", self.error)
        start = self.prompt.find(mark) if mark else -1
        return (
            Evidence(label, self.prompt) if start < 0 else Evidence(label, self.prompt, start, start + len(mark or ""))
        )

    def at(self, label: str, start: int, end: int) -> Evidence:
        """This render as proof, with a range of it to look at."""
        return Evidence(label, self.prompt, start, end)


@dataclass(frozen=True)
class Subject:
    """One model as checks see it: its templates, special tokens and tokenizer; never its name.

    Each render is made once and shared by all checks.
    """

    templates: Mapping[str, str]
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    tokenizer: Tokenizer | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)  # the card's own template options
    run: RenderOne = chat.render  # where templates run: this process, or a sandbox
    _renders: dict[Any, Rendered] = field(default_factory=dict, repr=False)

    def render(
        self,
        *messages: JsonObject,
        tools: Sequence[JsonObject] | None = None,
        generation: bool = False,
        continue_final: bool = False,
        today: datetime.date = DATE,
        documents: Sequence[JsonObject] | None = None,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> Rendered:
        """Render a probe. A refusal is a value too; only a template that was stopped raises (Stopped)."""
        key = json.dumps([messages, tools, generation, continue_final, today.isoformat(), documents, dict(options)])
        if key not in self._renders:
            conversation = Conversation(
                messages,  # type: ignore[arg-type]  # probes are messages by shape, and some break it on purpose
                None if tools is None else tuple(tools),  # type: ignore[arg-type]
                None if documents is None else tuple(documents),
                add_generation_prompt=generation,
                continue_final_message=continue_final,
                template_kwargs={**self.defaults, **options},
            )
            self._renders[key] = self._render(conversation, today)
        return self._renders[key]

    def _render(self, conversation: Conversation, today: datetime.date) -> Rendered:
        try:
            _, text = chat.choose(self.templates, conversation)
            return Rendered(self.run(text, conversation, self.special_tokens, today))
        except FormatsError as error:
            if error.kind in ("timeout", "memory", "output_too_large"):
                raise
            return Rendered(error=error.message or "(refused without a word)")

    @cached_property
    def _with_tools(self) -> tuple[str, str]:
        return chat.choose(self.templates, Conversation((ASK,), (TOOL,)))

    @property
    def template(self) -> str:
        """The template that is used with tools."""
        return self._with_tools[1]

    @cached_property
    def detection(self) -> Detection:
        """The output format that the template used with tools teaches."""
        return detect_one(*self._with_tools, lambda t, c: self.run(t, c, self.special_tokens, DATE))

    @property
    def format(self) -> OutputFormat | None:
        return FORMATS[self.detection.format] if self.detection.format else None

    def call(self, name: str, arguments: JsonObject, id: str = "kqz00call") -> JsonObject:
        """A tool call for history, its arguments in the shape that the template wants."""
        written: Any = json.dumps(arguments, ensure_ascii=False) if self.detection.arguments_as == "text" else arguments
        return {"id": id, "type": "function", "function": {"name": name, "arguments": written}}

    @property
    def control_tokens(self) -> frozenset[str]:
        """The literal added tokens of the tokenizer. Raises like `ids`."""
        self.ids("")
        return self.tokenizer.special_tokens if self.tokenizer else frozenset()

    def ids(self, text: str) -> list[int]:
        """Token ids. Raises FormatsError where they cannot be told, which skips the check."""
        if self.tokenizer is None:
            raise FormatsError("needs the model's tokenizer, which is not to be had here", "tokens_unknown")
        return self.tokenizer.ids(text)


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


def read_back(subject: Subject, values: Mapping[str, Any]) -> tuple[list[str], tuple[Evidence, ...]]:
    """Which of the values are not the same after being written in a call and read back, with proof."""
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
    return lost, tuple(evidence)


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


# Results


@dataclass(frozen=True, slots=True)
class Result:
    status: Status
    outcome: str
    message: str
    evidence: tuple[Evidence, ...] = ()
    credit: float = 0.0  # the part of the weight that was earned, 0-1
    applies: bool = True  # False: the weight does not count at all


def passed(message: str, *evidence: Evidence, outcome: str = "native") -> Result:
    return Result(Status.PASS, outcome, message, evidence, 1.0)


def failed(outcome: str, message: str, *evidence: Evidence, credit: float = 0.0) -> Result:
    """`credit`: what remains of the weight where the fault is half one (merged instead of native, say)."""
    return Result(Status.FAIL, outcome, message, evidence, credit)


def not_applicable(message: str, *evidence: Evidence, outcome: str = "skipped") -> Result:
    """The question cannot be asked of this model; nothing is lost and nothing is earned."""
    return Result(Status.SKIP, outcome, message, evidence, 0.0, applies=False)


def call_lost(empty: Rendered, other: Rendered) -> Result | None:
    """Skipped, with the points lost, where two ways to leave out content cannot differ: there is no call beside it."""
    if not empty.ok:
        return Result(Status.SKIP, "skipped", "a call beside empty content is refused already")
    if other.ok and other.prompt == empty.prompt and "probe value kqz" not in empty:
        return Result(Status.SKIP, "skipped", "the call itself is not in the prompt")
    return None


Group = Literal[
    "Tool definitions", "Call instructions", "History", "Text", "Nothing added", "Turn behaviour", "Output format"
]


@dataclass(frozen=True, slots=True)
class Check:
    """One question put to a template. The module's docstring explains it to people."""

    name: str  # the module's name
    title: str  # what good looks like, as a sentence
    group: Group
    run: Callable[[Subject], Result]
    score: Literal["tool_support", "output_format"] | None = None  # None: it informs, without points
    weight: float = 0.0  # points that can be lost
    requires: tuple[str, ...] = ()  # checks that must pass first; where one does not, this one's points are lost too
    needs_format: bool = False  # asks only templates whose output format is recognised

    def finding(self, result: Result) -> Finding:
        of = self.weight if self.score and result.applies else 0.0
        return Finding(
            self.name, result.status, result.outcome, result.message, round(of * result.credit, 2), of, result.evidence
        )


def findings(checks: Sequence[Check], subject: Subject) -> Iterator[Finding]:
    """Run checks, which stand in order of `requires`, one after the other."""
    done: dict[str, Finding] = {}
    for check in checks:
        done[check.name] = check.finding(_result(check, subject, done))
        yield done[check.name]


def _result(check: Check, subject: Subject, done: Mapping[str, Finding]) -> Result:
    unmet = [name for name in check.requires if done[name].status is not Status.PASS]
    if unmet:
        return Result(Status.SKIP, "skipped", f"needs “{unmet[0]}” to pass", credit=0.0)
    if check.needs_format and subject.format is None:
        return Result(Status.SKIP, "skipped", "the template writes no call that a parser reads", credit=0.0)
    try:
        return check.run(subject)
    except FormatsError as error:
        if error.kind != "tokens_unknown":
            raise
        return not_applicable(error.message)
