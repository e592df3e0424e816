"""The only door to the Hub: an id and a revision -> LoadedModel.

Only small files that say how a prompt is written and counted are fetched, never
weights; their sizes are read first. They are kept in the local Hub cache, where
other programs of the same person find them, unless a visitor's own token was
needed to get them.

huggingface_hub is slow to import, so nothing here brings it before it is needed.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from formats import snapshot
from formats.errors import ModelError
from formats.hub import checkpoint
from formats.models import CARDS, PackageFile
from formats.types import LoadedModel, Source, SourceFile

if TYPE_CHECKING:
    from formats.hub.repository import Files

ANSWER_SECONDS = 60.0  # for which an answer of the Hub holds
SILENCE_SECONDS = 20.0  # for which its silence does: on a busy machine it may be ours

_lock = threading.Lock()
_probe: tuple[str, float, bool] | None = None  # (address, when, whether it answered)


def is_reachable() -> bool:
    """Whether the Hub answers, as it was found a short while ago: one quick question for all models.

    Only the first one waits for the answer; later the question is asked again in the background.
    """
    global _probe
    from formats.hub import client

    if client.is_offline():
        return False
    with _lock:
        if _probe is None or _probe[0] != client.endpoint():
            _ask()
        elif time.monotonic() - _probe[1] > (ANSWER_SECONDS if _probe[2] else SILENCE_SECONDS):
            _probe = (_probe[0], time.monotonic(), _probe[2])
            threading.Thread(target=_ask, daemon=True).start()
        assert _probe is not None
        return _probe[2]


def state() -> Hashable:
    """Changes when a repository may have to be looked for in another place."""
    from formats.hub import client

    return is_reachable(), client.endpoint(), str(client.cache_folder())


def own_token_counts() -> bool:
    """Whether what the token of this machine opens is for all who ask here."""
    from formats.hub import client

    return client.own_token_counts()


def forget() -> None:
    """Ask anew at the next opportunity."""
    global _probe
    _probe = None


def _ask() -> None:
    from formats.hub import client

    _remember(client.endpoint(), client.answers())


def _remember(address: str, answers: bool) -> None:
    global _probe
    _probe = (address, time.monotonic(), answers)


def load(repo: str, revision: str | None = None, token: str | None = None) -> LoadedModel:
    """The model as the Hub has it now, at the commit that the revision (or main) stands for.

    `token` is a visitor's own. Raises ModelError: not_found, gated, bad_revision, no_template, too_large, bad_file,
    rate_limited, server_error, slow, cut_off, redirect_loop, hub_unreachable, hub_error, disk.
    """
    from formats.hub import client, repository

    def fetch() -> Files:
        with client.limits(client.TOTAL_SECONDS):
            return repository.fetch(repo, revision, token)

    try:
        files = client.within(client.TOTAL_SECONDS, fetch)
    except Exception as error:
        problem = client.worded(error, repo, revision, token)
        if problem.kind == "hub_unreachable":
            _remember(client.endpoint(), False)
        raise problem from error
    return _model(files, "hub", f"moved from {repo}" if files.repo != repo else "")


def load_cached(repo: str, revision: str | None = None) -> LoadedModel | None:
    """The model from the local Hub cache; None where it does not hold it. Raises ModelError: too_large, bad_file."""
    from formats.hub import client, repository

    try:
        files = repository.cached(repo, revision)
        return _model(files, "cache") if files is not None else None
    except Exception as error:
        problem = client.worded(error, repo, revision)
        if problem.kind in ("no_template", "not_found"):  # a part of a checkpoint, or no id of the Hub at all
            return None
        raise problem from error


def load_path(name: str) -> LoadedModel:
    """A checkpoint's folder, a .jinja file or a tokenizer_config.json of this machine.

    Raises ModelError: not_found, no_template, too_large, bad_file.
    """
    from formats.hub import repository

    try:
        path = Path(name).expanduser()
        if path.is_dir():
            return replace(_model(repository.from_folder(path), "file"), title=path.name or name)
        data = repository.read_file(path)
    except FileNotFoundError:
        raise ModelError(f"there is no file or folder {name!r}", "not_found") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"{name!r} cannot be read: {error}", "bad_file") from error
    if path.suffix == ".json":
        missing = "a tokenizer_config.json alone has no vocabulary: give its folder"
        files = repository.Files(name, None, {checkpoint.CONFIG: data}, missing)
        return replace(_model(files, "file"), title=path.name)
    if path.suffix in (".jinja", ".j2"):
        return _template_alone(name, data)
    raise ModelError(f"{name!r} is neither a folder, a .jinja file nor a tokenizer_config.json", "bad_file")


def _template_alone(name: str, data: bytes) -> LoadedModel:
    text = checkpoint.text(data, name, name)
    stand_ins = snapshot.placeholders(text)
    note = f"a template alone: {', '.join(stand_ins.values())} stand for special tokens" if stand_ins else ""
    digest = hashlib.sha256(text.encode()).hexdigest()
    file = SourceFile("template", name, hashlib.sha256(data).hexdigest())
    return LoadedModel(
        name=name,
        title=Path(name).name,
        templates={"default": text},
        special_tokens=stand_ins,
        source=Source("file", template_sha256=digest, files=(file,), note=note),
        tokens_missing="a template alone has no tokenizer",
        pinned=digest in _known_templates(),
    )


def _model(files: Files, kind: Literal["hub", "cache", "file"], note: str = "") -> LoadedModel:
    read = checkpoint.read(files.contents, files.repo, files.tokens_missing)
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in read.templates.items()}
    main = "default" if "default" in hashes else next(iter(hashes))
    return LoadedModel(
        name=files.repo,
        title=files.repo,
        templates=read.templates,
        special_tokens=read.special_tokens,
        source=Source(
            kind=kind,
            repo=files.repo if kind != "file" else None,
            revision=files.commit,
            template_sha256=hashes[main],
            files=read.files,
            note="; ".join(part for part in (note, read.note) if part),
        ),
        tokenizer=read.tokenizer,
        tokens_missing=read.tokens_missing,
        pinned=set(hashes.values()) <= _known_templates(),
    )


def _known_templates() -> set[str]:
    """The sha256 of every template that the catalogue or the snapshot pins."""
    cards = {t.sha256 for card in CARDS.values() for t in card.templates.values() if isinstance(t, PackageFile)}
    return cards | snapshot.known_sha256()
