"""Any name -> a model: what each kind of name means, what is shared and for how long, and what a server refuses."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_hub import CONFIG, TEMPLATE, TINY, failure, forget, server, tiny_tokenizer  # noqa: F401

from formats import sources
from formats.errors import FormatsError, ModelError
from formats.models import CARDS, OPENING
from formats.types import LoadedModel, Source


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "empty-hub-cache"))
    forget()
    yield
    forget()


# Names.


@pytest.mark.parametrize(
    ("name", "repo", "title"),
    [
        ("qwen3", "Qwen/Qwen3-8B", "Qwen3"),
        ("QWEN3", "Qwen/Qwen3-8B", "Qwen3"),
        ("Llama 3.1 405B Instruct", "meta-llama/Llama-3.1-405B-Instruct", "Llama 3.1 405B Instruct"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "Qwen3"),
        ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
        ("meta-llama/llama-3.1-8b-instruct", "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
    ],
)
def test_a_model_of_the_catalogue_answers_to_all_its_names(name, repo, title):
    model = sources.load(f"  {name} ")
    assert (model.name, model.title, model.source.repo, model.source.kind) == (name, title, repo, "snapshot")
    assert model.tokenizer is not None and model.licence and model.family


def test_every_card_loads_without_the_hub():
    loaded = sources.load_many(list(CARDS))
    assert [model.name for model in loaded] == list(CARDS), [m for m in loaded if isinstance(m, FormatsError)]
    for model, card in zip(loaded, CARDS.values(), strict=True):
        assert (model.tokenizer is None) == (card.tokenizer is None) == (model.tokens_missing is not None)
        assert model.pinned and model.source.template_sha256


@pytest.mark.parametrize("name", ["snapshot:microsoft-phi-4", "snapshot:MICROSOFT/PHI-4", "Azure99/blossom-v5.1-9b"])
def test_templates_of_the_snapshot_have_names_too(name):
    model = sources.load(name)
    assert model.name == name and model.source.kind == "snapshot" and model.pinned


def test_a_revision_without_the_hub_is_never_replaced_by_another():
    error = failure("Qwen/Qwen3-8B@v1")
    assert error.kind == "hub_unreachable"
    assert "'v1'" in error.message and "the snapshot has Qwen/Qwen3-8B without a revision" in error.message


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("", "not_found", "no model is named"),
        ("nobody/nothing", "hub_unreachable", "neither in its local cache nor in the snapshot"),
        ("Qwen/Qwen3-8", "hub_unreachable", "did you mean Qwen/Qwen3-8B"),
        ("deepsek-r1", "hub_unreachable", "did you mean deepseek-r1"),
        ("two words", "not_found", "looks like organisation/name"),
        ("a/b/c", "not_found", "looks like organisation/name"),
        ("org/na--me", "not_found", "looks like organisation/name"),
        ("org/..", "not_found", "looks like organisation/name"),
        ("<img onerror=x>", "not_found", "looks like organisation/name"),
        ("\0", "not_found", "looks like organisation/name"),
        ("x" * 10_000, "not_found", "looks like organisation/name"),
        ("snapshot:", "not_found", "no template"),
        ("snapshot:../../etc/passwd", "not_found", "no template"),
        ("/etc/passwd", "no_files", "give a Hub id"),
        ("~root", "no_files", "give a Hub id"),
        ("../secret", "no_files", "give a Hub id"),
        ("C:\\secret", "no_files", "give a Hub id"),
        ("org/name.jinja", "no_files", "give a Hub id"),
    ],
)
def test_a_name_that_means_nothing_is_told_so(name, kind, words):
    error = failure(name)
    assert error.kind == kind and words in error.message and len(error.message) < 500


@settings(max_examples=150)
@given(name=st.text(max_size=40) | st.from_regex(r"(\.\./|~|/|snapshot:|@|[a-z])*", fullmatch=True))
def test_whatever_is_typed_gives_a_model_or_words(name):
    for allow_files in (False, True):
        try:
            model = sources.load(name, allow_files=allow_files)
        except ModelError as error:
            assert error.message and error.kind
        else:
            assert model.templates


# Files.


def write(folder, files) -> None:
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode() if isinstance(body, str) else body)


def test_a_folder_is_a_checkpoint(tmp_path):
    write(tmp_path / "model", TINY)
    model = sources.load(str(tmp_path / "model"), allow_files=True)
    assert model.templates == {"default": TEMPLATE} and model.tokenizer.ids("<s>a") == [3, 1]
    assert (model.source.kind, model.source.repo, model.pinned) == ("file", None, False)
    assert {file.path for file in model.source.files} == {"tokenizer.json", "tokenizer_config.json"}


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "chat.jinja"
    for text in ("one {{ bos_token }}", "another"):
        path.write_text(text)
        assert sources.load(str(path), allow_files=True).templates == {"default": text}
    write(tmp_path / "model", TINY)
    first = sources.load(str(tmp_path / "model"), allow_files=True)
    assert sources.load(str(tmp_path / "model"), allow_files=True).tokenizer is first.tokenizer, "loaded once"
    write(tmp_path / "model", {"additional_chat_templates/rag.jinja": "rag", "chat_template.jinja": "plain"})
    assert sources.load(str(tmp_path / "model"), allow_files=True).templates == {"default": "plain", "rag": "rag"}


def test_a_template_alone_shows_placeholders(tmp_path):
    path = tmp_path / "chat.jinja"
    path.write_bytes(b"{{ bos_token }}\r\n{{ eos_token }}")
    model = sources.load(str(path), allow_files=True)
    assert model.templates == {"default": "{{ bos_token }}\n{{ eos_token }}"}
    assert model.special_tokens == {"bos_token": "<bos_token>", "eos_token": "<eos_token>"}
    assert "<bos_token>, <eos_token>" in model.source.note
    assert model.tokenizer is None and model.tokens_missing and not model.pinned


def test_a_configuration_alone_has_a_template_and_no_counts(tmp_path):
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(CONFIG))
    model = sources.load(str(path), allow_files=True)
    assert model.templates == {"default": TEMPLATE} and model.special_tokens["eos_token"] == "</s>"
    assert model.tokenizer is None and "give its folder" in model.tokens_missing


def test_a_file_that_is_none_is_told_so(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "bad.jinja").write_bytes(b"\xff")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "huge.jinja").write_bytes(b"")
    os.truncate(tmp_path / "huge.jinja", 60 * 1024 * 1024)
    for name, kind in (
        ("empty", "no_template"),
        ("notes.txt", "bad_file"),
        ("bad.jinja", "bad_file"),
        ("bad.json", "bad_file"),
        ("huge.jinja", "too_large"),
        ("missing.jinja", "not_found"),
    ):
        assert failure(str(tmp_path / name), allow_files=True).kind == kind, name


def test_a_catalogue_name_is_no_folder_that_happens_to_be_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "qwen3", TINY)
    write(tmp_path / "mine", TINY)
    assert sources.load("qwen3", allow_files=True).source.kind == "snapshot"
    assert sources.load("mine", allow_files=True).source.kind == "file"
    assert failure("mine").kind == "hub_unreachable", "and a server does not look"


# Sharing.


def model_of(kind: str, note: str = "") -> LoadedModel:
    return LoadedModel("x", "x", {"default": ""}, {}, Source(kind, note=note))


def test_who_asks_while_a_model_is_loading_waits_for_it(server, monkeypatch):  # noqa: F811
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    server.add("org/tiny", TINY)
    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(sources.load, ["org/tiny"] * 8))
    assert len({id(model.tokenizer) for model in models}) == 1
    assert len(server.asked("/api/models/org/tiny")) == 1


def test_names_of_one_model_share_its_tokenizer():
    assert sources.load("qwen3").tokenizer is sources.load("Qwen/Qwen3-8B").tokenizer


def test_a_failure_is_forgotten_soon_and_raised_afresh():
    shared = sources._Shared()
    calls = []

    def fail() -> LoadedModel:
        calls.append(1)
        raise ModelError("no", "slow")

    errors = []
    for _ in range(3):
        with pytest.raises(ModelError) as raised:
            shared.get("key", fail)
        errors.append(raised.value)
    assert len(calls) == 1 and len({id(error) for error in errors}) == 3
    assert {(error.message, error.kind) for error in errors} == {("no", "slow")}
    shared._entries["key"].expires = time.monotonic() - 1
    assert shared.get("key", lambda: model_of("hub")).source.kind == "hub"


def test_a_fault_of_ours_is_not_kept():
    shared = sources._Shared()
    with pytest.raises(ZeroDivisionError):
        shared.get("key", lambda: 1 / 0)
    assert shared.get("key", lambda: model_of("hub")).source.kind == "hub"


def test_what_stands_in_for_the_hub_does_so_for_a_while():
    assert sources._lifetime(model_of("hub")) == sources.HUB_SECONDS
    assert sources._lifetime(model_of("snapshot")) == float("inf")
    assert sources._lifetime(model_of("snapshot", "not from the Hub: slow")) == sources.SECOND_BEST_SECONDS


@settings(max_examples=60)
@given(keys=st.lists(st.integers(0, 200), max_size=400))
def test_the_least_recently_used_model_goes_first(keys):
    shared = sources._Shared()
    recent: list[int] = []
    made = []

    def make() -> LoadedModel:
        made.append(1)
        return model_of("snapshot")

    for key in keys:
        made.clear()
        shared.get(key, make)
        assert bool(made) == (key not in recent[-sources.KEPT :])
        recent = [other for other in recent if other != key] + [key]
    assert len(shared._entries) <= sources.KEPT


def test_models_load_at_the_same_time_and_progress_is_told(monkeypatch):
    together = threading.Barrier(3, timeout=10)

    def load(name, **_):
        if name == "bad":
            raise ModelError("no such", "not_found")
        together.wait()
        return model_of("snapshot")

    monkeypatch.setattr(sources, "load", load)
    seen = []
    loaded = sources.load_many(["a", "bad", "b", "c"], lambda done, total, name: seen.append((done, total, name)))
    assert [getattr(model, "kind", "model") for model in loaded] == ["model", "not_found", "model", "model"]
    assert [done for done, _, _ in seen] == [1, 2, 3, 4] and {name for _, _, name in seen} == {"a", "b", "c", "bad"}
    assert sources.load_many([]) == []


# Start.


def test_nothing_slow_is_imported_before_it_is_needed():
    code = (
        "import sys; import formats.sources;"
        "print([m for m in ('transformers', 'huggingface_hub', 'httpx2', 'gradio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_opening_models_stand_quickly_once_their_conversions_are_kept():
    sources.load_many(OPENING)
    code = (
        "import time; from formats import sources; from formats.models import OPENING;"
        "a = time.process_time(); loaded = sources.load_many(OPENING); b = time.process_time();"
        "again = sources.load_many(OPENING);"
        "print(len(loaded), b - a, time.process_time() - b)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, first, second = done.stdout.split()
    assert count == "9" and float(first) < 6, "seconds of the processor, on a busy machine; about two on an idle one"
    assert float(second) < 0.5
