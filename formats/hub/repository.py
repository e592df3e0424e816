"""The files of one repository: from the Hub, or from the local cache that earlier fetches filled."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, ModelInfo, try_to_load_from_cache
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import silent_tqdm

from formats.errors import ModelError
from formats.hub import checkpoint, client


@dataclass(frozen=True, slots=True)
class Files:
    """What was read of a repository at one commit."""

    repo: str  # the id it has now; an old one leads on to it
    commit: str | None
    contents: Mapping[str, bytes]
    tokens_missing: str | None  # why there is no tokenizer.json among them


def fetch(repo: str, revision: str | None, token: str | None) -> Files:
    """The wanted files of a repository; any error of huggingface_hub, or ModelError (too_large)."""
    api = HfApi(endpoint=client.endpoint(), token=token)
    info = api.model_info(repo, revision=revision, files_metadata=True, timeout=client.ASK_SECONDS)
    if info.gated and token is None and not client.own_token_counts():
        raise client.gated(info.id)  # said here: the library would take what the operator's token has put in the cache
    sizes = _sizes(api, info)
    missing = checkpoint.no_tokenizer(sizes)
    wanted = []
    for name in sorted(filter(checkpoint.is_wanted, sizes), key=lambda name: sizes[name]):
        if sizes[name] <= client.MAX_FILE_BYTES:
            wanted.append(name)
        elif checkpoint.is_tokenizer(name):
            missing = _too_large(name, info.id, sizes[name])
        else:
            raise ModelError(_too_large(name, info.id, sizes[name]), "too_large")
    _check_total(info.id, (sizes[name] for name in wanted))
    if token is None:
        contents = _download(api, info, wanted, revision, client.cache_folder())
    else:  # what a visitor's token opens is nobody else's: the cache on disk is everybody's
        with tempfile.TemporaryDirectory() as folder:
            contents = _download(api, info, wanted, revision, Path(folder))
    return Files(info.id, info.sha, contents, None if any(map(checkpoint.is_tokenizer, wanted)) else missing)


def cached(repo: str, revision: str | None) -> Files | None:
    """What the local Hub cache holds of a repository at that revision; None where that is no whole checkpoint."""
    for name in (checkpoint.CONFIG, "chat_template.jinja", checkpoint.TOKENIZER):
        found = try_to_load_from_cache(repo, name, cache_dir=client.cache_folder(), revision=revision)
        if isinstance(found, str):
            folder = Path(found).parent
            return Files(repo, folder.name, *_read_folder(folder))
    return None


def from_folder(folder: Path) -> Files:
    """The wanted files of a checkpoint in a folder; ModelError (too_large) as for the Hub's."""
    return Files(str(folder), None, *_read_folder(folder))


def _read_folder(folder: Path) -> tuple[dict[str, bytes], str | None]:
    paths = [path for path in (*folder.glob("*"), *folder.glob(f"{checkpoint.EXTRA_TEMPLATES}/*")) if path.is_file()]
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    _check_total(str(folder), (path.stat().st_size for name, path in names.items() if checkpoint.is_wanted(name)))
    contents = {name: read_file(path) for name, path in names.items() if checkpoint.is_wanted(name)}
    missing = None if any(map(checkpoint.is_tokenizer, contents)) else checkpoint.no_tokenizer(names)
    return contents, missing


def read_file(path: Path) -> bytes:
    """OSError, or ModelError (too_large)."""
    size = path.stat().st_size
    if size > client.MAX_FILE_BYTES:
        raise ModelError(_too_large(path.name, str(path.parent), size), "too_large")
    return path.read_bytes()


def _sizes(api: HfApi, info: ModelInfo) -> dict[str, int]:
    """Every file of the repository with its size in bytes."""
    sizes = {sibling.rfilename: sibling.size for sibling in info.siblings or []}
    if None in sizes.values():
        tree = api.list_repo_tree(info.id, revision=info.sha, recursive=True)
        sizes = {entry.path: entry.size for entry in tree if isinstance(entry, RepoFile)}
    return {name: size for name, size in sizes.items() if size is not None}


def _download(api: HfApi, info: ModelInfo, names: list[str], revision: str | None, cache: Path) -> dict[str, bytes]:
    """The smallest file is asked for by the revision's own name: the cache then knows which commit it stands for."""
    contents = {}
    for index, name in enumerate(names):
        path = api.hf_hub_download(
            info.id,
            name,
            revision=(revision or "main") if index == 0 else info.sha,
            cache_dir=cache,
            etag_timeout=client.STALL_SECONDS,
            tqdm_class=silent_tqdm,
        )
        contents[name] = Path(path).read_bytes()
    return contents


def _check_total(where: str, sizes: Iterable[int]) -> None:
    total = sum(sizes)
    if total > client.MAX_TOTAL_BYTES:
        limit = client.megabytes(client.MAX_TOTAL_BYTES)
        raise ModelError(
            f"the files of {where} have {client.megabytes(total)}, more than {limit} together", "too_large"
        )


def _too_large(name: str, where: str, size: int) -> str:
    limit = client.megabytes(client.MAX_FILE_BYTES)
    return f"{name} of {where} has {client.megabytes(size)}, more than the {limit} that are loaded"
