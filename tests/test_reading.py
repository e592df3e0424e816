"""The parts that parsers are made of: JSON scanned in pieces, read, repaired, and calls judged."""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from patience import HANGS

from formats.parsers.base import call_list, json_payload, named_call
from formats.reading import json_text
from formats.reading.calls import MISSING, settle
from formats.reading.json_text import JsonScanner
from formats.reading.reader import Reader
from formats.reading.stream import OutputStream
from formats.reading.validation import Budget, schema_errors
from formats.types import CallProblem

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3))
CONTAINERS = st.lists(VALUES, max_size=3) | st.dictionaries(st.text(), VALUES, max_size=3)
INDENT = st.sampled_from([None, 0, 1])
CUTS = st.lists(st.integers(0, 300), max_size=6)


def scanned(text, cuts=(), lenient=False):
    """The scanner, and where in the text it stopped."""
    scanner, edges = JsonScanner(lenient=lenient), sorted({0, len(text), *(c for c in cuts if c < len(text))})
    for start, end in pairwise(edges):
        stopped = start + scanner.scan(text[start:end])
        if scanner.done or scanner.broken:
            return scanner, stopped
    scanner.end()
    return scanner, len(text)


# Scanning


@given(value=CONTAINERS, ascii_only=st.booleans(), indent=INDENT, tail=st.text(max_size=5), cuts=CUTS)
def test_a_scan_ends_where_a_strict_reader_ends(value, ascii_only, indent, tail, cuts):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent) + tail
    scanner, stopped = scanned(text, cuts)
    assert scanner.done
    assert stopped == json.JSONDecoder().raw_decode(text)[1]


@given(value=CONTAINERS, cuts=CUTS, data=st.data())
def test_a_value_cut_off_is_neither_done_nor_broken(value, cuts, data):
    text = json.dumps(value)
    scanner, _ = scanned(text[: data.draw(st.integers(0, len(text) - 1))], cuts)
    assert not (scanner.done or scanner.broken)


@settings(max_examples=300)
@given(value=CONTAINERS, cuts=CUTS, data=st.data())
def test_a_scan_breaks_exactly_where_no_reader_can_go_on(value, cuts, data):
    text = json.dumps(value, ensure_ascii=False)
    position = data.draw(st.integers(0, len(text)))
    inserted = data.draw(st.sampled_from(['"', "'", "\\", "{", "}", "[", "]", ",", ":", "x", "1", "-", "\n", " ", ""]))
    text = text[:position] + inserted + text[position + data.draw(st.integers(0, 1)) :]
    assume(text.lstrip()[:1] in ("{", "["))  # Python's reader takes the 1 of "1null]" for a whole value
    scanner, stopped = scanned(text, cuts)
    try:
        end = json.JSONDecoder().raw_decode(text, len(text) - len(text.lstrip()))[1]
    except ValueError:
        end = None
    assert scanner.done == (end is not None)
    if scanner.done:
        assert stopped == end
    if scanner.broken:
        # whatever stood behind the break, no reader would get past it
        assert not scanned(text[:stopped] + "\x00")[0].done
    elif not scanner.done and not text[-1:].isalnum() and text[-1:] not in "-+._":
        # some text makes it whole: what stands there so far was never wrong
        assert any(scanned(text + end)[0].done for end in completions(scanner))


def completions(scanner):
    closers = "".join("}" if mark == "{" else "]" for mark in reversed(scanner._stack))
    middles = ["", "0", '"', '": 0', ": 0", '"": 0', "rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"]
    middles += [f'{escape}"{rest}' for escape in ["n", "0000", "000", "00", "0"] for rest in ("", ": 0")]
    return [middle + closers for middle in middles]


@given(value=CONTAINERS, cuts=CUTS, indent=INDENT)
def test_a_lenient_scan_ends_as_a_strict_one(value, cuts, indent):
    text = json.dumps(value, indent=indent)
    assert scanned(text + "}", cuts, lenient=True)[1] == len(text)


@given(value=CONTAINERS, cuts=CUTS)
def test_a_lenient_scan_passes_over_python(value, cuts):
    text = repr(value)
    scanner, stopped = scanned(text + "</x>", cuts, lenient=True)
    assert scanner.done
    assert stopped == len(text)


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', '{"a": "\\d"}', '{"a": "x\ny"}', '{"a": 1,}', "[1,]", "{a: 1}", '{"a": \'"\'}']
)
def test_a_lenient_scan_finds_the_end_of_what_is_nearly_json(text):
    scanner, stopped = scanned(text + '"}', lenient=True)
    assert (scanner.done, stopped) == (True, len(text))


def test_a_scan_is_linear_in_pieces():
    def calls(size):
        """What a scan in pieces costs, counted in calls: a clock would measure the machine."""
        text = '{"a": "' + "x" * size + '", "b": ' + "1" * size + "}"
        count, scanner = 0, JsonScanner()

        def counted(*_):
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            for i in range(0, len(text), 8):
                scanner.scan(text[i : i + 8])
        finally:
            sys.setprofile(None)
        assert scanner.done
        return count

    assert calls(40_000) < 5 * calls(10_000)


# Reading


@given(value=VALUES)
def test_reading_gives_the_value(value):
    reading = json_text.read(json.dumps(value))
    assert (reading.value, reading.note) == (value, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": NaN}', "NaN is not JSON"),
        ("[Infinity]", "Infinity is not JSON"),
        ("[1e999]", "beyond the range"),
        (f"[{'9' * 5000}]", "5000 digits"),
        ("[" * 10_000 + "]" * 10_000, "nested more than 100 deep"),
        ('{"a": ' * 10_000 + "1" + "}" * 10_000, "nested more than 100 deep"),
        ("[1] 2", "behind the value"),
        ("", "Expecting value"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(text, words):
    with pytest.raises(ValueError, match=words):
        json_text.loads(text)


def test_many_values_side_by_side_are_not_deep():
    text = json.dumps([[[]]] * 1000 + ["[" * 1000, '"[{' * 1000])
    assert json_text.loads(text) == json.loads(text)


def test_the_last_of_two_equal_keys_counts_and_the_note_says_so():
    reading = json_text.read('{"a": 1, "b": {"a": 2, "a": 3}}')
    assert reading.value == {"a": 1, "b": {"a": 3}}
    assert "given twice" in reading.note


@pytest.mark.parametrize(
    ("text", "value", "lone"),
    [
        (r'"\ud83d\udc1f"', "\U0001f41f", False),
        (r'"\ud83d"', "\ufffd", True),
        (r'["\udc1f\ud83d", {"\uD83D": 1}]', ["\ufffd\ufffd", {"\ufffd": 1}], True),
        (r'"\\ud83d"', r"\ud83d", False),
    ],
)
def test_half_a_surrogate_pair_becomes_a_character(text, value, lone):
    reading = json_text.read(text)
    assert reading.value == value
    assert ("surrogate" in reading.note) == lone


# Members of what is cut off or broken


@given(value=st.dictionaries(st.text(), VALUES, min_size=1, max_size=4), data=st.data())
def test_members_of_a_cut_object_are_its_first_ones(value, data):
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text)))
    found = json_text.members(text[:cut])
    assert list(found.items()) == list(value.items())[: len(found)]
    whole = [
        key for key in value if len(json.dumps({k: value[k] for k in list(value)[: list(value).index(key) + 1]})) <= cut
    ]
    assert set(whole) <= found.keys()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"n": "f", "a": {"x": 3', {"n": "f"}),
        ('{"n": 3', {}),
        ('{"n": 3,', {"n": 3}),
        ('{"n": "say "hi"', {}),
        ("{'n': 'f', 'a': {'x': True}", {"n": "f", "a": {"x": True}}),
        ('{"n": "f", x', {"n": "f"}),
        ("no object", {}),
        ("[1, 2", {}),
        ('{"n": "f", "a": ' + "[" * 10_000, {"n": "f"}),
        ('{"n": "f", "a": ' + "9" * 5000 + "}", {"n": "f"}),
    ],
)
def test_only_whole_and_certain_members_are_given(text, found):
    assert json_text.members(text) == found


# Repair


@pytest.mark.parametrize(
    ("text", "value", "note"),
    [
        ('{"a": [1, 2,],}', {"a": [1, 2]}, "trailing comma dropped"),
        ('{"a": {"b": 1}', {"a": {"b": 1}}, "one closing brace added"),
        ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}, "single quotes"),
        ("""{'a': 'say "hi"', 'b': 'it\\'s', 'c': '\\"'}""", {"a": 'say "hi"', "b": "it's", "c": '"'}, "single quotes"),
        ('{"a": "it\\\'s"}', {"a": "it's"}, ""),
        ('{"a": "one\ntwo\tthree"}', {"a": "one\ntwo\tthree"}, "raw line break"),
        ('{"a": "one\n\\"two\\""}', {"a": 'one\n"two"'}, "raw line break"),
        ("{'漢': '\\ud83d\\udc1f'}", {"漢": "\U0001f41f"}, "single quotes"),
    ],
)
def test_one_certain_reading_is_given(text, value, note):
    repaired = json_text.repair(text)
    assert repaired is not None
    assert (repaired.value, repaired.end) == (value, len(text))
    assert note in repaired.note


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}}"[:1],
        '{"a": "say "hi""}',
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{a: 1}",
        '{"a": x}',
        '{"a": NaN}',
        '{"a": [1, 2}',
        '{"a": {"b": {"c": 1}',
        '{"a": "\\d"}',
        '{"a": 1,, "b": 2}',
        "[" * 10_000,
        '{"a": ' * 10_000,
        "9" * 5000,
    ],
)
def test_nothing_is_guessed(text):
    assert json_text.repair(text) is None


@given(value=CONTAINERS)
def test_a_repair_of_python_text_gives_its_value(value):
    text = repr(value)
    if "\\x" not in text and "\\U" not in text and "\\a" not in text:
        repaired = json_text.repair(text)
        assert repaired is None or repaired.value == value


@given(text=st.text("{}[]\"'\\:,ab10 \ntrueNn", max_size=30))
def test_no_text_breaks_a_reader_and_no_strict_value_is_changed(text):
    json_text.members(text)
    repaired = json_text.repair(text)
    try:
        value = json_text.loads(text)
    except ValueError:
        return
    assert repaired is not None
    assert repaired.value == value


@pytest.mark.parametrize(
    ("text", "missing", "found"),
    [
        ('"abc}}</end>', 2, 6),
        ('"abc}} \n </end> more </end>', 2, 9),
        ('"abc}</end>', 2, None),
        ('"abc {x}</end>', 1, None),
        ('"a </end> b}</end>', 1, 12),
        ('"a }}, b</end>', 2, None),
        ('"abc}', 1, None),
    ],
)
def test_a_lost_quote_shows_by_the_closing_marks_behind_it(text, missing, found):
    assert json_text.lost_quote(text, ("</end>",), missing) == found


# Payloads and lists of calls


def read_one(reader):
    payload = yield from json_payload(reader, ("</end>",))
    named_call(reader, payload)


def one(text):
    stream = OutputStream(read_one)
    stream.feed(text)
    stream.close()
    return stream.result().calls[0]


@pytest.mark.parametrize(
    ("text", "name", "arguments", "problem"),
    [
        ('{"name": "f", "arguments": {"a": 1}}</end>', "f", {"a": 1}, None),
        ('{"name": "f", "arguments": {"a": 1}}}}\n</end>', "f", {"a": 1}, CallProblem.INVALID_JSON),
        ('{"name": "f", "arguments": {"a": 1}</end>', "f", {"a": 1}, CallProblem.INVALID_JSON),
        ('{"name": "f", "arguments": {"a": "</end>",}}</end>', "f", {"a": "</end>"}, CallProblem.INVALID_JSON),
        ("{'name': 'f', 'arguments': {'a': '</end>'}}</end>", "f", {"a": "</end>"}, CallProblem.INVALID_JSON),
        ('{"name": "f", "arguments": {"a": "x}}</end>', "f", None, CallProblem.INVALID_JSON),
        ('{"name": "f", "arguments": {"a": "x</end>', "f", None, CallProblem.UNCLOSED),
        ('{"name": "f", "arguments": {"a": "say "x""}}</end>', "f", None, CallProblem.INVALID_JSON),
        ('{"name": "f", "arguments": {"a": NaN}}</end>', "f", None, CallProblem.INVALID_JSON),
        (f'{{"name": "f", "arguments": {{"a": {"9" * 5000}}}}}</end>', "f", None, CallProblem.INVALID_JSON),
        ('{"name": "f", "arguments": ' + '{"a":' * 10_000, "f", None, CallProblem.UNCLOSED),
        ('{"name": "f", "arguments": {"a": ' + "[" * 10_000 + "]" * 10_000 + "}}", "f", None, CallProblem.INVALID_JSON),
        ('{"name": "f", "arguments": {"a": 36', "f", None, CallProblem.UNCLOSED),
        ('{"name": "f", "arguments": {"a": 36}', "f", {"a": 36}, CallProblem.UNCLOSED),
        ("{'name': 'f', 'arguments': {'a': 'x", "f", None, CallProblem.UNCLOSED),
        ('{"name": "f', None, None, CallProblem.UNCLOSED),
        ('{"name": 3, "arguments": {}}</end>', None, {}, CallProblem.MISSING_NAME),
        ('{"name": "f", "arguments": null}</end>', "f", None, CallProblem.ARGUMENTS_NOT_OBJECT),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}</end>', "f", {"a": 1}, CallProblem.DOUBLE_ENCODED),
    ],
)
def test_a_payload_and_what_is_wrong_with_it(text, name, arguments, problem):
    call = one(text)
    assert (call.name, call.arguments, call.problem) == (name, arguments, problem)


def read_list(reader):
    yield from call_list(reader, 0, ("</end>",))


def calls_in(text):
    stream = OutputStream(read_list)
    for character in text:
        stream.feed(character)
    stream.close()
    result = stream.result()
    assert "".join(result.raw[s.start : s.end] for s in result.segments) == text
    whole = OutputStream(read_list)
    whole.feed(text)
    whole.close()
    assert whole.result() == result
    return [(c.name, c.arguments, c.problem and c.problem.value) for c in result.calls]


GOOD, AND = '{"name": "g", "arguments": {}}', ("g", {}, None)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[]</end>", []),
        (f"[{GOOD}, {GOOD}]", [AND, AND]),
        (f"[{GOOD},]</end>", [AND]),
        (f"[{GOOD}", [AND]),
        (f"[{GOOD},", [AND]),
        (f"[{GOOD}</end>", [AND]),
        (f"[{GOOD} {GOOD}]", [AND, AND]),
        (f'[{GOOD}, {{"name": "f", "arguments": {{"a": 1,}}}}, {GOOD}]', [AND, ("f", {"a": 1}, "invalid_json"), AND]),
        (f'[{{"name": "f", "arguments": {{"a": 1}}, {GOOD}]', [("f", {"a": 1}, "invalid_json"), AND]),
        (f'[{{"name": "f", "arguments": {{"a": 1}}]</end>{GOOD}', [("f", {"a": 1}, "invalid_json")]),
        (f'[{{"name": "f", "arguments": {{"a": 1}}}}}}, {GOOD}]', [("f", {"a": 1}, "invalid_json"), AND]),
        (f'[{{"name": "f", "arguments": {{"a": "say "x""}}}}, {GOOD}]', [("f", None, "invalid_json"), AND]),
        (f'[{GOOD}, {{"name": "f", "argu', [AND, ("f", None, "unclosed")]),
        (f'[{GOOD}, "f"]', [AND, (None, None, "malformed")]),
        (f"[[{GOOD}], {GOOD}]", [("g", {}, "malformed"), AND]),
        ("[", [(None, None, "unclosed")]),
        (GOOD, [("g", {}, "malformed")]),
        ("[1] shows why", []),
        ("no list", []),
    ],
)
def test_a_fault_in_a_list_spoils_one_call(text, calls):
    assert calls_in(text) == calls


# Judging


def tool(schema):
    return [{"type": "function", "function": {"name": "f", "parameters": schema}}]


@pytest.mark.parametrize(
    ("schema", "arguments", "errors"),
    [
        ({"required": ["a"]}, {}, [("", "required")]),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "1"}, [("a", "type")]),
        ({"properties": {"a": {"enum": [1, 2]}}}, {"a": 3}, [("a", "enum")]),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, [("b", "additionalProperties")]),
        ({"properties": {"a": {"items": {"type": "string"}}}}, {"a": ["", 2]}, [("a[1]", "type")]),
        ({"properties": {"a.b": {"type": "string"}}}, {"a.b": 1}, [('["a.b"]', "type")]),
        ({"properties": {"a": {"pattern": "^\\p{L}+$"}}}, {"a": "é1"}, [("a", "pattern")]),
        ({"properties": {"a": {"pattern": "("}, "b": {"type": "null"}}}, {"a": "", "b": 1}, [("b", "type")]),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, {"x": 1}, {"x": 1.0}]}, [("a", "uniqueItems")]),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, True]}, []),
        ({"patternProperties": {"^x": {"type": "null"}}, "additionalProperties": False}, {"x": 1}, [("x", "type")]),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"required": ["a"]}}}, {}, [("", "required")]),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}, "required": ["b"]}, {"a": 1}, [("", "required")]),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "required": ["a"]}, {}, [("", "required")]),
        ({"type": "no such type"}, {}, []),
        ({"required": "a"}, {}, []),
        ({"$ref": "#"}, {}, []),
        ({"$schema": ["x"]}, {}, []),
    ],
)
def test_arguments_are_judged_by_their_schema(schema, arguments, errors):
    assert [(e.path, e.keyword) for e in schema_errors(arguments, schema)] == errors


def test_nothing_is_fetched(monkeypatch):
    import socket

    def refuse(*args, **kwargs):
        raise AssertionError("a schema reached for the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    schema = {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}, "b": {"type": "null"}}}
    assert [e.path for e in schema_errors({"a": 1, "b": 1}, schema)] == ["b"]


HOSTILE = "^((((a{0,99}){0,99}){0,99}){0,99}){0,99}$"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": HOSTILE}}},
        {"patternProperties": {HOSTILE: {}}, "additionalProperties": False},
        {"patternProperties": {HOSTILE: {}}, "unevaluatedProperties": False},
        {"properties": {"a": {"$schema": "https://json-schema.org/draft/2020-12/schema", "pattern": HOSTILE}}},
    ],
)
def test_a_hostile_pattern_does_not_hang(schema):
    text = "a" * 40 + "b"
    start, budget = time.perf_counter(), Budget()
    for _ in range(3):
        schema_errors({"a": text, text: 1}, schema, budget)
    assert time.perf_counter() - start < HANGS


def test_references_that_multiply_do_not_hang(monkeypatch):
    monkeypatch.setattr("formats.reading.validation.MAX_SECONDS", 0.2)
    branches = {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i - 1}"}] * 2} for i in range(1, 40)}
    schema = {"$defs": {"d0": {"type": "null"}, **branches}, "properties": {"a": {"$ref": "#/$defs/d39"}}}
    start, budget = time.perf_counter(), Budget()
    for _ in range(10):
        assert schema_errors({"a": 1}, schema, budget) == ()
    assert time.perf_counter() - start < HANGS


def test_a_message_is_short_and_the_errors_are_few():
    errors = schema_errors({"a": ["x" * 10_000] * 500}, {"properties": {"a": {"items": {"type": "integer"}}}})
    assert len(errors) == 100
    assert max(len(e.message) for e in errors) <= 300


def test_an_odd_tool_judges_nothing():
    for odd in ([None], [{}], [{"function": None}], [{"function": {"name": "f", "parameters": "text"}}]):
        assert settle("f", {}, 0, 1, tools=odd).problem in (None, CallProblem.UNKNOWN_TOOL)
    loop = {"properties": {}}
    loop["properties"]["a"] = loop
    assert settle("f", {"a": 1}, 0, 1, tools=tool(loop)).problem is None


def test_the_first_problem_that_holds_is_named():
    assert settle(None, MISSING, 0, 1).problem is CallProblem.MISSING_NAME
    assert settle("f", MISSING, 0, 1).arguments == {}
    assert settle("g", "x", 0, 1, tools=tool({})).problem is CallProblem.ARGUMENTS_NOT_OBJECT
    assert settle("g", '{"a": 1}', 0, 1, tools=tool({})).problem is CallProblem.DOUBLE_ENCODED
    assert settle("g", {}, 0, 1, tools=tool({})).problem is CallProblem.UNKNOWN_TOOL
    assert settle("f", {}, 0, 1, tools=tool({"required": ["a"]})).problem is CallProblem.SCHEMA_MISMATCH


def test_the_reader_waits_only_while_the_text_does_not_decide():
    reader = Reader()
    reader.append("<tool")
    looking = reader.sees(("<tool_call>",))
    next(looking)
    reader.append("box>")
    with pytest.raises(StopIteration) as seen:
        next(looking)
    assert seen.value.value is None
