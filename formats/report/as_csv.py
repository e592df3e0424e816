"""One row per model, for a spreadsheet or pandas.

Spreadsheets run a cell that begins like a formula, so such a cell, and one that begins with an apostrophe, has one
apostrophe in front; taking one away from each cell that has one gives the text back. All else is exact, but for halves
of characters. Write it as utf-8-sig for programs that would take it for another encoding.
"""

from __future__ import annotations

import csv
import re

import pandas as pd

from formats.report import facts
from formats.types import Column, Comparison

_FORMULA = re.compile(r"[\s\x00-\x1f\u200b\ufeff]*['=+\-@＝＋－＠]|[\t\r\n]")
NUMBERS = ("tokens", "tool_tokens", "characters")
COLUMNS = (
    *("model", "title", "state", "error", "tokens", "tokens_missing", "tool_tokens", "characters", "prompt"),
    *("template", "template_sha256", "source", "repo", "revision", "files", "note"),
)


def to_csv(comparison: Comparison) -> str:
    table = pd.DataFrame([_row(column) for column in comparison.columns], columns=COLUMNS)
    table = table.astype(dict.fromkeys(NUMBERS, "Int64"))
    table["date"], table["versions"] = comparison.today, facts.versions(comparison)
    return str(table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n"))


def _row(column: Column) -> dict[str, str | int | None]:
    source = column.source
    return {
        "model": _cell(column.model),
        "title": _cell(column.title),
        "state": facts.state(column),
        "error": _cell(column.error.message if column.error else ""),
        "tokens": column.tokens.count if column.tokens else None,
        "tokens_missing": _cell("" if column.tokens else facts.tokens_missing(column)),
        "tool_tokens": column.tool_tokens,
        "characters": None if column.prompt is None else len(column.prompt),
        "prompt": _cell(column.prompt or ""),
        "template": _cell(column.template_name or ""),
        "template_sha256": source.template_sha256 or "",
        "source": source.kind,
        "repo": _cell(source.repo or ""),
        "revision": _cell(source.revision or ""),
        "files": _cell("; ".join(facts.location(file) for file in source.files)),
        "note": _cell(source.note),
    }


def _cell(text: str) -> str:
    return facts.whole(f"'{text}" if _FORMULA.match(text) else text)
