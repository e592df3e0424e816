"""Any name a person may type -> LoadedModel: from the Hub when it answers, else its local cache, else the snapshot.

A name is one of the catalogue (file name, title, or the Hub id of any of its
sizes), a Hub id `org/name` or `org/name@revision`, `snapshot:NAME`, or, where
that is allowed, the path of a folder, a .jinja file or a tokenizer_config.json.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from formats import hub, snapshot
from formats.errors import LOCKED, FormatsError, ModelError
from formats.models import CARDS, ModelCard, find
from formats.types import LoadedModel

KEPT = 48  # loaded models; the least recently used goes first
HUB_SECONDS = 3600.0  # after which the Hub is asked whether its branch has moved on
SECOND_BEST_SECONDS = 60.0  # for what stands in because the Hub had a fault
FAILURE_SECONDS = 10.0
WORKERS = 8

Progress = Callable[[int, int, str], None]  # how many are done, of how many, the name of the last one

_HUB_ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)
_FILE_ENDINGS = (".jinja", ".j2", ".json")


def load(name: str, *, token: str | None = None, allow_files: bool = False) -> LoadedModel:
    """The model of that name, loaded once and shared by all who ask for it.

    `token` is one visitor's own Hub token. It is sent only for what the Hub refuses without it, and what it opens is
    kept for that token alone, in memory. A server that others can reach must not set `allow_files`. Raises ModelError
    with words for the person.
    """
    target = _resolve(name.strip(), allow_files)
    state = _state(target)
    try:
        model = _shared.get((target, state), lambda: _load(target, None))
        if not token or not model.locked:
            return replace(model, name=name.strip())
    except ModelError as error:
        if not token or error.kind not in LOCKED:
            raise
    own = (target, state, hashlib.sha256(token.encode()).digest())
    return replace(_shared.get(own, lambda: _load(target, token)), name=name.strip())


def load_many(
    names: Sequence[str], progress: Progress | None = None, *, token: str | None = None, allow_files: bool = False
) -> list[LoadedModel | FormatsError]:
    """The models of these names, in their order and at the same time; a failure stands in its model's place."""

    def attempt(name: str) -> LoadedModel | FormatsError:
        try:
            return load(name, token=token, allow_files=allow_files)
        except FormatsError as error:
            return error

    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        futures = {pool.submit(attempt, name): name for name in names}
        for done, future in enumerate(as_completed(futures), start=1):
            if progress is not None:
                progress(done, len(names), futures[future])
    return [future.result() for future in futures]


# What a name means.


@dataclass(frozen=True, slots=True)
class _Target:
    """What has to be loaded; several names may mean the same."""

    kind: Literal["repo", "snapshot", "file"]
    name: str  # a Hub id, a template's name, or a path
    revision: str | None = None


def _resolve(name: str, allow_files: bool) -> _Target:
    if not name:
        raise ModelError("no model is named: give one of the catalogue or a Hub id such as Qwen/Qwen3-8B", "not_found")
    if name.startswith(snapshot.SCHEME):
        return _Target("snapshot", name.removeprefix(snapshot.SCHEME))
    if (card := find(name)) is not None:
        return _Target("repo", _spelled(name, card))
    if _looks_like_a_path(name) or (allow_files and _exists(name)):
        if not allow_files:
            raise ModelError(f"{_short(name)} would be a file, and none is read here: give a Hub id", "no_files")
        return _Target("file", name)
    asked, _, revision = name.partition("@")
    if (card := find(asked)) is not None:
        return _Target("repo", _spelled(asked, card), revision or None)
    if len(asked) > 96 or ".." in asked or "--" in asked or not _HUB_ID.fullmatch(asked):
        raise ModelError(
            f"{_short(asked)} is not in the catalogue and cannot be a Hub id, which looks like organisation/name"
            f"{_nearest(asked)}",
            "not_found",
        )
    return _Target("repo", asked, revision or None)


def _spelled(name: str, card: ModelCard) -> str:
    """The Hub id that a card's name means: the size that was named, or the card's own."""
    return next((known for known in card.ids if known.casefold() == name.strip().casefold()), card.repo)


def _looks_like_a_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~", ".\\", "..\\")) or name.endswith(_FILE_ENDINGS) or "\\" in name


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # too long, or with characters that no path has
        return False


def _short(name: str) -> str:
    return repr(name if len(name) <= 120 else name[:117] + "...")


def _nearest(name: str) -> str:
    known = [known for card in CARDS.values() for known in (card.name, *card.ids)]
    return snapshot.nearest(name, [*known, *snapshot.repos()])


def _state(target: _Target) -> Hashable:
    """What, beside the target, has a say in what is loaded."""
    match target.kind:
        case "repo":
            return hub.state()
        case "file":
            return _fingerprint(target.name)
        case _:
            return None


def _fingerprint(name: str) -> Hashable:
    """Changes when a file does."""
    try:
        path = Path(name).expanduser()
        files = [path, *path.glob("*"), *path.glob("*/*.jinja")] if path.is_dir() else [path]
        return tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(files))
    except (OSError, ValueError, RuntimeError):  # not there, or no path: loading it says so in words
        return None


# Which of the sources.


def _load(target: _Target, token: str | None) -> LoadedModel:
    match target.kind:
        case "snapshot":
            return snapshot.load_template(target.name)
        case "file":
            return hub.load_path(target.name)
        case _:
            return _load_repo(target.name, target.revision, token)


def _load_repo(repo: str, revision: str | None, token: str | None) -> LoadedModel:
    """From the Hub, else its cache, else the snapshot; a revision that was asked for is never replaced by another.

    The cache may hold what the operator's token has opened: where that token does not count, the Hub's refusal does.
    """
    card = find(repo)
    pinned = card.revision if card is not None and repo == card.repo else None
    problem: ModelError | None = None
    if hub.is_reachable():
        try:
            return _dressed(_from_hub(repo, revision, pinned, token), repo, card)
        except ModelError as error:
            problem = error
    refused = problem is not None and problem.kind in LOCKED and not hub.own_token_counts()
    try:
        cached = hub.load_cached(repo, revision or pinned) if token is None and not refused else None
    except ModelError as error:  # a cache that is broken is none
        cached, problem = None, problem or error
    if cached is not None:
        return _dressed(_noted(cached, problem), repo, card)
    if revision is None or revision == pinned:
        if card is not None:
            return _dressed(_noted(snapshot.load(card), problem), repo, card)
        if snapshot.has(repo):
            return _noted(snapshot.load_template(repo), problem)
    raise _failure(repo, revision, problem)


def _from_hub(repo: str, revision: str | None, pinned: str | None, token: str | None) -> LoadedModel:
    """At the revision asked for, else the card's; where the Hub does not know the card's, what it has now."""
    try:
        return hub.load(repo, revision or pinned, token)
    except ModelError as error:
        if error.kind != "bad_revision" or revision is not None or pinned is None:
            raise
    model = hub.load(repo, None, token)
    note = "; ".join(part for part in (f"the Hub has no revision {pinned}: this is main", model.source.note) if part)
    return replace(model, source=replace(model.source, note=note))


def _dressed(model: LoadedModel, repo: str, card: ModelCard | None) -> LoadedModel:
    """What the card says and no source does."""
    if card is None:
        return model
    source = model.source if model.source.kind == "hub" else replace(model.source, repo=repo)
    return replace(
        model,
        title=card.title if repo == card.repo else repo,
        source=source,
        family=card.family,
        licence=card.licence,
        template_kwargs=card.template_kwargs,
    )


def _noted(model: LoadedModel, problem: ModelError | None) -> LoadedModel:
    """With the reason why this is not what the Hub has; that nothing answers there is said by the source itself."""
    if problem is None or problem.kind == "hub_unreachable":
        return model
    note = "; ".join(part for part in (f"not from the Hub: {problem.message}", model.source.note) if part)
    return replace(model, source=replace(model.source, note=note), locked=problem.kind in LOCKED)


def _failure(repo: str, revision: str | None, problem: ModelError | None) -> ModelError:
    if problem is None or problem.kind == "hub_unreachable":
        return ModelError(f"the Hub cannot be reached, and {_nowhere_else(repo, revision)}", "hub_unreachable")
    if problem.kind == "not_found":
        return ModelError(f"{problem.message}{_nearest(repo)}", problem.kind)
    return problem


def _nowhere_else(repo: str, revision: str | None) -> str:
    if revision is None:
        return f"{repo} is neither in its local cache nor in the snapshot{_nearest(repo)}"
    instead = f"; the snapshot has {repo} without a revision" if find(repo) or snapshot.has(repo) else ""
    return f"revision {revision!r} of {repo} is not in its local cache{instead}"


# Loaded once, for everybody.


@dataclass(slots=True)
class _Entry:
    future: Future[LoadedModel] = field(default_factory=Future)
    expires: float = float("inf")  # on the monotonic clock


class _Shared:
    """Loaded models by key. Who asks while one is being loaded waits for it; failures are kept for a moment only."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], LoadedModel]) -> LoadedModel:
        with self._lock:
            entry = self._entries.get(key)
            is_mine = entry is None or entry.expires < time.monotonic()
            if entry is None or is_mine:
                entry = self._entries[key] = _Entry()
            self._entries.move_to_end(key)
            while len(self._entries) > KEPT:
                self._entries.popitem(last=False)
        if is_mine:
            self._make(key, entry, make)
        try:
            return entry.future.result()
        except ModelError as error:  # one of its own for each who asks: a raised error grows with its tracebacks
            raise ModelError(error.message, error.kind) from None

    def _make(self, key: Hashable, entry: _Entry, make: Callable[[], LoadedModel]) -> None:
        try:
            model = make()
        except ModelError as error:
            entry.expires = time.monotonic() + FAILURE_SECONDS
            entry.future.set_exception(error)
        except BaseException as error:
            with self._lock:
                self._entries.pop(key, None)
            entry.future.set_exception(error)
        else:
            entry.expires = time.monotonic() + _lifetime(model)
            entry.future.set_result(model)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


def _lifetime(model: LoadedModel) -> float:
    if model.source.kind == "hub":
        return HUB_SECONDS
    return SECOND_BEST_SECONDS if model.source.note.startswith("not from the Hub") else float("inf")


_shared = _Shared()
