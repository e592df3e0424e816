"""One real app for all browser tests; a fresh page, with nothing stored, for each."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

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


@pytest.fixture(scope="session")
def app_url(start_app):
    with start_app() as url:
        yield url


def _served(url, app, log):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and app.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return url
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the app serves no page:\n{log.read_text()}")


@pytest.fixture
def open_page(chromium, app_url):
    """Opens the page in a fresh context; at the end nothing may have failed in it or been asked of another server."""
    faults, contexts = [], []

    def open_page(width=1440, height=900, colours="light", locale="en-US", **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=colours, locale=locale, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("console", lambda message: message.type == "error" and faults.append(f"console: {message.text}"))
        page.on("request", lambda request: _is_ours(request.url, app_url) or faults.append(f"outside: {request.url}"))
        page.goto(app_url)
        page.wait_for_selector("article.card header")
        page.wait_for_function("!document.querySelector('.state.waiting, .card.skeleton')")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture
def page(open_page):
    return open_page()


def _is_ours(url, app_url):
    return url.startswith((app_url, "data:", "blob:"))
