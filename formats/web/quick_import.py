"""Gradio, imported without the interface files that it would write.

Gradio 6.31 writes a .pyi file beside each of its components, in site-packages, whenever it is imported, and parses two
files for each class to do so (gradio/component_meta.py, create_or_modify_pyi): two fifths of the time that its import
takes. Editors of people who write components read those; an app needs none. A class that has no file gets none: while
Gradio is imported, none of its classes has one.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["gr"]


@contextmanager
def _no_class_has_a_file() -> Iterator[None]:
    getfile = inspect.getfile

    def of_others(thing: Any) -> str:
        if isinstance(thing, type) and thing.__module__.startswith("gradio."):
            raise OSError("no interface file is wanted")
        return getfile(thing)

    inspect.getfile = of_others  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getfile = getfile


with _no_class_has_a_file():
    import gradio as gr
