"""Imports go one way: a module may import from its own layer or from one below it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "formats"

# From the ground up; the rooms of one layer may use each other.
LAYERS = [
    {"types", "errors", "text", "python_text", "fields", "host"},
    {
        "conversation",
        "samples",
        "tool_calls",
        "content",
        "interop",
        "export",
        "validate",
        "fixes",
        "docstring",
        "type_hints",
        "schema",
        "template",
        "tokenizer_faults",
        "tokens",
        "models",
    },
    {"reading", "parsers", "plain_tools"},
    {"attribution", "detect"},
    {"checks"},
    {"score", "verdict", "card", "report"},
    {"compare"},
    {
        "secret",
        "state",
        "share",
        "reopen",
        "snapshot",
        "hub",
        "gguf",
        "sandbox",
        "generate",
        "sources",
        "audit",
        "leaderboard",
    },
    {"cli", "web", "__main__"},
]
ONLY_IN = {
    "gradio": {"web"},
    "huggingface_hub": {"hub", "generate"},
    "tokenizers": {"tokenizer_faults", "tokens", "template", "snapshot", "hub", "generate"},
    "transformers": {"template", "snapshot", "hub", "generate"},
    "torch": {"generate"},
    "pebble": {"sandbox", "audit"},
    "requests": set(),
    "httpx": set(),
    "httpx2": {"hub", "generate"},
}
FILES = sorted(PACKAGE.rglob("*.py"))


def room(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path):
    """Every module that the file imports anywhere, `from formats import x` as formats.x."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            yield node.module
            if node.module == "formats":
                yield from (f"formats.{alias.name}" for alias in node.names if not alias.name.startswith("__"))


def height(name):
    found = [index for index, layer in enumerate(LAYERS) if name in layer]
    assert found, f"formats/{name} has no place in LAYERS"
    return found[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_and_outside_libraries_stay_in_their_rooms(path):
    here = room(path)
    for name in imports(path):
        top, *rest = name.split(".")
        if top == "formats" and rest and here != "__init__":
            assert height(rest[0]) <= height(here), f"{path.name} imports {name}"
        assert here in ONLY_IN.get(top, {here}), f"{path.name} imports {name}"


def test_the_nouns_import_nothing_of_the_package_but_each_other():
    for name in ("types", "errors"):
        assert {n for n in imports(PACKAGE / f"{name}.py") if n.startswith("formats")} <= {"formats.types"}


def test_gradio_is_imported_in_one_place_and_views_and_handlers_know_nothing_of_it():
    importing = {path for path in FILES if any(name.split(".")[0] == "gradio" for name in imports(path))}
    assert importing == {PACKAGE / "web" / "quick_import.py"}
    for name in ("views", "handlers"):
        assert "formats.web.quick_import" not in imports(PACKAGE / "web" / f"{name}.py")
