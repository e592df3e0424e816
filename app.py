"""Entry of the app and of the Space: build the page and serve it."""

from __future__ import annotations

import threading


def main() -> None:
    """Serve until interrupted; GRADIO_SERVER_NAME and GRADIO_SERVER_PORT say where.

    Imports stand here because the worker processes of the sandbox import this file anew.
    """
    from formats import host

    host.settle()
    from formats import samples
    from formats.web import page
    from formats.web.engine import Engine
    from formats.web.handlers import Workbench
    from formats.web.reading import Reading
    from formats.web.scoring import Scoring

    workbench = Workbench(Engine(allow_files=host.is_private()), samples.load())
    scoring = Scoring(workbench)
    blocks = page.build(workbench, scoring, Reading(workbench, samples.load_outputs()))
    page.launch(blocks, prevent_thread_lock=True)
    threading.Timer(1.0, workbench.warm).start()  # once the first page is out
    threading.Timer(4.0, scoring.warm).start()  # verdicts come after prompts
    blocks.block_thread()


if __name__ == "__main__":
    main()
