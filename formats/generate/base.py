"""The nouns of generation: what is asked of a backend, what it answers, and how a run is told to end."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event
from typing import Literal, Protocol

from formats.errors import FormatsError

DEFAULT = "HuggingFaceTB/SmolLM2-135M-Instruct"  # the model that stands in where none is named
MOST_TOKENS = 4096  # that one run may ask for
MOST_STOPS = 16
LONGEST_STOP = 100  # characters
RUN_SECONDS = 120.0  # that one run may hold a model
POLL = 0.05  # seconds after which a backend that has nothing to say hands back control

StopReason = Literal["end", "stop", "length", "stopped", "time"]


class GenerationError(FormatsError):
    """Nothing, or only a part, was generated: not_installed, server_down, prompt_too_long, out_of_memory, ..."""

    kind = "generation_failed"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen. Temperature 0 is greedy: top_p and seed then have no say."""

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()  # strings at which the output ends; they are no part of it

    def __post_init__(self) -> None:
        if not 1 <= self.max_tokens <= MOST_TOKENS:
            raise FormatsError(f"max_tokens needs a number from 1 to {MOST_TOKENS}, not {self.max_tokens}", "bad_input")
        if not (math.isfinite(self.temperature) and 0 <= self.temperature <= 5):
            raise FormatsError(f"temperature needs a number from 0 to 5, not {self.temperature}", "bad_input")
        if not 0 < self.top_p <= 1:
            raise FormatsError(f"top_p needs a number above 0 and up to 1, not {self.top_p}", "bad_input")
        if not 0 <= self.seed < 2**32:
            raise FormatsError(f"seed needs a whole number from 0 to {2**32 - 1}, not {self.seed}", "bad_input")
        if len(self.stop) > MOST_STOPS or any(not 0 < len(stop) <= LONGEST_STOP for stop in self.stop):
            raise FormatsError(f"up to {MOST_STOPS} stop strings of 1 to {LONGEST_STOP} characters", "bad_input")


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a backend has to say since the last one; nothing at all, at least every POLL seconds, while it works."""

    text: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class End:
    """The last thing a backend says."""

    reason: StopReason
    stopped_by: str = ""  # the end token or the stop string, where it is known
    prompt_tokens: int | None = None  # as the backend counted them
    tokens: int | None = None  # that were generated, with the one that ended it; None where nobody counted


class Stop:
    """Why a run has to end, if it has to. Any thread may set it or ask; `start` begins the time it may take."""

    def __init__(self, seconds: float = RUN_SECONDS) -> None:
        self._seconds = seconds
        self._deadline = math.inf
        self._asked = Event()

    def start(self) -> None:
        self._deadline = time.monotonic() + self._seconds

    def now(self) -> None:
        """End the run; a second time changes nothing."""
        self._asked.set()

    @property
    def reason(self) -> StopReason | None:
        if self._asked.is_set():
            return "stopped"
        return "time" if time.monotonic() > self._deadline else None


class Backend(Protocol):
    """Something that continues a text."""

    name: str  # of the model
    where: Literal["process", "server"]

    def ids(self, prompt: str) -> list[int] | None:
        """The token ids that the prompt is sent as; None where it is sent as text."""
        ...

    def stream(self, prompt: str, sampling: Sampling, stop: Stop) -> Iterator[Chunk | End]:
        """Continue exactly this text. Ends with an End, soon after `stop` has a reason; raises GenerationError."""
        ...
