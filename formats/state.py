"""What the page shows, as one value that can be passed on; its JSON; and how today's columns differ from it."""

from __future__ import annotations

import datetime
import difflib
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from formats import conversation as conversations
from formats.fields import Fields, fail
from formats.types import Column, Comparison, Conversation, JsonObject

VERSION = 1
MAX_MODELS = 12
MAX_NAME = 300  # characters of a model's name

_NAME = (
    re.compile(rf"[^\x00-\x1f\x7f]{{1,{MAX_NAME}}}"),
    f"the name of a model: one line of up to {MAX_NAME} characters",
)
_REVISION = (re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,99}"), "a commit, such as 40 hexadecimal digits")
_SHA256 = (re.compile(r"[0-9a-f]{64}"), "64 hexadecimal digits")
_WORD = (re.compile(r"[A-Za-z0-9_.-]{1,60}"), "one word of up to 60 letters, digits, _, . and -")
_Form = tuple[re.Pattern[str], str]


@dataclass(frozen=True, slots=True)
class SharedModel:
    """A model as it was when the state was shared. A digest is None where nothing was rendered."""

    name: str  # what the person asked for
    repo: str | None = None  # the Hub id behind it, which outlives a short name of ours
    revision: str | None = None
    template_sha256: str | None = None  # of the template that was used
    prompt_sha256: str | None = None  # of the prompt as UTF-8, in which everything else that changes it shows

    @property
    def pinned(self) -> str | None:
        """The id that loads the same revision again, if there is one."""
        repo = self.repo or self.name.partition("@")[0]
        return f"{repo}@{self.revision}" if self.revision else None


@dataclass(frozen=True, slots=True)
class SharedOutput:
    """A model's raw output that is read next to the prompts; format and model are None where nobody chose one."""

    text: str
    format: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Everything that a link carries. It has no place for access tokens, and `secret` guards the places it has."""

    conversation: Conversation
    models: tuple[SharedModel, ...]
    date: datetime.date  # what every template is told is today
    output: SharedOutput | None = None
    view: str = ""  # the open tab; "" is the first


@dataclass(frozen=True, slots=True)
class Difference:
    """One column that is not what it was when the state was shared."""

    column: int
    then: SharedModel
    now: SharedModel
    message: str


def state_of(comparison: Comparison, output: SharedOutput | None = None, view: str = "") -> State:
    """The state that shows this comparison again."""
    models = tuple(_shared(column) for column in comparison.columns)
    return State(comparison.conversation, models, datetime.date.fromisoformat(comparison.today), output, view)


def to_json(state: State) -> JsonObject:
    """{"version", "models", "conversation", "output", "date", "view"}: what files hold and what links pack."""
    output = state.output
    return {
        "version": VERSION,
        "models": [
            {
                "name": model.name,
                "repo": model.repo,
                "revision": model.revision,
                "template_sha256": model.template_sha256,
                "prompt_sha256": model.prompt_sha256,
            }
            for model in state.models
        ],
        "conversation": conversations.to_json(state.conversation),
        "output": output and {"text": output.text, "format": output.format, "model": output.model},
        "date": state.date.isoformat(),
        "view": state.view,
    }


def from_json(value: object) -> State:
    """The inverse of `to_json`. Raises FormatsError that names the path of what is wrong."""
    fields = Fields(value, "", ("version", "models", "conversation", "output", "date", "view"))
    version = fields.count("version")
    if version != VERSION:
        refuse_version(version)
    models = fields.items("models")
    if len(models) > MAX_MODELS:
        fail("models", f"{len(models):,} models are more than the {MAX_MODELS} that are compared")
    output = fields.optional("output")
    return State(
        conversation=conversations.from_json(fields.required("conversation"), "conversation"),
        models=tuple(_model(item, path) for path, item in models),
        date=_date(fields.text("date")),
        output=None if output is None else _output(output),
        view=_formed(fields, "view", _WORD) if fields.optional("view") else "",
    )


def refuse_version(version: int) -> NoReturn:
    if version > VERSION:
        fail("", f"it has version {version}, and this page reads versions up to {VERSION}: a newer page made it")
    fail("", f"there is no version {version}")


def differences(state: State, columns: Sequence[Column]) -> tuple[Difference, ...]:
    """Which of today's columns are not what they were: another template, or the same one with another prompt.

    `columns` are those of the state's own conversation, date and models, in order. Where nothing was rendered, then or
    now, nothing can be told; such a column says why itself.
    """
    found = []
    for index, (then, column) in enumerate(zip(state.models, columns, strict=True)):
        now = _shared(column)
        if message := _difference(then, now):
            found.append(Difference(index, then, now, message))
    return tuple(found)


def prompt_diff(then: str, now: str) -> str:
    """The unified diff of a prompt as it was and as it is; "" where they are equal.

    Lines are cut at \\n alone, so that a line break at the end shows as one more, empty, line.
    """
    return "\n".join(difflib.unified_diff(then.split("\n"), now.split("\n"), "then", "now", lineterm=""))


def _shared(column: Column) -> SharedModel:
    source = column.source
    return SharedModel(
        name=column.model,
        repo=source.repo,
        revision=source.revision,
        template_sha256=source.template_sha256,
        prompt_sha256=None if column.prompt is None else _sha256(column.prompt),
    )


def _sha256(text: str) -> str:
    """A template can write half a character, which UTF-8 proper cannot hold."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _difference(then: SharedModel, now: SharedModel) -> str:
    """What is to be told about a column; "" for nothing."""
    if _differ(then.template_sha256, now.template_sha256):
        same = then.prompt_sha256 is not None and then.prompt_sha256 == now.prompt_sha256
        effect = "; this prompt is the same with both" if same else ""
        return f"the template was {_named(then)} when this was shared and is {_named(now)} today{effect}"
    if _differ(then.prompt_sha256, now.prompt_sha256):
        return (
            "the prompt is not the one that was shared, although its template is the same: the model's special tokens "
            "or the libraries have changed"
            if then.template_sha256 == now.template_sha256
            else "the prompt is not the one that was shared"
        )
    return ""


def _differ(then: str | None, now: str | None) -> bool:
    return then is not None and now is not None and then != now


def _named(model: SharedModel) -> str:
    revision = f" (revision {model.revision[:12]})" if model.revision else ""
    return f"sha256 {(model.template_sha256 or '')[:12]}{revision}"


def _model(value: object, path: str) -> SharedModel:
    fields = Fields(value, path, ("name", "repo", "revision", "template_sha256", "prompt_sha256"))
    return SharedModel(
        name=_formed(fields, "name", _NAME),
        repo=_optional(fields, "repo", _NAME),
        revision=_optional(fields, "revision", _REVISION),
        template_sha256=_optional(fields, "template_sha256", _SHA256),
        prompt_sha256=_optional(fields, "prompt_sha256", _SHA256),
    )


def _output(value: object) -> SharedOutput:
    fields = Fields(value, "output", ("text", "format", "model"))
    return SharedOutput(
        text=_whole(fields.text("text"), "output.text"),
        format=_optional(fields, "format", _WORD),
        model=_optional(fields, "model", _NAME),
    )


def _optional(fields: Fields, name: str, form: _Form) -> str | None:
    return None if fields.optional(name) is None else _formed(fields, name, form)


def _formed(fields: Fields, name: str, form: _Form) -> str:
    pattern, words = form
    text = _whole(fields.text(name), fields.path(name))
    if not pattern.fullmatch(text):
        fail(fields.path(name), f"needs {words}")
    return text


def _whole(text: str, path: str) -> str:
    """Half of a surrogate pair is no character, and no UTF-8 text can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        escape = f"\\u{ord(text[error.start]):04x}"
        fail(path, f"{escape} is half of a character (a lone surrogate); write the whole character or remove {escape}")
    return text


def _date(text: str) -> datetime.date:
    try:
        date = datetime.date.fromisoformat(text)
    except ValueError:
        date = None
    if date is None or date.isoformat() != text:
        fail("date", "needs a date as YYYY-MM-DD, such as 2026-11-30")
    return date
