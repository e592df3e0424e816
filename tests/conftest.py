"""Settings of every test: the gate draws the same examples each time, a developer's machine new ones.

And the one browser of all tests that need one: playwright's driver can run only once at a time.
"""

import gc
import io
import os
import shutil
import sys
from subprocess import CompletedProcess

import pytest
from hypothesis import settings

# A test says itself where the Hub is and whether it may be asked; the Hub's client reads these once, when imported.
for setting in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_ENDPOINT"):
    os.environ.pop(setting, None)

settings.register_profile("gate", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("developer", deadline=None)
settings.load_profile("gate" if os.environ.get("CI") else "developer")

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--js-flags=--no-maglev --no-turbofan",  # a page that lives for seconds ends before its optimised code is used
]


@pytest.hookimpl(optionalhook=True)  # xdist may be switched off
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are processors: many a test waits for a server, a browser or a limit of time."""
    return min(os.cpu_count() or 1, 3) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from scheduling import Scheduling

    return Scheduling(config, log)


def pytest_collection_finish():
    """What was imported and collected stays: the garbage collector shall not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium under playwright; open a context of your own in it, and close that."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium-headless-shell")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def without_the_hub(tmp_path_factory):
    """The Hub is not asked, and nobody's cache of it is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
        yield


@pytest.fixture
def command_line(capsys, monkeypatch):
    """Runs `python -m formats` in this process: a new one would take seconds to import what is here already."""
    from formats.__main__ import main

    def run(*arguments: object, stdin: bytes = b"") -> CompletedProcess[str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        given = list(map(str, arguments))
        try:
            status = main(given)
        except SystemExit as stop:  # argparse's way out
            status = stop.code
        said = capsys.readouterr()
        return CompletedProcess(given, status, said.out, said.err)

    return run
