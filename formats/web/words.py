"""What the page says, in each of its languages: words/<language>.toml, and English in what the server writes.

The HTML of an answer is the same for every visitor: English, with the name of each word beside it. words.js puts the
visitor's own language in its place, in the browser. What a person, a template or a model wrote has no name and stays.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from formats import samples
from formats.fixes import FIXES

FOLDER = Path(__file__).parent / "words"
HOLE = re.compile(r"\{(\w+)\}")


def _read(path: Path) -> dict[str, str]:
    """The tables of one file as one, {"card.copy": text}."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {f"{part}.{name}": text for part, table in tables.items() for name, text in table.items()}


def output_key(sample: samples.OutputSample) -> str:
    """The word of its title, which many samples share."""
    return f"output.{re.sub(r'[^a-z0-9]+', '_', sample.title.lower()).strip('_')}"


def _named_elsewhere() -> dict[str, str]:
    """English that stands with what it describes: samples and remedies."""
    found = {output_key(sample): sample.title for sample in samples.load_outputs()}
    for sample in samples.load():
        found |= {f"sample.{sample.name}": sample.title, f"reason.{sample.name}": sample.reason}
    for fix in FIXES.values():
        found |= {f"fix.{fix.name}": fix.title, f"fix_what.{fix.name}": fix.what}
    return found


LANGUAGES: Mapping[str, dict[str, str]] = {path.stem: _read(path) for path in sorted(FOLDER.glob("*.toml"))}
LANGUAGES["en"].update(_named_elsewhere())


def text(language: object, key: str, /, **values: object) -> str:
    """A word in one language, in English where the language, or the word in it, is not there."""
    words = LANGUAGES.get(language, {}) if isinstance(language, str) else {}
    return HOLE.sub(lambda hole: _shown(values.get(hole[1], hole[0])), words.get(key) or LANGUAGES["en"][key])


@lru_cache(maxsize=4096)
def html(key: str, /, **values: object) -> Markup:
    """A word of the page. Numbers are written as the visitor's language does it; what is to stay as it is, is text."""
    return Markup('<span data-word="{}">{}</span>').format(_name(key, values), text("en", key, **values))


@lru_cache(maxsize=4096)
def attribute(name: str, key: str, /, **values: object) -> Markup:
    """The same in an attribute that people see or hear: title, aria-label, placeholder, label, data-unit."""
    return Markup('{0}="{1}" data-word-{0}="{2}"').format(name, text("en", key, **values), _name(key, values))


def number(value: int) -> Markup:
    """A number that stands alone."""
    return Markup('<data value="{0}">{1}</data>').format(value, _shown(value))


def _name(key: str, values: Mapping[str, object]) -> str:
    """What words.js reads: the key, and the values as JSON behind it."""
    return f"{key} {json.dumps(values, ensure_ascii=False)}" if values else key


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
