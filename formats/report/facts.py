"""What every export says about a comparison, in the same words."""

from __future__ import annotations

import json
import re

from formats.errors import FormatsError
from formats.types import Column, Comparison, JsonObject, Source, SourceFile

KINDS = {"hub": "the Hub", "cache": "the local Hub cache", "snapshot": "a data package", "file": "a file"}
_HALVES = re.compile(r"[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text with U+FFFD for each half of a character, which UTF-8 cannot hold but a template can write."""
    return _HALVES.sub("\ufffd", text)


def json_text(value: JsonObject) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except ValueError:  # Python's limit on the digits of a whole number
        raise FormatsError("a number of thousands of digits cannot be exported; write it as text") from None


def versions(comparison: Comparison) -> str:
    return ", ".join(f"{name} {version}" for name, version in comparison.versions.items())


def state(column: Column) -> str:
    return "rendered" if column.error is None else column.error.kind.replace("_", " ")


def tokens_missing(column: Column) -> str:
    """Why a column has no count, for the place where the count would stand."""
    if column.error is not None:
        return state(column)
    return column.tokens_missing or "no tokenizer"


def provenance(column: Column) -> list[tuple[str, str]]:
    """(what, where it is from): enough for anybody to fetch the same bytes."""
    source = column.source
    facts = [("Source", origin(source))]
    if source.template_sha256:
        name = f"{column.template_name}, " if column.template_name else ""
        facts.append(("Template", f"{name}sha256 {source.template_sha256}"))
    facts += [(f"{file.role.capitalize()} file", location(file)) for file in source.files]
    if source.note:
        facts.append(("Note", source.note))
    if column.reads_clock:
        facts.append(("Clock", "the template can read the date"))
    return [(name, whole(fact)) for name, fact in facts]


def origin(source: Source) -> str:
    revision = f", revision {source.revision}" if source.revision else ""
    return f"{source.repo}{revision}, from {KINDS[source.kind]}" if source.repo else KINDS[source.kind]


def location(file: SourceFile) -> str:
    package = f" in {file.package}" if file.package else ""
    return f"{file.path}{package}, sha256 {file.sha256}"
