"""The nouns of the app: plain values that every other module speaks.

Nothing here imports the rest of the package, does I/O, or knows about a user
interface. Every range is half-open, [start, end), in characters of its own text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NotRequired, Protocol, TypedDict

Role = Literal["system", "developer", "user", "assistant", "tool"]
JsonObject = dict[str, Any]


# What people type: the OpenAI / transformers shape. It reaches the template untouched, unknown keys kept.


class FunctionCall(TypedDict):
    name: str
    arguments: JsonObject | str  # an object in transformers' shape, JSON text in the OpenAI API's


class ToolCall(TypedDict, total=False):
    id: str
    type: Literal["function"]
    function: FunctionCall


class Message(TypedDict, total=False):
    role: str
    content: str | list[JsonObject] | None
    reasoning_content: str
    tool_calls: list[ToolCall] | None
    tool_call_id: str
    name: str


class FunctionDefinition(TypedDict):
    name: str
    description: NotRequired[str]
    parameters: NotRequired[JsonObject]  # a JSON Schema


class ToolDefinition(TypedDict):
    type: Literal["function"]
    function: FunctionDefinition


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a person edits: messages, tools and the arguments of `apply_chat_template`, under its own names.

    None and an empty list of tools are different things to a template, so they are kept apart.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] | None = None
    documents: tuple[JsonObject, ...] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool | str = False
    chat_template: str | None = None  # the NAME of one of a model's templates; None lets transformers choose
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)


# Models and where they came from.


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file a model was read from, so that anybody can fetch the same bytes."""

    role: Literal["template", "tokenizer", "config"]
    path: str  # inside the repository, the package or the file system
    sha256: str
    package: str | None = None  # distribution and version, for the snapshot


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model's template and tokenizer came from."""

    kind: Literal["hub", "cache", "snapshot", "file"]
    repo: str | None = None  # Hub id
    revision: str | None = None  # the 40-digit commit that was resolved, if there is one
    template_sha256: str | None = None  # of the template that was used
    files: tuple[SourceFile, ...] = ()
    note: str = ""  # what a reader must know: "a fine-tune's copy", "reconstruction", "moved from ..."


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's token ids, and the characters each one covers."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...] = ()  # empty where nobody asked for them

    @property
    def count(self) -> int:
        return len(self.ids)


class Tokenizer(Protocol):
    """Text to ids exactly as the model's own tokenizer does it, with add_special_tokens=False."""

    special_tokens: frozenset[str]  # the literal added tokens that encode as one control token

    def ids(self, text: str) -> list[int]: ...

    def tokens(self, text: str) -> Tokens: ...


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model as it can be used now: its templates, its tokenizer or the reason there is none, and its source."""

    name: str  # what the person asked for
    title: str
    templates: Mapping[str, str]  # template name -> Jinja text; a single template is called "default"
    special_tokens: Mapping[str, str]  # "bos_token" -> "<s>", as transformers' special_tokens_map
    source: Source
    tokenizer: Tokenizer | None = None
    tokens_missing: str | None = None  # why there is no tokenizer, for the person who sees the column
    pinned: bool = False  # a sha256 of ours pins the template; anything else is a stranger's program
    locked: bool = False  # stands in for what the Hub shows only to those who have access
    family: str = ""
    licence: str = ""
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)  # the card's default options


# What the engine gives back.


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something could not be done: a stable kind for programs, words for a person."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Column:
    """One model's answer to one conversation: a prompt, or the reason there is none."""

    model: str
    title: str
    source: Source
    special_tokens: Mapping[str, str]
    prompt: str | None = None
    template_name: str | None = None
    error: Problem | None = None
    tokens: Tokens | None = None
    tokens_missing: str | None = None
    tool_tokens: int | None = None  # tokens that the tools add; None where it cannot be told
    reads_clock: bool = False
    control_tokens: frozenset[str] | None = None  # the tokenizer's special_tokens; None where there is no tokenizer


@dataclass(frozen=True, slots=True)
class Comparison:
    conversation: Conversation
    today: str  # ISO date that every template was given
    columns: tuple[Column, ...]
    versions: Mapping[str, str]  # distribution -> version of all that has a say in a prompt


# What is read in a model's raw output.

SegmentKind = Literal["content", "reasoning", "markup", "tool_call"]


@dataclass(frozen=True, slots=True)
class Segment:
    kind: SegmentKind
    start: int
    end: int


class CallProblem(str, Enum):
    """Why a piece of output that looks like a tool call is not a usable one; the first that holds, in this order."""

    UNCLOSED = "unclosed"  # the output ends inside the call
    INVALID_JSON = "invalid_json"  # a strict JSON reader rejects the call or its arguments
    MALFORMED = "malformed"  # the frame is wrong but readable
    MISSING_NAME = "missing_name"
    ARGUMENTS_NOT_OBJECT = "arguments_not_object"
    DOUBLE_ENCODED = "double_encoded"  # the arguments are JSON text inside a JSON string
    UNKNOWN_TOOL = "unknown_tool"
    SCHEMA_MISMATCH = "schema_mismatch"


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One place where arguments break the tool's schema."""

    path: str  # JSON path below the arguments: "stops[1].zone"; "" is the arguments object itself
    keyword: str  # the JSON Schema keyword that failed: required, type, enum, additionalProperties, ...
    message: str


@dataclass(frozen=True, slots=True)
class ParsedToolCall:
    """One attempt at a call, good or bad: `problem` is None when it is usable."""

    name: str | None
    arguments: JsonObject | None
    start: int
    end: int
    problem: CallProblem | None = None
    schema_errors: tuple[SchemaError, ...] = ()
    id: str | None = None  # as the output gives it; None where the format has none
    note: str = ""  # what was repaired to read it, in words; "" where nothing was


@dataclass(frozen=True, slots=True)
class ParsedOutput:
    """A model's raw output and what was read in it.

    The segments tile `raw` exactly: in order, without gaps or overlaps, so no
    character of the output is ever lost or shown twice.
    """

    raw: str
    segments: tuple[Segment, ...]
    calls: tuple[ParsedToolCall, ...] = ()

    def text(self, kind: SegmentKind) -> str:
        """The runs of one kind, each trimmed, joined by a line break; empty runs are left out."""
        return "\n".join(run for run in (r.strip() for r in self._runs(kind)) if run)

    def _runs(self, kind: SegmentKind) -> list[str]:
        """Neighbouring segments of one kind are one run."""
        runs: list[list[int]] = []
        for segment in self.segments:
            if segment.kind == kind and runs and runs[-1][1] == segment.start:
                runs[-1][1] = segment.end
            elif segment.kind == kind:
                runs.append([segment.start, segment.end])
        return [self.raw[start:end] for start, end in runs]

    @property
    def content(self) -> str:
        return self.text("content")

    @property
    def reasoning(self) -> str | None:
        return self.text("reasoning") or None


# What is found out about a template.


class Status(str, Enum):
    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"  # it does not apply, or a check it requires did not pass


@dataclass(frozen=True, slots=True)
class Evidence:
    """The text that proves a finding, and where in it to look."""

    label: str
    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found in one model: a sentence, the proof, and the points it earned of those it could."""

    check: str
    status: Status
    outcome: str  # native, merged, dropped, corrupted, raises, no effect, ...: the word a matrix cell shows
    message: str
    points: float = 0.0
    of: float = 0.0  # 0 for a finding that informs only, and where the check does not apply
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Detection:
    """The output format that one template teaches: the one whose parser reads back the call the template writes."""

    template_name: str
    format: str | None  # None: it writes no call, or one that nobody reads
    written: str | None = None  # what it wrote for the call; None: it never wrote the call at all
    arguments_as: Literal["object", "text"] | None = None  # how it wants a call's arguments in history
    prompt_suffix: str = ""  # what its generation prompt ends with, where a parser must know it
    refusal: str | None = None  # why it wrote nothing: the template's own words, if it refused


@dataclass(frozen=True, slots=True)
class Score:
    """How good a template is for tools: two scores of 0-100, and stars over both, with the findings they come from."""

    tool_support: int
    output_format: int
    stars: int
    reasons: tuple[str, ...]  # why the stars are what they are: each cap and each rule that had a say


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that was found out about one model."""

    model: str
    title: str
    source: Source
    format: str | None
    detection: Detection  # of the template that is used with tools
    findings: tuple[Finding, ...]
    score: Score
