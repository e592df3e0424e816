"""One generation against a scripted server over real HTTP: what is sent, what is read, and every fault in words."""

import pytest
from completions_server import CompletionsServer
from hypothesis import given
from hypothesis import strategies as st
from scripted import ASK, TODAY, engine_of, hermes, outcome

from formats.conversation import from_json
from formats.errors import FormatsError
from formats.generate.base import Sampling, Stop
from formats.generate.engine import Engine
from formats.generate.loop import Round, converse
from formats.generate.run import Output, Piece, StopStrings
from formats.generate.server import Server

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


# What is sent and read


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
