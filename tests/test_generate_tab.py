"""The listeners of the tab Live, called with what a page sends and with what nobody should; the model is a server's."""

import json
import subprocess
import sys
import threading
import time

import pytest
from completions_server import CompletionsServer

from formats import samples
from formats.errors import FormatsError
from formats.generate.base import Stop
from formats.generate.engine import HOW, Engine
from formats.parsers import FORMATS
from formats.web import live_tab
from formats.web.engine import Engine as Loader
from formats.web.handlers import Workbench
from formats.web.live import Live
from formats.web.quick_import import gr

ASK = [json.dumps([{"role": "user", "content": "What is 6 * 7?"}]), "", True, "false", "", "", ""]
SETTINGS = (
    "column",
    "style",
    "second",
    "format",
    "tokens",
    "temperature",
    "top_p",
    "seed",
    "stops",
    "choice",
    "rounds",
)
GIVEN = ("qwen2.5", "native", "", "auto", 64, 0, 1, 0, "", "auto", 2, "")
RUN = "run-0123456789"


@pytest.fixture(scope="module")
def workbench(without_the_hub):
    return Workbench(Loader(), samples.load())


def live_of(workbench, server, **more):
    return Live(workbench, Engine({"LIVE_BASE_URL": server.url, **more}))


def states(live, conversation=ASK, run=RUN, today="2026-07-04", **changes):
    settings = dict(zip((*SETTINGS, "results"), GIVEN, strict=True)) | changes
    return list(live.run(*conversation, today, *settings.values(), run))


def test_a_run_ends_with_its_rounds_and_states_share_nothing(workbench):
    sample = workbench.samples["12-calculator-live"].conversation
    conversation = [json.dumps(sample["messages"]), json.dumps(sample["tools"]), *ASK[2:]]
    call = FORMATS["hermes"].write([{"name": "calculator", "arguments": {"expression": "6 * 7"}}])
    with CompletionsServer(call, "It is 42.") as server:
        server.delay = 0.03
        found = states(live_of(workbench, server), conversation)
    last = found[-1]
    json.dumps(found)
    assert last["state"] == "done" and last["problem"] == "" and last["run"] == RUN
    (column,) = last["columns"]
    assert column["ending"] == "answer" and [r["round"] for r in column["rounds"]] == [1, 2]
    assert column["rounds"][0]["results"][0]["content"] == '{"result": 42}'
    assert column["rounds"][1]["content"] == "It is 42."
    texts = [s["columns"][0]["rounds"][0]["text"] for s in found if s["columns"] and s["columns"][0]["rounds"]]
    assert len(set(texts)) > 3 and texts[-1] == call
    assert all(call.startswith(text) for text in texts)


def test_a_model_that_takes_its_time_leaves_nobody_without_the_prompt(workbench):
    with CompletionsServer("At last.") as server:
        server.delay = 0.4
        found = states(live_of(workbench, server))
    rounds = [round_ for state in found for column in state["columns"] for round_ in column["rounds"]]
    assert rounds[0]["text"] == "" and "6 * 7" in rounds[0]["prompt"]
    assert rounds[-1]["text"] == "At last."


def test_two_columns_are_generated_one_after_the_other(workbench):
    with CompletionsServer("One.", "Two.") as server:
        last = states(live_of(workbench, server), second="react")[-1]
    assert [column["rounds"][0]["text"] for column in last["columns"]] == ["One.", "Two."]
    assert [column["rounds"][0]["format"] for column in last["columns"]] == ["hermes", "react"]


def test_stop_finds_a_run_by_its_name_alone(workbench):
    with CompletionsServer("word " * 500) as server:
        server.delay = 0.02
        live = live_of(workbench, server)
        found = []
        visit = threading.Thread(target=lambda: found.extend(states(live)))
        visit.start()
        while not server.requests:
            time.sleep(0.02)
        time.sleep(0.2)
        live.stop("another-run-altogether")
        assert visit.is_alive()
        live.stop(RUN)
        live.stop(RUN)
        visit.join(5)
        live.stop(RUN)
    assert not visit.is_alive() and found[-1]["columns"][0]["rounds"][0]["stop_reason"] == "stopped"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"conversation": ["[{", *ASK[1:]]}, "messages: "),
        ({"today": "yesterday"}, "YYYY-MM-DD"),
        ({"column": None}, "choose a column"),
        ({"column": "nobody/nothing"}, "Hub"),
        ({"style": "shouting"}, "shouting"),
        ({"second": 3}, "'3'"),
        ({"format": "morse"}, "morse"),
        ({"tokens": "many"}, "max tokens needs a number"),
        ({"tokens": 0}, "max_tokens"),
        ({"temperature": None}, "temperature"),
        ({"seed": 1.5}, "seed"),
        ({"seed": -1}, "seed"),
        ({"rounds": 99}, "rounds"),
        ({"choice": "nobody"}, "nobody"),
        ({"choice": ["auto"]}, "tool_choice"),
        ({"run": None}, "a name of its own"),
    ],
)
def test_what_cannot_be_sent_is_a_problem_in_words_and_nothing_is_sent(workbench, changes, said):
    with CompletionsServer() as server:
        last = states(live_of(workbench, server), **changes)[-1]
        assert server.requests == []
    problems = [last["problem"], *(column["problem"] for column in last["columns"])]
    assert last["state"] == "done" and any(said in problem for problem in problems), problems


ANN = {"type": "function", "function": {"name": "ask_ann", "parameters": {"type": "object"}}}
BIG = '{"number": 12345678901234567890}'


def test_a_run_waits_for_a_typed_result_and_goes_on_with_its_own_settings(workbench):
    call = f'<tool_call>\n{{"name": "ask_ann", "arguments": {BIG}}}\n</tool_call>'
    with CompletionsServer(call, "Ann says yes.", "And in ReAct.", "Later.") as server:
        live = live_of(workbench, server)
        conversation = [ASK[0], json.dumps([ANN]), *ASK[2:]]
        first, second = states(live, conversation, second="react", seed=7)[-1]["columns"]
        assert (first["ending"], second["ending"]) == ("result_needed", "answer") and second["waits"] is None
        assert first["rounds"][0]["calls"][0]["written"] == BIG  # a browser's numbers would lose digits
        waits = json.loads(json.dumps(first["waits"]))
        (asked,) = waits["calls"]
        assert (asked["name"], asked["arguments"]) == ("ask_ann", BIG) and BIG in waits["conversation"]
        given = {"column": 0, "rounds": 1, "waits": waits, "typed": {asked["id"]: "Yes."}}
        last = list(live.go_on(given, RUN))[-1]
        assert server.requests[-1]["seed"] == 7 and BIG in server.requests[-1]["prompt"]
    assert (last["state"], last["problem"], last["goes_on"]) == ("done", "", {"column": 0, "rounds": 1})
    (column,) = last["columns"]
    assert column["style"] == first["style"] and column["ending"] == "answer"
    assert [one["content"] for one in column["answered"]] == ["Yes."]
    assert [(one["round"], one["text"]) for one in column["rounds"]] == [(2, "And in ReAct.")]


WAITS = {"conversation": ASK[0], "settings": list(GIVEN), "today": "2026-07-04", "calls": []}


@pytest.mark.parametrize(
    "asked",
    [
        None,
        {},
        {"waits": 3, "rounds": 1, "typed": {}},
        {"waits": WAITS, "rounds": "1", "typed": {}},
        {"waits": WAITS, "rounds": 1, "typed": ["x"]},
        {"waits": {**WAITS, "settings": [1]}, "rounds": 1, "typed": {}},
        {"waits": WAITS, "rounds": 1, "typed": {}},
        {"waits": {**WAITS, "conversation": "{"}, "rounds": 1, "typed": {}},
    ],
)
def test_what_no_run_waits_for_is_refused_in_words(workbench, asked):
    with CompletionsServer() as server:
        last = list(live_of(workbench, server).go_on(asked, RUN))[-1]
        assert server.requests == []
    problem = last["problem"] or last["columns"][0]["problem"]
    assert last["state"] == "done" and any(
        said in problem for said in ("no run waits", "no call waits", "not valid JSON")
    )


def test_a_server_that_dies_is_a_problem_of_its_column_and_the_next_run_works(workbench):
    with CompletionsServer(key="sesame") as server:
        live = live_of(workbench, server, LIVE_API_KEY="sesame")
        server.fault = "error_in_stream"
        (column,) = states(live)[-1]["columns"]
        assert "the model died" in column["problem"] and column["rounds"][0]["text"]
        server.fault = None
        assert states(live)[-1]["columns"][0]["ending"] == "answer"
        assert "sesame" not in json.dumps(states(live))


def test_the_probe_set_reports_as_it_goes(workbench):
    call = FORMATS["hermes"].write([{"name": "get_weather", "arguments": {"city": "Paris"}}])
    with CompletionsServer(*[call] * 3) as server:
        found = list(live_of(workbench, server).probe("qwen2.5", 1, 0, False, RUN))
        refused = list(live_of(workbench, server).probe("qwen2.5", 51, 0, False, RUN))
    last = found[-1]
    assert (last["state"], last["done"], last["of"]) == ("done", 3, 3)
    assert [row["prompts"] for row in last["report"]["rows"]] == [1, 1, 1]
    native = last["report"]["rows"][0]
    assert native["parsed"] == native["valid"] == 1 and native["tokens"] > 0 and native["prompt_tokens"] > 100
    assert [item["raw"] for item in last["report"]["items"]] == [call] * 3
    assert last["report"]["examples"] is False
    assert "1 to 50 prompts" in refused[-1]["problem"]


def test_columns_to_choose_from_follow_the_comparison(workbench):
    assert Live(workbench, Engine({"LIVE_MODEL": "/models/tiny.gguf"})).choices(["qwen3"]) == [
        ("tiny.gguf", ""),
        ("Qwen3", "qwen3"),
    ]
    with CompletionsServer() as server:
        assert live_of(workbench, server).choices(["qwen3", 3]) == [("Qwen3", "qwen3")]
        assert live_of(workbench, server).choices(None) == []


def test_where_it_is_off_the_tab_is_one_sentence(workbench, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    live = Live(workbench, Engine({}))
    with gr.Blocks() as page:
        assert live_tab.build(live, ["qwen3"]) is None
    parts = [part for part in page.get_config_file()["components"] if part["type"] not in ("tab", "tabs", "tabitem")]
    (shown,) = parts
    assert f">{HOW}</span>" in shown["props"]["html_template"]
    with pytest.raises(FormatsError, match="requirements-live"):
        list(live.engine.ready(Stop()))


def test_the_page_brings_nothing_of_it_before_it_is_used():
    heavy = ("torch", "transformers", "httpx2", "accelerate", "formats.parsers", "formats.compare")
    code = f"import sys, formats.web.live; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
