"""A verdict as a report card in Markdown: what goes in, what comes out, what costs points and why, what to do."""

from __future__ import annotations

import re

from formats.checks import CHECKS
from formats.parsers import FORMATS
from formats.types import Evidence, Finding, Verdict
from formats.verdict import lost_points, worst

CONTEXT = 160  # characters shown around the decisive range of a proof
ADVICE = {
    5: "Good for tool use as it is.",
    4: "Good for tool use; mind what costs points below.",
    3: "Usable with care: the faults below need a work-around in your client or another template.",
    2: "Not to be relied on for tools: bring them in another way, or change the template.",
    1: "Not made for tools: put them into the text by a prompt format of your own, such as ReAct.",
}


def markdown(verdict: Verdict) -> str:
    """The card, ending in a line break."""
    found = {finding.check: finding for finding in verdict.findings}
    stars = verdict.score.stars
    lines = [
        f"## {verdict.title} {'★' * stars}{'☆' * (5 - stars)}",
        "",
        f"Tool support **{verdict.score.tool_support}**, output format **{verdict.score.output_format}** of 100.",
        *(f"*{reason[0].upper()}{reason[1:]}.*" for reason in verdict.score.reasons),
        "",
        f"- **Tools in the prompt:** {found['tools_are_json' if _shown(found) else 'shows_tools'].message}",
        f"- **Their place:** {found['tools_place'].message}",
        f"- **Output format:** {_format(verdict)}",
        f"- **Parser:** {_parser(verdict)}",
        "",
        "### Points off",
        "",
        *(_lost(finding) for finding in lost_points(verdict)),
        *([] if lost_points(verdict) else ["None."]),
        "",
        "### Recommendation",
        "",
        f"{ADVICE[stars]} " + (f"First of all: {worst(verdict)}." if lost_points(verdict) else ""),
        "",
        "### Proof",
        "",
        *(line for finding in lost_points(verdict)[:5] for line in _proof(finding)),
        _source(verdict),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _shown(found: dict[str, Finding]) -> bool:
    return found["shows_tools"].outcome != "dropped"


def _format(verdict: Verdict) -> str:
    if verdict.format:
        return f"{FORMATS[verdict.format].title}: {_inline(verdict.detection.written or '')}"
    if verdict.detection.written:
        return f"of its own, which no parser reads: {_inline(verdict.detection.written)}"
    return "none: the template writes no call"


def _parser(verdict: Verdict) -> str:
    if not verdict.format:
        return "none"
    servers = FORMATS[verdict.format].servers
    flags = [f"{name}: `--tool-call-parser {flag}`" for name, flag in servers.items()]
    return "; ".join([f"`{verdict.format}`", *flags])


def _lost(finding: Finding) -> str:
    points = f"{finding.of - finding.points:g} of {finding.of:g}"
    return f"- −{points} · **{CHECKS[finding.check].title}:** {finding.message} ({finding.outcome})"


def _proof(finding: Finding) -> list[str]:
    shown = [proof for proof in finding.evidence[:1] if proof.text]
    return [line for proof in shown for line in (f"{finding.check}, {proof.label}:", "", _fence(excerpt(proof)), "")]


def excerpt(proof: Evidence) -> str:
    """The decisive range of a proof with some text around it, cut at the ends with an ellipsis."""
    start = max(0, (proof.start or 0) - CONTEXT)
    end = min(len(proof.text), (proof.end if proof.end is not None else start) + CONTEXT)
    return ("…" if start else "") + proof.text[start:end] + ("…" if end < len(proof.text) else "")


def _fence(text: str) -> str:
    """A code block that nothing in the text can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}text\n{text}\n{mark}"


def _inline(text: str) -> str:
    text = text.strip().replace("\n", "⏎")
    text = text if len(text) <= 120 else text[:119] + "…"
    mark = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{mark} {text} {mark}"


def _source(verdict: Verdict) -> str:
    source = verdict.source
    where = [part for part in (source.repo, source.revision and f"@{source.revision[:12]}") if part]
    return f"Source: {source.kind} {''.join(where)}, template sha256 `{source.template_sha256}`."
