"""The files of a checkpoint -> its templates, special tokens and tokenizer, read by transformers itself.

Which template file wins, what a special token is and which tokens are added to
tokenizer.json is transformers' business: its own loader reads a folder that
holds nothing but the files below. No code of a checkpoint is ever run.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tokenizers import Tokenizer as Backend
from tokenizers import models

from formats.errors import ModelError
from formats.tokens import TokenizerFast
from formats.types import SourceFile, Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

CONFIG, TOKENIZER = "tokenizer_config.json", "tokenizer.json"
PROCESSOR_TEMPLATE = "chat_template.json"  # where old processors of image models keep theirs
EXTRA_TEMPLATES = "additional_chat_templates"
_WANTED = re.compile(
    r"tokenizer(\.\d[\d.]*)?\.json|tokenizer_config\.json|special_tokens_map\.json|added_tokens\.json|config\.json"
    r"|chat_template\.jinja|chat_template\.json|additional_chat_templates/[^/\\]+\.jinja"
)
_SLOW = re.compile(r"tokenizer\.model(\.v\d+\w*)?|tekken\.json|tiktoken\.model|spiece\.model|.*\.tiktoken|vocab\.\w+")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a checkpoint's files say."""

    templates: Mapping[str, str]
    special_tokens: Mapping[str, str]
    tokenizer: Tokenizer | None
    tokens_missing: str | None
    files: tuple[SourceFile, ...]
    note: str = ""


def is_wanted(name: str) -> bool:
    """Whether a file of a repository is one that is read here; weights never are."""
    return _WANTED.fullmatch(name) is not None


def is_tokenizer(name: str) -> bool:
    return name.startswith("tokenizer.")


def no_tokenizer(names: Iterable[str]) -> str:
    """Why a repository with these files gives no counts."""
    slow = sorted(name for name in names if _SLOW.fullmatch(name))
    if slow:
        return f"no tokenizer.json in the repository, only {slow[0]}: it would need code or libraries of its own"
    return "no tokenizer.json in the repository"


def read(files: Mapping[str, bytes], where: str, tokens_missing: str | None) -> Checkpoint:
    """Templates, special tokens and tokenizer out of the files' bytes, by their names in the repository.

    `tokens_missing` is the reason why there is no tokenizer.json among them. Raises ModelError: bad_file, no_template.
    """
    for name, data in files.items():
        _check(name, data, where)
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        loaded, tokens_missing = _load(Path(folder), list(filter(is_tokenizer, files)), tokens_missing, where)
    templates, note = _templates(loaded.chat_template, files, where)
    return Checkpoint(
        templates=templates,
        special_tokens=dict(loaded.special_tokens_map),
        tokenizer=TokenizerFast(loaded.backend_tokenizer) if tokens_missing is None else None,
        tokens_missing=tokens_missing,
        files=tuple(SourceFile(_role(name), name, hashlib.sha256(data).hexdigest()) for name, data in files.items()),
        note=note,
    )


def _load(
    folder: Path, tokenizers: Sequence[str], missing: str | None, where: str
) -> tuple[PreTrainedTokenizerFast, str | None]:
    """The checkpoint, and why it has no tokenizer if it has none; a broken one costs nothing but the counts."""
    if tokenizers:
        try:
            return _from_pretrained(folder), None
        except Exception as error:
            for name in tokenizers:
                (folder / name).unlink()
            missing = f"the tokenizer of {where} cannot be read: {str(error)[:300]}"
    try:
        empty = Backend(models.BPE())  # what else the files say does not depend on the vocabulary
        return _from_pretrained(folder, tokenizer_object=empty), missing or "there is no tokenizer.json"
    except Exception as error:
        raise ModelError(f"transformers cannot read the files of {where}: {str(error)[:300]}", "bad_file") from error


def _from_pretrained(folder: Path, **options: Any) -> PreTrainedTokenizerFast:
    from transformers import PreTrainedTokenizerFast  # slow to import, and models of the catalogue do without

    try:
        tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, gguf_file=None, **options
        )
    except (KeyboardInterrupt, SystemExit):
        raise
    except Exception:
        raise
    except BaseException as error:  # a panic in the Rust code of tokenizers is no Exception
        raise ValueError(str(error)) from error
    return tokenizer


def _templates(found: object, files: Mapping[str, bytes], where: str) -> tuple[dict[str, str], str]:
    if isinstance(found, str):
        return {"default": found}, ""
    if isinstance(found, dict) and found and all(isinstance(text, str) for text in found.values()):
        return dict(found), ""
    if found:
        raise ModelError(f"the chat_template of {where} is neither a text nor a list of named texts", "bad_file")
    if PROCESSOR_TEMPLATE in files:
        text = json.loads(files[PROCESSOR_TEMPLATE]).get("chat_template")
        if isinstance(text, str):
            return {"default": text}, f"the template is the processor's ({PROCESSOR_TEMPLATE})"
    raise ModelError(
        f"{where} has no chat template: it may be a base model, or its template is in its code", "no_template"
    )


def _check(name: str, data: bytes, where: str) -> None:
    """The words of a broken file, before anything else meets it; a tokenizer, large as it is, is read only once."""
    if is_tokenizer(name):
        return
    content = text(data, name, where)
    if not name.endswith(".json"):
        return
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{name} of {where} is not JSON ({error})", "bad_file") from error
    if not isinstance(value, dict):
        raise ModelError(f"{name} of {where} is not a JSON object", "bad_file")


def text(data: bytes, name: str, where: str) -> str:
    """A file's text as transformers reads it: UTF-8, every line end a line feed. Raises ModelError (bad_file)."""
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ModelError(f"{name} of {where} is not UTF-8 text ({error})", "bad_file") from error


def _role(name: str) -> Literal["template", "tokenizer", "config"]:
    if name.endswith(".jinja") or name == PROCESSOR_TEMPLATE:
        return "template"
    return "tokenizer" if is_tokenizer(name) else "config"
