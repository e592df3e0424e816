"""Which objects in a text look like calls: found in one pass, nested ones included."""

from __future__ import annotations

from dataclasses import dataclass, field

from formats.reading.json_text import JsonScanner


@dataclass(slots=True)
class _Object:
    start: int
    key: str = ""  # the last one
    has_name: bool = False
    has_arguments: bool = False

    @property
    def is_call(self) -> bool:
        return self.has_name and self.has_arguments


@dataclass(slots=True)
class CallFinder(JsonScanner):
    """Reads an object that is JSON or nearly JSON until it is certain whether it is a call.

    A call has a name that is a string, and arguments, whatever they are. The
    scanner stops as soon as the outermost object has both, and otherwise where
    the object ends or breaks.
    """

    lenient: bool = True
    name_keys: tuple[str, ...] = ("name",)
    argument_keys: tuple[str, ...] = ("arguments", "parameters")
    is_call: bool = False  # the outermost object is one
    single_quotes: bool = False  # some string has them: no JSON, maybe prose
    starts: list[int] = field(default_factory=list)  # where objects begin, nested ones included
    _calls: list[int] = field(default_factory=list)
    _open: list[_Object | None] = field(default_factory=list)  # as the stack; None for a list
    _key: list[str] = field(default_factory=list)

    @property
    def calls(self) -> list[int]:
        """Where calls begin, those inside another call left out."""
        unfinished = next((o.start for o in self._open if o and o.is_call), None)
        return self._calls if unfinished is None else [c for c in self._calls if c < unfinished] + [unfinished]

    def end(self) -> None:
        if self._word:  # the beginning of a word where none may stand is enough
            self._close_word()

    def _string(self, text: str, position: int) -> int:
        is_key = self.at_key
        end = JsonScanner._string(self, text, position)
        if is_key:
            self._key.append(text[position:end])
        if not self.in_string and not self.broken:
            self._string_ended(is_key)
        return end

    def _string_ended(self, is_key: bool) -> None:
        current = self._open[-1]
        if current is None:
            return
        if is_key:
            current.key = "".join(self._key)[:-1]
            self._key.clear()
            current.has_arguments |= current.key in self.argument_keys
        else:
            current.has_name |= current.key in self.name_keys
        self.is_call = self.done = bool(self._open[0] and self._open[0].is_call)

    def _mark(self, text: str, position: int, base: int) -> int:
        depth = self.depth
        end = JsonScanner._mark(self, text, position, base)
        self.single_quotes |= self.in_string and self._quote == "'"
        if self.depth > depth:
            is_object = text[position] == "{"
            self._open.append(_Object(base + position) if is_object else None)
            if is_object:
                self.starts.append(base + position)
        elif self.depth < depth:
            self._close(self._open.pop())
        return end

    def _close(self, closed: _Object | None) -> None:
        if closed and closed.is_call:
            while self._calls and self._calls[-1] > closed.start:
                self._calls.pop()
            self._calls.append(closed.start)
