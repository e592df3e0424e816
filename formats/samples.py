"""The conversations that the page offers: every JSON file of samples/conversations/ is one, found by scanning."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from formats.types import JsonObject

FOLDER = Path(__file__).parent.parent / "samples" / "conversations"


@dataclass(frozen=True, slots=True)
class Sample:
    """A conversation in the shape of `conversation.from_json`, with what to call it and why to look at it."""

    name: str  # the file's name without .json; the files' order is the picker's
    title: str
    reason: str
    conversation: JsonObject


def load(folder: Path = FOLDER) -> list[Sample]:
    """Every sample of the folder, in the order of the file names."""
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Sample:
    value = json.loads(path.read_text(encoding="utf-8"))
    return Sample(path.stem, value.pop("title"), value.pop("reason"), value)
