"""Live generation against a scripted server over real HTTP: reading, stopping, queueing, faults, and the tool loop."""

import datetime
import json
import threading
import time

import pytest
from completions_server import CompletionsServer
from hypothesis import given
from hypothesis import strategies as st
from patience import HANGS, TRIES

from formats import snapshot
from formats.conversation import from_json, to_json
from formats.errors import FormatsError
from formats.generate import tools
from formats.generate.base import Sampling, Stop
from formats.generate.engine import Engine, Waiting
from formats.generate.loop import Finished, Round, Setup, check_choice, converse, go_on
from formats.generate.report import Transcript, words
from formats.generate.results import Answered
from formats.generate.run import Output, Piece, StopStrings
from formats.generate.server import Server
from formats.models import CARDS
from formats.parsers import FORMATS
from formats.sandbox import Sandbox

NOON = datetime.datetime(2026, 7, 4, 12, tzinfo=datetime.UTC)
TODAY = datetime.date(2026, 7, 4)
ASK = {"messages": [{"role": "user", "content": "What is 6 * 7?"}], "tools": list(tools.DEFINITIONS)}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def setup(sandbox):
    def setup(model="qwen3", **more):
        values = {"sampling": Sampling(), "today": TODAY, "clock": lambda: NOON} | more
        return Setup(model=snapshot.load(CARDS[model]), sandbox=sandbox, **values)

    return setup


def engine_of(server, **environment):
    return Engine({"LIVE_BASE_URL": server.url, **environment})


def hermes(name, arguments):
    return FORMATS["hermes"].write([{"name": name, "arguments": arguments}])


def outcome(events, kind):
    return [event for event in events if isinstance(event, kind)]


# Stop strings


@given(st.text("abc"), st.lists(st.text("abc", min_size=1, max_size=4), max_size=3), st.data())
def test_text_ends_at_the_first_stop_string_however_it_is_cut(text, stops, data):
    reader, given_on, place = StopStrings(stops), "", 0
    while place < len(text):
        step = data.draw(st.integers(1, 5))
        given_on += reader.feed(text[place : place + step])
        place += step
        assert text.startswith(given_on)
    given_on += reader.rest()
    ends = [(text.find(stop) + len(stop), text.find(stop)) for stop in stops if stop in text]
    assert given_on == (text[: min(ends)[1]] if ends else text)
    assert (reader.found is not None) == bool(ends)


# The calculator and the other tools


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("6 * 7", 42),
        ("-(2 + 3) ** 2", -25),
        ("0.9111**3", 0.9111**3),
        ("sqrt(2) * pi", 2**0.5 * 3.141592653589793),
        ("7 // 2 + 7 % 4", 6),
        ("round(3.14159, 2)", 3.14),
        ("max(3, 1, 2)", 3),
        ("2**-1", 0.5),
        ("2 ** 1000", 2**1000),
    ],
)
def test_the_calculator_computes(expression, value):
    assert tools.calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "().__class__",
        "open('/etc/passwd')",
        "[1]*9",
        "'a'*9",
        "9**9**9",
        "2**100000000",
        "(9**999)**9999",
        "round(5, -10**9**1)*9**9999",
        "exp(10000)",
        "1e308*10",
        "(-8)**0.5",
        "1/0",
        "sqrt(-1)",
        "lambda: 1",
        "x",
        "True + 1",
        "1 if 1 else 2",
        "sqrt()",
        "sqrt(1, 2)",
        "max(1)",
        "min(*[1])",
        "",
        "1 +",
        "1\0",
        "(" * 240 + "1" + ")" * 240,
        "-" * 100 + "1",
        "9" * 501,
    ],
)
def test_the_calculator_refuses_what_is_no_arithmetic_or_too_large(expression):
    started = time.monotonic()
    with pytest.raises(tools.ToolError):
        tools.calculate(expression)
    assert time.monotonic() - started < HANGS


@given(st.text("0123456789.+-*/%() eE,abspowrund", max_size=60))
def test_the_calculator_never_fails_but_in_words(expression):
    try:
        assert isinstance(tools.calculate(expression), int | float)
    except tools.ToolError as error:
        assert error.message


def test_the_time_is_the_clocks_and_the_weather_is_fixed():
    assert json.loads(tools.run("current_time", {"timezone": "Asia/Tokyo"}, lambda: NOON)) == {
        "time": "2026-07-04T21:00:00+09:00",
        "timezone": "Asia/Tokyo",
    }
    assert json.loads(tools.run("get_weather", {"city": "paris"}, lambda: NOON))["temperature_celsius"] == 18
    for name, arguments in (
        ("current_time", {"timezone": "Mars/Olympus"}),
        ("current_time", {"timezone": "../../etc/passwd"}),
        ("current_time", {"timezone": 3}),
        ("get_weather", {"city": "Atlantis"}),
        ("get_weather", {}),
        ("calculator", {"expression": 3}),
    ):
        with pytest.raises(tools.ToolError):
            tools.run(name, arguments, lambda: NOON)


# One generation


def test_what_is_sent_is_the_columns_prompt_and_what_comes_is_read_live(setup):
    text = "<think>\nSix by seven.\n</think>\n\nLet me see.\n" + hermes("calculator", {"expression": "6 * 7"})
    with CompletionsServer(text) as server:
        events = list(converse(engine_of(server), from_json(ASK), setup(), Stop()))
        sent = server.requests[0]
    from formats.compare import compare

    column = compare(from_json(ASK), [setup().model], TODAY, setup().sandbox).columns[0]
    (begun,), (output,) = outcome(events, Round), outcome(events, Output)
    assert sent["prompt"] == column.prompt == begun.prompt == output.prompt
    assert begun.ids == column.tokens.ids and begun.prompt_ids == column.tokens.count
    assert sent["model"] == "tiny" and sent["stream"] and sent["temperature"] == 0
    assert output.text == text and output.parsed.raw == text
    assert output.stop_reason == "end" and output.server_prompt_tokens == 7
    pieces = outcome(events, Piece)
    assert "".join(piece.text for piece in pieces) == text
    assert "".join(piece.delta.reasoning for piece in pieces) == output.parsed.reasoning == "Six by seven."
    assert "".join(piece.delta.content for piece in pieces) == output.parsed.content == "Let me see."
    assert [call for piece in pieces for call in piece.delta.calls] == list(output.parsed.calls)
    assert output.timings.first_token is not None and output.timings.tokens_per_second > 0


def test_the_formats_stop_strings_end_the_output_even_where_a_server_does_not_know_them(setup):
    with CompletionsServer("All done.<|im_end|>\nand more that nobody asked for") as server:
        (output,) = outcome(list(converse(engine_of(server), from_json(ASK), setup(), Stop())), Output)
        assert "<|im_end|>" in server.requests[0]["stop"]
    assert output.text == "All done." and output.stop_reason == "stop" and output.stopped_by == "<|im_end|>"


def test_separators_that_json_allows_do_not_cut_an_event(setup):
    text = "a\u2028b\u2029c\x85d 👩🏽‍🔬"
    with CompletionsServer(text) as server:
        (output,) = outcome(list(converse(engine_of(server), from_json(ASK), setup(), Stop())), Output)
    assert output.text == text


def test_what_the_prompt_has_begun_is_read_with_the_output(setup):
    begun = '<tool_call>\n{"name": "calculator", "arguments": '
    conversation = from_json(
        {
            **ASK,
            "messages": [*ASK["messages"], {"role": "assistant", "content": begun}],
            "options": {"add_generation_prompt": False, "continue_final_message": True},
        }
    )
    with CompletionsServer('{"expression": "6*7"}}\n</tool_call>') as server:
        (output,) = outcome(list(converse(engine_of(server), conversation, setup("qwen2.5"), Stop())), Output)
        assert server.requests[0]["prompt"].endswith(begun)
    assert output.text == '{"expression": "6*7"}}\n</tool_call>'
    (call,) = output.parsed.calls
    assert (call.name, call.arguments, call.problem) == ("calculator", {"expression": "6*7"}, None)


# Stopping


def test_stop_ends_a_run_at_once_and_closes_the_connection(setup):
    def seconds_to_stop():
        with CompletionsServer("word " * 500) as server:
            server.delay = 0.02
            stop, events, asked = Stop(), [], None
            for event in converse(engine_of(server), from_json(ASK), setup(), stop):
                events.append(event)
                if asked is None and len(outcome(events, Piece)) == 5:
                    asked = time.monotonic()
                    stop.now()
                    stop.now()  # a second time changes nothing
            seconds = time.monotonic() - asked
            assert server.closed.wait(HANGS)
        (output,) = outcome(events, Output)
        assert output.stop_reason == "stopped" and output.text and ("word " * 500).startswith(output.text)
        assert events[-1].ending == "stopped"
        return seconds

    assert any(seconds_to_stop() < 0.2 for _ in range(TRIES))


@pytest.mark.parametrize("fault", ["silent", None])
def test_stop_ends_a_run_that_waits_for_a_server(setup, fault):
    with CompletionsServer() as server:
        engine = engine_of(server)
        server.fault, server.delay = fault, 20
        stop = Stop()
        timer = threading.Timer(0.3, stop.now)
        timer.start()
        started = time.monotonic()
        events = list(converse(engine, from_json(ASK), setup(), stop))
        server.release.set()
        assert time.monotonic() - started < HANGS
    assert events[-1].ending == "stopped"


def test_nobody_holds_a_model_for_longer_than_is_stated(setup):
    with CompletionsServer("word " * 500) as server:
        server.delay = 0.02
        events = list(converse(engine_of(server), from_json(ASK), setup(), Stop(seconds=0.4)))
    (output,) = outcome(events, Output)
    assert output.stop_reason == "time" == events[-1].ending
    assert 0.3 < output.timings.total < HANGS


def test_who_leaves_gives_the_place_up_and_the_connection_back(setup):
    with CompletionsServer("word " * 500) as server:
        server.delay = 0.02
        engine = engine_of(server)
        run = converse(engine, from_json(ASK), setup(), Stop())
        for event in run:
            if isinstance(event, Piece) and event.text:
                break
        run.close()
        assert server.closed.wait(HANGS)
        with engine.turns.place() as place:
            assert list(place.wait(Stop())) == []


def test_the_queue_shows_a_place_and_goes_on_in_order(setup):
    with CompletionsServer() as server:
        engine = engine_of(server)
        engine.turns._slots = 1
        aheads, waits, finished = ([], []), (threading.Event(), threading.Event()), []
        nearer = threading.Event()  # the second has been told that it has come nearer

        def visit(number):
            for event in converse(engine, from_json(ASK), setup(), Stop()):
                if isinstance(event, Waiting):
                    aheads[number].append(event.ahead)
                    waits[number].set()
                    if (number, event.ahead) == (1, 1):
                        nearer.set()
                elif number == 0 and isinstance(event, Piece):
                    assert nearer.wait(HANGS)
            finished.append((number, event.ending))

        visits = [threading.Thread(target=visit, args=(number,)) for number in range(2)]
        with engine.turns.place():
            for number in range(2):
                visits[number].start()
                assert waits[number].wait(HANGS)
        for visit_ in visits:
            visit_.join(30)
    assert [max(ahead) for ahead in aheads] == [1, 2]
    assert finished == [(0, "answer"), (1, "answer")]


def test_who_waits_can_be_stopped_too(setup):
    with CompletionsServer() as server:
        engine = engine_of(server)
        engine.turns._slots = 1
        with engine.turns.place():
            stop, events = Stop(), []
            for event in converse(engine, from_json(ASK), setup(), stop):
                events.append(event)
                stop.now()
    assert isinstance(events[0], Waiting) and events[-1].ending == "stopped" and len(events) == 2


# Faults


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("error", "server_error", "(500): out of luck ..."),
        ("too_long", "server_refused", "the prompt exceeds the context size"),
        ("limit", "busy", "try again later"),
        ("redirect", "redirect", "another address"),
        ("error_in_stream", "server_error", "the model died"),
        ("malformed", "bad_stream", "{not json}"),
        ("no_stream", "bad_stream", "Internal Server Error"),
        ("odd_event", "bad_stream", "without choices"),
        ("cut_off", "cut_off", "ended before the output did"),
    ],
)
def test_a_servers_fault_is_told_in_words_and_the_next_run_works(setup, fault, kind, said):
    with CompletionsServer(key="sesame-key") as server:
        engine = engine_of(server, LIVE_API_KEY="sesame-key")
        server.fault = fault
        with pytest.raises(FormatsError) as raised:
            list(converse(engine, from_json(ASK), setup(), Stop()))
        assert raised.value.kind == kind and said in raised.value.message
        assert "sesame" not in raised.value.message
        server.fault = None
        assert list(converse(engine, from_json(ASK), setup(), Stop()))[-1].ending == "answer"


def test_a_server_that_is_down_or_slow_or_refuses_the_key():
    with CompletionsServer(key="right") as server:
        with pytest.raises(FormatsError) as raised:
            Server(server.url, "wrong-key")
        assert raised.value.kind == "unauthorized" and "LIVE_API_KEY" in raised.value.message
        assert "wrong-key" not in raised.value.message
        url = server.url
        quick = Server(url, "right", silence=0.3)
        server.fault = "silent"
        with pytest.raises(FormatsError) as raised:
            list(quick.stream("Hi", Sampling(), Stop()))
        assert raised.value.kind == "slow"
    with pytest.raises(FormatsError) as raised:
        Server(url)
    assert raised.value.kind == "server_down" and "is it running?" in raised.value.message
    with pytest.raises(FormatsError) as raised:
        list(quick.stream("Hi", Sampling(), Stop()))
    assert raised.value.kind == "server_down"


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:8080", "http://", "http://user:secret@127.0.0.1/"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(FormatsError) as raised:
        Server(url)
    assert raised.value.kind == "bad_address" and "secret" not in raised.value.message


def test_names_of_models_come_from_the_server():
    with CompletionsServer(names=["one", "two"]) as server:
        assert Server(server.url).name == "one"
        assert Server(f"{server.url}/v1/", model="two").name == "two"
        with pytest.raises(FormatsError, match="one, two"):
            Server(server.url, model="three")
        server.fault = "no_list"
        with pytest.raises(FormatsError, match="list of models"):
            Server(server.url)
        server.fault, server.names = None, []
        with pytest.raises(FormatsError, match="no model loaded"):
            Server(server.url)


@pytest.mark.parametrize(
    "values",
    [
        {"max_tokens": 0},
        {"max_tokens": 10**6},
        {"temperature": -1},
        {"temperature": float("nan")},
        {"top_p": 0},
        {"top_p": 1.1},
        {"seed": -1},
        {"stop": ("",)},
        {"stop": tuple("abcdefghijklmnopq")},
    ],
)
def test_settings_out_of_bounds_are_refused_before_anything_is_sent(values):
    with pytest.raises(FormatsError):
        Sampling(**values)


def test_without_packages_or_a_server_one_sentence_says_how_to_turn_it_on(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sentence = Engine({}).missing()
    assert "requirements-live.txt" in sentence and "LIVE_BASE_URL" in sentence
    assert Engine({"LIVE_BASE_URL": "http://127.0.0.1:1"}).missing() is None


# The tool loop


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
