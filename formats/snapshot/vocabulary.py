"""Vocabulary files of data packages -> `tokenizers.Tokenizer`, converted once and kept in a cache folder.

The converters are transformers' own. What they make is stored in a form that
loads in a third of the time, and models with the same vocabulary and merges
share one copy of them. The tokenizers library holds the interpreter's lock
while it builds a tokenizer, so threads could not speed this up.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, models

from formats.models import TokenizerFile
from formats.snapshot import packages

CACHE_VARIABLE = "FORMATS_CACHE"
LONGEST_WAIT = 60.0  # seconds for another process's conversion; the largest takes five
STORED_FORM = 1  # changes when the files below mean something else

_LOCK = threading.Lock()
_BPE: dict[str, models.BPE] = {}  # what was built so far, by the hash of its kept form


def load(file: TokenizerFile) -> Tokenizer:
    """A tokenizer of the caller's own; ModelError where the package is missing or its file has changed."""
    data = packages.read(file.source)  # checked every time: a kept conversion must not hide a changed package
    config = packages.read(file.config) if file.config is not None else None
    key = _key(file)
    with _LOCK:
        with suppress(OSError, ValueError):  # not there, or broken
            return _built(_kept(key), file.added_tokens)
        with _one_process(key):
            with suppress(OSError, ValueError):  # another process may have made it meanwhile
                return _built(_kept(key), file.added_tokens)
            with _no_collection():
                return _converted(key, _with_config(FORMATS[file.format](data), config), file.added_tokens)


def _converted(key: str, whole: dict[str, Any], names: Mapping[str, str]) -> Tokenizer:
    """The tokenizer of a tokenizer.json; what loads faster the next time is kept."""
    if not _is_plain_bpe(whole["model"]):
        return Tokenizer.from_str(json.dumps({**whole, "added_tokens": _named(whole["added_tokens"], names)}))
    parts, model = _parts(whole)
    with suppress(OSError):  # a folder that cannot be written costs time, the next time
        _write(parts.model, model)
        _write(key, json.dumps(asdict(parts)))
    return _built(parts, names, model)


def _named(tokens: list[dict[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The added tokens, those with a name of their own under that."""
    return [{**token, "content": names.get(token["content"], token["content"])} for token in tokens]


# From the package's form to that of tokenizer.json.


def _with_config(whole: dict[str, Any], config: bytes | None) -> dict[str, Any]:
    """With the tokens that transformers adds because a tokenizer_config.json says so."""
    if config is None:
        return whole
    from transformers import PreTrainedTokenizerFast  # slow to import, and only the first run needs it

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tokenizer.json").write_text(json.dumps(whole), encoding="utf-8")
        Path(folder, "tokenizer_config.json").write_bytes(config)
        return _parsed(PreTrainedTokenizerFast.from_pretrained(folder).backend_tokenizer.to_str())


def _parsed(text: bytes | str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(text)
    return whole


def _ranks(data: bytes, pattern: str, special_tokens: list[str]) -> dict[str, Any]:
    """A tiktoken rank file: base64 of the token's bytes, a space, its rank, one a line; special tokens come after."""
    from transformers.convert_slow_tokenizer import TikTokenConverter  # slow to import, as above

    class Converter(TikTokenConverter):  # type: ignore[misc]
        def load_tiktoken_bpe(self, tiktoken_url: str) -> dict[bytes, int]:
            """The bytes that were checked; tiktoken's own reader keeps copies by path and never looks again."""
            lines = (line.split() for line in data.splitlines() if line)
            return {base64.b64decode(token): int(rank) for token, rank in lines}

    return _parsed(Converter(pattern=pattern, extra_special_tokens=special_tokens).converted().to_str())


LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# The pattern that llama_models/llama4/tokenizer.py calls O200K_PATTERN.
LLAMA4_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def llama3_special_tokens() -> list[str]:
    """Llama 3.1's 256 special tokens in id order, as its tokenizer.json on the Hub names them.

    Meta's package gives two of the reserved places names of their own (<|step_id|>, <|image|>) and numbers the rest
    differently; no template of these models writes any of them.
    """
    first = ["<|begin_of_text|>", "<|end_of_text|>", _reserved(0), _reserved(1)]
    first += ["<|finetune_right_pad_id|>", _reserved(2)]
    named = ["<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"]
    return [*first, *named, *map(_reserved, range(3, 248))]


def llama4_special_tokens() -> list[str]:
    """Llama 4's 2,048 special tokens in id order, as llama_models/llama4/tokenizer.py lays them out."""
    text = [
        *("header_start", "header_end", "eom", "eot", "step"),
        *(f"text_post_train_reserved_special_token_{i}" for i in range(6)),
        *("python_start", "python_end", "finetune_right_pad"),
        *(f"text_post_train_reserved_special_token_{i}" for i in range(8, 69)),
    ]
    vision = [
        *("image_start", "image_end", "vision_reserved_special_token_0", "vision_reserved_special_token_1"),
        *("tile_x_separator", "tile_y_separator", *(f"vision_reserved_special_token_{i}" for i in range(2, 6))),
        *("image", "vision_reserved_special_token_6", "patch"),
        *(f"vision_reserved_special_token_{i}" for i in range(7, 1048)),
    ]
    reasoning = [
        *(f"reasoning_reserved_special_token_{i}" for i in range(8)),
        *("reasoning_thinking_start", "reasoning_thinking_end"),
    ]
    named = ["begin_of_text", "end_of_text", "fim_prefix", "fim_middle", "fim_suffix", *text, *vision, *reasoning]
    return [*(f"<|{name}|>" for name in named), *map(_reserved, range(2048 - len(named)))]


def _reserved(number: int) -> str:
    return f"<|reserved_special_token_{number}|>"


def _llama3(data: bytes) -> dict[str, Any]:
    return _ranks(data, LLAMA3_PATTERN, llama3_special_tokens())


def _llama4(data: bytes) -> dict[str, Any]:
    return _ranks(data, LLAMA4_PATTERN, llama4_special_tokens())


def _tekken(data: bytes) -> dict[str, Any]:
    from transformers.integrations.mistral import convert_tekken_tokenizer  # slow to import, as above

    with tempfile.TemporaryDirectory() as folder:  # the bytes that were checked, under the name it wants to see
        path = Path(folder, "tekken.json")
        path.write_bytes(data)
        # A template of its own is not wanted: the empty one keeps it from being made.
        return _parsed(convert_tekken_tokenizer(str(path), chat_template="").backend_tokenizer.to_str())


FORMATS: Mapping[str, Callable[[bytes], dict[str, Any]]] = {
    "tokenizer.json": _parsed,
    "llama3": _llama3,
    "llama4": _llama4,
    "tekken": _tekken,
}


# What is kept: one small file per tokenizer, and one per distinct vocabulary.


@dataclass(frozen=True, slots=True)
class _Parts:
    """A tokenizer without its vocabulary and merges."""

    model: str  # the key of the file that holds those
    rest: str  # tokenizer.json with an empty model and no added tokens
    added_tokens: list[dict[str, Any]]  # in the order of their ids, which follow from it


def _is_plain_bpe(model: Mapping[str, Any]) -> bool:
    return model["type"] == "BPE" and sorted(model["vocab"].values()) == list(range(len(model["vocab"])))


def _parts(whole: dict[str, Any]) -> tuple[_Parts, str]:
    """A tokenizer.json in two: its parts, and the body of the file that they name."""
    options = {name: value for name, value in whole["model"].items() if value is not None and name != "type"}
    ids, merges = options.pop("vocab"), options.pop("merges")
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in merges)
    left, right = zip(*pairs, strict=True)
    model = json.dumps([options, sorted(ids, key=ids.__getitem__), left, right], ensure_ascii=False)
    added = [{name: value for name, value in token.items() if name != "id"} for token in whole["added_tokens"]]
    rest = json.dumps({**whole, "model": {"type": "BPE", "vocab": {}, "merges": []}, "added_tokens": []})
    return _Parts(hashlib.sha256(model.encode()).hexdigest(), rest, added), model


def _kept(key: str) -> _Parts:
    """Of what was converted before; OSError or ValueError where nothing whole is kept."""
    return _Parts(**json.loads(_read(key)))


def _built(parts: _Parts, names: Mapping[str, str], model: str | None = None) -> Tokenizer:
    """The tokenizer; OSError or ValueError where the file that its parts name is missing or broken."""
    if parts.model not in _BPE:
        options, vocabulary, left, right = json.loads(_read(parts.model) if model is None else model)
        ids = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        _BPE[parts.model] = models.BPE(ids, list(zip(left, right, strict=True)), **options)
    tokenizer = Tokenizer.from_str(parts.rest)
    tokenizer.model = _BPE[parts.model]
    tokenizer.add_tokens([AddedToken(**token) for token in _named(parts.added_tokens, names)])
    return tokenizer


def cache_folder() -> Path:
    """Where conversions are kept: $FORMATS_CACHE, or the platform's folder for caches."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "prompt-format-lab"


@contextmanager
def _one_process(key: str) -> Iterator[None]:
    """Processes that start together convert each vocabulary once: the others wait, but not for one that hangs."""
    from filelock import FileLock

    folder = cache_folder()
    with ExitStack() as held:
        with suppress(OSError, NotImplementedError):  # no folder, one that knows no locks, or a minute has passed
            folder.mkdir(parents=True, exist_ok=True)
            held.enter_context(FileLock(folder / f"{key}.lock", timeout=LONGEST_WAIT))
        yield


@contextmanager
def _no_collection() -> Iterator[None]:
    """Half a million new lists would be looked through for garbage again and again: a fifth of a conversion's time."""
    wanted = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if wanted:
            gc.enable()


def _key(file: TokenizerFile) -> str:
    """Everything that has a say in the conversion; tokens get their names afterwards."""
    parts = [
        STORED_FORM,
        *(file.source.package, packages.version(file.source.package), file.source.file, file.source.sha256),
        *(file.format, file.config.sha256 if file.config is not None else None),
        *(packages.version(library) for library in ("transformers", "tokenizers")),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _write(key: str, body: str) -> None:
    """The body under its own hash, moved into place whole."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    data = body.encode()
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        part = Path(temporary, key)
        part.write_bytes(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        part.replace(folder / f"{key}.json")


def _read(key: str) -> bytes:
    """The body; OSError where there is none, ValueError where it is not what was written."""
    path = cache_folder() / f"{key}.json"
    digest, _, data = path.read_bytes().partition(b"\n")
    if hashlib.sha256(data).hexdigest().encode() != digest:
        raise ValueError(f"{path} is broken")
    return data
