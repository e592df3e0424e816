"""What the tab "Leaderboard" calls: the shipped verdicts, filtered, and made again on demand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from formats.types import JsonObject
from formats.web import words
from formats.web.components import word
from formats.web.quick_import import gr

if TYPE_CHECKING:
    from formats.leaderboard import Leaderboard, Row

ANY = "any"
NONE = "none"
HEADERS = ("board.template", "scores.stars", "board.tools", "board.output", "board.format", "board.worst")
MOST_ROWS = 1000
MOST_CHARACTERS = 200  # of a search


class Ranking:
    """The listeners of the tab; one for all visitors."""

    def __init__(self, jobs: int = 2) -> None:
        self.jobs = jobs

    @cached_property
    def board(self) -> Leaderboard:
        from formats import leaderboard

        return leaderboard.load()

    def choices(self) -> list[Any]:
        """What the table is made from, and the values of the filters."""
        from formats.checks import CHECKS

        about, rows = self.board.about, self.board.rows
        versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
        text = words.html(
            "board.about",
            n=len(rows),
            source=about["source"],
            checks=len(CHECKS),
            date=about["date"],
            versions=versions,
        )
        any_one = (word("board.any"), ANY)
        formats = sorted({row["format"] for row in rows if row["format"]})
        return [
            text,
            gr.Dropdown(choices=[any_one, (word("board.none"), NONE), *formats]),
            gr.Dropdown(choices=[any_one, *sorted({_publisher(row) for row in rows}, key=str.casefold)]),
            gr.Dropdown(choices=[any_one, *((check.title, check.name) for check in CHECKS.values())]),
        ]

    def outcomes(self, check: Any) -> gr.Dropdown:
        """The outcomes that a check had, for the last filter."""
        found = sorted({str(row[check]) for row in self.board.rows if row.get(check)}) if isinstance(check, str) else []
        return gr.Dropdown(choices=[(word("board.any"), ANY), *found], value=ANY)

    def rows(
        self, query: Any, stars: Any, format: Any, family: Any, check: Any, outcome: Any, language: Any
    ) -> JsonObject:
        """The table in the visitor's language: the rows that pass every filter, the best first."""
        asked = str(query or "")[:MOST_CHARACTERS].casefold().split()
        kept = [
            row
            for row in self.board.rows
            if all(part in _names(row) for part in asked)
            and stars in (ANY, str(row["stars"]))
            and format in (ANY, row["format"] or NONE)
            and family in (ANY, _publisher(row))
            and (check == ANY or outcome in (ANY, row.get(check)))
        ]
        kept.sort(key=lambda row: (-(row["stars"] or 0), -_sum(row), row["name"].casefold()))
        return {
            "headers": [words.text(language, key) for key in HEADERS],
            "data": [_cells(row, language) for row in kept[:MOST_ROWS]],
        }

    def again(self, *filters: Any, progress: gr.Progress = gr.Progress()) -> Iterator[list[Any]]:  # noqa: B008 (Gradio's own way)
        """Judge every template anew, with a progress bar; the new rows replace the shipped ones in this process."""
        from formats import audit
        from formats.cli.audit import about, from_snapshot
        from formats.leaderboard import Leaderboard

        yield [gr.skip(), gr.skip(), gr.Button(visible=False), gr.Button(visible=True)]
        entries = list(from_snapshot())
        done: list[Row] = []
        for row in audit.audit(entries, jobs=self.jobs):
            done.append(row)
            progress(
                (len(done), len(entries)),
                desc=words.text(filters[-1], "board.judging"),
                unit=words.text(filters[-1], "board.templates"),
            )
        self.board = Leaderboard(about(), tuple(sorted(done, key=lambda row: row["name"])))
        text = self.choices()[0]
        yield [text, self.rows(*filters), gr.Button(visible=True), gr.Button(visible=False)]


def _sum(row: Row) -> int:
    return int(row["tool_support"] or 0) + int(row["output_format"] or 0)


def _publisher(row: Row) -> str:
    return row["repo"].split("/")[0] if row["repo"] else "llama.cpp"


def _names(row: Row) -> str:
    return " ".join((row["name"], row["repo"] or "", *row["aliases"])).casefold()


def _cells(row: Row, language: Any) -> list[Any]:
    more = " " + words.text(language, "board.same_text", n=len(row["aliases"])) if row["aliases"] else ""
    worst = row["error"] or row["worst"]
    return [
        f"{row['repo'] or row['name']}{more}",
        row["stars"],
        row["tool_support"],
        row["output_format"],
        row["format"] or words.text(language, "board.none"),
        worst,
    ]
