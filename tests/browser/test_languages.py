"""The page in a browser of another language: all of it is translated, and what it is about stays byte for byte."""

from __future__ import annotations

import datetime
import re

import pytest

from browser.layout import outside
from browser.test_share_page import show
from formats import share
from formats.conversation import from_json
from formats.web.words import HOLE, LANGUAGES

pytestmark = pytest.mark.browser

TABS = {
    "compare": "article.card header",
    "read": "#output-text textarea",
    "scores": "table.matrix .cell",
    "leaderboard": "#board [role=gridcell]",
    "plain": ".way",
    "live": "#live-start, .live-off",
}
# The texts that can be read on the page and the names that are read out, without what people and models wrote.
SAID = """() => {
  const seen = [];
  const seeable = (node) => node.checkVisibility({ visibilityProperty: true });
  const shown = (node) => seeable(node) && !node.closest("pre, .cm-editor, script, style");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (shown(texts.currentNode.parentElement)) seen.push(texts.currentNode.data);
  for (const node of document.querySelectorAll("[title], [aria-label], [placeholder]")) {
    const names = ["title", "aria-label", "placeholder"];
    if (shown(node)) seen.push(...names.map((name) => node.getAttribute(name) ?? ""));
  }
  return seen.map((text) => text.trim()).filter(Boolean);
}"""
# Words that their own box cuts off.
CUT = """() => [...document.querySelectorAll("[data-word]")].filter((node) => {
  const box = node.parentElement;
  const hides = getComputedStyle(box).overflowX === "hidden" && !node.closest(".unseen");
  return node.checkVisibility() && hides && box.scrollWidth > box.clientWidth + 1;
}).map((node) => node.textContent)"""
PROMPTS = "() => [...document.querySelectorAll('article.card pre.prompt')].map((node) => node.textContent)"


def english(language):
    """Patterns of the English words that must not be seen in another language: of two words or more.

    What fills a hole is short: a longer text that ends in the same words is a finding, which is English.
    """
    for key, text in LANGUAGES["en"].items():
        said = HOLE.sub("", text)
        if text != LANGUAGES[language].get(key) and len(re.findall("[A-Za-z]{2,}", said)) > 1:
            yield re.compile(r"\S+(?: \S+){0,4}".join(map(re.escape, HOLE.sub("\0", text).split("\0"))))


def open_tab(page, name):
    page.evaluate("name => window.lab.openTab(name)", name)
    page.locator(TABS[name]).first.wait_for()
    if name == "read":
        page.locator("#output-sample input").click()
        page.locator("#output-sample [role=option]").first.click()
        page.locator("#reading .call").wait_for()
    if name == "scores":
        page.locator("button.cell").first.click()
        page.locator(".finding h3").wait_for()
    page.wait_for_timeout(300)


@pytest.fixture(scope="module")
def prompts(seen):
    """What the columns hold on the English page."""
    found = seen.evaluate(PROMPTS)
    assert len(found) == 9
    return found


@pytest.mark.parametrize(("locale", "language"), [("zh-CN", "zh"), ("pt-BR", "pt")])
def test_every_tab_is_translated_and_fits_and_no_prompt_is_changed(open_page, prompts, locale, language):
    page = open_page(locale=locale)
    assert page.evaluate("document.documentElement.lang") == locale
    assert page.evaluate(PROMPTS) == prompts
    for button in page.locator("#panel .label-wrap").all():
        button.click()
    page.locator("#sample input").click()  # what the page says about a sample changes in place
    page.get_by_role("option", name=LANGUAGES[language]["sample.06-nested-arguments"], exact=True).click()
    page.get_by_text(LANGUAGES[language]["reason.06-nested-arguments"]).wait_for()
    patterns = list(english(language))
    left = {}
    for name in TABS:
        open_tab(page, name)
        said = set(page.evaluate(SAID))
        assert LANGUAGES[language][f"tabs.{name}"] in said
        left[name] = sorted(text for text in said if any(pattern.fullmatch(text) for pattern in patterns))
        for width in (1260, 1024, 390, 320):
            assert outside(page, width) == [], (name, width)
            assert page.evaluate(CUT) == [], (name, width)
        page.set_viewport_size({"width": 1440, "height": 900})
    assert {name: texts for name, texts in left.items() if texts} == {}
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#panel-toggle button").click()
    assert outside(page) == []
    assert page.evaluate(CUT) == []


def test_a_language_that_the_page_does_not_speak_is_english(open_page, prompts):
    page = open_page(locale="fr-FR")
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.get_by_role("tab", name="Read an output").is_visible()
    assert page.locator(".toolbar h2").inner_text() == "Prompts"
    assert page.evaluate(PROMPTS) == prompts


def test_what_is_put_into_a_word_stays_text_and_a_prompt_is_never_a_word(open_page):
    page = open_page(locale="zh-CN")
    attack = '"><img src=x onerror=window.pwned=1>{title}'
    page.locator("#models input").fill(attack)
    page.locator("#models input").press("Enter")
    fault = page.locator("article.card .answer.fault")
    fault.wait_for()
    assert fault.get_attribute("aria-label") == LANGUAGES["zh"]["card.nothing"].replace("{title}", attack)
    assert page.evaluate("window.pwned") is None and page.locator("article.card img").count() == 0
    touched = page.evaluate(
        """() => {
          const word = document.createElement("b");
          word.dataset.word = "tabs.compare";
          word.textContent = "as it came";
          document.querySelector("pre.prompt").append(word);
          return new Promise((resolve) => setTimeout(() => { resolve(word.textContent); word.remove(); }, 50));
        }"""
    )
    assert touched == "as it came"


def test_an_output_in_a_link_is_never_a_word(open_page):
    """Gradio takes any text that it gets from the server for a word of the page, if it looks like one."""
    page = open_page(locale="pt-BR")
    for written in ("tabs.compare", '__i18n__{"key": "tabs.compare"} and more'):
        conversation = from_json({"messages": [{"role": "user", "content": written}]})
        state = share.State(
            conversation,
            (share.SharedModel("qwen3"),),
            datetime.date(2026, 11, 30),
            share.SharedOutput(written, "hermes"),
            "read",
        )
        show(page, f"s={share.encode(state)}")
        page.locator("#reading pre.parts", has_text=written).wait_for()
        assert page.locator("#output-text textarea").input_value() == written
        assert page.locator("#reading pre.parts").text_content().strip() == written
        page.get_by_role("button", name=LANGUAGES["pt"]["share.link"]).click()
        page.wait_for_timeout(500)
        assert page.locator("#output-text textarea").input_value() == written
        assert page.locator('article.card[data-model="qwen3"] pre.prompt').text_content().count(written) == 1
