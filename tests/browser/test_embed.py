"""The comparison inside somebody else's page: read-only, in the colours asked for, on a phone and in a blog."""

from __future__ import annotations

import datetime
import http.server
import threading

import pytest
from playwright.sync_api import expect

from browser.test_share_page import card_with, opened, packed
from formats import samples, share
from formats.conversation import from_json

pytestmark = pytest.mark.browser

GROUND = {"dark": "rgb(15, 17, 20)", "light": "rgb(245, 246, 248)"}
# What could change something, or is not for readers of another page.
EDITORS = (
    "#panel",
    "#sample",
    "#models",
    "#messages",
    "#messages-cards",
    "#tools",
    "#paste",
    "[data-ask]",
    "details.menu",
    "[role=tab]",
    ".masthead button",
    "button.tell",
)


def fragment() -> str:
    conversation = from_json(samples.load()[0].conversation)
    models = tuple(map(share.SharedModel, ("qwen3", "llama-4", "grok-2")))
    return "s=" + share.encode(share.State(conversation, models, datetime.date(2026, 11, 30)))


class _Blog(http.server.BaseHTTPRequestHandler):
    """A page of another origin; its query is the address of the frame in it."""

    def do_GET(self):
        source = self.path.partition("?")[2]
        head = "<!doctype html><title>A blog</title><meta name=viewport content='width=device-width'>"
        frame = f"<p>Look:</p><iframe src='{self.server.app}' width='100%' height='640' style='border:0'></iframe>"
        body = (head + frame if not source else "").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Tests read no log."""


@pytest.fixture
def embed(elsewhere):
    """Opens a page of another origin with the app in a frame, and gives both."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Blog)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def show(source, width):
        server.app = source
        page = elsewhere(f"http://localhost:{server.server_port}/", width)
        return page, page.frames[1]

    yield show
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("width", "theme", "way"), [(390, "dark", "query"), (700, "light", "fragment")])
def test_the_comparison_stands_read_only_inside_a_page_of_another_origin(embed, app_url, width, theme, way):
    query, more = ("?embed&", "") if way == "query" else ("?", "&view=embed")
    page, frame = embed(f"{app_url}{query}__theme={theme}#{fragment()}{more}", width)
    card_with(frame, "Paris")
    expect(frame.locator("article.card")).to_have_count(3)
    for editor in EDITORS:
        assert not frame.locator(f"{editor}:visible").count(), f"{editor} is for people who edit"
    assert not frame.locator("textarea:visible, input:visible, select:visible, [contenteditable=true]:visible").count()
    ground = "getComputedStyle(document.querySelector('.gradio-container')).backgroundColor"
    assert frame.evaluate(ground) == GROUND[theme]
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out sideways"
    parts = "[...document.querySelectorAll('article.card, .summary, .share')]"
    assert frame.evaluate(f"{parts}.every((part) => part.getBoundingClientRect().right <= innerWidth)")
    with page.expect_popup() as popup:
        frame.get_by_role("link", name="Open in full").click()
    full = popup.value
    full.set_default_timeout(60_000)
    opened(full)
    expect(full.locator("#panel")).to_be_visible()
    card_with(full, "Paris")


def test_a_broken_link_shows_nothing_but_what_is_wrong(embed, app_url):
    _, frame = embed(f"{app_url}?embed#s={packed({})}", 390)
    frame.locator(".share-note .problem", has_text="this link cannot be opened").wait_for()
    expect(frame.locator("#lab")).to_be_hidden()
