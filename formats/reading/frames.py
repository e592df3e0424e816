"""The frame around a call: the name in front of its payload, and the marks that close it."""

from __future__ import annotations

from formats.reading.reader import Reader, Wait, marks
from formats.types import CallProblem

NAME_LIMIT = 200  # characters: longer than any name or header, and as much text as is held back for one


def near(reader: Reader, strings: tuple[str, ...], start: int, *, in_line: bool = True) -> Wait[int | None]:
    """Where the first of the strings stands, if it is within 200 characters of `start`, and in its line.

    The end of the output, if that comes first; None if neither does.
    """
    looked_for = marks(strings)
    while True:
        text = reader.peek(start, NAME_LIMIT + looked_for.longest)
        line = text.partition("\n")[0] if in_line else text
        match = looked_for.found.search(text)
        if match and match.start() <= min(len(line), NAME_LIMIT):
            undecided = match.end() == len(text) and not reader.ended  # a longer one may begin where it does
            if not undecided:
                return start + match.start()
        elif len(line) < len(text) or len(text) >= NAME_LIMIT + looked_for.longest:
            return None
        if not (yield from reader.more()) and not match:
            return reader.size


def cut_off(reader: Reader, strings: tuple[str, ...], start: int) -> Wait[bool]:
    """Does the output end at `start`, or in the midst of one of the strings that begins there?"""
    if (yield from reader.sees(strings, start)):
        return False
    rest = reader.peek(start, marks(strings).longest)
    return not rest or (reader.ended and rest in marks(strings).beginnings)


def frame_end(
    reader: Reader, closers: tuple[str, ...], stops: tuple[str, ...] = ()
) -> Wait[tuple[CallProblem | None, int, int]]:
    """How the frame ends whose content ends at the cursor: its problem, the end of the call, the end of its closer.

    A closer that the end of the output cuts off is still the call's.
    """
    end = reader.at
    behind = yield from reader.past_space()
    closer = yield from reader.sees(closers, behind)
    if closer:
        return None, end, behind + len(closer)
    if (yield from cut_off(reader, closers + stops, behind)):
        return CallProblem.UNCLOSED, reader.size if behind < reader.size else end, reader.size
    if (yield from reader.sees(stops, behind)):
        return CallProblem.UNCLOSED, end, end
    return CallProblem.MALFORMED, end, end


def take_closer(reader: Reader, closer: str) -> Wait[None]:
    """Label the closer as markup if it is next, or as much of it as the end of the output left."""
    behind = yield from reader.past_space()
    if (yield from reader.sees((closer,), behind)):
        reader.take("markup", behind + len(closer))
    elif (yield from cut_off(reader, (closer,), behind)):
        reader.take("markup", reader.size)
