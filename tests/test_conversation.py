"""JSON <-> Conversation: what is kept, what is turned away, and where the error points."""

import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import render_jinja_template

from formats.conversation import (
    MAX_DEPTH,
    OPTIONS,
    RESERVED,
    from_json,
    parse_conversation,
    parse_messages,
    parse_tools,
    to_json,
)
from formats.errors import BadConversation
from formats.types import Conversation

USER = {"role": "user", "content": "Hi"}
CALL = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}


def path_of(value) -> str:
    with pytest.raises(BadConversation) as caught:
        from_json(value)
    assert caught.value.kind == "bad_conversation"
    assert caught.value.message.startswith(f"{caught.value.path}: " if caught.value.path else "")
    return caught.value.path


def test_reads_all_three_parts():
    text = json.dumps(
        {
            "id": "a note to the reader",
            "messages": [USER],
            "tools": [{"name": "f"}],
            "options": {
                "add_generation_prompt": False,
                "continue_final_message": "reasoning_content",
                "documents": [{"title": "T", "text": "x"}],
                "chat_template": "rag",
                "kwargs": {"enable_thinking": False, "bos_token": None},
            },
        }
    )
    assert parse_conversation(text) == Conversation(
        messages=(USER,),
        tools=({"name": "f"},),
        documents=({"title": "T", "text": "x"},),
        add_generation_prompt=False,
        continue_final_message="reasoning_content",
        chat_template="rag",
        template_kwargs={"enable_thinking": False, "bos_token": None},
    )


def test_messages_alone_and_defaults():
    assert parse_conversation('\ufeff[{"role": "user", "content": "Hi"}]') == Conversation((USER,))
    assert from_json({"messages": [USER], "tools": None, "options": None}) == Conversation((USER,))


def test_no_tools_and_an_empty_list_of_tools_are_different():
    assert from_json({"messages": [USER], "tools": []}).tools == ()
    assert parse_tools("[]") == ()
    assert parse_tools("null") is None
    assert parse_tools(" \n") is None


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": None},
        {"role": "user"},
        {"role": "critic", "content": "of unknown role", "weight": 0.5, "extra": {"kept": [None]}},
        {"role": "user", "content": [{"type": "image", "url": "x"}, {"type": "text", "text": "y"}, "bare"]},
        {"role": "tool", "content": {"value": 22, "unit": "C"}},
        {"role": "tool", "content": 22.5},
        {"role": "assistant", "tool_calls": None, "content": ""},
        {"role": "assistant", "tool_calls": []},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1'}}]},
        {"role": "assistant", "tool_calls": [{"id": 7, "name": "flat", "arguments": {"a": 1}}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]},
        {"role": "user", "content": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🌧️ \x00 \u2028"},
    ],
)
def test_what_a_template_may_take_is_kept_untouched(message):
    assert from_json([message]).messages == (message,)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("text", ""),
        (7, ""),
        ({}, ""),
        ({"messages": []}, "messages"),
        ({"messages": {}}, "messages"),
        ([], "messages"),
        ([USER, "Hi"], "messages[1]"),
        ([{"content": "Hi"}], "messages[0]"),
        ([{"role": None}], "messages[0].role"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": ["ok", 5]}], "messages[0].content[1]"),
        ([USER, {**CALL, "tool_calls": {}}], "messages[1].tool_calls"),
        ([USER, {**CALL, "tool_calls": ["f"]}], "messages[1].tool_calls[0]"),
        ([USER, {**CALL, "tool_calls": [{"id": "1"}]}], "messages[1].tool_calls[0].function"),
        ([USER, {**CALL, "tool_calls": [{"function": "f"}]}], "messages[1].tool_calls[0].function"),
        ([USER, {**CALL, "tool_calls": [{"function": {}}]}], "messages[1].tool_calls[0].function"),
        (
            [{**CALL, "tool_calls": [{"function": {"name": "f", "arguments": [1]}}]}],
            "messages[0].tool_calls[0].function.arguments",
        ),
        ({"messages": [USER], "tools": {}}, "tools"),
        ({"messages": [USER], "tools": [{}, "f"]}, "tools[1]"),
        ({"messages": [USER], "options": []}, "options"),
        ({"messages": [USER], "options": {"tokenize": True}}, "options.tokenize"),
        ({"messages": [USER], "options": {"add_generation_prompt": "yes"}}, "options.add_generation_prompt"),
        ({"messages": [USER], "options": {"continue_final_message": True}}, "options.continue_final_message"),
        ({"messages": [USER], "options": {"documents": [1]}}, "options.documents[0]"),
        ({"messages": [USER], "options": {"chat_template": {}}}, "options.chat_template"),
        ({"messages": [USER], "options": {"kwargs": []}}, "options.kwargs"),
        ({"messages": [USER], "options": {"kwargs": {"messages": []}}}, "options.kwargs.messages"),
        ({"messages": [USER], "add_generation_prompt": False}, "add_generation_prompt"),
        ([{"role": "user", "content": "half \ud83c"}], "messages[0].content"),
        ([{"role": "user", "a key": {"\udc00": 1}}], 'messages[0]["a key"]'),
        ([{"role": "user", "x": float("inf")}], "messages[0].x"),
        ([{"role": "user", "x": {1}}], "messages[0].x"),
        ([{"role": "user", "x": {1: 2}}], "messages[0].x"),
    ],
)
def test_the_error_names_the_path(value, path):
    assert path_of(value) == path


def test_the_path_starts_where_the_caller_says():
    with pytest.raises(BadConversation, match=r"^\[3\]\.messages\[0\]\.role: "):
        from_json({"messages": [{"role": 1}]}, "[3]")
    with pytest.raises(BadConversation, match=r"^messages\[0\]: "):
        parse_messages('["Hi"]')
    with pytest.raises(BadConversation, match=r"^tools: needs a list"):
        parse_tools("{}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to read"),
        ('[\n  {"role" "user"}]', "line 2, column 11"),
        ("[{'role': 'user'}]", "double quotes"),
        ('[{"role": "user"},]', "remove the comma"),
        ('[{"role": "user", "x": True}]', "true, false and null"),
        ('[{"role": "user"', "ends too early"),
        ('[{"role": "user", "content": "a\nb"}]', r"\n"),
        ('[{"role": "user", "x": NaN}]', "NaN is not JSON"),
        ('[{"role": "user", "x": -Infinity}]', "Infinity is not JSON"),
        ('[{"role": "user", "x": 1' + 5000 * "0" + "}]", "thousands of digits"),
        ("[" * 200_000, "nested too deeply"),
        ('[{"role": "user", "x": ' + 150 * "[" + 150 * "]" + "}]", "nested more than"),
        (r'[{"role": "user", "content": "\ud83c"}]', r"\ud83c"),
    ],
)
def test_bad_text_is_told_in_words(text, words):
    with pytest.raises(BadConversation) as caught:
        parse_conversation(text)
    assert words in caught.value.message


def test_reserved_names_are_all_of_apply_chat_template_s_arguments():
    """A new argument in a newer transformers must be reserved here as well."""
    theirs = {
        name
        for function in (PreTrainedTokenizerFast.apply_chat_template, render_jinja_template)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    }
    assert theirs | {"messages"} == RESERVED
    assert set(OPTIONS) - {"kwargs"} < RESERVED


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)
NEAR = st.fixed_dictionaries(
    {
        "messages": st.lists(
            st.fixed_dictionaries({"role": TEXT | JSON}, optional={"content": JSON, "tool_calls": JSON})
        )
    },
    optional={
        "tools": JSON,
        "options": st.dictionaries(st.sampled_from(OPTIONS), JSON),
    },
)


@given(JSON | NEAR)
def test_any_json_is_a_conversation_or_a_bad_one(value):
    try:
        conversation = from_json(value)
    except BadConversation:
        return
    json.dumps(to_json(conversation)).encode()


@given(st.text() | st.text(alphabet='[]{}",:\\ud8NaI1e+- \n'))
def test_any_text_is_a_conversation_or_a_bad_one(text):
    for parse in (parse_conversation, parse_messages, parse_tools):
        try:
            parse(text)
        except BadConversation as error:
            assert error.message


OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)


@given(
    st.builds(
        Conversation,
        messages=st.lists(OBJECTS.map(lambda extra: {**extra, **CALL}), min_size=1).map(tuple),
        tools=st.none() | st.lists(OBJECTS).map(tuple),
        documents=st.none() | st.lists(OBJECTS).map(tuple),
        add_generation_prompt=st.just(False),
        continue_final_message=st.booleans() | TEXT,
        chat_template=st.none() | TEXT,
        template_kwargs=st.dictionaries(TEXT.filter(lambda name: name not in RESERVED), JSON, max_size=3),
    )
)
def test_round_trip(conversation):
    assert parse_conversation(json.dumps(to_json(conversation))) == conversation


def test_depth_limit_leaves_room_for_real_schemas():
    deep = {}
    for _ in range(MAX_DEPTH - 5):
        deep = {"properties": deep}
    assert from_json({"messages": [USER], "tools": [{"function": deep}]}).tools == ({"function": deep},)
