"""Every output case is read right, whole and in pieces, and nothing shown is taken back.

tests/cases/outputs/<format>.json holds raw outputs and what must be read in them;
a new file there is tested without editing this one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from formats.parsers import FORMATS
from formats.types import ParsedOutput

CASES = [
    pytest.param(path.stem, case, id=case["id"])
    for path in sorted((Path(__file__).parent / "cases" / "outputs").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
]


def parse(name: str, case: dict) -> ParsedOutput:
    return FORMATS[name].parse(case["output"], case["tools"], case.get("prompt_suffix", ""))


def visible(text: str | None) -> str:
    """Layout beside a call is a matter of taste: compared without white space."""
    return "".join((text or "").split())


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_output_is_read_right(name, case):
    parsed, want = parse(name, case), case["expect"]
    got = [{"name": c.name, "arguments": c.arguments, "problem": c.problem and c.problem.value} for c in parsed.calls]
    assert got == [{key: call[key] for key in ("name", "arguments", "problem")} for call in want["calls"]]
    assert [c.id for c, w in zip(parsed.calls, want["calls"], strict=True) if "id" in w] == [
        w["id"] for w in want["calls"] if "id" in w
    ]
    assert visible(parsed.content) == visible(want["content"])
    assert visible(parsed.reasoning) == visible(want["reasoning"])
    starts = [segment.start for segment in parsed.segments]
    ends = [segment.end for segment in parsed.segments]
    assert [*starts, len(case["output"])] == [0, *ends], "the segments tile the output"
    assert all(start < end for start, end in zip(starts, ends, strict=True))


def cuts(case: dict) -> Iterator[list[str]]:
    """Ways to cut an output: fixed sizes, every single cut, around each border of the case's parts, at random."""
    text = case["output"]
    yield [text]
    for size in (1, 2, 3, 5, 7, 16):
        yield [text[i : i + size] for i in range(0, len(text), size)]
    for position in range(len(text) if len(text) <= 2000 else 0):
        yield [text[:position], text[position:]]
    borders, position = [], 0
    for _, part in case["segments"]:
        position += len(part)
        borders += [position - 1, position, position + 1]
    yield _at(text, borders)
    chance = random.Random(case["id"])
    for _ in range(12):
        yield _at(text, [chance.randrange(len(text) + 1) for _ in range(chance.randrange(1, 12))])
    yield [piece for character in text for piece in ("", character)]


def _at(text: str, positions: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(p for p in positions if 0 <= p <= len(text))})
    return [text[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_any_cut_streams_to_the_same_result_and_takes_nothing_back(name, case):
    """And shows no delimiter: after k characters, no more content than there is within those k characters."""
    want = parse(name, case)
    kinds = (kind == "content" and bool(visible(character)) for kind, part in case["segments"] for character in part)
    allowed = list(accumulate(kinds, initial=0))
    for pieces in cuts(case):
        stream = FORMATS[name].stream(case["tools"], case.get("prompt_suffix", ""))
        content = reasoning = ""
        calls: list = []
        fed = shown = 0
        for piece in pieces:
            delta = stream.feed(piece)
            content, reasoning, calls = content + delta.content, reasoning + delta.reasoning, [*calls, *delta.calls]
            assert want.content.startswith(content), pieces
            assert (want.reasoning or "").startswith(reasoning), pieces
            fed, shown = fed + len(piece), shown + len(visible(delta.content))
            assert shown <= allowed[fed], pieces
        delta = stream.close()
        content, reasoning, calls = content + delta.content, reasoning + delta.reasoning, [*calls, *delta.calls]
        assert (content, reasoning) == (want.content, want.reasoning or ""), pieces
        assert stream.result() == want, pieces
        assert tuple(calls) == want.calls, pieces
