"""The engine as the page calls it: imported at the first call, since the page is served before that takes a second."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from formats.errors import FormatsError
from formats.types import Comparison, Conversation, LoadedModel

if TYPE_CHECKING:
    from formats.sandbox import Sandbox
    from formats.snapshot import Entry


class Engine:
    """Loads, compares and searches; `allow_files` lets a model be a file or folder of this machine."""

    def __init__(self, allow_files: bool = False) -> None:
        self.allow_files = allow_files

    def load(self, name: str, token: str | None = None) -> LoadedModel:
        """`token` is the visitor's own token of the Hub."""
        from formats import sources

        return sources.load(name, token=token, allow_files=self.allow_files)

    def compare(
        self,
        conversation: Conversation,
        loaded: Sequence[LoadedModel | tuple[str, FormatsError]],
        today: datetime.date,
    ) -> Comparison:
        from formats.compare import compare

        return compare(conversation, loaded, today, self.sandbox)

    def search(self, query: str) -> list[Entry]:
        from formats import snapshot

        return snapshot.search(query)

    @cached_property
    def sandbox(self) -> Sandbox:
        from formats.sandbox import Sandbox

        return Sandbox()
