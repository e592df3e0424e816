"""An output read in pieces: what may be shown now, and what is certain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from formats.reading.reader import Reader, Wait
from formats.types import ParsedOutput, ParsedToolCall, SegmentKind, ToolDefinition


@dataclass(frozen=True, slots=True)
class Delta:
    """What one piece added: text that is certain, and the calls that ended."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[ParsedToolCall, ...] = ()


_NOTHING = Delta()


class _Shown:
    """One kind of text as it is shown: runs trimmed, joined by a line break, white space held until more text comes."""

    def __init__(self) -> None:
        self._until = 0  # what was shown of the run ends here; between here and the next text is held white space
        self._in_run = False
        self._any = False

    def add(self, reader: Reader, start: int, end: int) -> str:
        """What is shown of more text of the kind."""
        text = reader.slice(start, end).rstrip()
        if not text:
            return ""
        end = start + len(text)
        if self._in_run:
            text = text if self._until == start else reader.slice(self._until, end)
        else:
            text = ("\n" if self._any else "") + text.lstrip()
            self._in_run = self._any = True
        self._until = end
        return text

    def other(self) -> None:
        """Something else than text of the kind: the run is over."""
        self._in_run = False


class OutputStream:
    """Reads an output piece by piece: feed(piece)..., close(), result().

    However the output is cut, the result equals that of reading it whole, and
    the joined deltas equal the result's content and reasoning.
    """

    def __init__(
        self,
        read: Callable[[Reader], Wait[None]],
        tools: Sequence[ToolDefinition] = (),
        prompt_suffix: str = "",
    ) -> None:
        self._reader = Reader(tools, prompt_suffix)
        self._run = read(self._reader)
        self._shown: dict[SegmentKind, _Shown] = {"content": _Shown(), "reasoning": _Shown()}
        self._until = self._segments_seen = self._calls_seen = 0
        self._advance()

    def feed(self, piece: str) -> Delta:
        """Read one more piece. Raises ValueError after close()."""
        if self._reader.ended:
            raise ValueError("this output has been closed: start a new stream for another one")
        if not piece:
            return Delta()
        self._reader.append(piece)
        self._advance()
        return self._delta()

    def close(self) -> Delta:
        """The output has ended: everything still held is decided. Raises ValueError the second time."""
        if self._reader.ended:
            raise ValueError("this output has been closed already")
        self._reader.ended = True
        self._advance()
        return self._delta()

    def result(self) -> ParsedOutput:
        """Everything read so far; after close() the same as parse() of the whole output."""
        return self._reader.result()

    def _advance(self) -> None:
        try:
            next(self._run)
        except StopIteration:
            self._reader.take("content", self._reader.size)

    def _delta(self) -> Delta:
        reader = self._reader
        if len(reader.calls) == self._calls_seen and (not reader.segments or reader.segments[-1].end == self._until):
            return _NOTHING
        texts: dict[SegmentKind, str] = {"content": "", "reasoning": ""}
        for segment in reader.segments[max(0, self._segments_seen - 1) :]:  # the last one seen may have grown
            if segment.end <= self._until:
                continue
            for kind, shown in self._shown.items():
                if kind == segment.kind:
                    texts[kind] += shown.add(reader, max(segment.start, self._until), segment.end)
                else:
                    shown.other()
            self._until = segment.end
        calls = tuple(reader.calls[self._calls_seen :])
        self._segments_seen, self._calls_seen = len(reader.segments), len(reader.calls)
        return Delta(texts["content"], texts["reasoning"], calls)
