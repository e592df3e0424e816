"""Prompts that were known before this project, byte for byte."""

import datetime
import json
from pathlib import Path

import pytest

from formats import snapshot
from formats.compare import compare
from formats.conversation import from_json
from formats.models import CARDS
from formats.sandbox import Sandbox

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"
WEATHER = sorted((GOLDEN / "weather").glob("*.txt"))


@pytest.mark.parametrize("path", WEATHER, ids=lambda path: path.stem)
def test_known_prompts_byte_for_byte(path):
    conversation = from_json(json.loads((GOLDEN / "weather" / "conversation.json").read_text(encoding="utf-8")))
    with Sandbox() as sandbox:
        (column,) = compare(conversation, [snapshot.load(CARDS[path.stem])], datetime.date(2026, 7, 4), sandbox).columns
    assert column.prompt.encode() == path.read_bytes()
    assert column.source.kind == "snapshot"


def test_there_are_six_known_prompts():
    assert len(WEATHER) == 6
