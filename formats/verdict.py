"""(loaded model) -> Verdict: every check, the scores and the stars, with the template that was judged.

Templates that a sha256 of ours pins are rendered here, all others in a sandbox.
Nothing here looks at a model's name.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from formats import template as chat
from formats.checks import CHECKS, run_all
from formats.checks.base import Subject
from formats.score import SIDES, score
from formats.types import Conversation, Finding, LoadedModel, Status, Verdict


class Sandbox(Protocol):
    """Where the templates of strangers are rendered."""

    def render(
        self, template: str, conversation: Conversation, special_tokens: Mapping[str, str], today: datetime.date
    ) -> str: ...


def judge(model: LoadedModel, sandbox: Sandbox) -> Verdict:
    """Run every check on a model. Raises Stopped where its template goes over a limit."""
    run = chat.render if model.pinned else sandbox.render
    subject = Subject(model.templates, model.special_tokens, model.tokenizer, model.template_kwargs, run)
    findings = tuple(run_all(subject))
    judged = subject.template
    digest = hashlib.sha256(judged.encode("utf-8", "surrogatepass")).hexdigest()
    return Verdict(
        model=model.name,
        title=model.title,
        source=replace(model.source, template_sha256=digest),
        format=subject.detection.format,
        detection=subject.detection,
        findings=findings,
        score=score(findings),
    )


def lost_points(verdict: Verdict) -> tuple[Finding, ...]:
    """The findings that cost points, the dearest first: by their share of their own score."""
    total = {side: sum(f.of for f in verdict.findings if CHECKS[f.check].score == side) or 1.0 for side in SIDES}
    lost = [finding for finding in verdict.findings if finding.points < finding.of]
    return tuple(sorted(lost, key=lambda f: (f.points - f.of) / total[CHECKS[f.check].score or SIDES[0]]))


def worst(verdict: Verdict) -> str:
    """The dearest finding that is not only skipped, as one plain sentence."""
    findings = lost_points(verdict)
    failed = [finding for finding in findings if finding.status is Status.FAIL]
    return (failed or list(findings))[0].message if findings else "nothing was found that costs points"


def to_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict as plain JSON values."""
    source = verdict.source
    return {
        "model": verdict.model,
        "source": {
            "kind": source.kind,
            "repo": source.repo,
            "revision": source.revision,
            "template_sha256": source.template_sha256,
        },
        "stars": verdict.score.stars,
        "scores": {"tool_support": verdict.score.tool_support, "output_format": verdict.score.output_format},
        "reasons": list(verdict.score.reasons),
        "format": verdict.format,
        "findings": [_finding(finding) for finding in verdict.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check,
        "status": finding.status.value,
        "outcome": finding.outcome,
        "message": finding.message,
        "points": finding.points,
        "of": finding.of,
        "evidence": [{"label": e.label, "text": e.text, "start": e.start, "end": e.end} for e in finding.evidence],
    }
