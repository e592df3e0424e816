"""Values without quotes are read by the types that a tool's schema gives them, wherever the schema says it."""

import json

import pytest

from formats.parsers import FORMATS
from formats.reading.typed import ToolSchema, typed_value

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "whole": {"type": "integer"},
        "number": {"type": "number"},
        "flag": {"type": "boolean"},
        "items": {"type": "array"},
        "object": {"type": "object"},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "or_null": {"type": ["integer", "null"]},
        "nullable": {"type": "string", "nullable": True},
        "referred": {"$ref": "#/$defs/Count"},
        "itself": {"$ref": "#/$defs/Itself"},
        "elsewhere": {"$ref": "https://example.com/schema.json"},
        "digits": {"enum": ["1", "2"]},
        "mixed": {"enum": [1, "roof"]},
        "all_of": {"allOf": [{"$ref": "#/$defs/Count"}, {"type": ["number", "null"]}]},
        "python": {"type": "dict"},
        "open": {"description": "of any type"},
    },
    "$defs": {"Count": {"type": "integer"}, "Itself": {"anyOf": [{"$ref": "#/$defs/Itself"}, {"type": "integer"}]}},
    "additionalProperties": {"type": "string"},
}


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("text", "03106", "03106"),
        ("text", " 7 ", " 7 "),
        ("text", "null", "null"),
        ("text", '"quoted"', '"quoted"'),
        ("whole", "-4", -4),
        ("whole", " 7 ", 7),
        ("whole", "9223372036854775808", 9223372036854775808),
        ("whole", "2031-03-09", "2031-03-09"),
        ("whole", "007", "007"),
        ("whole", "null", "null"),
        ("number", "3", 3),
        ("number", "-1.5e-3", -0.0015),
        ("number", "NaN", "NaN"),
        ("flag", "True", True),
        ("flag", "false", False),
        ("flag", "yes", "yes"),
        ("items", '["a", {"b": null}]', ["a", {"b": None}]),
        ("items", "['a', True]", ["a", True]),
        ("object", '{"a": 1,}', {"a": 1}),
        ("object", "{broken", "{broken"),
        ("either", "42", 42),
        ("either", "042", "042"),
        ("or_null", "None", None),
        ("or_null", "5", 5),
        ("nullable", "null", None),
        ("nullable", "nil", "nil"),
        ("referred", "5", 5),
        ("itself", "5", 5),
        ("elsewhere", "[1]", [1]),
        ("digits", "1", "1"),
        ("mixed", "1", 1),
        ("mixed", "roof", "roof"),
        ("all_of", "5", 5),
        ("python", "{'a': None}", {"a": None}),
        ("open", "12", 12),
        ("open", "007", "007"),
        ("open", "True", "True"),
        ("unlisted", "12", "12"),
    ],
)
def test_a_value_is_what_its_schema_makes_of_it(key, text, value):
    read = typed_value(text, ToolSchema(SCHEMA).types(key)).value
    assert json.dumps(read) == json.dumps(value)


@pytest.mark.parametrize(
    "schema", [None, True, [], {"properties": 7, "$ref": 3, "anyOf": "x"}, {"properties": {"a": 1}}]
)
def test_any_value_will_do_as_a_schema(schema):
    assert typed_value("12", ToolSchema(schema).types("a")).value == 12


def test_parameters_are_found_in_all_parts_of_a_schema():
    schema = ToolSchema(
        {
            "oneOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"type": "null"}}}],
            "allOf": [{"$ref": "#/$defs/More"}],
            "$defs": {"More": {"properties": {"b": {"type": "integer"}}}},
        }
    )
    assert schema.types("a") == {"string", "null"}
    assert schema.types("b") == {"integer"}
    assert (schema.declares("b"), schema.declares("c"), ToolSchema({}).declares("a")) == (True, False, None)


def test_references_that_double_at_every_level_are_followed_once():
    levels = 20
    refs = {f"r{i}": {"anyOf": [{"$ref": f"#/$defs/r{i + 1}"}] * 2} for i in range(levels)}
    defs = {**refs, f"r{levels}": {"type": "integer"}}
    schema = ToolSchema({"properties": {"a": {"$ref": "#/$defs/r0"}}, "$defs": defs})
    assert schema.types("a") == {"integer"}


@pytest.mark.parametrize("name", ["qwen3_coder", "glm45", "minimax_m2"])
def test_a_quoted_call_and_a_closing_tag_in_a_sentence_are_part_of_a_text(name):
    fmt = FORMATS[name]
    tool = {
        "type": "function",
        "function": {"name": "note", "parameters": {"properties": {"text": {"type": "string"}}}},
    }
    quoted = fmt.write([{"name": "other", "arguments": {"key": "value"}}])
    for text in (f"see {quoted} there", *(f"a {marker} b" for marker in fmt.markers)):
        parsed = fmt.parse(fmt.write([{"name": "note", "arguments": {"text": text}}]), [tool])
        assert [(c.arguments, c.problem) for c in parsed.calls] == [({"text": text}, None)]
