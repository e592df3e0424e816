"""Runs `template.render` for the templates of strangers: in worker processes, under limits of time, memory and size.

A template is a program. Jinja's own sandbox keeps it from files and the network, but not from looping for ever or
filling the memory; a process can be limited, and killed. What comes back, prompt or refusal, is the very text that
`template.render` gives.

Workers are forked from a server process that has transformers loaded, so that a new one is there at once. Each is a
pool of one: a template keeps to the worker that has it compiled, as long as that one is free, and never waits behind
another template's endless loop.

A worker imports the program's main module, as multiprocessing has it, so that module should do all its work and its
imports behind `if __name__ == "__main__"`.
"""

from __future__ import annotations

import atexit
import datetime
import math
import multiprocessing
import os
import pickle
import resource
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from pebble import ProcessExpired, ProcessPool

from formats import template as chat
from formats.errors import FormatsError, Stopped, TemplateRefused
from formats.types import Conversation

SECONDS = 2.0  # of wall clock, for one rendering
MEGABYTES = 512  # that a worker may grow by; one that has kept a quarter of it is replaced before its next task
CHARACTERS = 4_000_000  # of a prompt, or of the words of a refusal
WORKERS = 16  # at most; they are started when they are needed
PATIENCE = 60.0  # seconds that a rendering may have to wait for its turn, its own time included
HOMES = 4096  # templates whose worker is remembered
NICE = 10  # workers yield to the process that answers people

PRELOAD = ["formats.sandbox", "transformers.tokenization_utils_tokenizers"]  # the latter is found from any folder

AGAIN = "again"  # the worker took no notice of the task: it has to be given to another one

_Answer = tuple[str, str]  # (kind, text): ("prompt", the prompt), or the kind and the words of an error


class Sandbox:
    """Renders templates in worker processes. Nothing is started before the first rendering or `warm`."""

    def __init__(
        self,
        seconds: float = SECONDS,
        megabytes: int = MEGABYTES,
        characters: int = CHARACTERS,
        workers: int = WORKERS,
    ) -> None:
        self.seconds, self.megabytes, self.characters = seconds, megabytes, characters
        self._most = workers
        self._workers: list[_Worker] = []
        self._homes: OrderedDict[str, _Worker] = OrderedDict()
        self._lock = threading.Lock()
        atexit.register(self.close)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        atexit.unregister(self.close)

    def render(
        self, template: str, conversation: Conversation, special_tokens: Mapping[str, str], today: datetime.date
    ) -> str:
        """As `template.render`: the same prompt, or TemplateRefused with the same words.

        Raises Stopped for what went over a limit: timeout, memory, output_too_large, or crashed where the process
        ended.
        """
        return self.begin(template, conversation, special_tokens, today)()

    def begin(
        self, template: str, conversation: Conversation, special_tokens: Mapping[str, str], today: datetime.date
    ) -> Callable[[], str]:
        """Start a rendering; the result waits for it and answers as `render` does."""
        task = pickle.dumps((template, conversation, dict(special_tokens), today))
        answer = self._begin(template, task)

        def finish() -> str:
            kind, text = answer()
            for _ in range(2):
                if kind == AGAIN:
                    kind, text = self._begin(template, task, fresh=True)()
            if kind == "prompt":
                return text
            raise TemplateRefused(text) if kind == TemplateRefused.kind else Stopped(self._words(kind), kind)

        return finish

    def warm(self, workers: int = 1) -> None:
        """Start that many workers in the background, so that the first renderings need not wait for them."""
        hello = Conversation(({"role": "user", "content": ""},))

        def start() -> None:
            for finish in [self.begin(f"{{# {n} #}}", hello, {}, datetime.date.min) for n in range(workers)]:
                finish()

        threading.Thread(target=start, name="warm the sandbox", daemon=True).start()

    def close(self) -> None:
        """End all workers; a sandbox that is used again starts new ones."""
        with self._lock:
            workers, self._workers = self._workers, []
            for worker in workers:
                worker.retired = True
        for worker in workers:
            worker.pool.stop()
        for worker in workers:
            worker.pool.join()

    def _begin(self, template: str, task: bytes, fresh: bool = False) -> Callable[[], _Answer]:
        worker = self._take(template, fresh)
        try:
            future = worker.pool.schedule(_work, args=(task, self.characters, self.seconds), timeout=self.seconds)
        except RuntimeError:  # its process was killed while it had nothing to do
            self._retire(worker)
            return lambda: (AGAIN, "")
        future.add_done_callback(lambda _: self._release(worker))
        return lambda: self._answer(worker, future)

    def _take(self, template: str, fresh: bool) -> _Worker:
        """The worker that knows the template, if it is free; else one that is free, a new one, or the least busy."""
        with self._lock:
            worker = self._homes.pop(template, None)
            if fresh or worker is None or worker.pending or worker.retired:
                worker = self._free_worker(fresh)
            worker.pending += 1
            self._homes[template] = worker
            while len(self._homes) > HOMES:
                self._homes.popitem(last=False)
            return worker

    def _free_worker(self, fresh: bool) -> _Worker:
        free = [worker for worker in self._workers if not worker.pending and not fresh]
        if not free and len(self._workers) < self._most:
            free = [_Worker(_pool(self.megabytes))]
            self._workers += free
        return free[-1] if free else min(self._workers, key=lambda worker: worker.pending)

    def _release(self, worker: _Worker) -> None:
        with self._lock:
            worker.pending -= 1

    def _retire(self, worker: _Worker) -> None:
        """Give it no more tasks; it ends when those it has are done."""
        with self._lock:
            if worker.retired:
                return
            worker.retired = True
            self._workers.remove(worker)
        worker.pool.close()
        threading.Thread(target=worker.pool.join, name="end a sandbox worker", daemon=True).start()

    def _answer(self, worker: _Worker, future: Future[_Answer]) -> _Answer:
        try:
            answer = future.result(PATIENCE)
        except TimeoutError:
            future.cancel()
            return "timeout", ""
        except ProcessExpired:
            return "crashed", ""
        except (BrokenProcessPool, CancelledError):  # it had ended before, or is being replaced
            answer = AGAIN, ""
        if answer[0] == AGAIN:
            self._retire(worker)
        return answer

    def _words(self, kind: str) -> str:
        return {
            "timeout": f"stopped after {self.seconds:g} s: the template did not come to an end",
            "memory": f"stopped: the template needs more than {self.megabytes} MB of memory",
            "output_too_large": f"stopped: the template wrote more than {self.characters:,} characters",
            "crashed": "stopped: the process that rendered the template ended under it",
            AGAIN: "stopped: no worker could be started for the template",
        }[kind]


@dataclass(eq=False, slots=True)
class _Worker:
    """One process, in a pool of its own that replaces it when it dies."""

    pool: ProcessPool
    pending: int = 0  # tasks it was given that are not done
    retired: bool = False


def _pool(megabytes: int) -> ProcessPool:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    return ProcessPool(max_workers=1, initializer=_limit, initargs=(megabytes,), context=context)


# What runs in a worker.

_first_size = 0  # bytes of address space that the worker had at the start
_most_growth = 0  # bytes that it may have grown by and still take a task


def _limit(megabytes: int) -> None:
    global _first_size, _most_growth
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # end at once, even inside one long operation
    os.nice(NICE)
    _first_size, _most_growth = _size(), megabytes * 2**20 // 4
    if _first_size:
        _set_limit(resource.RLIMIT_AS, _first_size + megabytes * 2**20)


def _work(task: bytes, characters: int, seconds: float) -> _Answer:
    if _size() - _first_size > _most_growth:
        return AGAIN, ""
    # Nobody is left to stop an endless loop whose app was killed, except the kernel.
    _set_limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds) + 1)
    try:
        answer = _render(task)
    except MemoryError:
        return "memory", ""
    return ("output_too_large", "") if len(answer[1]) > characters else answer


def _render(task: bytes) -> _Answer:
    try:
        return "prompt", chat.render(*pickle.loads(task))
    except FormatsError as error:
        return error.kind, error.message


def _size() -> int:
    """Bytes of address space in use; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _set_limit(what: int, soft: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
