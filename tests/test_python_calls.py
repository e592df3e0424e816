"""Arguments in Python's call syntax: every JSON value is read back, in any pieces, and only literals are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.reading.python_calls import ArgumentsScanner, read_arguments

TEXT = st.text(st.sampled_from("ab'\"\\\n\t{}[]()=,:#é漢🙂\x00\u2028rf "), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3), max_leaves=6)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "from", "user-id", "x.y", "größe"]), VALUES, max_size=4)


def written(arguments):
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


@given(ARGUMENTS)
def test_python_literals_are_read_back(arguments):
    read = read_arguments(written(arguments))
    assert read.values == arguments
    assert not read.faults


@given(ARGUMENTS, st.lists(st.integers(1, 9), min_size=1), st.sampled_from(["", " and text", "]", ")"]))
def test_the_closing_parenthesis_is_found_in_any_pieces(arguments, sizes, behind):
    text = written(arguments)
    scanner, position, end = ArgumentsScanner(), 0, 0
    for size in sizes * (len(text) + 1):
        end += size
        position = scanner.scan((text + ")" + behind)[:end], position, 0)
        if scanner.done:
            break
    assert scanner.done
    assert position == len(text) + 1


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=true, b=False, c=null", {"a": True, "b": False, "c": None}),
        ("a=-3, b=+1_000, c=.5e-3, d=0x1F", {"a": -3, "b": 1000, "c": 0.0005, "d": 31}),
        ("a='x' \"y\", b=('one'\n'two')", {"a": "xy", "b": "onetwo"}),
        ("a=r'\\d', b='''it's\n\"so\"''', c=u'\\ud83d\\ude42'", {"a": "\\d", "b": 'it\'s\n"so"', "c": "🙂"}),
        ("a=(1, 2), b=(3), c=(), d={1: 'x'},", {"a": [1, 2], "b": 3, "c": [], "d": {"1": "x"}}),
    ],
)
def test_other_spellings_of_literals(text, values):
    assert read_arguments(text).values == values


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a='x' b=2", "comma missing"),
        ("a: 'x', b=2", "colon in place of ="),
        ("'a'='x', b=2", "quotes around a parameter's name"),
        ("a='x', b=2, c='two\nlines'", "line break in a string"),
    ],
)
def test_what_python_refuses_is_read_and_named(text, fault):
    read = read_arguments(text)
    assert read.values
    assert {"a": "x", "b": 2}.items() <= read.values.items()
    assert read.faults == (fault,)


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "a=x",
        "a=1, 2",
        "a=2*3",
        "a=1, a=2",
        "a=",
        "**{'a': 1}",
        "a={1, 2}",
        "a=007",
        "a=3j",
        "a=1e999",
        "a=b'x'",
        "a=f'{x}'",
        "a='C:\\Users'",
        "a=[1, 2",
        "a=dict(b=1)",
        "a=" + "[" * 500 + "]" * 500,
    ],
)
def test_what_is_no_named_literal_is_not_guessed_at(text):
    assert read_arguments(text).values is None


@pytest.mark.parametrize("text", ["isn't so)", "a b)", "see the box)", "a=1; b=2)", "a=1]", "a=1 if x else 2)"])
def test_prose_is_told_from_arguments_before_it_ends(text):
    scanner = ArgumentsScanner()
    assert scanner.scan(text, 0, 0) < len(text)
    assert scanner.broken
    assert not scanner.done
