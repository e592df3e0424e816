"""A stranger's Python text -> syntax tree. Nothing is ever run: the text is only read.

CPython's parser stops runaway nesting by itself (200 open brackets, 6000 levels of its own stack), each time with
another exception; together with a limit on the size that keeps every answer well under a second.
"""

from __future__ import annotations

import ast
from typing import Literal

from formats.errors import FormatsError

MAX_CHARACTERS = 100_000


def parse_module(source: str) -> ast.Module:
    """The tree of a whole source text; FormatsError (too_large, not_python) says what is wrong and in which line."""
    tree = _parse(source, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def parse_expression(source: str) -> ast.expr:
    """The tree of one expression, with the same errors."""
    tree = _parse(source, "eval")
    assert isinstance(tree, ast.Expression)
    return tree.body


def _parse(source: str, mode: Literal["exec", "eval"]) -> ast.AST:
    if len(source) > MAX_CHARACTERS:
        raise FormatsError(
            f"{len(source):,} characters are too many; up to {MAX_CHARACTERS:,} are read. Paste only what is needed",
            "too_large",
        )
    try:
        return ast.parse(source, mode=mode)
    except SyntaxError as error:
        raise FormatsError(f"line {error.lineno}: not valid Python: {error.msg}", "not_python") from None
    except (RecursionError, MemoryError):
        raise FormatsError("not readable as Python: nested too deeply", "not_python") from None
    except ValueError as error:  # a null byte, half of a surrogate pair
        raise FormatsError(f"not readable as Python: {error}", "not_python") from None
