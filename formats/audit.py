"""Every check over many templates, in parallel: one row a template.

Each template is judged in a worker process under a limit of time and memory, so
that a broken or endless one costs its own row alone. Rows are kept in a file
beside the output as they come; an audit that was stopped goes on where it was.
"""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import resource
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import TimeoutError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessPool

from formats import template as chat
from formats.checks import CHECKS
from formats.errors import FormatsError
from formats.types import LoadedModel
from formats.verdict import judge, worst

SECONDS = 60.0  # of wall clock, for all checks of one template
MEGABYTES = 2048  # of address space that a worker may grow by

Row = dict[str, Any]
COLUMNS = ("name", "repo", "aliases", "sha256", "format", "stars", "tool_support", "output_format", "worst", "error")


@dataclass(frozen=True, slots=True)
class Entry:
    """A template to judge, and what its row says of where it comes from."""

    name: str
    model: LoadedModel
    sha256: str
    repo: str | None = None
    aliases: tuple[str, ...] = ()


def audit(entries: Iterable[Entry], jobs: int = 2, seconds: float = SECONDS) -> Iterator[Row]:
    """A row for each entry, in the order in which they are done."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["formats.audit"])
    with ProcessPool(max_workers=jobs, initializer=_limit, context=context) as pool:
        waiting = [(entry, pool.schedule(_judged, args=(entry.model,), timeout=seconds)) for entry in entries]
        for entry, future in waiting:
            try:
                result = future.result()
            except TimeoutError:
                result = {"error": f"stopped after {seconds:g} s"}
            except ProcessExpired:
                result = {"error": "the process that judged it ended under it"}
            except Exception as error:  # ours: it costs this row, not the audit
                result = {"error": f"a fault of this app, not of the template: {type(error).__name__}: {error}"}
            yield {**_blank(entry), **result}


def _blank(entry: Entry) -> Row:
    row: Row = dict.fromkeys((*COLUMNS, *CHECKS))
    row.update(name=entry.name, repo=entry.repo, aliases=list(entry.aliases), sha256=entry.sha256)
    return row


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class _Here:
    """The worker is the sandbox: it is limited and can be killed as a whole."""

    render = staticmethod(chat.render)


def _judged(model: LoadedModel) -> Row:
    try:
        found = judge(model, _Here())
    except FormatsError as error:
        return {"error": error.message}
    except MemoryError:
        return {"error": f"stopped: it needs more than {MEGABYTES} MB of memory"}
    return {
        "format": found.format,
        "stars": found.score.stars,
        "tool_support": found.score.tool_support,
        "output_format": found.score.output_format,
        "worst": worst(found),
        **{finding.check: finding.outcome for finding in found.findings},
    }


def resumed(entries: Iterable[Entry], kept: Path, run: Callable[[list[Entry]], Iterator[Row]]) -> Iterator[Row]:
    """The rows of all entries: those that `kept` holds from an earlier run, then new ones, which are added to it.

    A row is taken over only if the template and the set of checks are the same.
    """
    done = {row["sha256"]: row for row in _rows(kept) if set(row) == {*COLUMNS, *CHECKS}}
    left: list[Entry] = []
    for entry in entries:
        if entry.sha256 in done:
            yield done[entry.sha256]
        else:
            left.append(entry)
    with kept.open("a", encoding="utf-8") as file:
        for row in run(left):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            yield row


def _rows(kept: Path) -> Iterator[Row]:
    if not kept.exists():
        return
    for line in kept.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # the line that was being written when the run was stopped
            continue


def to_csv(rows: Iterable[Row]) -> str:
    """Rows as CSV, one column a check; cells that a spreadsheet would compute are made text."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [*COLUMNS, *CHECKS], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return out.getvalue()


def _cell(value: Any) -> Any:
    text = " ".join(value) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def to_json(rows: Iterable[Row]) -> str:
    """Rows as a JSON list of objects, one a line."""
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
