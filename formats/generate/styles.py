"""How tools are told to a model: by its own template, or in plain text for templates that ignore them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from formats.errors import FormatsError
from formats.plain_tools import PLAIN_FORMATS
from formats.types import Conversation

NATIVE = "native"


@dataclass(frozen=True, slots=True)
class Style:
    """One way: what becomes of the conversation, and the format that the output is read in."""

    name: str
    title: str
    rewrite: Callable[[Conversation], Conversation]
    format: str | None  # None: the one that the template teaches


STYLES: Mapping[str, Style] = {
    NATIVE: Style(NATIVE, "The template's own", lambda conversation: conversation, None),
    **{plain.name: Style(plain.name, plain.title, plain.apply, plain.parser) for plain in PLAIN_FORMATS.values()},
}


def find(name: str) -> Style:
    """Raises FormatsError for a name that is none."""
    if name not in STYLES:
        raise FormatsError(
            f"no way of telling tools is called {name[:80]!r}; there are {', '.join(STYLES)}", "bad_input"
        )
    return STYLES[name]
