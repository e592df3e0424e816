"""The tab Live in a real browser, with a real small model in the app's own process."""

import json
import os
import time
from pathlib import Path

import pytest
from live_model import gguf, needed

from formats.generate.weights import unpacked

pytestmark = [pytest.mark.browser, pytest.mark.live]

ATTACK = "<b>a river</b> & <img src=x onerror=window.pwned=1>"
STORY = [{"role": "user", "content": f"Tell me a very long story about {ATTACK}."}]


@pytest.fixture(scope="module")
def app_url(start_app):
    needed("torch", "accelerate", "gguf")
    folder = unpacked(gguf(), lambda words: None)
    with start_app(LIVE_MODEL=str(folder), LIVE_BASE_URL="") as url:
        yield url


@pytest.fixture
def live(open_page):
    """Opens the page with the tab in front."""

    def live(**options):
        page = open_page(**options)
        page.set_default_timeout(120_000)
        open_tab(page)
        return page

    return live


def open_tab(page):
    """On a narrow screen the last tabs stand in a menu."""
    menu = page.locator(".overflow-menu > button")
    if menu.is_visible() and not page.get_by_role("tab", name="Live").is_visible():
        menu.click()
        page.locator(".overflow-dropdown").get_by_text("Live", exact=True).click()
    else:
        page.get_by_role("tab", name="Live").click()


def choose(page, field, name):
    page.locator(f"#{field} input").click()
    page.locator(f"#{field}").get_by_role("option", name=name).click()


def sample(page, name):
    if page.locator("#panel-toggle").is_visible():
        page.locator("#panel-toggle button").click()
    choose(page, "sample", name)
    page.wait_for_timeout(400)
    if page.locator("#panel-toggle").is_visible():
        page.locator("#panel-toggle button").click()


def ask_for_a_story(page, tokens=1000):
    sample(page, "Plain chat")
    page.locator("#messages-cards [data-show=json]").click()
    page.locator("#messages .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(json.dumps(STORY))
    page.wait_for_timeout(400)
    page.locator("#live-tokens input").fill(str(tokens))
    generate(page)
    page.wait_for_function("document.querySelector('#live-output pre[aria-label^=Output]')?.textContent.length > 40")


def generate(page):
    page.get_by_role("button", name="Generate", exact=True).click()


def wait_until_done(page):
    page.wait_for_selector("#live-output [data-state=done]", state="attached")


def output(page, number=0):
    return page.locator("#live-output pre[aria-label^=Output]").nth(number).text_content()


def shot(page, name):
    """A picture to look at, in the folder that LIVE_PICTURES names."""
    if folder := os.environ.get("LIVE_PICTURES"):
        page.wait_for_timeout(300)
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_the_calculator_is_called_read_answered_and_the_answer_generated(live):
    page = live(colours="dark")
    sample(page, "Calculator, to be tried live")
    choose(page, "live-style", "JSON in system")
    page.locator("#live-tokens input").fill("24")
    generate(page)
    wait_until_done(page)
    shot(page, "loop")
    assert page.locator(".live-round").count() == 2
    assert json.loads(output(page)) == {"name": "calculator", "arguments": {"expression": "6 * 7"}}
    assert page.locator(".live-call code").inner_text() == 'calculator {"expression": "6 * 7"}'
    assert page.locator(".live-result code").inner_text() == '{"result": 42}'
    assert "42" in output(page, 1)
    assert "tokens/s" in page.locator(".figures").first.inner_text()
    assert "ids" in page.locator(".live-prompt summary").first.inner_text()
    assert "seed 0" in page.locator(".live-round .settings").first.inner_text()
    page.locator(".live-prompt summary").nth(1).click()
    assert '{"result": 42}' in page.locator(".live-prompt pre").nth(1).text_content()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        shot(page, f"dark-{width}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_result_is_typed_by_hand_and_the_run_goes_on(live):
    page = live(width=390, height=844)
    sample(page, "Calculator, to be tried live")
    choose(page, "live-style", "JSON in system")
    page.locator("#live-tokens input").fill("24")
    page.locator("#live-more > button").click()
    choose(page, "live-results", "typed, all of them")
    generate(page)
    page.locator(".live-ask").wait_for()
    wait_until_done(page)
    page.wait_for_timeout(300)
    assert page.get_by_label("Result of calculator").evaluate("node => node === document.activeElement")
    page.keyboard.insert_text('{"result": <b>43</b>}')
    shot(page, "typed")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Control+Enter")
    page.get_by_role("heading", name="Round 2").wait_for()
    page.locator("#live-output [data-state=done] .live-ending").get_by_text("without a further call").wait_for()
    assert page.locator(".live-result code").all_inner_texts() == ['{"result": <b>43</b>}']
    assert "43" in output(page, 1) and not page.locator(".live-ask").is_visible()
    generate(page)  # the same question again, and what was typed is still there
    page.locator(".live-ask").wait_for()
    wait_until_done(page)
    assert page.locator(".live-round").count() == 1
    assert page.get_by_label("Result of calculator").input_value() == '{"result": <b>43</b>}'
    page.get_by_role("button", name="Stop here").click()
    page.get_by_text("no result was given").wait_for()
    assert not page.locator(".live-ask").is_visible()


def test_stop_ends_it_at_once_and_what_came_is_kept_as_text(live):
    page = live()
    ask_for_a_story(page)
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Stop", exact=True).click()  # a second time changes nothing
    wait_until_done(page)
    shot(page, "stopped")
    assert "ended by stopped" in page.locator(".figures").inner_text()
    kept = output(page)
    page.wait_for_timeout(1000)
    assert output(page) == kept and len(kept) > 20
    assert "<img src=x" in page.locator(".live-prompt pre").text_content()
    assert page.evaluate("window.pwned") is None and page.locator("#live-output img, #live-output b").count() == 0


def test_others_see_their_place_and_who_closes_the_page_makes_room(live):
    first, second = live(), live()
    sample(second, "Calculator, to be tried live")
    second.locator("#live-tokens input").fill("12")
    ask_for_a_story(first, 4000)
    generate(second)
    second.get_by_text("Waiting: 1 before you").wait_for()
    first.close()
    started = time.monotonic()
    wait_until_done(second)
    assert time.monotonic() - started < 30  # and not after the two minutes that a run may take
    assert "ended by" in second.locator(".figures").inner_text()


def test_the_same_conversation_under_two_formats_side_by_side(live):
    page = live()
    sample(page, "Calculator, to be tried live")
    choose(page, "live-style", "ReAct")
    choose(page, "live-second", "JSON in system")
    page.locator("#live-rounds input").fill("1")
    page.locator("#live-tokens input").fill("32")
    generate(page)
    wait_until_done(page)
    shot(page, "two")
    columns = page.locator(".live-column")
    assert columns.count() == 2
    left, right = (columns.nth(index).bounding_box() for index in range(2))
    assert left["y"] == right["y"] and left["x"] < right["x"]
    assert "Action: calculator" in output(page) and output(page, 1).startswith('{"name": "calculator"')
    assert page.locator(".live-call code").all_inner_texts() == ['calculator {"expression": "6 * 7"}'] * 2


def test_what_cannot_be_sent_is_told_and_the_page_lives_on(live):
    page = live()
    sample(page, "Calculator, to be tried live")
    page.locator("#live-tokens input").fill("0")
    generate(page)
    page.get_by_text("max_tokens needs a number from 1").wait_for()
    page.locator("#live-tokens input").fill("8")
    page.locator("#live-more > button").click()
    page.locator("#live-choice input").fill("nobody")
    page.locator("#live-choice input").press("Enter")
    generate(page)
    page.get_by_text("there is no tool 'nobody'").wait_for()
    assert page.locator(".live-round").count() == 0


def test_the_probe_set_shows_a_table_bars_and_every_raw_output(live):
    page = live()
    page.get_by_role("button", name="Run the probe set").click()
    page.locator(".probe-item").first.wait_for()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.wait_for_selector("#probe-output [data-state=done]", state="attached")
    shot(page, "probe")
    assert page.locator(".probe-table tbody tr").count() == 3
    page.locator(".probe-item summary").first.click()
    assert page.locator(".probe-item pre").first.text_content()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export JSON").click()
    report = json.loads(Path(saved.value.path()).read_text())
    assert len(report["items"]) == page.locator(".probe-item").count() and report["items"][0]["raw"]
    assert report["examples"] and "/" not in report["model"]  # where the model lies is nobody's affair
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export CSV").click()
    assert Path(saved.value.path()).read_text().startswith('"style","question","parsed"')
