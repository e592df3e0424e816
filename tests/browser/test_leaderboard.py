"""The board of all templates in the page: what is chosen narrows it down, and stays chosen."""

from collections import Counter

import pytest

from formats import leaderboard
from formats.checks import CHECKS

pytestmark = pytest.mark.browser


def choose(page, which: str, name: str) -> None:
    page.locator(f"#board-{which} input").click()
    page.locator(f"#board-{which}").get_by_role("option", name=name, exact=True).click()


def test_a_check_and_an_outcome_narrow_the_board_down_and_stay(page):
    check = next(iter(CHECKS.values()))
    rows = leaderboard.load().rows
    outcome = Counter(row[check.name] for row in rows if row.get(check.name)).most_common()[-1][0]
    names = {row["repo"] or row["name"] for row in rows if row.get(check.name) == outcome}
    page.get_by_role("tab", name="Leaderboard").click()
    choose(page, "check", check.title)
    choose(page, "outcome", outcome)
    first = page.locator("#board [role=gridcell]").first
    page.wait_for_function(
        "names => names.includes(document.querySelector('#board [role=gridcell]')?.textContent.trim().split(' (+')[0])",
        arg=sorted(names),
    )
    page.locator("#board-check input").click()
    page.get_by_role("option", name=check.title, exact=True).wait_for()
    page.get_by_role("heading", level=1).click()
    page.wait_for_timeout(500)
    assert page.locator("#board-outcome input").input_value() == outcome, "the list was only looked into"
    assert first.text_content().strip().split(" (+")[0] in names
