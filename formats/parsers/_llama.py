"""The tokens of Llama 3 and 4 around calls, and sometimes around text."""

from __future__ import annotations

from collections.abc import Callable

from formats.parsers.base import Handler
from formats.reading.reader import Reader, Wait

TAG, START, END = "<|python_tag|>", "<|python_start|>", "<|python_end|>"
STOPS = ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|eot|>", "<|eom|>")

PayloadReader = Callable[[Reader, int], Wait[bool]]  # reads the calls at a position; False where there are none


class Wrappers:
    """The wrapper tokens of one output. `payload` reads the calls behind an opening one.

    Llama 4's own template puts START and END around the text in front of calls,
    models put them around the calls. Without calls behind it, START is markup
    only where the turn's text begins, right in front of it.
    """

    def __init__(self, payload: PayloadReader) -> None:
        self._payload = payload
        self._text_wrapped = False

    @property
    def openers(self) -> dict[str, Handler]:
        return {TAG: self._tag, START: self._start, END: self._end}

    def _tag(self, reader: Reader) -> Wait[bool]:
        inside = yield from reader.past_space(reader.at + len(TAG))
        return (yield from self._payload(reader, inside))

    def _start(self, reader: Reader) -> Wait[bool]:
        behind = reader.at + len(START)
        inside = yield from reader.past_space(behind)
        if (yield from self._payload(reader, inside)):
            return True
        if reader.in_text() or reader.calls or inside > behind or behind == reader.size:
            return False
        reader.take("markup", behind)
        self._text_wrapped = True
        return True

    def _end(self, reader: Reader) -> Wait[bool]:
        yield from ()
        behind_calls = reader.calls and not reader.in_text()
        if not (self._text_wrapped or behind_calls):
            return False
        self._text_wrapped = False
        reader.take("markup", reader.at + len(END))
        return True
