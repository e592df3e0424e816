"""Verdicts -> escaped HTML: the matrix of checks, one finding with its proof, the rating on a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from markupsafe import Markup, escape

from formats.checks import CHECKS, explanation
from formats.checks.base import Check
from formats.fixes import FIXES
from formats.types import Evidence, Finding, Score, Status, Verdict
from formats.verdict import worst
from formats.web import views

GROUPS = (
    "Tool definitions",
    "Call instructions",
    "History",
    "Output format",
    "Nothing added",
    "Turn behaviour",
    "Text",
)
AROUND = 4000  # characters of a proof that are shown before and after the decisive range


@dataclass(frozen=True, slots=True)
class Row:
    """One model in the matrix: its verdict, or why there is none, or neither while it is being checked."""

    model: str
    title: str
    score: Score | None = None
    found: Mapping[str, Finding] = field(default_factory=dict)
    error: str = ""


def row(verdict: Verdict, model: str) -> Row:
    return Row(model, verdict.title, verdict.score, {finding.check: finding for finding in verdict.findings})


def matrix(rows: Sequence[Row]) -> Markup:
    """Models by checks, with the outcome in each cell."""
    order = sorted(CHECKS.values(), key=lambda check: (GROUPS.index(check.group), -check.weight))
    groups = [(group, list(checks)) for group, checks in groupby(order, key=lambda check: check.group)]
    return views.filled("matrix.html", rows=rows, groups=groups, mark=mark)


def mark(finding: Finding) -> str:
    """The colour of an outcome, by name: good, half, bad, told, none."""
    if finding.status is Status.SKIP:
        return "none"
    if CHECKS[finding.check].score is None:
        return "told" if finding.status is Status.PASS else "half"
    if finding.status is Status.PASS:
        return "good"
    return "half" if finding.points else "bad"


def finding(found: Finding, title: str) -> Markup:
    """One finding: what is asked and why, what was found, and the renders that prove it."""
    check: Check = CHECKS[found.check]
    paragraphs = [_code(" ".join(paragraph.split())) for paragraph in explanation(check).split("\n\n")]
    return views.filled(
        "finding.html",
        finding=found,
        check=check,
        title=title,
        mark=mark(found),
        paragraphs=paragraphs,
        remedies=[fix for fix in FIXES.values() if check.name in fix.checks] if found.status is Status.FAIL else [],
        evidence=[_proof(evidence) for evidence in found.evidence],
    )


def _code(text: str) -> Markup:
    """Text with what stands between backticks as code."""
    pieces = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(p) if i % 2 else escape(p) for i, p in enumerate(pieces))


def _proof(evidence: Evidence) -> dict[str, str]:
    text, start, end = evidence.text, evidence.start, evidence.end
    if start is None or end is None:
        return {"label": evidence.label, "before": _cut_end(text), "marked": "", "after": ""}
    before = text[:start] if start <= AROUND else "…" + text[start - AROUND : start]
    return {"label": evidence.label, "before": before, "marked": text[start:end], "after": _cut_end(text[end:])}


def _cut_end(text: str) -> str:
    return text if len(text) <= AROUND else text[:AROUND] + "…"


def rating(verdict: Verdict) -> Markup:
    """Stars, scores and the worst finding, for a card of the comparison."""
    return views.filled("rating.html", score=verdict.score, worst=worst(verdict))
