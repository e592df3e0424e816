"""Objects in the midst of text: calls are found wherever they stand, everything else is left as it is."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.parsers import FORMATS
from formats.reading.json_text import JsonScanner
from formats.reading.objects import CallFinder

WORDS = st.text("ab{}[],;:'\" ", max_size=12).map(lambda text: f"w{text}w")
SCALARS = st.none() | st.integers() | st.text('ab{}[]"\\,:', max_size=6)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=2) | st.dictionaries(st.sampled_from("kq"), v), max_leaves=4
)
ANSWERS = st.dictionaries(st.sampled_from("kq"), VALUES)
CALLS = st.builds(lambda arguments: {"name": "f", "arguments": arguments}, ANSWERS)


def found_by(text, cuts=()):
    finder, position = CallFinder(), 0
    for end in (*sorted(cut for cut in cuts if cut < len(text)), len(text)):
        position = finder.scan(text[:end], position, 0)
    return finder.is_call, finder.calls


@given(ANSWERS, CALLS, st.lists(st.integers(0, 80), max_size=5))
def test_calls_in_an_object_are_found_in_any_pieces(answer, call, cuts):
    text = json.dumps({**answer, "list": [call, answer], "one": call})
    starts = [start for start in range(len(text)) if text.startswith(json.dumps(call), start)]
    assert found_by(text, cuts) == (False, [starts[0], starts[-1]])
    assert found_by(json.dumps(call), cuts)[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": 1, "arguments": {}}',
        '{"name": {"name": "f"}, "arguments": 1}',
        '{"names": "f", "arguments": {}}',
        "{}",
    ],
)
def test_an_object_without_a_name_and_arguments_is_no_call(text):
    assert found_by(text) == (False, [])


@given(st.lists(st.tuples(st.booleans(), ANSWERS), max_size=5))
def test_answers_are_kept_and_calls_are_read(parts):
    text, calls, answers = "", [], []
    for is_call, value in parts:
        text += " then " + json.dumps({"name": "f", "arguments": value} if is_call else value)
        (calls if is_call else answers).append(value)
    parsed = FORMATS["plain"].parse(text)
    assert [(call.arguments, call.problem) for call in parsed.calls] == [(value, None) for value in calls]
    assert parsed.content.count("then") == len(parts)
    position = 0
    for answer in answers:
        position = parsed.content.index(json.dumps(answer), position) + 2


@given(WORDS, CALLS, WORDS)
def test_a_call_between_any_words_is_read(before, call, behind):
    text = f"{before} {json.dumps(call)} {behind}"
    assert call["arguments"] in [found.arguments for found in FORMATS["plain"].parse(text).calls]


@pytest.mark.parametrize("unit", ["{", '{"', "{'", '{"a":', '[{"a": 1}, ', "{\"a {'b", "```[{", '{"name": {"name": '])
def test_text_is_scanned_a_few_times_at_most(unit, monkeypatch):
    """However braces and quotes are nested, the characters that scanners go over grow with the text."""
    scanned = 0

    def counting(scan):
        def count(self, text, position=0, base=0):
            nonlocal scanned
            end = scan(self, text, position, base)
            scanned += end - position
            return end

        return count

    monkeypatch.setattr(JsonScanner, "scan", counting(JsonScanner.scan))
    text = unit * (20_000 // len(unit))
    stream = FORMATS["plain"].stream()
    for start, end in pairwise(range(0, len(text) + 8, 8)):
        stream.feed(text[start:end])
    stream.close()
    assert scanned <= 4 * len(text)
