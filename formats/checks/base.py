"""What a check is, what it examines, and what it finds."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from formats import template as chat
from formats.detect import ASK, DATE, TOOL, detect_one
from formats.errors import FormatsError
from formats.parsers import FORMATS
from formats.parsers.base import OutputFormat
from formats.types import (
    Conversation,
    Detection,
    Evidence,
    Finding,
    JsonObject,
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
