"""One real app for all browser tests; a page of its own, with nothing stored, for each."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest

from formats.models import OPENING

ROOT = Path(__file__).parent.parent.parent
START_SECONDS = 120


@pytest.fixture(scope="session")
def start_app(tmp_path_factory):
    """Starts an app as a person does, without the Hub and without anybody's caches of it; more of an environment."""

    @contextmanager
    def start(**more):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = tmp_path_factory.mktemp("app") / "log"
        environment = os.environ | {
            "GRADIO_SERVER_NAME": "127.0.0.1",
            "GRADIO_SERVER_PORT": str(port),
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(log.parent / "hub"),
        }
        environment |= more
        with log.open("w") as output:
            app = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            yield _served(f"http://127.0.0.1:{port}/", app, log)
        finally:
            app.terminate()
            app.wait(20)
        assert "Traceback" not in log.read_text(), log.read_text()

    return start


@pytest.fixture(scope="package")
def app_url(start_app):
    with start_app() as url:
        _loaded(url)
        yield url


def _loaded(url):
    """The app has its tokenizers: a page that shows that it waits for them takes processor time from who makes them."""
    asked = json.dumps({"data": [OPENING, [{"role": "user", "content": "Hi"}], None, None, ""]}).encode()
    request = urllib.request.Request(f"{url}gradio_api/run/compare", asked, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
        columns = json.loads(json.load(answer)["data"][0])["columns"]
    assert [column["model"] for column in columns] == list(OPENING)


def _served(url, app, log):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and app.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return url
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the app serves no page:\n{log.read_text()}")


class Pages:
    """Pages of browsers that have nothing of each other; used again by later tests, with nothing stored in them.

    A new browser would ask the app for every file of the page once more, and a new page take twice as long to start.
    """

    def __init__(self, browser):
        self._browser = browser
        self._free = defaultdict(list)

    @contextmanager
    def borrowed(self):
        """Gives blank pages, each the only one of a context with these options, until it is left."""
        taken = []

        def take(**options):
            key = json.dumps(options, sort_keys=True)
            context = self._free[key].pop() if self._free[key] else self._browser.new_context(**options)
            taken.append((key, context))
            return context.pages[0] if context.pages else context.new_page()

        yield take
        for key, context in taken:
            _empty(context)
            self._free[key].append(context)

    def close(self):
        for contexts in self._free.values():
            for context in contexts:
                context.close()


def _empty(context):
    """Only a blank page stays, and what is cached."""
    origins = set()
    for page in context.pages:
        page.unroute_all(behavior="ignoreErrors")  # what a test still holds back is of no interest to it
        if page.url != "about:blank":
            origins.add(page.evaluate("() => { sessionStorage.clear(); return origin; }"))
            page.goto("about:blank")  # what a page stores when it is left, it stores now
    for page in context.pages[1:]:
        page.close()
    context.clear_cookies()
    for page in context.pages:
        page.mouse.move(0, 0)
        devtools = context.new_cdp_session(page)
        for origin in origins:
            devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage,indexeddb"})
        devtools.detach()


@contextmanager
def visits(pages, app_url):
    """Opens the page for a visitor of its own; at the end nothing may have failed in it or been asked of elsewhere."""
    faults = []
    listeners = {
        "pageerror": lambda error: faults.append(f"error: {error}"),
        "console": lambda message: message.type == "error" and faults.append(f"console: {message.text}"),
        "request": lambda request: _is_ours(request.url, app_url) or faults.append(f"outside: {request.url}"),
    }
    opened = []

    def open_page(
        width=1440,
        height=900,
        colours="light",
        reduced_motion="no-preference",
        locale="en-US",
        permissions=(),
        script="",
        fragment="",
    ):
        page = take(locale=locale, permissions=permissions)
        if script:  # it would stay with the page
            page = page.context.new_page()
            page.add_init_script(script)
        opened.append(page)
        for event, listener in listeners.items():
            page.on(event, listener)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=colours, reduced_motion=reduced_motion)
        page.set_default_timeout(30_000)
        page.goto(app_url + fragment)
        page.wait_for_selector("article.card header")
        page.wait_for_function("!document.querySelector('.state.waiting, .card.skeleton')")
        return page

    with pages.borrowed() as take:
        yield open_page
        for page in opened:
            for event, listener in listeners.items():
                page.remove_listener(event, listener)
    assert not faults


@pytest.fixture(scope="package")
def pages(chromium):
    pages = Pages(chromium)
    yield pages
    pages.close()


@pytest.fixture
def open_page(pages, app_url):
    with visits(pages, app_url) as open_page:
        yield open_page


@pytest.fixture
def page(open_page):
    return open_page()


@pytest.fixture(scope="module")
def seen(pages, app_url):
    """The page as it opens, for tests that only look at it."""
    with visits(pages, app_url) as open_page:
        yield open_page()


@pytest.fixture
def elsewhere(pages):
    """Opens an address in a browser that has nothing of any other page."""
    with pages.borrowed() as take:

        def elsewhere(address, width=1280):
            page = take()
            page.set_viewport_size({"width": width, "height": 800})
            page.set_default_timeout(60_000)
            page.goto(address)
            return page

        yield elsewhere


def _is_ours(url, app_url):
    return url.startswith((app_url, "data:", "blob:"))
