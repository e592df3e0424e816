"""Output formats, one module each. Adding a module here adds a format: nothing else lists them.

`base` and the modules whose names begin with an underscore are what formats share.
"""

from __future__ import annotations

import importlib
import pkgutil

from formats.parsers.base import OutputFormat


def _discover() -> dict[str, OutputFormat]:
    found: dict[str, OutputFormat] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name == "base" or info.name.startswith("_"):
            continue
        output_format: OutputFormat = importlib.import_module(f"{__name__}.{info.name}").FORMAT
        if output_format.name != info.name:
            raise ValueError(f"{info.name}.py calls itself {output_format.name!r}")
        found[output_format.name] = output_format
    return found


FORMATS = _discover()
