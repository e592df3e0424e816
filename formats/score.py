"""Findings -> two scores and stars: arithmetic only. The weights stand on the checks.

A score is the share of the points that a model's findings earned of those they
could, in percent: *tool support* for what goes in, *output format* for what comes
out. A check that does not apply counts on neither side.

Stars follow the lower of the two, since a call is only as good as its weaker half,
and three facts set a limit that no other merit lifts:

- tools that the template does not show: at most 2 stars, since no call can be right;
- calls that no parser reads: at most 3, since what the model says cannot be used;
- neither tools nor calls: 1 star, since the template is not made for tools at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from formats.checks import CHECKS
from formats.types import Finding, Score, Status

STARS_FROM = ((90, 5), (80, 4), (55, 3), (35, 2), (0, 1))  # the lower of the two scores -> stars
SIDES = ("tool_support", "output_format")


def score(findings: Iterable[Finding]) -> Score:
    """Sum up one model's findings: scores of 0-100, stars of 1-5, and the rules that decided the stars."""
    found = {finding.check: finding for finding in findings}
    tool_support, output_format = (_percent(found, side) for side in SIDES)
    lower = min(tool_support, output_format)
    stars = next(stars for least, stars in STARS_FROM if lower >= least)
    weaker = "tool support" if tool_support <= output_format else "output format"
    reasons = [f"the lower score, {weaker} {lower}, gives {stars} of 5 stars"]
    for most, why in _limits(found):
        if stars > most:
            stars = most
            reasons.append(f"at most {most} star{'s' * (most > 1)}: {why}")
    return Score(tool_support, output_format, stars, tuple(reasons))


def _percent(found: dict[str, Finding], side: str) -> int:
    mine = [finding for name, finding in found.items() if CHECKS[name].score == side]
    possible = sum(finding.of for finding in mine)
    return round(100 * sum(finding.points for finding in mine) / possible) if possible else 0


def _limits(found: dict[str, Finding]) -> Iterable[tuple[int, str]]:
    shows_tools = _passed(found, "shows_tools")
    if not _passed(found, "call_read"):
        yield 3, "no parser reads a call of this template"
    if not shows_tools:
        yield 2, "the prompt does not show the tools"
        if found["call_read"].outcome == "dropped" or not _passed(found, "history_call"):
            yield 1, "neither tools nor calls"


def _passed(found: dict[str, Finding], name: str) -> bool:
    return name in found and found[name].status is Status.PASS
