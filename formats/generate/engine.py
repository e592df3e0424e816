"""One backend for all who ask: chosen by the environment, loaded at first use, taken in turns.

LIVE_BASE_URL (+ LIVE_API_KEY, LIVE_SERVER_MODEL) names a completions server; else LIVE_MODEL names a model for this
process, a small default standing in for it.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from formats.errors import FormatsError
from formats.generate.base import DEFAULT, POLL, Backend, Stop
from formats.generate.turns import Turns

NEEDED = ("torch", "accelerate", "gguf")
SERVER_SLOTS = 4  # runs that a server is asked for at the same time
HOW = (
    "Live generation is off: install it with pip install -r requirements-live.txt, or set LIVE_BASE_URL to a "
    "completions server (vLLM, llama.cpp, Ollama, TGI)."
)


@dataclass(frozen=True, slots=True)
class Loading:
    """The model is on its way, in words."""

    words: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Others use the model; `ahead` of them come first."""

    ahead: int


class Engine:
    """The backend that an environment names. Nothing is imported or loaded before `ready`."""

    def __init__(self, environment: Mapping[str, str] | None = None, model: str | None = None) -> None:
        env = os.environ if environment is None else environment
        self._url, self._key = env.get("LIVE_BASE_URL", ""), env.get("LIVE_API_KEY", "")
        self._server_model = env.get("LIVE_SERVER_MODEL", "")
        self.model = env.get("LIVE_MODEL") or model or DEFAULT
        path = Path(self.model).expanduser()
        self.title = path.name if path.exists() else self.model  # where it lies is the operator's affair
        self.turns = Turns(SERVER_SLOTS if self._url else 1)
        self._lock = threading.Lock()
        self._backend: Backend | None = None

    @property
    def is_server(self) -> bool:
        return bool(self._url)

    def missing(self) -> str | None:
        """How to turn live generation on, in one sentence; None where it is on."""
        if self._url or all(importlib.util.find_spec(name) for name in NEEDED):
            return None
        return HOW

    def ready(self, stop: Stop) -> Iterator[Loading | Backend]:
        """The backend, last of all; what is being done for it until then. A failure is tried again by the next one."""
        if self._backend is None:
            yield from self._load(stop)
        if self._backend is not None:
            yield self._backend

    def _load(self, stop: Stop) -> Iterator[Loading]:
        """In a thread, so that a run can be stopped meanwhile; what was begun is there for the next one."""
        said: SimpleQueue[str | Exception | None] = SimpleQueue()

        def work() -> None:
            try:
                with self._lock:
                    if self._backend is None:
                        self._backend = self._made(said)
                said.put(None)
            except Exception as error:
                said.put(error)

        threading.Thread(target=work, daemon=True).start()
        words = "Asking the server" if self._url else f"Loading {self.title}"
        while not stop.reason:
            yield Loading(words)
            try:
                news = said.get(timeout=POLL)
            except Empty:
                continue
            if isinstance(news, Exception):
                raise news
            if news is None:
                return
            words = news

    def _made(self, said: SimpleQueue[str | Exception | None]) -> Backend:
        if self._url:
            from formats.generate.server import Server

            return Server(self._url, self._key, self._server_model)
        if missing := self.missing():
            raise FormatsError(missing, "not_installed")
        from formats.generate import weights
        from formats.generate.local import LocalModel

        folder = weights.find(self.model, said.put)
        said.put(f"Loading {self.title}")
        return LocalModel(folder, self.title)
