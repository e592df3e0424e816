"""Settings of every test: the gate draws the same examples each time, a developer's machine new ones.

And the one browser of all tests that need one: playwright's driver can run only once at a time.
"""

import os
import shutil

import pytest
from hypothesis import settings

settings.register_profile("gate", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("developer", deadline=None)
settings.load_profile("gate" if os.environ.get("CI") else "developer")

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium under playwright; open a context of your own in it, and close that."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
