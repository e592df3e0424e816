"""Whose calls are read, over every public template: counts by format, and the list of those that nobody reads."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import formats
from formats.cli.audit import from_snapshot
from formats.detect import detect
from formats.types import Detection

UNREAD = json.loads((Path(formats.__file__).parent / "unread.json").read_text(encoding="utf-8"))
AT_LEAST = {
    "hermes": 108,
    "qwen3_coder": 61,
    "mistral": 21,
    "glm45": 21,
    "llama3_json": 17,
    "gemma4": 14,
    "granite": 6,
    "openai": 11,
    "olmo3": 9,
    "jamba": 6,
    "cohere_command": 5,
    "deepseek_v3": 5,
    "minimax_m2": 5,
    "deepseek_v32": 4,
    "functionary_v3": 4,
    "hunyuan_a13b": 4,
    "hy_v3": 4,
    "minicpm5": 4,
    "pythonic": 4,
    "gigachat3": 3,
    "nemotron_json": 3,
    "deepseek_v31": 2,
    "kimi_k2": 2,
    "longcat": 2,
    "seed_oss": 2,
    "apertus": 2,
    "functiongemma": 2,
    "solar_open": 1,
    "solar_open2": 1,
    "zaya_xml": 1,
}


@pytest.fixture(scope="module")
def detections() -> dict[str, Detection]:
    return {e.name: detect(e.model.templates, e.model.special_tokens)[0] for e in from_snapshot()}


def test_templates_are_recognised_by_format(detections):
    counts = Counter(found.format for found in detections.values() if found.format)
    assert {name: counts[name] for name in AT_LEAST if counts[name] < AT_LEAST[name]} == {}


def test_the_templates_that_write_calls_nobody_reads_are_listed_each_with_its_reason(detections):
    unread = {name for name, found in detections.items() if found.written is not None and found.format is None}
    assert unread == set(UNREAD)
    assert all(len(reason) > 20 for reason in UNREAD.values())
