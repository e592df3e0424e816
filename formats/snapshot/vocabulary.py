"""Vocabulary files of data packages -> `tokenizers.Tokenizer`, converted once and kept in a cache folder.

The converters are transformers' own. What they make is stored in a form that
loads in a third of the time, and models with the same vocabulary and merges
share one copy of them. The tokenizers library holds the interpreter's lock
while it builds a tokenizer, so threads could not speed this up.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, models

from formats.models import TokenizerFile
from formats.snapshot import packages

CACHE_VARIABLE = "FORMATS_CACHE"
STORED_FORM = 1  # changes when the files below mean something else

_LOCK = threading.Lock()
_BPE: dict[str, models.BPE] = {}  # by the hash of its stored form


def load(file: TokenizerFile) -> Tokenizer:
    """A tokenizer of the caller's own; ModelError where the package is missing or its file has changed."""
    data = packages.read(file.source)  # checked every time: a stored conversion must not hide a changed package
    key = _key(file)
    with _LOCK:
        tokenizer = _stored(key)
        if tokenizer is None:
            tokenizer = FORMATS[file.format](data, file)
            _store(key, tokenizer)
            tokenizer = _stored(key) or tokenizer
    return tokenizer


# From the package's form to the library's.


def _tokenizer_json(data: bytes, file: TokenizerFile) -> Tokenizer:
    return Tokenizer.from_buffer(data)


def _ranks(data: bytes, pattern: str, special_tokens: list[str], file: TokenizerFile) -> Tokenizer:
    """A tiktoken rank file: base64 of the token's bytes, a space, its rank, one a line; special tokens come after."""
    from transformers.convert_slow_tokenizer import TikTokenConverter  # slow to import, and only the first run needs it

    class Converter(TikTokenConverter):  # type: ignore[misc]
        def load_tiktoken_bpe(self, tiktoken_url: str) -> dict[bytes, int]:
            """The bytes that were checked; tiktoken's own reader keeps copies by path and never looks again."""
            lines = (line.split() for line in data.splitlines() if line)
            return {base64.b64decode(token): int(rank) for token, rank in lines}

    tokens = [file.added_tokens.get(token, token) for token in special_tokens]
    tokenizer: Tokenizer = Converter(pattern=pattern, extra_special_tokens=tokens).converted()
    return tokenizer


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
    return [
        *(
            "<|begin_of_text|>",
            "<|end_of_text|>",
            _reserved(0),
            _reserved(1),
            "<|finetune_right_pad_id|>",
            _reserved(2),
        ),
        *("<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"),
        *map(_reserved, range(3, 248)),
    ]


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


def _llama3(data: bytes, file: TokenizerFile) -> Tokenizer:
    return _ranks(data, LLAMA3_PATTERN, llama3_special_tokens(), file)


def _llama4(data: bytes, file: TokenizerFile) -> Tokenizer:
    return _ranks(data, LLAMA4_PATTERN, llama4_special_tokens(), file)


def _tekken(data: bytes, file: TokenizerFile) -> Tokenizer:
    from transformers.integrations.mistral import convert_tekken_tokenizer  # slow to import, as above

    with tempfile.TemporaryDirectory() as folder:  # the bytes that were checked, under the name it wants to see
        path = Path(folder, "tekken.json")
        path.write_bytes(data)
        # A template of its own is not wanted: the empty one keeps it from being made.
        tokenizer: Tokenizer = convert_tekken_tokenizer(str(path), chat_template="").backend_tokenizer
    return tokenizer


FORMATS: Mapping[str, Callable[[bytes, TokenizerFile], Tokenizer]] = {
    "tokenizer.json": _tokenizer_json,
    "llama3": _llama3,
    "llama4": _llama4,
    "tekken": _tekken,
}


# The cache folder: one small file per tokenizer, and one per distinct vocabulary.


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


def _key(file: TokenizerFile) -> str:
    """Everything that has a say in the conversion."""
    parts = [
        STORED_FORM,
        *(file.source.package, version(file.source.package), file.source.file, file.source.sha256),
        *(file.format, sorted(file.added_tokens.items())),
        *(version(library) for library in ("transformers", "tokenizers")),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _store(key: str, tokenizer: Tokenizer) -> None:
    """Keep a conversion, if it is a plain BPE and the folder can be written; else only time is lost."""
    whole = json.loads(tokenizer.to_str())
    options = {name: value for name, value in whole["model"].items() if value is not None}
    if options.pop("type") != "BPE":
        return
    ids, merges = options.pop("vocab"), options.pop("merges")
    vocabulary = sorted(ids, key=ids.__getitem__)
    if [ids[token] for token in vocabulary] != list(range(len(ids))):
        return
    model = json.dumps([options, vocabulary, *map(list, zip(*merges, strict=True))], ensure_ascii=False)
    model_key = hashlib.sha256(model.encode()).hexdigest()
    added = [{name: value for name, value in token.items() if name != "id"} for token in whole["added_tokens"]]
    rest = json.dumps({**whole, "model": {"type": "BPE", "vocab": {}, "merges": []}, "added_tokens": []})
    kept = json.dumps({"model": model_key, "rest": rest, "added_tokens": added}, ensure_ascii=False)
    try:
        _write(cache_folder() / f"{model_key}.json", model)
        _write(cache_folder() / f"{key}.json", kept)
    except OSError:
        return


def _stored(key: str) -> Tokenizer | None:
    """A kept conversion; None where there is none, or a broken one."""
    try:
        kept = json.loads(_read(cache_folder() / f"{key}.json"))
        if kept["model"] not in _BPE:
            options, vocabulary, left, right = json.loads(_read(cache_folder() / f"{kept['model']}.json"))
            merges = list(zip(left, right, strict=True))
            _BPE[kept["model"]] = models.BPE(
                dict(zip(vocabulary, range(len(vocabulary)), strict=True)), merges, **options
            )
        tokenizer = Tokenizer.from_str(kept["rest"])
        tokenizer.model = _BPE[kept["model"]]
        tokenizer.add_tokens([AddedToken(**token) for token in kept["added_tokens"]])
    except (OSError, ValueError):
        return None
    return tokenizer


def _write(path: Path, body: str) -> None:
    """The body under its own hash, moved into place whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = body.encode()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        part = Path(folder, path.name)
        part.write_bytes(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        part.replace(path)


def _read(path: Path) -> bytes:
    """The body; OSError where there is none, ValueError where it is not what was written."""
    digest, _, data = path.read_bytes().partition(b"\n")
    if hashlib.sha256(data).hexdigest().encode() != digest:
        raise ValueError(f"{path} is broken")
    return data
