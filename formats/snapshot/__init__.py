"""Real templates and tokenizers out of installed data packages, for when the Hub cannot be reached.

Every file is checked against a sha256 of ours: a package that has changed is an
error in words, never a silently other result.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping

from formats.errors import FormatsError, ModelError
from formats.models import CARDS, ModelCard, PackageFile, Reconstruction, TokenizerFile, find
from formats.snapshot import packages, templates, vocabulary
from formats.snapshot.templates import Entry, known_sha256, placeholders, search
from formats.tokens import TokenizerFast
from formats.types import LoadedModel, Source, SourceFile, Tokenizer, Tokens

__all__ = [
    "SCHEME",
    "Entry",
    "has",
    "known_sha256",
    "load",
    "load_template",
    "names",
    "nearest",
    "placeholders",
    "repos",
    "search",
]

SCHEME = "snapshot:"
NEEDS_HUB = "no installed data package carries this model's tokenizer: the count needs the Hub"
UNKNOWN_OWNER = "this is a template alone: which tokenizer belongs to it is known on the Hub only"


def names() -> list[str]:
    """The name of every template of the package, without the scheme."""
    return [entry.name for entry in templates.entries()]


def repos() -> list[str]:
    """Every Hub id that has its template in the package; none where the package is not installed."""
    try:
        return [repo for entry in templates.entries() for repo in entry.ids]
    except ModelError:
        return []


def has(repo: str) -> bool:
    """Whether the package has the template of that Hub id."""
    try:
        return templates.find(repo) is not None
    except ModelError:
        return False


def load(card: ModelCard) -> LoadedModel:
    """A model of the catalogue from the packages its card names.

    Raises ModelError: package_missing, package_changed.
    """
    read = {key: _read_template(source) for key, source in card.templates.items()}
    main = "default" if "default" in read else next(iter(read))
    tokenizer, missing, tokenizer_files = _tokenizer(card.tokenizer)
    return LoadedModel(
        name=card.name,
        title=card.title,
        templates={key: text for key, (text, _) in read.items()},
        special_tokens=card.special_tokens,
        source=Source(
            kind="snapshot",
            repo=card.repo,
            template_sha256=_sha256(read[main][0]),
            files=(*(file for _, files in read.values() for file in files), *tokenizer_files),
            note=card.note,
        ),
        tokenizer=tokenizer,
        tokens_missing=missing,
        pinned=True,
        family=card.family,
        licence=card.licence,
        template_kwargs=card.template_kwargs,
    )


def load_template(name: str) -> LoadedModel:
    """One of the package's templates by its name, Hub id or alias, with or without "snapshot:" before it.

    Where a card of the catalogue is about the very same model, its special tokens and tokenizer are used; else the
    special tokens are visible placeholders. Raises ModelError: not_found, package_missing, package_changed.
    """
    wanted = name.strip().removeprefix(SCHEME)
    entry = templates.find(wanted)
    if entry is None:
        raise ModelError(
            f"no template of {templates.PACKAGE} is called {wanted!r}{nearest(wanted, names())}", "not_found"
        )
    text = templates.text(entry.file)
    card = _card_of(entry, wanted)
    special = card.special_tokens if card is not None else placeholders(text)
    tokenizer, missing, tokenizer_files = _tokenizer(card.tokenizer) if card is not None else (None, UNKNOWN_OWNER, ())
    return LoadedModel(
        name=f"{SCHEME}{entry.name}",
        title=entry.name,
        templates={"default": text},
        special_tokens=special,
        source=Source(
            kind="snapshot",
            repo=entry.repo,
            template_sha256=_sha256(text),
            files=(packages.source_file("template", entry.file), *tokenizer_files),
            note=_note(entry, wanted, special if card is None else {}),
        ),
        tokenizer=tokenizer,
        tokens_missing=missing,
        pinned=True,
        family=card.family if card is not None else "",
        licence=card.licence if card is not None else "",
        template_kwargs=card.template_kwargs if card is not None else {},
    )


class Countable:
    """A tokenizer that lacks some of a model's added tokens: it refuses texts that may hold one, with the reason."""

    def __init__(self, tokenizer: Tokenizer, uncounted: str, reason: str) -> None:
        self.special_tokens = tokenizer.special_tokens
        self._tokenizer = tokenizer
        self._uncounted = re.compile(uncounted)
        self._reason = reason

    def ids(self, text: str) -> list[int]:
        """Raises FormatsError (tokens_unknown)."""
        self._check(text)
        return self._tokenizer.ids(text)

    def tokens(self, text: str) -> Tokens:
        """Raises FormatsError (tokens_unknown)."""
        self._check(text)
        return self._tokenizer.tokens(text)

    def _check(self, text: str) -> None:
        if self._uncounted.search(text):
            raise FormatsError(self._reason, "tokens_unknown")


def _tokenizer(file: TokenizerFile | None) -> tuple[Tokenizer | None, str | None, tuple[SourceFile, ...]]:
    """The tokenizer, or the reason there is none, and the file it came from."""
    if file is None:
        return None, NEEDS_HUB, ()
    tokenizer: Tokenizer = TokenizerFast(vocabulary.load(file))
    if file.uncounted is not None:
        tokenizer = Countable(tokenizer, file.uncounted, file.uncounted_reason)
    config = (packages.source_file("config", file.config),) if file.config is not None else ()
    return tokenizer, None, (packages.source_file("tokenizer", file.source), *config)


def _read_template(source: PackageFile | Reconstruction) -> tuple[str, tuple[SourceFile, ...]]:
    if isinstance(source, PackageFile):
        return templates.text(source), (packages.source_file("template", source),)
    return source.text, ()


def _card_of(entry: Entry, wanted: str) -> ModelCard | None:
    """The card about the very model that was asked for.

    A shared text alone is no proof: fine-tunes keep a template and change their tokens.
    """
    if _is_alias(entry, wanted):
        return find(wanted)
    if entry.repo is not None:
        return find(entry.repo)
    return next((card for card in CARDS.values() for id in card.ids if id.replace("/", "-") == entry.name), None)


def _is_alias(entry: Entry, wanted: str) -> bool:
    own = {entry.name.casefold(), (entry.repo or "").casefold()}
    return wanted.casefold() not in own


def _note(entry: Entry, wanted: str, stand_ins: Mapping[str, str]) -> str:
    notes = []
    if entry.origin == "llama.cpp":
        notes.append("llama.cpp's copy")
    if _is_alias(entry, wanted):
        notes.append(f"the text that {wanted} shares")
    if stand_ins:
        notes.append(f"nobody here knows its special tokens: {', '.join(stand_ins.values())} stand in their places")
    return "; ".join(notes)


def nearest(name: str, among: Iterable[str]) -> str:
    """The end of a sentence that says what would have been found: '; did you mean ...?', or nothing."""
    by_key = {candidate.casefold(): candidate for candidate in among}
    close = difflib.get_close_matches(name.casefold(), by_key, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(by_key[key] for key in close)}?" if close else ""


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
