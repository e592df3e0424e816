"""Each remedy does what it says, changes nothing else, and has nothing to do the second time."""

import copy
import datetime

import pytest
from conversations import CASES, CONVERSATIONS, real_template
from hypothesis import example, given, settings

from formats.conversation import from_json, to_json
from formats.errors import TemplateRefused
from formats.fixes import FIXES
from formats.template import render
from formats.tool_calls import answered_calls, calls_of
from formats.types import Conversation

USER = {"role": "user", "content": "Hi"}
TODAY = datetime.date(2026, 7, 4)


def fixed(name, *messages):
    return [dict(message) for message in FIXES[name].apply(Conversation(tuple(messages))).messages]


def call(name, arguments, **more):
    return {**more, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn(*calls, **more):
    return {"role": "assistant", "content": "", **more, "tool_calls": list(calls)}


def result(content, **more):
    return {"role": "tool", "content": content, **more}


def test_the_remedies_and_where_they_help():
    helps = {
        name: [case for case, conversation in CASES.items() if fix.applicable(conversation)]
        for name, fix in FIXES.items()
    }
    assert helps.pop("system_into_user") == [
        case for case, c in CASES.items() if any(m["role"] in ("system", "developer") for m in c.messages)
    ]
    assert helps == {
        "decode_arguments": ["tool-call-string"],
        "empty_content": ["content-null", "content-missing"],
        "nine_character_ids": ["tool-call-no-id"],
        "split_calls": ["parallel"],
        "results_as_text": ["tool-result-object"],
    }
    for fix in FIXES.values():
        assert fix.title and fix.what.endswith(".")


def test_string_arguments_are_decoded_however_often_they_were_encoded():
    typed = ['{"a": "é"}', '"{\\"a\\": 1}"', "[1]", "not JSON", {}]
    flat = {"name": "f", "arguments": '{"a": 1}'}
    (found,) = fixed("decode_arguments", turn(*(call("f", arguments, x=1) for arguments in typed), flat))
    assert found["tool_calls"] == [
        *(call("f", arguments, x=1) for arguments in [{"a": "é"}, {"a": 1}, "[1]", "not JSON", {}]),
        {"name": "f", "arguments": {"a": 1}},
    ]


def test_no_content_becomes_empty_text():
    found = fixed("empty_content", {"role": "assistant", "tool_calls": [], "x": 1}, result(None), USER)
    assert found == [{"role": "assistant", "content": "", "tool_calls": [], "x": 1}, result(""), USER]


def test_ids_are_rewritten_in_calls_and_results_alike():
    found = fixed(
        "nine_character_ids",
        USER,
        turn(call("f", {}, id="call_9"), call("g", {}, id="a1b2c3d4e"), call("h", {}, id="call00001")),
        result("1", tool_call_id="call_9"),
        result("2", tool_call_id="a1b2c3d4e"),
        result("3", tool_call_id="call00001"),
        turn(call("f", {}, id="call_9"), call("k", {}), call("k", {})),
        result("4", tool_call_id="call_9"),
        result("5"),
        result("6", name="k"),
        result("7", tool_call_id="nobody"),
        result("8", tool_call_id="nobody"),
    )
    ids = [[c["id"] for c in m["tool_calls"]] if "tool_calls" in m else m.get("tool_call_id") for m in found]
    assert ids == [
        None,
        ["call00002", "a1b2c3d4e", "call00001"],
        *("call00002", "a1b2c3d4e", "call00001"),
        ["call00002", "call00003", "call00004"],
        *("call00002", "call00003", "call00004", "call00005", "call00005"),
    ]


def test_parallel_calls_become_turns_with_their_results():
    first, second, third = call("f", {"n": 1}, id="a"), call("g", {"n": 2}, id="b"), call("h", {}, id="c")
    found = fixed(
        "split_calls",
        USER,
        turn(first, second, third, content="Let me see.", reasoning_content="Think."),
        result("two", tool_call_id="b"),
        result("one", tool_call_id="a"),
        result("stray", tool_call_id="z"),
        USER,
    )
    assert found == [
        USER,
        turn(first, content="Let me see.", reasoning_content="Think."),
        result("one", tool_call_id="a"),
        turn(second),
        result("two", tool_call_id="b"),
        turn(third),
        result("stray", tool_call_id="z"),
        USER,
    ]


def test_system_texts_go_in_front_of_the_next_user_text():
    system = {"role": "system", "content": "Rules."}
    parts = {"role": "user", "content": [{"type": "text", "text": "See"}, {"type": "image"}], "name": "ana"}
    late = {"role": "developer", "content": "More."}
    answer = {"role": "assistant", "content": "Yes."}
    assert fixed("system_into_user", system, late, USER) == [{"role": "user", "content": "Rules.\n\nMore.\n\nHi"}]
    assert fixed("system_into_user", USER, system, answer, USER) == [
        USER,
        answer,
        {"role": "user", "content": "Rules.\n\nHi"},
    ]
    assert fixed("system_into_user", USER, system) == [USER, {"role": "user", "content": "Rules."}]
    assert fixed("system_into_user", system, parts) == [
        {**parts, "content": [{"type": "text", "text": "Rules."}, *parts["content"]]}
    ]


def test_results_become_json_text():
    for value, text in [({"é": [1, None]}, '{"é": [1, null]}'), (22.5, "22.5"), (True, "true"), ([1], "[1]")]:
        assert fixed("results_as_text", result(value, name="f")) == [result(text, name="f")]
    parts = result([{"type": "text", "text": "x"}])
    assert fixed("results_as_text", parts, result(None), result("x")) == [parts, result(None), result("x")]


@pytest.mark.parametrize("name", FIXES)
@settings(max_examples=80)
@given(conversation=CONVERSATIONS)
def test_twice_is_once_and_the_argument_is_left_alone(name, conversation):
    before = copy.deepcopy(to_json(conversation))
    once = FIXES[name].apply(conversation)
    assert to_json(conversation) == before
    assert FIXES[name].apply(once) == once
    assert not FIXES[name].applicable(once)
    assert FIXES[name].applicable(conversation) == (once != conversation)
    assert from_json(to_json(once)) == once
    assert (once.tools, once.documents, once.template_kwargs) == (
        *(conversation.tools, conversation.documents, conversation.template_kwargs),
    )


LATE = {
    "messages": [
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": n}} for n in ("f", "g")]},
        {"role": "assistant"},
        {"role": "tool"},
    ]
}
TWINS = {
    "messages": [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": n}, "id": "call_1"} for n in ("f", "g")],
        },
        {"role": "tool"},
    ]
}


@pytest.mark.parametrize("name", ["decode_arguments", "nine_character_ids", "split_calls"])
@settings(max_examples=60)
@given(conversation=CONVERSATIONS)
@example(conversation=from_json(LATE))
@example(conversation=from_json(TWINS))
def test_every_result_still_answers_its_call(name, conversation):
    def pairs(c):
        answers = answered_calls(c.messages)
        return sorted((str(c.messages[at].get("content")), call.name) for at, call in answers.items())

    def calls(c):
        return [call.name for place, message in enumerate(c.messages) for call in calls_of(message, place)]

    after = FIXES[name].apply(conversation)
    assert calls(after) == calls(conversation)
    assert pairs(after) == pairs(conversation)


ASK, ONE = {"role": "user", "content": "Hi"}, call("f", {"a": 1}, id="call_1")
REFUSALS = {  # a template of a model, a conversation it refuses or spoils, and what it then says
    "nine_character_ids": (
        "mistralai-Mistral-7B-Instruct-v0.3",
        [ASK, turn(ONE), result("18", tool_call_id="call_1")],
        "Tool call IDs should be alphanumeric strings with length 9!",
        '"id": "call00001"}]</s>[TOOL_RESULTS] {"content": 18, "call_id": "call00001"}',
    ),
    "decode_arguments": (
        "Qwen-Qwen3-Coder-30B-A3B-Instruct",
        [ASK, turn(call("f", '{"a": 1}'))],
        "Can only get item pairs from a mapping.",
        "<parameter=a>\n1\n</parameter>",
    ),
    "empty_content": (
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
        [{"role": "user"}],
        "has no attribute 'content'",
        "<|im_start|>user\n<|im_end|>",
    ),
    "split_calls": (
        "meta-llama-Llama-3.1-8B-Instruct",
        [ASK, turn(ONE, ONE), result("1"), result("2")],
        "This model only supports single tool-calls at once!",
        '{"name": "f", "parameters": {"a": 1}}',
    ),
    "system_into_user": (
        "google-gemma-2-2b-it",
        [{"role": "system", "content": "Rules."}, ASK],
        "System role not supported",
        "<start_of_turn>user\nRules.\n\nHi<end_of_turn>",
    ),
    "results_as_text": (
        "Qwen-Qwen2.5-7B-Instruct",
        [ASK, turn(ONE), result({"a": None})],
        "<tool_response>\n{'a': None}\n</tool_response>",
        '<tool_response>\n{"a": null}\n</tool_response>',
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_a_real_template_is_helped(name):
    template, messages, before, after = REFUSALS[name]
    conversation = Conversation(tuple(messages), tools=())

    def prompt(of):
        try:
            return render(real_template(template), of, {"bos_token": "<s>", "eos_token": "</s>"}, TODAY)
        except TemplateRefused as refused:
            return str(refused)

    assert before in prompt(conversation)
    assert after in prompt(FIXES[name].apply(conversation))
