"""Models as the page finds them: at hand, on their way, or not to be had; fetched once for all visitors."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

from formats.errors import FormatsError
from formats.types import LoadedModel

Loaded = LoadedModel | FormatsError
KEPT = 64  # models held beyond those in use
FAILURE_STANDS = 20.0  # seconds until a model that could not be had is tried again


class Shelf:
    """Calls `load(name)` in the background, at most once at a time for each name."""

    def __init__(self, load: Callable[[str], LoadedModel], workers: int = 4) -> None:
        self._load = load
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="load")
        self._lock = Lock()
        self._futures: OrderedDict[str, Future[tuple[float, Loaded]]] = OrderedDict()

    def take(self, names: Sequence[str], patience: float) -> list[Loaded | None]:
        """What there is of each name after at most `patience` seconds; None is still on its way."""
        futures = [self._future(name) for name in names]
        wait(futures, timeout=patience)
        return [future.result()[1] if future.done() else None for future in futures]

    def _future(self, name: str) -> Future[tuple[float, Loaded]]:
        with self._lock:
            future = self._futures.get(name)
            if future is None or _stale(future):
                future = self._futures[name] = self._pool.submit(self._try, name)
            self._futures.move_to_end(name)
            while len(self._futures) > KEPT:
                self._futures.popitem(last=False)
            return future

    def _try(self, name: str) -> tuple[float, Loaded]:
        try:
            return time.monotonic(), self._load(name)
        except FormatsError as error:
            return time.monotonic(), error


def _stale(future: Future[tuple[float, Loaded]]) -> bool:
    if not future.done():
        return False
    since, loaded = future.result()
    return isinstance(loaded, FormatsError) and time.monotonic() - since > FAILURE_STANDS
