"""Who may use the model now: first come, first served, with a place that can be shown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from formats.generate.base import POLL, GenerationError, Stop

MOST_WAITING = 32


class Turns:
    """A queue for `slots` runs at a time."""

    def __init__(self, slots: int = 1) -> None:
        self._slots = slots
        self._changed = threading.Condition()
        self._line: list[object] = []  # those that run in front, those that wait behind

    @contextmanager
    def place(self) -> Iterator[Place]:
        """A place in the queue, given up at the end. Raises GenerationError (busy) where the queue is full."""
        ticket = object()
        with self._changed:
            if len(self._line) >= self._slots + MOST_WAITING:
                raise GenerationError(f"{MOST_WAITING} others are waiting already: try again later", "busy")
            self._line.append(ticket)
        try:
            yield Place(self, ticket)
        finally:
            with self._changed:
                self._line.remove(ticket)
                self._changed.notify_all()

    def ahead(self, ticket: object, patience: float = 0.0) -> int:
        """How many have to end before this one's turn, 0 when it has come; waits a little for that."""
        with self._changed:
            self._changed.wait_for(lambda: self._line.index(ticket) < self._slots, patience)
            return max(0, self._line.index(ticket) - self._slots + 1)


class Place:
    """One run's place in the queue."""

    def __init__(self, turns: Turns, ticket: object) -> None:
        self._turns = turns
        self._ticket = ticket

    def wait(self, stop: Stop) -> Iterator[int]:
        """The number of those ahead, again and again, until the turn has come or the run is stopped."""
        while not stop.reason and (ahead := self._turns.ahead(self._ticket, POLL)):
            yield ahead
