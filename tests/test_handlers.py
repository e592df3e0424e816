"""What the page's listeners answer: called directly, with what a page sends and with what nobody should."""

import datetime
import inspect
import json
import threading
import time

import pytest
from test_sandbox import ENDLESS

from formats import samples
from formats.conversation import from_json, to_json
from formats.errors import FormatsError, ModelError
from formats.web import handlers, page
from formats.web.background import STANDS, Background
from formats.web.engine import Engine
from formats.web.handlers import Workbench, editor_texts
from formats.web.pretty import pretty
from formats.web.reading import Reading
from formats.web.scoring import Scoring

HELLO = '[{"role": "user", "content": "Hello."}]'
LIGHT = ["grok-2", "gemma-3-27b"]  # no vocabulary to load


pytestmark = pytest.mark.usefixtures("without_the_hub")


@pytest.fixture(scope="module")
def workbench():
    return Workbench(Engine(), samples.load())


def ask(workbench, messages=HELLO, models=LIGHT, until_ready=True, **changes):
    """The answer to one question; where models are on their way, asked again as the page does."""
    values = {
        "tools": "",
        "add_generation_prompt": True,
        "continue_final_message": "false",
        "chat_template": "",
        "documents": "",
        "kwargs": "",
        "today": "2026-11-30",
        "models": models,
        "number": 7,
    } | changes
    for _ in range(200):
        answer = workbench.compare(messages, **values)
        if not (answer["waiting"] and until_ready):
            return answer
        time.sleep(0.1)
    raise AssertionError("the models never came")


def test_an_answer_has_a_card_for_each_model_in_order_and_the_number_of_its_question(workbench):
    answer = ask(workbench, models=["gemma-3-27b", "grok-2"])
    assert [key for key, _ in answer["cards"]] == ["gemma-3-27b", "grok-2"]
    assert answer["number"] == 7 and answer["waiting"] == 0
    assert not any(answer["problems"].values())
    assert "Human: Hello." in answer["cards"][1][1]
    json.dumps(answer)


@pytest.mark.parametrize(
    ("field", "changes", "words"),
    [
        ("messages", {"messages": "[{"}, "line 1, column 3"),
        ("messages", {"messages": '[{"role": 1}]'}, "messages[0].role"),
        ("messages", {"messages": ""}, "JSON is needed"),
        ("tools", {"tools": '{"a": 1}'}, "needs a list"),
        ("documents", {"documents": "3"}, "options.documents"),
        ("kwargs", {"kwargs": "[1]"}, "options.kwargs"),
        ("kwargs", {"kwargs": '{"tokenize": true}'}, "options.kwargs.tokenize"),
        ("options", {"continue_final_message": "true"}, "options.continue_final_message"),
        ("today", {"today": "yesterday"}, "YYYY-MM-DD"),
        ("models", {"models": []}, "2 to 12"),
        ("models", {"models": ["grok-2", *map(str, range(12))]}, "13"),
    ],
)
def test_what_is_wrong_stands_at_its_own_field_and_leaves_the_columns(workbench, field, changes, words):
    answer = ask(workbench, **changes)
    assert answer["cards"] is None
    assert words in answer["problems"][field]
    assert [name for name, problem in answer["problems"].items() if problem] == [field]


@pytest.mark.parametrize(
    "value", [None, 3, {"a": []}, ["x"], ["\ud800"], "\ud800", "x" * (handlers.MOST_CHARACTERS + 1)]
)
@pytest.mark.parametrize("field", ["messages", "tools", "documents", "kwargs", "models", "today", "chat_template"])
def test_raw_requests_of_any_shape_get_an_answer(workbench, field, value):
    answer = ask(workbench, **{field: value}, until_ready=False)
    assert set(answer) == {"number", "problems", "summary", "cards", "waiting"}
    assert len(json.dumps(answer, ensure_ascii=False).encode()) < 100_000


def test_one_model_that_cannot_be_had_costs_no_other(workbench):
    answer = ask(workbench, models=["grok-2", "nobody/none", "../etc/passwd", "/etc/passwd"])
    cards = dict(answer["cards"])
    assert "Human: Hello." in cards["grok-2"]
    assert all("answer fault" in cards[name] for name in ("nobody/none", "../etc/passwd", "/etc/passwd"))
    assert "root:" not in str(cards)


def test_files_of_the_server_are_read_only_where_that_is_allowed(tmp_path):
    template = tmp_path / "own.jinja"
    template.write_text("secret {{ messages[0].content }}")
    refused = dict(ask(Workbench(Engine(), []), models=[str(template)])["cards"])[str(template)]
    allowed = dict(ask(Workbench(Engine(allow_files=True), []), models=[str(template)])["cards"])[str(template)]
    assert "secret" not in refused and "secret Hello." in allowed


def test_a_stranger_that_never_ends_holds_up_no_other_column(tmp_path):
    endless = tmp_path / "endless.jinja"
    endless.write_text(f"{{% if messages[0].content == 'Again.' %}}{ENDLESS}{{% endif %}}")
    workbench = Workbench(Engine(allow_files=True), [])
    models = ["grok-2", str(endless)]
    ask(workbench, models=models)  # workers are there, and both are loaded
    first = dict(ask(workbench, '[{"role": "user", "content": "Again."}]', models, until_ready=False)["cards"])
    assert "Human: Again." in first["grok-2"] and "Rendering" in first[str(endless)]
    last = dict(ask(workbench, '[{"role": "user", "content": "Again."}]', models)["cards"])
    assert "stopped after 2 s" in last[str(endless)]


def test_a_model_on_its_way_is_shown_as_that(workbench):
    arrived = threading.Event()

    class Slow(Engine):
        def load(self, name):
            if name != "grok-2":
                arrived.wait(20)
            return super().load(name)

    answer = ask(Workbench(Slow(), []), models=["grok-2", "gemma-3-27b"], until_ready=False)
    arrived.set()
    cards = dict(answer["cards"])
    assert answer["waiting"] >= 1
    assert "Fetching" in cards["gemma-3-27b"] and "Gemma 3" in cards["gemma-3-27b"]


def test_the_date_reaches_the_templates(workbench):
    card = dict(ask(workbench, models=["snapshot:meta-llama-Llama-3.2-3B-Instruct"], today="1999-12-31")["cards"])
    assert "31 Dec 1999" in next(iter(card.values()))


def test_an_empty_date_is_today(workbench):
    assert datetime.date.today().isoformat() in ask(workbench, today="")["cards"][0][1]


@pytest.mark.parametrize("sample", samples.load(), ids=lambda sample: sample.name)
def test_every_sample_survives_the_editors(workbench, sample):
    problems = {}
    read = handlers.typed_conversation(editor_texts(sample.conversation), problems)
    assert not problems
    assert to_json(read) == to_json(from_json(sample.conversation))


def test_picking_a_sample_keeps_what_was_typed_and_back_returns_it(workbench):
    typed = [HELLO, "", True, "false", "", "", ""]
    *texts, earlier, reason = workbench.pick("08-plain-chat", [], *typed)
    assert texts == editor_texts(workbench.samples["08-plain-chat"].conversation)
    assert earlier == [typed] and reason
    *texts, earlier = workbench.back(earlier, *texts)
    assert texts == typed and earlier == []


def test_untouched_samples_do_not_pile_up_and_edits_go_round(workbench):
    sample = editor_texts(workbench.samples["08-plain-chat"].conversation)
    *_, earlier, _ = workbench.pick("02-two-tools", [], *sample)
    assert earlier == []
    one, two = [HELLO, "", True, "false", "", "", ""], ["[]", "", True, "false", "", "", ""]
    assert workbench.back([one], *two) == [*one, [two]]


def test_search_finds_the_catalogue_first_and_takes_any_hub_id(workbench):
    found = workbench.search("qwen3")
    assert found[0]["id"].startswith("qwen3") and any(item["id"].startswith("snapshot:") for item in found)
    assert workbench.search("org/some-model@v1.0")[0]["id"] == "org/some-model@v1.0"
    assert len(workbench.search("")) == min(len(workbench.titles), handlers.MOST_FOUND)
    assert workbench.search({"not": "text"}) == workbench.search("")


def test_only_the_api_is_public_and_only_what_takes_long_is_queued(workbench):
    blocks = page.build(workbench, Scoring(workbench), Reading(workbench, samples.load_outputs()))
    functions = [fn for fn in blocks.fns.values() if fn.fn is not None]
    public = {fn.api_name for fn in functions if fn.api_visibility != "private"}
    assert public == {"compare", "render", "parse_output", "check", "models", "link", "open_link"}
    queued = [fn for fn in functions if fn.queue is not False]
    assert all(inspect.isgeneratorfunction(fn.fn) for fn in queued)
    assert workbench.compare in [fn.fn for fn in functions]


def test_background_runs_a_job_once_for_all_who_ask():
    gate, runs = threading.Event(), []

    def job():
        runs.append(1)
        gate.wait(10)
        return "done"

    work = Background("test", workers=2, kept=8)
    assert work.take({"key": job}, patience=0) == [None]
    assert work.take({"key": job}, patience=0) == [None]
    gate.set()
    assert work.take({"key": job}, patience=10) == ["done"]
    assert runs == [1]


def test_background_gives_failures_as_results_and_tries_them_again_later(monkeypatch):
    def fails():
        raise ModelError("gone")

    def breaks():
        raise KeyError("ours")

    work = Background("test", workers=2, kept=8)
    gone, ours = work.take({"a": fails, "b": breaks}, patience=10)
    assert isinstance(gone, ModelError) and gone.message == "gone"
    assert isinstance(ours, FormatsError) and ours.kind == "internal_error" and "KeyError" in ours.message
    later = time.monotonic() + STANDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert work.take({"a": lambda: "back"}, patience=10) == ["back"]


def test_background_keeps_no_more_than_it_may():
    work = Background("test", workers=1, kept=3)
    for number in range(10):
        work.take({number: lambda: "x"}, patience=10)
    assert len(work._futures) == 3


@pytest.mark.parametrize(
    "value",
    [[], {}, None, "é\n", [{"a": [1, 2.5, None, True]}], {"long": ["x" * 40, {"y": "z" * 60}], "empty": [{}, []]}],
)
def test_pretty_json_reads_back_and_keeps_letters(value):
    text = pretty(value)
    assert json.loads(text) == value
    assert "\\u" not in text
