"""Which process runs a test where several do: a file stays together, and files with a browser share two processes.

Each process that shows a page starts an app and a Chromium of its own, ten seconds of a processor's time.
"""

from pathlib import Path

from xdist.scheduler import LoadFileScheduling

TESTS = Path(__file__).parent


class Scheduling(LoadFileScheduling):
    """By file, in the order of their names."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        files = [path for path in sorted(TESTS.rglob("test_*.py"), key=lambda path: path.name) if shows_a_page(path)]
        self._browsers = {path.relative_to(TESTS.parent).as_posix(): f"browser {n % 2}" for n, path in enumerate(files)}

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return self._browsers.get(file, file)


def shows_a_page(path: Path) -> bool:
    return path.parent.name == "browser" or "chromium" in path.read_text(encoding="utf-8")
