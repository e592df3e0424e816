"""The conversations and raw outputs that the page offers, found by scanning samples/: no list names them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from formats.types import JsonObject

SAMPLES = Path(__file__).parent.parent / "samples"
FOLDER = SAMPLES / "conversations"
OUTPUTS = SAMPLES / "outputs"
FUNCTIONS = SAMPLES / "functions" / "weather.py"


@dataclass(frozen=True, slots=True)
class Sample:
    """A conversation in the shape of `conversation.from_json`, with what to call it and why to look at it."""

    name: str  # the file's name without .json; the files' order is the picker's
    title: str
    reason: str
    conversation: JsonObject


@dataclass(frozen=True, slots=True)
class OutputSample:
    """A raw output of one format, with the tools it speaks of and the end of the prompt before it."""

    name: str  # format and place in its file
    format: str  # the file's name
    title: str
    output: str
    tools: tuple[JsonObject, ...]
    prompt_suffix: str


def load(folder: Path = FOLDER) -> list[Sample]:
    """Every sample of the folder, in the order of the file names."""
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Sample:
    value = json.loads(path.read_text(encoding="utf-8"))
    return Sample(path.stem, value.pop("title"), value.pop("reason"), value)


def load_outputs(folder: Path = OUTPUTS) -> list[OutputSample]:
    """Every output of every file, in the order of the file names."""
    return [
        OutputSample(
            f"{path.stem}-{place}",
            path.stem,
            value["title"],
            value["output"],
            tuple(value["tools"]),
            value.get("prompt_suffix", ""),
        )
        for path in sorted(folder.glob("*.json"))
        for place, value in enumerate(json.loads(path.read_text(encoding="utf-8")))
    ]
