"""The tool loop against a scripted server: calls are answered, by tools and by hand, and generation goes on."""

import json

import pytest
from completions_server import CompletionsServer
from scripted import ASK, engine_of, hermes, outcome

from formats.conversation import from_json, to_json
from formats.errors import FormatsError
from formats.generate.base import Stop
from formats.generate.loop import Finished, Round, check_choice, converse, go_on
from formats.generate.report import Transcript, words
from formats.generate.results import Answered


def run_loop(setup, *script, conversation=ASK, **more):
    with CompletionsServer(*script) as server:
        events = list(converse(engine_of(server), from_json(conversation), setup("qwen2.5", **more), Stop()))
        return events, [request["prompt"] for request in server.requests]


def test_a_call_is_answered_appended_rendered_and_generated_again(setup):
    call = hermes("calculator", {"expression": "6 * 7"})
    events, prompts = run_loop(setup, call, "It is 42.", rounds=3)
    (answered,) = outcome(events, Answered)
    assert answered.content == '{"result": 42}' and not answered.is_error and answered.by == "built-in"
    assert [begun.number for begun in outcome(events, Round)] == [1, 2]
    assert len(prompts) == 2 and '{"result": 42}' in prompts[1] and "<tool_call>" in prompts[1]
    finished = events[-1]
    assert isinstance(finished, Finished) and finished.ending == "answer"
    roles = [message["role"] for message in finished.conversation.messages]
    assert roles == ["user", "assistant", "tool"]
    assert from_json(to_json(finished.conversation)) == finished.conversation


def test_the_loop_ends_after_the_rounds_that_are_allowed(setup):
    call = hermes("calculator", {"expression": "1 + 1"})
    events, prompts = run_loop(setup, call, call, call, rounds=2)
    assert len(prompts) == 2 and events[-1].ending == "rounds"
    for rounds in (0, 9):
        with pytest.raises(FormatsError, match="rounds"):
            run_loop(setup, call, rounds=rounds)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (hermes("launch_rocket", {}), "there is no such tool: launch_rocket; there are calculator"),
        (hermes("calculator", {"formula": "1"}), "do not fit the tool"),
        ('<tool_call>\n{"name": "calculator", "arguments": {"expression": "1"', "the call was cut off"),
        ('<tool_call>\n{"arguments": {}}\n</tool_call>', "the call names no tool"),
        (hermes("calculator", {"expression": "1/0"}), "division by zero"),
        (hermes("get_weather", {"city": "Atlantis"}), "no weather is known"),
    ],
)
def test_a_faulty_call_is_shown_and_fed_back_as_a_tool_error(setup, output, said):
    events, prompts = run_loop(setup, output, "I am sorry.", rounds=2)
    (answered,) = outcome(events, Answered)
    assert answered.is_error and said in answered.content
    assert json.loads(answered.content)["error"] in prompts[1].replace('\\"', '"')
    assert events[-1].ending == "answer"


def test_results_typed_by_hand_come_first_and_are_checked(setup):
    call = hermes("calculator", {"expression": "6 * 7"})
    events, prompts = run_loop(setup, call, "So be it.", rounds=2, results={"calculator": "forty-two, says Ann"})
    assert outcome(events, Answered)[0].by == "typed" and "forty-two, says Ann" in prompts[1]
    for bad, said in ((" ", "returned nothing"), ("x" * 20_001, "more than 20,000"), ("\ud800", "half a character")):
        events, _ = run_loop(setup, call, "Well.", rounds=2, results={"calculator": bad})
        assert outcome(events, Answered)[0].is_error and said in outcome(events, Answered)[0].content


ANN = {"type": "function", "function": {"name": "ask_ann", "parameters": {"type": "object"}}}


def test_a_call_that_a_person_has_to_answer_ends_the_run_with_what_there_is(setup):
    both = hermes("ask_ann", {}) + "\n" + hermes("nobody", {})
    events, _ = run_loop(setup, both, conversation={**ASK, "tools": [ANN]}, rounds=3)
    finished = events[-1]
    assert finished.ending == "result_needed" and [call.name for call in finished.needed] == ["ask_ann"]
    assert [m["role"] for m in finished.conversation.messages] == ["user", "assistant", "tool"]


def go_on_with(setup, finished, typed, *script, before=1, **more):
    with CompletionsServer(*script) as server:
        used = setup("qwen2.5", **more)
        events = list(go_on(engine_of(server), finished.conversation, typed, before, used, Stop()))
        return events, [request["prompt"] for request in server.requests]


def test_a_run_goes_on_with_results_typed_by_hand_in_the_order_of_its_calls(setup):
    tools = [*ASK["tools"], ANN]
    both = hermes("ask_ann", {}) + "\n" + hermes("calculator", {"expression": "6 * 7"})
    finished = run_loop(setup, both, conversation={**ASK, "tools": tools}, rounds=3)[0][-1]
    (waits,) = finished.needed
    events, prompts = go_on_with(setup, finished, {waits.id: "Ann says yes."}, "Yes, 42.", rounds=3)
    assert [(one.content, one.by) for one in outcome(events, Answered)] == [("Ann says yes.", "typed")]
    assert [begun.number for begun in outcome(events, Round)] == [2] and events[-1].ending == "answer"
    assert 0 < prompts[0].index("Ann says yes.") < prompts[0].index('{"result": 42}')


def test_every_call_waits_where_a_person_answers_all_and_the_rounds_stay_a_limit(setup):
    call = hermes("calculator", {"expression": "6 * 7"})
    events, _ = run_loop(setup, call, rounds=2, by_hand=True)
    assert events[-1].ending == "result_needed" and not outcome(events, Answered)
    (waits,) = events[-1].needed
    for text, said in (("", "returned nothing"), ("x" * 20_001, "more than 20,000")):
        again, prompts = go_on_with(setup, events[-1], {waits.id: text}, "Hm.", rounds=2, by_hand=True)
        assert outcome(again, Answered)[0].is_error and said in prompts[0]
    again, _ = go_on_with(setup, events[-1], {waits.id: "42"}, call, rounds=2, by_hand=True)
    assert again[-1].ending == "rounds" and [waiting.name for waiting in again[-1].needed] == ["calculator"]
    with pytest.raises(FormatsError, match="used up"):
        go_on_with(setup, again[-1], {}, before=2, rounds=2)
    with pytest.raises(FormatsError, match="no call waits"):
        go_on_with(setup, run_loop(setup, "Fine.")[0][-1], {}, rounds=2)


def test_the_error_of_a_call_without_a_name_stands_behind_the_results(setup):
    output = hermes("ask_ann", {}) + '\n<tool_call>\n{"arguments": {}}\n</tool_call>'
    finished = run_loop(setup, output, conversation={**ASK, "tools": [ANN]}, rounds=3)[0][-1]
    events, _ = go_on_with(setup, finished, {finished.needed[0].id: "Yes."}, "Fine.", rounds=3)
    messages = events[-1].conversation.messages
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]


@pytest.mark.parametrize("choice", ["no_such", {"type": "function", "function": {"name": "no_such"}}, {"type": "x"}, 3])
def test_an_unknown_tool_choice_is_an_error_before_anything_is_sent(setup, choice):
    with CompletionsServer() as server:
        with pytest.raises(FormatsError) as raised:
            list(converse(engine_of(server), from_json(ASK), setup(tool_choice=choice), Stop()))
        assert raised.value.kind == "bad_tool_choice" and server.requests == []


def test_required_needs_tools():
    with pytest.raises(FormatsError):
        check_choice("required", from_json({"messages": ASK["messages"]}))


def test_the_output_is_judged_by_tool_choice(setup):
    call = hermes("calculator", {"expression": "6 * 7"})
    events, prompts = run_loop(setup, call, "Never asked.", rounds=2, tool_choice="none")
    assert len(prompts) == 1 and "all the same" in events[-1].violations[0] and not outcome(events, Answered)
    events, _ = run_loop(setup, "42.", rounds=2, tool_choice="required")
    assert "called no tool" in events[-1].violations[0]
    events, prompts = run_loop(setup, call, "Oh.", rounds=2, tool_choice="get_weather")
    assert outcome(events, Answered)[0].is_error and "only get_weather" in prompts[1]
    events, _ = run_loop(setup, call, "42.", rounds=2, tool_choice="calculator")
    assert events[-1].violations == () and not outcome(events, Answered)[0].is_error


def test_a_conversation_that_the_template_refuses_is_told_in_its_words_and_nothing_is_sent(setup):
    refused = {"messages": [{"role": "user", "content": "One."}, {"role": "user", "content": "Two."}]}
    with CompletionsServer() as server:
        with pytest.raises(FormatsError) as raised:
            list(converse(engine_of(server), from_json(refused), setup("gemma-3-27b"), Stop()))
        assert raised.value.kind == "template_refused" and server.requests == []


def test_a_transcript_holds_every_round_and_commands_no_terminal(setup):
    call = hermes("calculator", {"expression": "6 * 7"})
    with CompletionsServer(call, "It is \x1b[31m42.") as server:
        used = setup("qwen2.5", rounds=2)
        transcript, shown = Transcript("qwen2.5", used), ""
        for event in converse(engine_of(server), from_json(ASK), used, Stop()):
            transcript.add(event)
            shown += words(event)
    value = json.loads(json.dumps(transcript.to_json()))
    assert [r["round"] for r in value["rounds"]] == [1, 2] and value["text"] == "It is \x1b[31m42."
    assert value["rounds"][0]["results"][0]["content"] == '{"result": 42}'
    assert value["rounds"][0]["parsed"]["calls"][0]["arguments"] == {"expression": "6 * 7"}
    assert value["prompt"] == value["rounds"][1]["prompt"] and value["ending"] == "answer"
    assert "\x1b" not in shown and "It is" in shown and "42" in shown
