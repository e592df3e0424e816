"""Visitors with tokens of their own at one server: each sees what theirs opens, and nobody else does."""

import gc
import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from completions_server import CompletionsServer
from huggingface_hub import constants
from test_handlers import ask
from test_host import SPACE
from test_hub import TINY, forget, server  # noqa: F401
from test_sources import failure

from formats import samples, sources
from formats.errors import FormatsError, ModelError
from formats.generate.engine import Engine as LiveEngine
from formats.types import LoadedModel
from formats.web import login
from formats.web.api import Api
from formats.web.editing import Editing
from formats.web.engine import Engine
from formats.web.handlers import Workbench, editor_texts
from formats.web.live import Live
from formats.web.plain import PlainTools
from formats.web.quick_import import gr
from formats.web.reading import Reading
from formats.web.scoring import Scoring
from formats.web.sharing import Sharing
from formats.web.template_options import TemplateOptions

HERS, HIS = "hf_oauth_hers_0123456789", "hf_oauth_his_0123456789"
GATED, PUBLIC = "org/sesame", "org/open"
TEMPLATE = "{% for m in messages %}<sesame>{{ m['content'] }}{% endfor %}{% if enable_thinking %}<think>{% endif %}"
FILES = TINY | {
    "tokenizer_config.json": json.dumps({"chat_template": TEMPLATE, "tokenizer_class": "PreTrainedTokenizerFast"})
}
TEXTS = editor_texts({"messages": [{"role": "user", "content": "Hello."}]})
INPUTS = [*TEXTS, "2026-11-30", [GATED]]


@pytest.fixture
def workbench(server):  # noqa: F811
    server.add(GATED, FILES, gated=403, opened_by=HERS)
    server.add(PUBLIC, TINY)
    return Workbench(Engine(), samples.load())


def card(workbench, token, model=GATED):
    return ask(workbench, models=[model], token=token)["cards"][0][1]


def loaded(workbench, token, model=GATED):
    return workbench.load([model], 60.0, token)[0]


def on_disk(folder, text):
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_her_token_opens_it_for_her_alone_before_meanwhile_and_after(workbench, tmp_path, caplog, monkeypatch):
    assert "<sesame>" not in card(workbench, None, PUBLIC)  # workers are there: their socket has no room in a long path
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    visitors = [None, HERS, HIS] * 4
    with caplog.at_level(logging.DEBUG), ThreadPoolExecutor(len(visitors)) as pool:
        before = card(workbench, None), card(workbench, HIS)
        meanwhile = list(pool.map(lambda token: (token, card(workbench, token)), visitors))
        after = card(workbench, None), card(workbench, HIS)
    hers = [html for token, html in meanwhile if token == HERS]
    others = [*before, *after, *(html for token, html in meanwhile if token != HERS)]
    assert all("sesame&gt;" in html for html in hers) and not any("sesame&gt;" in html for html in others)
    assert all("is gated" in html for html in others)
    assert not on_disk(tmp_path, "<sesame>"), "what a token opens stays in memory"
    for token in (HERS, HIS):
        assert token not in caplog.text and not on_disk(tmp_path, token)
        assert not any(token in html for html in (*hers, *others))


def test_no_token_shows_where_jobs_and_caches_are_printed(workbench):
    assert isinstance(loaded(workbench, HERS), LoadedModel)
    pools = (workbench._models, workbench._strangers)
    printed = repr([(pool._futures, pool._asked) for pool in pools]) + repr(sources._shared._entries)
    jobs = [repr(thing) for thing in gc.get_objects() if type(thing).__name__ == "partial"]
    assert HERS not in printed and not any(HERS in job for job in jobs)


def test_what_opens_without_a_token_is_the_same_for_all_and_no_token_is_sent_for_it(workbench, server):  # noqa: F811
    hers, nobodys = loaded(workbench, HERS, PUBLIC), loaded(workbench, None, PUBLIC)
    assert hers is nobodys or hers.tokenizer is nobodys.tokenizer
    assert sources.load(PUBLIC, token=HIS).tokenizer is sources.load(PUBLIC).tokenizer
    assert len(server.asked(f"/api/models/{PUBLIC}")) == 1
    assert not server.tokens


def test_a_gated_column_is_generated_for_her_alone(workbench):
    settings = [GATED, "native", "", "react", 8, 0, 1, 0, "", "auto", 1, ""]
    with CompletionsServer("Open.") as backend:
        live = Live(workbench, LiveEngine({"LIVE_BASE_URL": backend.url}))

        def run(token):
            return list(live.run(*TEXTS, "2026-11-30", *settings, "run-0123456789", token=token))[-1]

        (column,) = run(HERS)["columns"]
        assert column["rounds"][0]["prompt"] == "<sesame>Hello."
        for token in (HIS, None):
            refused = run(token)
            assert "is gated" in refused["problem"] and refused["columns"] == []
            assert "is gated" in list(live.probe(GATED, 10, 0, True, "run-0123456789", token=token))[-1]["problem"]
        assert [body["prompt"] for body in backend.requests] == ["<sesame>Hello."]


def test_everything_made_of_a_model_is_for_her_alone(workbench):
    """Verdicts, options, readings, links, exports, plain tools: each listener is asked by her, then by him."""
    scoring, reading, sharing = Scoring(workbench), Reading(workbench, ()), Sharing(workbench)
    options, plain, editing = TemplateOptions(workbench), PlainTools(workbench), Editing(workbench)
    outputs = ["", "auto", ""]
    link = sharing.act({"ask": "link", "number": 1}, *INPUTS, *outputs, token=HERS)[0]["text"]
    listeners = {
        "matrix": lambda token: scoring.matrix([GATED], 1, token=token),
        "ratings": lambda token: scoring.ratings([GATED], token=token),
        "finding": lambda token: scoring.finding([GATED, "shows_tools"], token=token),
        "card": lambda token: scoring.card(GATED, token=token),
        "options": lambda token: options.read([GATED], 1, token=token),
        "read": lambda token: reading.read("text", "auto", GATED, "", "", 1, token=token),
        "plain": lambda token: plain.show(GATED, *INPUTS, 1, token=token),
        "take": lambda token: editing.take_away({"name": "jinja", "model": GATED}, *INPUTS, token=token),
        "open": lambda token: sharing.act({"ask": "open", "text": link}, *INPUTS, *outputs, token=token),
        **{
            ask: lambda token, ask=ask: sharing.act({"ask": ask}, *INPUTS, *outputs, token=token)[0]
            for ask in ("markdown", "csv", "json", "html", "file")
        },
    }
    for name, listener in listeners.items():
        settled(listener, HERS)
        hers, nobodys, his = (settled(listener, token) for token in (HERS, None, HIS))
        assert hers != nobodys or name == "open", name
        assert "sesame&gt;" not in nobodys + his and "<sesame>" not in nobodys + his, name
        assert all(token not in answer for token in (HERS, HIS) for answer in (hers, nobodys, his)), name


def settled(listener, token):
    """A listener's answer as text, once nothing is on its way any more."""
    for _ in range(100):
        answer = listener(token)
        if not (isinstance(answer, dict) and answer.get("waiting")) and "still being" not in str(answer):
            return str(answer)
        time.sleep(0.1)
    raise AssertionError("it is on its way for ever")


def test_programs_see_what_is_public(workbench):
    api = Api(workbench, Scoring(workbench))
    assert isinstance(loaded(workbench, HERS), LoadedModel)
    column = api.render(GATED, [{"role": "user", "content": "Hi"}])
    assert column["prompt"] is None and column["error"]["kind"] == "gated"
    assert not any("token" in name for function in api.functions() for name in function.__annotations__)


# The operator's own token.


def test_the_operators_token_opens_nothing_for_visitors_where_it_does_not_count(
    workbench,
    server,  # noqa: F811
    tmp_path,
    monkeypatch,
):
    monkeypatch.setenv("HF_TOKEN", HERS)
    assert isinstance(sources.load(GATED), LoadedModel), "on a machine of one's own it counts"
    assert on_disk(tmp_path, "<sesame>"), "and other programs of the same person find the files"
    forget()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    assert failure(GATED).kind == "gated", "nor is the copy in the operator's cache shown"
    assert isinstance(sources.load(GATED, token=HERS), LoadedModel)


@pytest.mark.parametrize(
    ("offered", "counts", "token", "words"),
    [
        (True, False, None, "log in here with Hugging Face"),
        (True, False, HIS, "the account that you have logged in with"),
        (False, True, None, "`hf auth login`, or HF_TOKEN"),
        (False, False, None, "on a machine of your own"),
    ],
)
def test_a_gated_model_says_what_helps_here(workbench, monkeypatch, offered, counts, token, words):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", not counts)
    for name, value in SPACE.items() if offered else ():
        monkeypatch.setenv(name, value)
    error = failure(GATED, token=token)
    assert error.kind == "gated" and words in error.message and f"/{GATED}" in error.message


# The way from Gradio to the listeners.


def request(**headers):
    return SimpleNamespace(headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_without_a_log_in_listeners_stay_as_they_are(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert login.personal(print) is print


@pytest.mark.parametrize(
    ("headers", "token", "given"),
    [
        ({"sec_fetch_site": "same-origin"}, HERS, HERS),
        ({}, HERS, HERS),
        ({"sec_fetch_site": "cross-site"}, HERS, None),  # another page, with the visitor's cookie
        ({"sec_fetch_site": "same-site"}, HERS, None),
        ({}, None, None),
        ({}, HERS + "\r\nX-More: 1", None),
        ({}, "", None),
    ],
)
def test_only_our_own_page_hands_on_a_token_that_is_one(monkeypatch, headers, token, given):
    for name, value in SPACE.items():
        monkeypatch.setenv(name, value)

    def listener(*values, token=None):
        return values, token

    def states(*values, token=None):
        yield values, token

    oauth = None if token is None else gr.OAuthToken(token, "openid", 0)
    assert login.personal(listener)(request(**headers), oauth, 1, 2) == ((1, 2), given)
    assert list(login.personal(states)(request(**headers), oauth, 1, 2)) == [((1, 2), given)]
    assert login.personal(listener).__name__ == "listener"


def test_a_fault_of_ours_names_no_token(workbench, monkeypatch, caplog):
    def broken(name, *, token=None, allow_files=False):
        if token:
            raise RuntimeError("broken")
        raise ModelError("gated", "gated")

    monkeypatch.setattr(sources, "load", broken)
    error = loaded(workbench, HERS)
    assert isinstance(error, FormatsError) and error.kind == "internal_error"
    assert "broken" in caplog.text and HERS not in caplog.text and HERS not in error.message
