"""The page for those who see it otherwise or use no mouse: axe-core on every tab, keyboard, focus and motion."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

# What shows that a tab has its contents.
TABS = {
    "Compare": "article.card header",
    "Read an output": "#reading .reading",
    "Scores": "table.matrix .cell",
    "Leaderboard": "#results [role=tabpanel]:visible table",
}
# Whether the focused element, or a box around it, looks otherwise than without the focus.
FOCUS_SHOWS = """() => {
  const node = document.activeElement;
  const looks = () => {
    const seen = [];
    for (let at = node, step = 0; at && step < 5; at = at.parentElement, step += 1) {
      const { outlineStyle, outlineWidth, borderColor, boxShadow, backgroundColor, textDecorationLine } =
        getComputedStyle(at);
      seen.push([outlineStyle !== "none" && outlineWidth, borderColor, boxShadow, backgroundColor, textDecorationLine]);
    }
    return JSON.stringify(seen);
  };
  const focused = looks();
  node.blur();
  const blurred = looks();
  node.focus();
  return focused !== blurred;
}"""
NAME = """() => {
  const node = document.activeElement;
  return node === document.body ? "" : (node.getAttribute("aria-label") || node.textContent || node.tagName).trim();
}"""


def faults(page, context=None):
    """What axe-core finds that is worse than minor, each with the elements it means."""
    found = Axe().run(page, context=context).response["violations"]
    return {
        fault["id"]: [(node["target"], node["failureSummary"]) for node in fault["nodes"]]
        for fault in found
        if fault["impact"] != "minor"
    }


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_on_any_tab(open_page, colours):
    page = open_page(colours=colours)
    page.set_default_timeout(120_000)
    found = {"whole page": faults(page)}
    for tab in page.get_by_role("tab").all():
        name = tab.text_content().strip()
        if not name or not tab.is_visible():
            continue
        tab.click()
        page.locator(TABS.get(name, "#results [role=tabpanel]:visible")).first.wait_for()
        page.wait_for_timeout(300)
        found[name] = faults(page, "#results")
    assert set(found) > set(TABS)
    assert not {name: fault for name, fault in found.items() if fault}


def walk(page, name, back=False):
    """Tab until the element of that name has the focus."""
    for _ in range(150):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate(NAME) == name:
            return
    raise AssertionError(f"{name} is not reached by keyboard")


def test_the_main_job_needs_no_mouse(open_page):
    """A message is written, a model added, its prompt reached and copied, and the link taken."""
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.keyboard.press("Tab")
    walk(page, "Add a model")
    page.keyboard.type("smollm3")
    page.locator("#model-options [role=option]").first.wait_for()
    page.keyboard.press("Enter")
    page.locator('article.card[data-model="smollm3"] pre.prompt').wait_for()
    walk(page, "SmolLM3 3B")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.getAttribute('aria-label') === 'Prompt of SmolLM3 3B'")
    walk(page, "Copy the prompt of SmolLM3 3B")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    prompt = page.locator('article.card[data-model="smollm3"] pre.prompt').text_content()
    assert page.evaluate("navigator.clipboard.readText()") == prompt
    walk(page, "Copy link", back=True)
    page.keyboard.press("Enter")
    page.locator(".share-note", has_text="Link copied").wait_for()


def test_the_focus_is_seen_wherever_it_goes(open_page):
    page = open_page(reduced_motion="reduce")
    unseen, stops = [], 0
    page.keyboard.press("Tab")
    while (name := page.evaluate(NAME)) and stops < 250:
        stops += 1
        if not page.evaluate(FOCUS_SHOWS):
            unseen.append(name[:80])
        page.keyboard.press("Tab")
    assert stops > 50 and not unseen


@pytest.mark.parametrize(("motion", "animation"), [("reduce", "none"), ("no-preference", "breathe")])
def test_nothing_moves_for_those_who_ask_for_it(open_page, motion, animation):
    page = open_page(reduced_motion=motion)
    name = page.evaluate(
        """() => {
          const card = document.createElement("article");
          card.className = "card skeleton";
          document.querySelector(".cards").append(card);
          const line = card.appendChild(document.createElement("i"));
          const { animationName } = getComputedStyle(line);
          card.remove();
          return animationName;
        }"""
    )
    assert name == animation
