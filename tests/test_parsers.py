"""Every output format keeps the same promises; a new module in formats/parsers is tested without editing this file."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.utils.chat_parsing import ResponseParser

from formats.parsers import FORMATS

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NAMES = st.builds(str.__add__, st.sampled_from(LETTERS), st.text(LETTERS + "0123456789_", max_size=20))
MARKERS = sorted({marker for fmt in FORMATS.values() for marker in fmt.markers})
TEXT = (
    st.sampled_from(["", " ", "7", "03106", "true", "null", "None", "[1]", "{}", "'", '"', "\\", "a\nb", "</think>"])
    | st.text("abcXYZ019 .,'\"\\{}[]()<>=:;|\n\té漢🙂", max_size=12)
    | st.builds("{} {} {}".format, st.sampled_from("ab"), st.sampled_from(MARKERS), st.sampled_from("yz"))
)
NUMBERS = st.integers() | st.sampled_from([2**63, -(2**63) - 1]) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3), max_leaves=5)
CALL = st.fixed_dictionaries({"name": NAMES, "arguments": st.dictionaries(NAMES, VALUES, max_size=3)})
CALLS = st.lists(CALL, min_size=1, max_size=3, unique_by=lambda call: call["name"])

TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}

each_format = pytest.mark.parametrize("fmt", FORMATS.values(), ids=lambda f: f.name)


def tools_for(calls):
    """Tool definitions whose schemas declare each argument's own type."""
    tools = []
    for call in calls:
        properties = {key: {"type": TYPES.get(type(value), "null")} for key, value in call["arguments"].items()}
        parameters = {"type": "object", "properties": properties}
        tools.append({"type": "function", "function": {"name": call["name"], "parameters": parameters}})
    return tools


def assert_tiles(parsed):
    position = 0
    for segment in parsed.segments:
        assert segment.start == position < segment.end
        position = segment.end
    assert position == len(parsed.raw)


def streamed(fmt, pieces, tools=(), prompt_suffix=""):
    stream = fmt.stream(tools, prompt_suffix)
    for piece in pieces:
        stream.feed(piece)
    stream.close()
    return stream.result()


@contextmanager
def named(fmt):
    """A fault names its format. What is random is drawn once for all: that takes far longer than it takes to read."""
    try:
        yield
    except Exception as fault:
        fault.add_note(f"format: {fmt.name}")
        raise


@settings(max_examples=200, deadline=None)
@given(drawn=CALLS)
def test_parse_reads_back_what_write_wrote(drawn):
    for fmt in FORMATS.values():
        with named(fmt):
            calls = drawn[: fmt.calls_per_turn]
            parsed = fmt.parse(fmt.write(calls), tools_for(calls), fmt.prompt_suffix)
            assert [(c.name, c.arguments, c.problem) for c in parsed.calls] == [
                (c["name"], c["arguments"], None) for c in calls
            ]
            assert_tiles(parsed)


@settings(max_examples=100, deadline=None)
@given(
    calls=CALLS,
    start=st.integers(0, 60),
    end=st.integers(0, 400),
    noise=TEXT,
    cuts=st.lists(st.floats(0, 1), max_size=8),
)
def test_any_text_is_kept_and_any_cut_reads_the_same(calls, start, end, noise, cuts):
    for fmt in FORMATS.values():
        with named(fmt):
            text = noise + fmt.write(calls)[start:end] + noise
            whole = fmt.parse(text, tools_for(calls))
            assert_tiles(whole)
            edges = [0, *sorted(round(cut * len(text)) for cut in cuts), len(text)]
            assert streamed(fmt, [text[a:b] for a, b in pairwise(edges)], tools_for(calls)) == whole
            assert streamed(fmt, text, tools_for(calls)) == whole


@settings(max_examples=100, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(["{", "}", "[", "]", '"', "\\", ":", ",", " ", "\n", "a", *MARKERS]), max_size=25
    ).map("".join)
)
def test_noise_made_of_markers_never_raises(text):
    for fmt in FORMATS.values():
        with named(fmt):
            whole = fmt.parse(text)
            assert_tiles(whole)
            assert streamed(fmt, text) == whole


@each_format
def test_plain_text_is_content(fmt):
    parsed = fmt.parse("It is sunny in Paris.")
    assert parsed.content == "It is sunny in Paris."
    assert not parsed.calls


@each_format
def test_a_closed_stream_takes_no_more(fmt):
    stream = fmt.stream()
    assert stream.close().content == ""
    with pytest.raises(ValueError, match="closed"):
        stream.feed("x")
    with pytest.raises(ValueError, match="closed"):
        stream.close()


@pytest.mark.parametrize(
    ("fmt", "raw", "problem"), [(f, raw, p) for f in FORMATS.values() for raw, p in f.broken.items()]
)
def test_broken_output_is_kept_and_named(fmt, raw, problem):
    parsed = fmt.parse(raw)
    assert [c.problem for c in parsed.calls] == [problem]
    assert_tiles(parsed)


@each_format
def test_the_example_is_one_whole_call(fmt):
    parsed = fmt.parse(fmt.example, prompt_suffix=fmt.prompt_suffix)
    assert [(c.name, c.arguments, c.problem) for c in parsed.calls] == [("get_weather", {"city": "Paris"}, None)]
    assert fmt.broken, "a format shows what its broken outputs look like"
    assert fmt.reference.startswith("https://")


@pytest.mark.parametrize("fmt", [f for f in FORMATS.values() if f.response_template], ids=lambda f: f.name)
def test_transformers_reads_the_same_calls_with_the_formats_template(fmt):
    calls = [{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "f", "arguments": {"a": "x y"}}]
    parser = ResponseParser(dict(fmt.response_template), prefix=fmt.response_template["start_anchor"], tools=[])
    parser.feed("Let me look.\n\n" + fmt.write(calls))
    message, _ = parser.finalize()
    assert [call["function"] for call in message["tool_calls"]] == calls
    assert message["content"].strip() == "Let me look."
