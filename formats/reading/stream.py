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


class _Shown:
    """One kind of text as it is shown: runs trimmed, joined by a line break, white space held until more text comes."""

    def __init__(self, kind: SegmentKind) -> None:
        self.kind = kind
        self._until = 0  # characters of the output already looked at
        self._held = ""  # white space that is shown only when text follows it in the same run
        self._in_run = False
        self._any = False

    def new_text(self, reader: Reader, first_segment: int) -> str:
        shown: list[str] = []
        for segment in reader.segments[first_segment:]:
            if segment.end <= self._until:
                continue
            text = ""
            if segment.kind == self.kind:
                text = self._add(reader.slice(max(segment.start, self._until), segment.end))
            else:
                self._held, self._in_run = "", False
            self._until = segment.end
            shown.append(text)
        return "".join(shown)

    def _add(self, text: str) -> str:
        if not self._in_run:
            text = text.lstrip()
            if not text:
                return ""
            self._held = "\n" if self._any else ""
            self._in_run = self._any = True
        visible = text.rstrip()
        if not visible:
            self._held += text
            return ""
        shown, self._held = self._held + visible, text[len(visible) :]
        return shown


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
        self._content, self._reasoning = _Shown("content"), _Shown("reasoning")
        self._segments_seen = self._calls_seen = 0
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
        first = max(0, self._segments_seen - 1)  # the last segment seen may have grown
        delta = Delta(
            self._content.new_text(self._reader, first),
            self._reasoning.new_text(self._reader, first),
            tuple(self._reader.calls[self._calls_seen :]),
        )
        self._segments_seen, self._calls_seen = len(self._reader.segments), len(self._reader.calls)
        return delta
