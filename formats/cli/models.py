"""models [--search WORDS]: the catalogue, or the templates of the snapshot that hold all the words."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from formats import snapshot
from formats.models import CARDS, ModelCard, PackageFile
from formats.snapshot import Entry
from formats.types import JsonObject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="a list of objects as JSON")
    parser.add_argument("--search", metavar="WORDS", help="search the snapshot's templates by name, Hub id and alias")


def run(args: argparse.Namespace) -> int:
    """0; 1 where a search finds nothing."""
    if args.search is not None:
        entries = snapshot.search(args.search)
        _print(args.json, [_entry(entry) for entry in entries], [_entry_line(entry) for entry in entries])
        return 0 if entries else 1
    _print(args.json, [_card(card) for card in CARDS.values()], [_card_line(card) for card in CARDS.values()])
    return 0


def _print(as_json: bool, objects: Sequence[JsonObject], lines: Sequence[str]) -> None:
    print(json.dumps(objects, ensure_ascii=False, indent=2) if as_json else "\n".join(lines))


def _card(card: ModelCard) -> JsonObject:
    return {
        "name": card.name,
        "title": card.title,
        "repo": card.repo,
        "revision": card.revision,
        "family": card.family,
        "licence": card.licence,
        "aliases": list(card.aliases),
        "opening": card.opening,
        "note": card.note,
        "offline": {
            "templates": {name: _file(file) for name, file in card.templates.items()},
            "tokenizer": _file(card.tokenizer.source) if card.tokenizer is not None else None,
        },
    }


def _file(source: object) -> JsonObject | None:
    """A package's file; None for a template that was written for the catalogue."""
    if not isinstance(source, PackageFile):
        return None
    return {"package": source.package, "file": source.file, "member": source.member, "sha256": source.sha256}


def _card_line(card: ModelCard) -> str:
    offline = "prompt and tokens" if card.tokenizer is not None else "prompt"
    return f"{card.name:28} {card.repo:44} offline: {offline}"


def _entry(entry: Entry) -> JsonObject:
    return {
        "name": f"{snapshot.SCHEME}{entry.name}",
        "origin": entry.origin,
        "repo": entry.repo,
        "aliases": list(entry.aliases),
        "sha256": entry.sha256,
    }


def _entry_line(entry: Entry) -> str:
    return f"{snapshot.SCHEME}{entry.name:60} {entry.repo or entry.origin}"
