"""Output formats, one module each. Adding a module here adds a format: nothing else lists them.

`base` and the modules whose names begin with an underscore are what formats share.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from formats.parsers.base import OutputFormat

NAMES = tuple(
    info.name for info in pkgutil.iter_modules(__path__) if info.name != "base" and not info.name.startswith("_")
)
# By name; imported when first asked for, so that a page that opens does not wait.
FORMATS: dict[str, OutputFormat]


def __getattr__(name: str) -> Any:
    if name != "FORMATS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = _discover()
    return found


def _discover() -> dict[str, OutputFormat]:
    found: dict[str, OutputFormat] = {}
    for name in NAMES:
        output_format: OutputFormat = importlib.import_module(f"{__name__}.{name}").FORMAT
        if output_format.name != name:
            raise ValueError(f"{name}.py calls itself {output_format.name!r}")
        found[name] = output_format
    return found
