"""The verdicts on every template of the snapshot, as they are shipped: computed by `audit --packed`, read by the page.

{"about": {"date", "source", "versions"}, "columns": [...], "rows": [[...], ...]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "leaderboard.json"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A row for each template: where it is from, stars, scores, the worst finding, the outcome of each check."""

    about: Mapping[str, Any]  # date, source, versions
    rows: tuple[Row, ...]


def pack(rows: Iterable[Row], about: Mapping[str, Any]) -> str:
    """One row a line, so that a change shows which templates it concerns."""
    listed = list(rows)
    columns = list(listed[0]) if listed else []
    lines = ",\n".join(
        json.dumps([row[c] for c in columns], ensure_ascii=False, separators=(",", ":")) for row in listed
    )
    head = f'"about": {json.dumps(dict(about))},\n"columns": {json.dumps(columns)},\n'
    return f'{{{head}"rows": [\n{lines}\n]}}\n'


def load(file: Path = FILE) -> Leaderboard:
    packed = json.loads(file.read_text(encoding="utf-8"))
    rows = (dict(zip(packed["columns"], row, strict=True)) for row in packed["rows"])
    return Leaderboard(packed["about"], tuple(rows))
