"""Links carry the whole state: from one browser to another, over a restart, back and forward, and into other pages."""

from __future__ import annotations

import datetime
import http.server
import json
import threading

import pytest
from playwright.sync_api import expect

from formats import share
from formats.conversation import from_json

pytestmark = pytest.mark.browser

EDITED = '[{"role": "user", "content": "Olá, 東京 & <b>kqz</b>?"}]'


def made_link(page) -> str:
    """The address after "Copy link"."""
    page.get_by_role("button", name="Copy link").click()
    page.locator(".share-note", has_text="Link copied").wait_for()
    return page.url


def prompt_of(page, model: str) -> str:
    return page.locator(f'article.card[data-model="{model}"] pre.prompt').text_content()


def type_messages(page, text: str) -> None:
    page.locator("#messages-cards [data-show=json]").click()
    editor = page.locator("#messages .cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
    page.locator('article.card[data-model="qwen3"] pre.prompt', has_text="kqz").wait_for()


def opened(page) -> None:
    page.locator(".share-note", has_text="Opened").wait_for()
    page.wait_for_function("!document.querySelector('.state.waiting')")


def card_with(page, text: str) -> None:
    """Wait until the columns follow what was opened."""
    page.locator('article.card[data-model="qwen3"] pre.prompt', has_text=text).wait_for()


def test_a_link_opens_equal_in_another_browser(open_page, chromium, app_url):
    first = open_page()
    type_messages(first, EDITED)
    link = made_link(first)
    context = chromium.new_context()
    second = context.new_page()
    second.goto(link)
    opened(second)
    card_with(second, "kqz")
    assert prompt_of(second, "qwen3") == prompt_of(first, "qwen3")
    assert "Olá, 東京 & <b>kqz</b>?" in prompt_of(second, "qwen3")
    context.close()


def test_a_link_opens_at_a_server_that_has_never_seen_it(open_page, chromium, start_app):
    """As after a restart: another process, with caches of its own."""
    first = open_page()
    type_messages(first, EDITED)
    fragment = made_link(first).partition("#")[2]
    with start_app() as address:
        context = chromium.new_context()
        second = context.new_page()
        second.set_default_timeout(60_000)
        second.goto(f"{address}#{fragment}")
        opened(second)
        card_with(second, "kqz")
        assert prompt_of(second, "qwen3") == prompt_of(first, "qwen3")
        context.close()


def test_back_and_forward_and_a_second_link(open_page):
    page = open_page()
    link_a = made_link(page)
    type_messages(page, EDITED)
    link_b = made_link(page)
    assert link_a != link_b
    page.evaluate("link => { location.hash = new URL(link).hash; }", link_a)
    opened(page)
    page.wait_for_function("!document.querySelector('article.card[data-model=qwen3] pre').textContent.includes('kqz')")
    page.go_back()
    page.wait_for_function("document.querySelector('article.card[data-model=qwen3] pre').textContent.includes('kqz')")
    page.go_forward()
    page.wait_for_function("!document.querySelector('article.card[data-model=qwen3] pre').textContent.includes('kqz')")


@pytest.mark.parametrize(
    "fragment",
    ["#s=", "#s=1.", "#s=1.AAAA.00000000", "#s=9.AAAA.00000000", "#s=<img src=x onerror=alert(1)>", "#s=%00%ff"],
)
def test_a_broken_link_says_so_and_leaves_the_page_usable(open_page, app_url, fragment):
    page = open_page()
    page.evaluate("fragment => { location.hash = fragment; }", fragment)
    page.locator(".share-note .problem").wait_for()
    assert "link" in page.locator(".share-note").text_content()
    assert prompt_of(page, "qwen3").startswith("<|im_start|>")


@pytest.mark.parametrize("kilobytes", [2, 64, 1000])
def test_states_of_every_size_open(open_page, app_url, kilobytes):
    text = "".join(chr(0x4E00 + (n * 7919) % 20000) for n in range(kilobytes * 250)) + " kqz"
    conversation = from_json({"messages": [{"role": "user", "content": text}]})
    state = share.State(conversation, (share.SharedModel("qwen3"),), datetime.date(2024, 7, 26))
    page = open_page()
    page.evaluate("fragment => { location.hash = fragment; }", f"s={share.encode(state)}")
    opened(page)
    page.locator('article.card[data-model="qwen3"] pre.prompt', has_text="kqz").wait_for()
    assert page.locator("article.card").count() == 1


def test_a_file_opens_and_exports_are_offered(open_page, tmp_path):
    page = open_page()
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save everything as a file").click()
    state = json.loads(saved.value.path().read_text(encoding="utf-8"))
    state["conversation"]["messages"] = [{"role": "user", "content": "from a file kqz"}]
    changed = tmp_path / "state.json"
    changed.write_text(json.dumps(state), encoding="utf-8")
    page.locator("input[type=file]").first.set_input_files(changed)
    opened(page)
    page.locator('article.card[data-model="qwen3"] pre.prompt', has_text="from a file kqz").wait_for()
    for name in (
        "Comparison as Markdown",
        "Comparison as CSV",
        "Comparison as one HTML file",
        "Token chart as a picture",
    ):
        page.get_by_text("More", exact=True).click()
        with page.expect_download() as export:
            page.get_by_role("button", name=name).click()
        assert export.value.path().stat().st_size > 500


class _Host(http.server.BaseHTTPRequestHandler):
    """Somebody else's page with the comparison in a frame."""

    code = ""

    def do_GET(self):
        body = f"<!doctype html><title>A blog</title><p>Look:</p>{self.code}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("width", [390, 700])
def test_the_comparison_stands_inside_a_page_of_another_origin(open_page, chromium, width):
    link = made_link(open_page())
    address, _, fragment = link.partition("#")
    _Host.code = f'<iframe src="{address}?embed#{fragment}" width="100%" height="640"></iframe>'
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = chromium.new_context(viewport={"width": width, "height": 800})
    try:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        frame = page.frame_locator("iframe")
        frame.locator('article.card[data-model="qwen3"] pre.prompt', has_text="Paris").wait_for(timeout=30_000)
        expect(frame.locator("#panel")).to_be_hidden()
        expect(frame.get_by_role("button", name="Copy link")).to_be_hidden()
        full = frame.get_by_role("link", name="Open in full").get_attribute("href")
        assert full == link
        inner = page.frames[1].evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert inner, "nothing sticks out sideways"
    finally:
        context.close()
        server.shutdown()
        server.server_close()
