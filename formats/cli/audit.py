"""audit --out FILE: every check over many templates, with a progress bar; a stopped audit goes on where it was."""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from formats import audit, compare, leaderboard
from formats.audit import Entry
from formats.snapshot import packages, templates
from formats.types import LoadedModel, Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--templates", default="snapshot", metavar="DIR|snapshot", help="a folder of .jinja files (snapshot)"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.csv|.json", help="where the rows go")
    parser.add_argument(
        "--packed", action="store_true", help="with versions and date, as the page's leaderboard is kept (.json)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="worker processes")


def run(args: argparse.Namespace) -> int:
    """0: every template has its row; 2: the call is wrong."""
    if args.out.suffix not in (".csv", ".json"):
        print(f"audit: {args.out}: the name must end in .csv or .json", file=sys.stderr)
        return 2
    if args.packed and args.out.suffix != ".json":
        print(f"audit: {args.out}: --packed writes .json", file=sys.stderr)
        return 2
    if args.templates != "snapshot" and not Path(args.templates).is_dir():
        print(f"audit: {args.templates}: no such folder", file=sys.stderr)
        return 2
    if not args.out.parent.is_dir():
        print(f"audit: {args.out.parent}: no such folder", file=sys.stderr)
        return 2
    entries = list(from_snapshot() if args.templates == "snapshot" else from_folder(Path(args.templates)))
    kept = args.out.with_suffix(".partial.jsonl")
    rows = audit.resumed(entries, kept, lambda left: audit.audit(left, max(1, args.jobs)))
    done = list(tqdm(rows, total=len(entries), unit="template", file=sys.stderr, mininterval=1.0))
    done.sort(key=lambda row: row["name"])
    if args.packed:
        text = leaderboard.pack(done, about())
    else:
        text = audit.to_csv(done) if args.out.suffix == ".csv" else audit.to_json(done)
    args.out.write_text(text, encoding="utf-8")
    kept.unlink(missing_ok=True)
    failed = sum(row["error"] is not None for row in done)
    print(f"{len(done)} templates, {failed} of them without a verdict: {args.out}", file=sys.stderr)
    return 0


def about() -> dict[str, object]:
    """What a reader must know to make the same rows again."""
    source = f"{templates.PACKAGE} {packages.version(templates.PACKAGE)}"
    return {"date": datetime.date.today().isoformat(), "source": source, "versions": dict(compare.versions())}


def from_snapshot() -> Iterator[Entry]:
    """Every template of the snapshot once, however many names it has."""
    seen: set[str] = set()
    for template in templates.entries():
        if template.sha256 not in seen:
            seen.add(template.sha256)
            model = template_alone(template.name, templates.text(template.file), template.sha256)
            yield Entry(template.name, model, template.sha256, template.repo, template.aliases)


def from_folder(folder: Path) -> Iterator[Entry]:
    """Every .jinja file of a folder; one that is no text gets its row too."""
    for path in sorted(folder.rglob("*.jinja")):
        raw = path.read_bytes()
        name, digest = path.relative_to(folder).with_suffix("").as_posix(), hashlib.sha256(raw).hexdigest()
        yield Entry(name, template_alone(name, raw.decode("utf-8", "replace"), digest), digest)


def template_alone(name: str, text: str, sha256: str) -> LoadedModel:
    """A template without a tokenizer, and with visible placeholders for its special tokens."""
    return LoadedModel(
        name, name, {"default": text}, templates.placeholders(text), Source("file", template_sha256=sha256)
    )
