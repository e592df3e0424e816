"""Work that an answer waits for only so long: done in the background, once for all who ask, and kept for a while."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Generic, TypeVar

from formats.errors import FormatsError

T = TypeVar("T")
logger = logging.getLogger(__name__)
STANDS = 10.0  # seconds that a result is given again before its job is asked anew; a failure never stands longer


class Background(Generic[T]):
    """Runs jobs by key: who asks for a key whose job is under way or done gets that one's result."""

    def __init__(self, name: str, workers: int, kept: int, stands: float = STANDS) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._kept, self._stands = kept, stands
        self._lock = Lock()
        self._futures: OrderedDict[Hashable, Future[tuple[T | FormatsError, float]]] = OrderedDict()
        self._asked: dict[Hashable, float] = {}  # when the job of a key was first asked for, on the monotonic clock

    def take(self, jobs: Mapping[Hashable, Callable[[], T]], patience: float) -> list[T | FormatsError | None]:
        """The result of each job, in order, after at most `patience` seconds; None where it is not done.

        A FormatsError that a job raises is its result.
        """
        futures = [self._future(key, job) for key, job in jobs.items()]
        wait(futures, timeout=patience)
        return [future.result()[0] if future.done() else None for future in futures]

    def seconds(self, key: Hashable) -> float:
        """How long ago the job of a key was asked for."""
        return time.monotonic() - self._asked.get(key, time.monotonic())

    def _future(self, key: Hashable, job: Callable[[], T]) -> Future[tuple[T | FormatsError, float]]:
        with self._lock:
            future = self._futures.get(key)
            if future is None or self._stale(future):
                future = self._futures[key] = self._pool.submit(_outcome, job)
                self._asked[key] = time.monotonic()
            self._futures.move_to_end(key)
            while len(self._futures) > self._kept:
                dropped, _ = self._futures.popitem(last=False)
                del self._asked[dropped]
            return future

    def _stale(self, future: Future[tuple[T | FormatsError, float]]) -> bool:
        if not future.done():
            return False
        result, since = future.result()
        return time.monotonic() - since > (STANDS if isinstance(result, FormatsError) else self._stands)


def _outcome(job: Callable[[], T]) -> tuple[T | FormatsError, float]:
    try:
        return job(), time.monotonic()
    except FormatsError as error:
        return error, time.monotonic()
    except Exception as error:  # ours; what else was asked for stands all the same
        logger.exception("work in the background")
        return FormatsError(f"a fault of this app: {type(error).__name__}: {error}", "internal_error"), time.monotonic()
