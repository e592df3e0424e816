"""What can go wrong, worded for the person who sees it.

Every error carries a stable `kind` for programs and a message that says what
happened, where, and what would work. Anything else that is raised is a bug.
"""

from __future__ import annotations

from formats.types import Problem


class FormatsError(Exception):
    """Something the person can understand and act on."""

    kind = "error"

    def __init__(self, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if kind is not None:
            self.kind = kind

    @property
    def problem(self) -> Problem:
        return Problem(self.kind, self.message)


class BadConversation(FormatsError):
    """The typed JSON is not a conversation; `path` is the JSON path of the place, "" for the whole text."""

    kind = "bad_conversation"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path


class TemplateRefused(FormatsError):
    """The template, or transformers on its behalf, does not render this conversation; the words are its own."""

    kind = "template_refused"


class Stopped(FormatsError):
    """A stranger's template went over a limit of time, memory or output size."""

    kind = "timeout"


LOCKED = frozenset({"gated", "not_found"})  # kinds of ModelError that access of one's own to the Hub may undo


class ModelError(FormatsError):
    """A model cannot be had: not_found, gated, no_template, too_large, hub_unreachable, rate_limited, bad_file, ..."""

    kind = "not_found"
