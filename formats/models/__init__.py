"""The catalogue: one TOML file per model. Adding a model is adding a file; nothing else lists them.

A card says where a model lives on the Hub and which installed data package
carries the same template and tokenizer for when the Hub cannot be reached.
The keys of a card are the fields of `ModelCard`; a template is a `PackageFile`
or a `Reconstruction`, the tokenizer a `PackageFile` with the fields of
`TokenizerFile` beside it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file of an installed distribution, and the only content that is accepted for it."""

    package: str  # the distribution's name, as pip knows it
    file: str  # relative to the folder that packages are installed in
    sha256: str
    member: str | None = None  # the file inside a zip archive; the sha256 is the member's then


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """A template written for this catalogue because no package carries the original."""

    text: str


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """The file a tokenizer is built from, and how."""

    source: PackageFile
    format: str = "tokenizer.json"  # or a rule of formats/snapshot for files in another shape
    config: PackageFile | None = None  # a tokenizer_config.json that adds tokens which tokenizer.json lacks
    added_tokens: Mapping[str, str] = field(default_factory=dict)  # reserved token -> the token in its place
    uncounted: str | None = None  # a pattern of texts whose count is not to be had from this file ...
    uncounted_reason: str = ""  # ... and why


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model of the catalogue."""

    name: str  # the file's name
    title: str
    repo: str  # its Hub id
    family: str
    licence: str
    revision: str | None = None  # the 40-digit commit, where it is known; None shows what was resolved
    opening: int | None = None  # its place among the models the page opens with
    aliases: tuple[str, ...] = ()  # Hub ids that share both template and tokenizer
    note: str = ""
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    templates: Mapping[str, PackageFile | Reconstruction] = field(default_factory=dict)
    tokenizer: TokenizerFile | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Every Hub id this card answers to."""
        return (self.repo, *self.aliases)


def _template(table: dict[str, Any]) -> PackageFile | Reconstruction:
    return Reconstruction(**table) if "text" in table else PackageFile(**table)


def _tokenizer(table: dict[str, Any]) -> TokenizerFile:
    source = PackageFile(**{key: table.pop(key) for key in ("package", "file", "sha256", "member") if key in table})
    config = table.pop("config", None)
    return TokenizerFile(source, config=PackageFile(**config) if config is not None else None, **table)


def read_card(path: Path) -> ModelCard:
    """One card; a key it does not know is a TypeError, so that a slip of the pen cannot go unnoticed."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    table["aliases"] = tuple(table.get("aliases", ()))
    table["templates"] = {name: _template(value) for name, value in table.get("templates", {}).items()}
    if "tokenizer" in table:
        table["tokenizer"] = _tokenizer(table["tokenizer"])
    return ModelCard(name=path.stem, **table)


CARDS: Mapping[str, ModelCard] = {path.stem: read_card(path) for path in sorted(Path(__file__).parent.glob("*.toml"))}
OPENING: tuple[str, ...] = tuple(
    card.name for card in sorted(CARDS.values(), key=lambda card: card.opening or 0) if card.opening is not None
)
_BY_NAME = {name.casefold(): card for card in CARDS.values() for name in (*card.ids, card.title, card.name)}


def find(name: str) -> ModelCard | None:
    """The card of that file name, title or Hub id, in any case; None where there is none."""
    return _BY_NAME.get(name.strip().casefold())
