"""What is odd about a conversation is told with its place, and what is in order is left alone."""

import json
import time

import pytest
from conversations import CASES, CONVERSATIONS
from hypothesis import given, settings

from formats import samples
from formats.conversation import from_json
from formats.errors import FormatsError
from formats.validate import check_tool_choice, warnings

USER = {"role": "user", "content": "Hi"}
NOTHING = {"type": "object", "properties": {}}


def tool(name="f", **function):
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": NOTHING, **function}}


def turn(*calls, **more):
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **more}


def call(arguments=None, name="f", **more):
    return {**more, "type": "function", "function": {"name": name, "arguments": arguments or {}}}


def result(content="1", **more):
    return {"role": "tool", "content": content, **more}


def found(*messages, tools=None, **options):
    value = {"messages": list(messages) or [USER], "tools": tools, "options": options}
    return {(warned.path, warned.kind) for warned in warnings(from_json(value))}


def schema(**properties):
    return {"type": "object", "properties": properties}


PARAMETERS = "tools[0].function.parameters"
A, DEFINITION = f"{PARAMETERS}.properties.a", f"{PARAMETERS}.definitions.x"
ARGUMENTS = "messages[1].tool_calls[0].function.arguments"


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([tool("get_weather-2")], set()),
        ([tool("größe")], {("tools[0].function.name", "tool_name")}),
        ([tool("x" * 65)], {("tools[0].function.name", "tool_name")}),
        ([tool("a.b")], {("tools[0].function.name", "tool_name")}),
        ([tool("")], {("tools[0].function.name", "tool_name")}),
        ([tool(), tool("g"), tool()], {("tools[2]", "duplicate_tool")}),
        ([{"type": "function", "function": {}}], {("tools[0].function", "no_name")}),
        ([{"name": 5}], {("tools[0]", "no_name")}),
        ([{"name": "f", "description": "d", "type": "function"}], set()),
        ([tool(description="")], {("tools[0].function.description", "no_description")}),
        ([tool(strict=True, **{"return": {"type": "number"}})], set()),
        ([tool(examples=[1])], {("tools[0].function.examples", "unknown_key")}),
        ([tool(**{"a b": 1})], {('tools[0].function["a b"]', "unknown_key")}),
        ([tool(parameters=None)], set()),
        ([tool(parameters={})], set()),
        ([tool(parameters="x")], {(PARAMETERS, "invalid_schema")}),
        ([tool(parameters={"type": "string"})], {(PARAMETERS, "not_an_object_schema")}),
        ([tool(parameters=schema(a={"type": "strin"}))], {(f"{PARAMETERS}.properties.a.type", "invalid_schema")}),
        ([tool(parameters=schema(a=True))], set()),
        ([tool(parameters=schema(a=5))], {(f"{PARAMETERS}.properties.a", "invalid_schema")}),
        ([tool(parameters=schema(a={"enum": "x"}))], {(f"{PARAMETERS}.properties.a.enum", "invalid_schema")}),
        (
            [tool(parameters=schema(a={"type": "string", "pattern": "("}))],
            {(f"{PARAMETERS}.properties.a.pattern", "invalid_schema")},
        ),
        ([tool(parameters={**NOTHING, "required": "a"})], {(f"{PARAMETERS}.required", "invalid_schema")}),
        ([tool(parameters={**NOTHING, "required": ["a"]})], {(f"{PARAMETERS}.required[0]", "required_unknown")}),
        ([tool(parameters=schema(a={"description": "x"}))], {(f"{PARAMETERS}.properties.a", "no_type")}),
        ([tool(parameters=schema(a={"anyOf": [{"type": "string"}, {"type": "null"}]}))], set()),
        (
            [tool(parameters=schema(a={"type": "string", "nullable": True}))],
            {(f"{PARAMETERS}.properties.a.nullable", "unknown_keyword")},
        ),
        (
            [tool(parameters=schema(nullable={"type": "array", "items": {"type": "string", "minLen": 1}}))],
            {(f"{PARAMETERS}.properties.nullable.items.minLen", "unknown_keyword")},
        ),
        (
            [tool(parameters={**NOTHING, "definitions": {"x": {"kind": 1}}})],
            {(f"{DEFINITION}.kind", "unknown_keyword")},
        ),
    ],
)
def test_tools(tools, expected):
    assert found(tools=tools) == expected


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER, turn(call()), result(), USER], set()),
        ([USER, turn(call(id="a")), result(tool_call_id="a")], set()),
        ([USER, turn(call(id="a")), result(tool_call_id="b")], {("messages[2]", "result_without_call")}),
        ([USER, result()], {("messages[1]", "result_without_call")}),
        ([USER, turn(call()), result(), result()], {("messages[3]", "result_without_call")}),
        (
            [USER, turn(call(id="a")), result(tool_call_id="a"), result(tool_call_id="a")],
            {("messages[3]", "result_without_call")},
        ),
        ([USER, turn(call(id="b"), call(id="a")), result(tool_call_id="a"), result(tool_call_id="b")], set()),
        ([USER, turn(call(), call(name="g")), result(name="g"), result(name="f")], set()),
        ([USER, turn(call())], set()),
        ([USER, turn(call()), USER], {("messages[1].tool_calls[0]", "call_without_result")}),
        ([USER, turn(call(id="a"), call(id="a"))], {("messages[1].tool_calls[1].id", "duplicate_id")}),
        (
            [USER, turn(call(id="a")), result(tool_call_id="a"), turn(call(id="a")), result(tool_call_id="a")],
            {("messages[3].tool_calls[0].id", "duplicate_id")},
        ),
        ([USER, turn(call(name="h"))], {("messages[1].tool_calls[0]", "undefined_tool")}),
        ([USER, turn(call('{"a": 1}'))], set()),
        ([USER, turn(call("{'a': 1}"))], {(ARGUMENTS, "arguments_not_object")}),
        ([USER, turn(call("[1]"))], {(ARGUMENTS, "arguments_not_object")}),
        ([USER, turn(call('"{}"'))], {(ARGUMENTS, "double_encoded")}),
        (
            [USER, turn({"name": "f", "arguments": "x"})],
            {("messages[1].tool_calls[0].arguments", "arguments_not_object")},
        ),
        ([{"role": "critic", "content": ""}], {("messages[0].role", "unknown_role")}),
        ([USER, turn(call()), result("18C")], {("messages[2].content", "result_not_json")}),
        ([USER, turn(call()), result('"18C"')], set()),
        ([USER, turn(call()), result("null")], set()),
        ([USER, turn(call()), result({"a": 1})], {("messages[2].content", "result_not_text")}),
        ([USER, turn(call()), result(18)], {("messages[2].content", "result_not_text")}),
        ([USER, turn(call()), result([{"type": "text", "text": "18C"}])], set()),
        ([USER, turn(call()), result(None)], set()),
    ],
)
def test_messages(messages, expected):
    assert found(*messages, tools=[tool(), tool("g")]) == expected


def test_a_call_without_any_tools():
    assert found(USER, turn(call())) == {("messages[1].tool_calls[0]", "undefined_tool")}


def test_a_boolean_as_text():
    (warned,) = warnings(from_json({"messages": [USER], "options": {"kwargs": {"enable_thinking": "false"}}}))
    assert (warned.path, warned.kind) == ("options.kwargs.enable_thinking", "text_for_a_value")
    assert "is the text 'false', which counts as true in a template" in warned.message
    assert not found(kwargs={"enable_thinking": False, "reasoning_effort": "low", "date_string": "26 Jul 2024"})


def test_the_samples_are_in_order_and_of_the_cases_only_the_odd_one_is_not():
    assert [name for name, conversation in CASES.items() if warnings(conversation)] == ["tool-result-object"]
    for sample in samples.load():
        assert warnings(from_json(sample.conversation)) == (), sample.name


@pytest.mark.parametrize("choice", [None, "none", "auto", "required", {"type": "function", "function": {"name": "f"}}])
def test_a_tool_choice_that_can_be_met(choice):
    check_tool_choice(choice, [tool()])


@pytest.mark.parametrize(
    ("choice", "tools", "words"),
    [
        ({"type": "function", "function": {"name": "g"}}, [tool()], "there is no tool 'g'; there are f"),
        ({"type": "function", "function": {"name": "g"}}, None, "there is no tool 'g'; there are none"),
        ("required", [], "required needs a tool"),
        ("any", [tool()], "needs none, auto, required or"),
        ({"name": "f"}, [tool()], "needs none, auto, required or"),
        ({"type": "function", "function": "f"}, [tool()], "needs none, auto, required or"),
        (5, [tool()], "needs none, auto, required or"),
        ([], [tool()], "needs none, auto, required or"),
    ],
)
def test_a_tool_choice_that_cannot_be_met(choice, tools, words):
    with pytest.raises(FormatsError, match=words) as caught:
        check_tool_choice(choice, tools)
    assert caught.value.kind == "bad_tool_choice"


@given(conversation=CONVERSATIONS)
@settings(max_examples=100)
def test_any_conversation_is_looked_through(conversation):
    for warned in warnings(conversation):
        assert warned.message and warned.path.startswith(("tools[", "messages[", "options."))


def test_hostile_schemas_and_long_conversations_take_no_time():
    deep = {"type": "object"}
    for _ in range(40):
        deep = {"type": "object", "properties": {"a": deep}}
    messages = [USER, *([turn(call(id="a")), result(tool_call_id="a")] * 1000)]
    tools = [tool(f"f{i}", parameters=schema(**{f"p{j}": {"type": "string"} for j in range(20)})) for i in range(30)]
    value = {"messages": messages, "tools": [tool(parameters=deep), *tools]}
    start = time.process_time()
    kinds = {warned.kind for warned in warnings(from_json(json.loads(json.dumps(value))))}
    assert kinds <= {"duplicate_id", "invalid_schema"}
    assert time.process_time() - start < 10
