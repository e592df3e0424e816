"""One output, read as it comes: backend -> text up to a stop string -> content, reasoning and calls."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from formats.generate.base import Backend, Chunk, End, Sampling, Stop, StopReason
from formats.parsers.base import OutputFormat
from formats.reading.stream import Delta
from formats.types import ParsedOutput, ToolDefinition


@dataclass(frozen=True, slots=True)
class Reading:
    """How an output is to be read."""

    format: OutputFormat
    tools: Sequence[ToolDefinition] = ()
    prompt_suffix: str = ""  # what the prompt ends with for the model's turn
    begun: str = ""  # the beginning of the turn, where the prompt holds it and the model goes on


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds on a clock that never goes back; tokens per second leave the time to the first token out."""

    first_token: float | None
    total: float
    tokens_per_second: float | None


@dataclass(frozen=True, slots=True)
class Piece:
    """What has come since the last event: text, what the parser is certain of now, and the figures so far."""

    text: str
    delta: Delta
    tokens: int
    timings: Timings


@dataclass(frozen=True, slots=True)
class Output:
    """Everything about one generation."""

    prompt: str
    prompt_ids: int | None  # the number of ids that were sent; None where text was sent and nobody counts
    server_prompt_tokens: int | None  # as a server counted the prompt
    text: str
    parsed: ParsedOutput  # of the turn: what the prompt had begun and the text
    tokens: int
    timings: Timings
    stop_reason: StopReason
    stopped_by: str
    sampling: Sampling


@dataclass(slots=True)
class _Clock:
    """Counts tokens and time."""

    start: float = field(default_factory=time.monotonic)
    first: float | None = None
    last: float = 0.0
    tokens: int = 0
    first_tokens: int = 0  # that came together with the first one

    def add(self, tokens: int) -> None:
        if tokens:
            self.last = time.monotonic()
            self.tokens += tokens
            if self.first is None:
                self.first, self.first_tokens = self.last, tokens

    def timings(self) -> Timings:
        now = time.monotonic()
        if self.first is None:
            return Timings(None, now - self.start, None)
        later, seconds = self.tokens - self.first_tokens, self.last - self.first
        return Timings(self.first - self.start, now - self.start, later / seconds if later and seconds else None)


class StopStrings:
    """Gives text on as far as it cannot be the beginning of a stop string."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = stops
        self._longest = max(map(len, stops), default=0)
        self._held = ""
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """The text that is certain. Once one is found nothing more is."""
        if self.found is not None:
            return ""
        self._held += text
        hits = [(place + len(stop), place, stop) for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if hits:
            _, place, self.found = min(hits)  # the one that is whole first
            certain, self._held = self._held[:place], ""
            return certain
        keep = next((n for n in range(min(self._longest - 1, len(self._held)), 0, -1) if self._may_begin(n)), 0)
        cut = len(self._held) - keep
        certain, self._held = self._held[:cut], self._held[cut:]
        return certain

    def _may_begin(self, length: int) -> bool:
        return any(stop.startswith(self._held[-length:]) for stop in self._stops)

    def rest(self) -> str:
        """What was held back, at the end of the output."""
        rest, self._held = self._held, ""
        return rest


def generate(
    backend: Backend, prompt: str, ids: int | None, reading: Reading, sampling: Sampling, stop: Stop
) -> Iterator[Piece | Output]:
    """Continue the prompt: pieces as they come, an empty one at least every tenth of a second, and the output at last.

    `ids` is how many ids the backend sends. Raises GenerationError.
    """
    clock, stops = _Clock(), StopStrings(sampling.stop)
    stream = reading.format.stream(reading.tools, reading.prompt_suffix)
    begun = stream.feed(reading.begun)
    text, end = "", End("stopped")
    source = backend.stream(prompt, sampling, stop)
    for said in source:
        if isinstance(said, End):
            end = said
            break
        clock.add(said.tokens)
        certain = stops.feed(said.text)
        text += certain
        delta = _joined(begun, stream.feed(certain))
        begun = Delta()
        yield Piece(certain, delta, clock.tokens, clock.timings())
        if stops.found is not None:
            end = End("stop", stops.found)
            break
    _close(source)
    rest = stops.rest()
    text += rest
    yield Piece(rest, _joined(stream.feed(rest), stream.close()), clock.tokens, clock.timings())
    yield Output(
        prompt=prompt,
        prompt_ids=ids,
        server_prompt_tokens=end.prompt_tokens if backend.where == "server" else None,
        text=text,
        parsed=stream.result(),
        tokens=end.tokens if end.tokens is not None else clock.tokens,
        timings=clock.timings(),
        stop_reason=end.reason,
        stopped_by=end.stopped_by,
        sampling=sampling,
    )


def _close(source: Iterator[Chunk | End]) -> None:
    """Let the backend end what nobody listens to any more."""
    if isinstance(source, Iterator) and hasattr(source, "close"):
        source.close()


def _joined(one: Delta, two: Delta) -> Delta:
    return Delta(one.content + two.content, one.reasoning + two.reasoning, one.calls + two.calls)
