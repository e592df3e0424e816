"""The page for those who see it otherwise or use no mouse: axe-core on every tab, keyboard, focus and motion."""

from __future__ import annotations

import json

import pytest
from axe_playwright_python.sync_playwright import Axe

from browser.test_share_page import card_with, packed_state

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


FEW = packed_state("Few columns, kqz", ["qwen3", "llama-3.1-405b", "gemma-3-27b", "nobody/no-such-model"])


def faults(page, context=None, **options):
    """What axe-core finds that is worse than minor, each with the elements it means."""
    found = Axe().run(page, context=context, options={"resultTypes": ["violations"], **options}).response["violations"]
    return {
        fault["id"]: [(node["target"], node["failureSummary"]) for node in fault["nodes"]]
        for fault in found
        if fault["impact"] != "minor"
    }


def shown_tabs(page):
    """The name of each tab that there is room for, one after the other in front, with its contents."""
    for tab in page.get_by_role("tab").all():
        name = tab.text_content().strip()
        if name and tab.is_visible():
            tab.click()
            page.locator(TABS.get(name, "#results [role=tabpanel]:visible")).first.wait_for()
            page.wait_for_timeout(100)
            yield name


def test_axe_finds_nothing_on_any_tab_in_light_and_dark(open_page):
    page = open_page(fragment=f"#s={FEW}", reduced_motion="reduce")  # the colours change at once
    page.set_default_timeout(120_000)
    card_with(page, "kqz")
    found = {"whole page": faults(page)}
    for name in shown_tabs(page):
        found[name] = faults(page, "#results")
    page.get_by_role("button", name="Dark").click()
    found["whole dark page"] = faults(page, runOnly=["color-contrast"])
    for name in shown_tabs(page):
        found[f"{name}, dark"] = faults(page, "#results", runOnly=["color-contrast"])
    assert set(found) > set(TABS)
    assert not {name: fault for name, fault in found.items() if fault}


CALL = {"id": "call00001", "type": "function", "function": {"name": "get_current_temperature", "arguments": "{}"}}
ARGUMENTS_AS_TEXT = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call00001", "content": "22 degrees"},
]


def show_share_menu(page):
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Copy embed code").wait_for()


def show_model_options(page):
    page.locator("#models input").fill("llama")
    page.locator("#model-options [role=option]").first.wait_for()


def show_samples(page):
    page.locator("#sample input").click()
    page.locator("[role=listbox] [role=option]").first.wait_for()


def show_what_was_pasted(page):
    page.locator("#paste-anything > button").click()
    page.locator("#paste textarea").fill(
        '{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5}'
    )
    page.locator("#paste [data-action=load]").click()
    page.locator("#paste [data-slot=answer] *").first.wait_for()


def show_a_broken_paste(page):
    page.locator("#paste-anything > button").click()
    page.locator("#paste textarea").fill("{")
    page.locator("#paste [data-action=load]").click()
    page.locator("#paste .problem").wait_for()


def show_a_remedy(page):
    page.evaluate("text => window.lab.editors.messages.replace(text)", json.dumps(ARGUMENTS_AS_TEXT))
    card_with(page, "22 degrees")
    page.locator("#review [data-fix]").first.press("Enter")  # a mouse would miss it where the cards above still grow
    page.locator("#review [data-slot=diff]").wait_for()


def show_an_export(page):
    page.get_by_role("button", name="Take away").click()
    page.get_by_label("Take away as").select_option("transformers")
    page.locator("#takeaway pre:not(:empty)").wait_for()


def show_the_options(page):
    page.locator("#more-options > button").click()
    page.locator("#template-options :is(input, select)").first.wait_for()


def show_a_broken_link(page):
    page.evaluate("location.hash = 's=1.AAAA.00000000'")
    page.locator(".share-note .problem").wait_for()


# What opens -> the part of the page that is looked at, and what is done to close it.
OPENED = {
    show_share_menu: ("#top", "Escape"),
    show_model_options: ("#models", "Escape"),
    show_samples: ("body", "Escape"),
    show_a_remedy: ("#review", "Escape"),
    show_the_options: ("#more-options", None),
    show_an_export: ("#take-away", None),
    show_what_was_pasted: ("#paste-anything", None),
    show_a_broken_paste: ("#paste-anything", None),
    show_a_broken_link: ("#top", None),
}


def share_bar_is_beside_the_title(page):
    title, top = (page.locator(part).bounding_box() for part in (".masthead h1", "#top"))
    return title["x"] + title["width"] <= top["x"] or title["y"] + title["height"] <= top["y"]


def test_axe_finds_nothing_in_what_opens(open_page):
    """On a phone, where there is least room, in light; its contrast in dark as well."""
    page = open_page(fragment=f"#s={FEW}", reduced_motion="reduce")
    assert share_bar_is_beside_the_title(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert share_bar_is_beside_the_title(page)
    page.get_by_role("button", name="Edit the conversation").click()
    card_with(page, "kqz")
    found = {"whole page": faults(page)}
    for opens, (part, key) in OPENED.items():
        if opens is show_a_broken_paste:
            page.locator("#paste-anything > button").click()
        opens(page)
        page.wait_for_timeout(100)
        found[opens.__name__] = faults(page, part)
        page.evaluate("document.body.classList.add('dark')")
        found[f"{opens.__name__}, dark"] = faults(page, part, runOnly=["color-contrast"])
        page.evaluate("document.body.classList.remove('dark')")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{opens.__name__} sticks out"
        if key:
            page.keyboard.press(key)
    assert not {name: fault for name, fault in found.items() if fault}


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_in_the_embedded_view(elsewhere, app_url, colours):
    fragment = packed_state("kqz", ["qwen3", "grok-2"])
    page = elsewhere(f"{app_url}?embed&__theme={colours}#s={fragment}", width=390)
    card_with(page, "kqz")
    assert not faults(page)


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
    walk(page, "Content")
    page.keyboard.type("kqz by keyboard. ")
    page.locator('article.card[data-model="smollm3"] pre.prompt', has_text="kqz by keyboard.").wait_for()
    walk(page, "SmolLM3 3B")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.getAttribute('aria-label') === 'Prompt of SmolLM3 3B'")
    walk(page, "Copy the prompt of SmolLM3 3B")
    page.keyboard.press("Enter")
    page.locator('article.card[data-model="smollm3"] button.copy', has_text="Copied").wait_for()
    prompt = page.locator('article.card[data-model="smollm3"] pre.prompt').text_content()
    assert page.evaluate("navigator.clipboard.readText()") == prompt and "kqz by keyboard." in prompt
    walk(page, "Copy link", back=True)
    page.keyboard.press("Enter")
    page.locator(".share-note", has_text="Link copied").wait_for()


def test_the_focus_is_seen_wherever_it_goes(open_page):
    page = open_page(reduced_motion="reduce")
    page.evaluate("document.querySelector('#share details').open = true")  # the menu's items are stops as well
    unseen, stops = [], 0
    page.keyboard.press("Tab")
    while (name := page.evaluate(NAME)) and stops < 250:
        stops += 1
        if not page.evaluate(FOCUS_SHOWS):
            unseen.append(name[:80])
        page.keyboard.press("Tab")
    assert stops > 50 and not unseen


def test_nothing_moves_for_those_who_ask_for_it(page):
    animation = """() => {
      const card = document.createElement("article");
      card.className = "card skeleton";
      document.querySelector(".cards").append(card);
      const line = card.appendChild(document.createElement("i"));
      const { animationName } = getComputedStyle(line);
      card.remove();
      return animationName;
    }"""
    assert page.evaluate(animation) == "breathe"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(animation) == "none"
