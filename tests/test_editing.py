"""What the editors and the tab for tools as text call, with what a page sends and what nobody should."""

import json
import time

import pytest

from formats import samples
from formats.conversation import parse_tools
from formats.fixes import FIXES
from formats.schema import tools_from_source
from formats.web.editing import EXPORT_NAMES, Editing
from formats.web.engine import Engine
from formats.web.handlers import Workbench, editor_texts
from formats.web.plain import PlainTools
from formats.web.template_options import TemplateOptions

LIGHT = ["grok-2", "gemma-3-27b"]  # no vocabulary to load
LOOP = next(sample for sample in samples.load() if "calculator-loop" in sample.name)
TEXTS = editor_texts(LOOP.conversation)
ATTACK = "<img src=x onerror=alert(1)>"


pytestmark = pytest.mark.usefixtures("without_the_hub")


@pytest.fixture(scope="module")
def workbench():
    workbench = Workbench(Engine(), samples.load())
    workbench.load(LIGHT, patience=60)
    return workbench


@pytest.fixture(scope="module")
def editing(workbench):
    return Editing(workbench)


def with_messages(*messages):
    return [json.dumps(messages), *TEXTS[1:]]


# Warnings and remedies


def test_a_sound_conversation_has_no_warnings_and_an_odd_one_has_them_at_their_places(editing):
    sound = editing.review(*TEXTS, 3)
    assert sound["number"] == 3 and not any(sound["warnings"][place] for place in ("tools", "options"))
    odd = with_messages(
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": ATTACK, "arguments": '"{}"'}}]},
        {"role": "tool", "content": {"a": 1}},
    )
    odd[-1] = '{"enable_thinking": "false"}'
    found = editing.review(*odd, 4)
    for path in ("messages[1].tool_calls[0]", "messages[2].content"):
        assert path in found["warnings"]["messages"]
    assert ATTACK not in found["warnings"]["messages"] and "&lt;img" in found["warnings"]["messages"]
    assert "options.kwargs.enable_thinking" in found["warnings"]["options"]
    assert 'data-fix="decode_arguments"' in found["warnings"]["messages"]
    assert 'data-fix="results_as_text"' in found["fixes"]


@pytest.mark.parametrize("values", [["[{", *TEXTS[1:]], [None] * 7, [[], {}, 3, 4, 5, 6, 7]])
def test_what_cannot_be_read_has_no_warnings(editing, values):
    answer = editing.review(*values, "no number")
    assert answer["number"] == 0 and not any(answer["warnings"].values()) and answer["fixes"] == ""


@pytest.mark.parametrize("name", FIXES)
def test_a_remedy_shows_what_it_changes_and_changes_nothing_twice(editing, name):
    messages = [
        {"role": "system", "content": ATTACK},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": n, "arguments": "{}"}} for n in "ab"]},
        {"role": "tool", "tool_call_id": "x", "content": [1]},
    ]
    first = editing.fix([name, json.dumps(messages), ""])
    assert json.loads(first["messages"]) != messages
    assert 'class="added"' in first["diff"] and ATTACK not in first["diff"]
    second = editing.fix([name, first["messages"], ""])
    assert second["messages"] == first["messages"] and "Nothing would change" in second["diff"]


@pytest.mark.parametrize("asked", [None, [], ["nobody", "[]", ""], ["split_calls", "[", ""], ["split_calls", 1, 2]])
def test_a_remedy_that_cannot_be_applied_says_why(editing, asked):
    assert set(editing.fix(asked)) == {"problem"}


# From elsewhere


def take(editing, text, earlier=()):
    return editing.take({"text": text, "number": 5}, list(earlier), *TEXTS)


def test_a_pasted_request_fills_the_editors_and_keeps_what_was_there(editing):
    request = {
        "model": "gpt-x",
        "temperature": 0.5,
        "messages": [{"role": "user", "content": ATTACK}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    }
    answer, *filled, earlier = take(editing, json.dumps(request))
    assert answer["number"] == 5 and "OpenAI" in answer["html"] and "temperature" in answer["html"]
    assert json.loads(filled[0]) == request["messages"] and json.loads(filled[1]) == request["tools"]
    assert earlier == []  # a sample as it came need not be kept
    changed = with_messages({"role": "user", "content": "mine"})
    *_, kept = editing.take({"text": json.dumps(request)}, [], *changed)
    assert kept == [changed]


def test_python_functions_join_the_tools_that_are_there(editing):
    source = samples.FUNCTIONS.read_text(encoding="utf-8")
    answer, messages, tools, *_ = take(editing, source)
    before, after = parse_tools(TEXTS[1]), parse_tools(tools)
    assert messages == TEXTS[0] and after == (*before, *tools_from_source(source))
    assert "get_current_wind_speed" in answer["html"]
    *_, again, _, _, _, _, _, _ = editing.take({"text": source}, [], TEXTS[0], tools, *TEXTS[2:])
    assert parse_tools(again) == after


def test_a_raw_output_goes_to_the_reader_and_not_into_the_chat(editing):
    answer, *filled, _ = take(editing, json.dumps({"model": "m", "response": "<tool_call>", "done": True}))
    assert answer["output"] == "<tool_call>" and filled == TEXTS


@pytest.mark.parametrize("text", ["", "hello", "{}", "def f(x): pass", "[1, 2", None, 3, ["x"]])
def test_what_cannot_be_taken_says_so_and_changes_nothing(editing, text):
    answer, *filled, earlier = take(editing, text)
    assert 'class="problem"' in answer["html"] and filled == TEXTS and earlier == []


# To elsewhere


@pytest.mark.parametrize("name", EXPORT_NAMES)
def test_every_export_is_made_for_a_model(editing, name):
    answer = editing.take_away({"name": name, "model": "grok-2", "number": 2}, *TEXTS, "2026-11-30", LIGHT)
    assert answer["number"] == 2 and answer["text"] and "." in answer["file"]
    assert "problem" not in answer


@pytest.mark.parametrize(
    "asked", [None, {}, {"name": "nobody"}, {"name": "jinja"}, {"name": "vllm", "model": "nobody/nothing"}]
)
def test_what_cannot_be_taken_away_says_why(editing, asked):
    assert "problem" in editing.take_away(asked, *TEXTS, "2026-11-30", LIGHT)
    assert "problem" in editing.take_away({"name": "vllm"}, "[{", *TEXTS[1:], "2026-11-30", LIGHT)


# Template options


def test_options_are_tried_on_the_models_and_typed(workbench):
    options = TemplateOptions(workbench)
    names = ["qwen3", "grok-2", "llama-3.1-405b"]
    workbench.load(names, patience=60)
    for _ in range(200):
        answer = options.read(names, 1)
        if not answer["waiting"]:
            break
        time.sleep(0.1)
    rows = {row["name"]: row for row in answer["options"]}
    assert rows["enable_thinking"]["kind"] == "switch" and rows["enable_thinking"]["effect"] == ["Qwen3"]
    assert rows["date_string"]["kind"] == "text"
    assert rows["builtin_tools"]["kind"] == "json"
    assert [bool(row["effect"]) for row in answer["options"]] == sorted(
        (bool(row["effect"]) for row in answer["options"]), reverse=True
    )
    assert options.read("no list", None)["options"] == []


# Tools as text


def test_three_ways_stand_side_by_side_for_a_template_that_ignores_tools(workbench):
    answer = PlainTools(workbench).show("", *TEXTS, "2026-11-30", LIGHT, 9)
    assert answer["number"] == 9 and answer["problem"] == ""
    assert "This template ignores the tools" in answer["html"]
    assert answer["html"].count('<article class="way">') == 3
    assert "Observation: 0.756307034631" in answer["html"]
    assert set(answer["texts"]) == {"react", "json_in_system"}
    roles = [message["role"] for message in json.loads(answer["texts"]["react"]["messages"])]
    assert roles == ["system", "user", "assistant", "user", "assistant"]


def test_the_tab_escapes_what_it_shows_and_says_what_is_wrong(workbench):
    plain = PlainTools(workbench)
    values = with_messages({"role": "user", "content": ATTACK})
    assert ATTACK not in plain.show("grok-2", *values, "2026-11-30", LIGHT, 1)["html"]
    for values in (["[", *TEXTS[1:], "2026-11-30", LIGHT], [*TEXTS, "soon", LIGHT], [*TEXTS, "2026-11-30", []]):
        answer = plain.show(None, *values, 1)
        assert answer["html"] is None and 'class="problem"' in answer["problem"]
