"""The complete export: every field of a Comparison, and back.

Exact to the last character, also for half a character; two halves that stand side by side are one character in JSON.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Any

from formats import conversation as conversations
from formats.errors import FormatsError
from formats.fields import Fields, fail, typed, whole
from formats.report import facts
from formats.types import Column, Comparison, JsonObject, Problem, Source, SourceFile, Tokens

FORMAT = "prompt-format-lab/comparison"
VERSION = 1
MAX_BYTES = 64_000_000
_KINDS = ("hub", "cache", "snapshot", "file")
_ROLES = ("template", "tokenizer", "config")
_HALVES = re.compile(r"[\ud800-\udfff]")


def to_json(comparison: Comparison) -> str:
    value = {
        "format": FORMAT,
        "version": VERSION,
        "date": comparison.today,
        "versions": dict(comparison.versions),
        "conversation": conversations.to_json(comparison.conversation),
        "columns": [_column_json(column) for column in comparison.columns],
    }
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", facts.json_text(value)) + "\n"


def is_report(text: str) -> bool:
    """Whether a JSON text calls itself one, as `to_json` does before anything else."""
    return FORMAT in text[:200]


def from_report(data: str | bytes) -> Comparison:
    """The inverse of `to_json`. Raises FormatsError (bad_file) with one line for anything else."""
    try:
        return _comparison(_loaded(data))
    except FormatsError as error:
        message = " ".join(error.message.split())[:300]
        raise FormatsError(f"this report cannot be read: {message}", "bad_file") from None


def _column_json(column: Column) -> JsonObject:
    tokens = column.tokens
    return {
        "model": column.model,
        "title": column.title,
        "source": dataclasses.asdict(column.source),
        "special_tokens": dict(column.special_tokens),
        "prompt": column.prompt,
        "template_name": column.template_name,
        "error": column.error and {"kind": column.error.kind, "message": column.error.message},
        "tokens": tokens and {"count": tokens.count, "ids": list(tokens.ids), "spans": [list(s) for s in tokens.spans]},
        "tokens_missing": column.tokens_missing,
        "tool_tokens": column.tool_tokens,
        "reads_clock": column.reads_clock,
        "control_tokens": None if column.control_tokens is None else sorted(column.control_tokens),
    }


def _loaded(data: str | bytes) -> object:
    if len(data) > MAX_BYTES:
        fail("", f"it is larger than the {MAX_BYTES:,} bytes that are read")
    try:
        return conversations.parse_json(data if isinstance(data, str) else data.decode("utf-8"))
    except UnicodeDecodeError as error:
        fail("", f"it is not UTF-8 text (byte {error.start:,})")


def _comparison(value: object) -> Comparison:
    fields = Fields(value, "", ("format", "version", "date", "versions", "conversation", "columns"))
    if fields.text("format") != FORMAT or fields.count("version") != VERSION:
        fail("format", f"only {FORMAT} of version {VERSION} is read here")
    try:
        today = datetime.date.fromisoformat(fields.text("date")).isoformat()
    except ValueError:
        fail("date", "needs a date as YYYY-MM-DD, such as 2026-11-30")
    return Comparison(
        conversation=conversations.from_json(fields.required("conversation"), "conversation"),
        today=today,
        columns=tuple(_column(item, path) for path, item in fields.items("columns")),
        versions=fields.texts("versions"),
    )


def _column(value: object, path: str) -> Column:
    fields = Fields(value, path, [field.name for field in dataclasses.fields(Column)])
    error, tokens, control = (fields.optional(name) for name in ("error", "tokens", "control_tokens"))
    return Column(
        model=fields.text("model"),
        title=fields.text("title"),
        source=_source(fields.required("source"), fields.path("source")),
        special_tokens=fields.texts("special_tokens"),
        prompt=fields.optional_text("prompt"),
        template_name=fields.optional_text("template_name"),
        error=None if error is None else _problem(error, fields.path("error")),
        tokens=None if tokens is None else _tokens(tokens, fields.path("tokens")),
        tokens_missing=fields.optional_text("tokens_missing"),
        tool_tokens=_difference(fields.optional("tool_tokens"), fields.path("tool_tokens")),
        reads_clock=fields.flag("reads_clock"),
        control_tokens=None
        if control is None
        else frozenset(typed(item, str, "text", at) for at, item in fields.items("control_tokens")),
    )


def _source(value: object, path: str) -> Source:
    fields = Fields(value, path, [field.name for field in dataclasses.fields(Source)])
    return Source(
        kind=_one_of(fields, "kind", _KINDS),
        repo=fields.optional_text("repo"),
        revision=fields.optional_text("revision"),
        template_sha256=fields.optional_text("template_sha256"),
        files=tuple(_file(item, at) for at, item in fields.items("files")),
        note=fields.text("note"),
    )


def _file(value: object, path: str) -> SourceFile:
    fields = Fields(value, path, [field.name for field in dataclasses.fields(SourceFile)])
    role = _one_of(fields, "role", _ROLES)
    return SourceFile(role, fields.text("path"), fields.text("sha256"), fields.optional_text("package"))


def _problem(value: object, path: str) -> Problem:
    fields = Fields(value, path, ("kind", "message"))
    return Problem(fields.text("kind"), fields.text("message"))


def _tokens(value: object, path: str) -> Tokens:
    fields = Fields(value, path, ("count", "ids", "spans"))
    ids = tuple(whole(item, at) for at, item in fields.items("ids"))
    if fields.count("count") != len(ids):
        fail(fields.path("count"), f"is {fields.count('count'):,}, but there are {len(ids):,} ids")
    return Tokens(ids, tuple(_span(item, at) for at, item in fields.items("spans")))


def _span(value: object, path: str) -> tuple[int, int]:
    ends = typed(value, list, "a list of two numbers", path)
    if len(ends) != 2:
        fail(path, "needs two numbers, where the token starts and where it ends")
    return whole(ends[0], path), whole(ends[1], path)


def _difference(value: object, path: str) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        fail(path, "needs a whole number or null")
    return value


def _one_of(fields: Fields, name: str, known: tuple[str, ...]) -> Any:
    text = fields.text(name)
    if text not in known:
        fail(fields.path(name), f"needs one of {', '.join(known)}")
    return text
