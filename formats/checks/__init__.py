"""Checks, one module each. Adding a module here adds a check: nothing else lists them."""

from __future__ import annotations

import graphlib
import importlib
import pkgutil
from collections.abc import Iterator
from inspect import getdoc

from formats.checks.base import Check, Subject, findings
from formats.types import Finding


def _discover() -> dict[str, Check]:
    found: dict[str, Check] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name == "base" or info.name.startswith("_"):
            continue
        check: Check = importlib.import_module(f"{__name__}.{info.name}").CHECK
        if check.name != info.name:
            raise ValueError(f"{info.name}.py calls itself {check.name!r}")
        found[check.name] = check
    order = graphlib.TopologicalSorter({name: sorted(check.requires) for name, check in sorted(found.items())})
    return {name: found[name] for name in order.static_order()}


CHECKS = _discover()


def run_all(subject: Subject) -> Iterator[Finding]:
    """Every check's finding, each after those it requires, as they are made. Raises Stopped for a template that is."""
    return findings(list(CHECKS.values()), subject)


def explanation(check: Check) -> str:
    """What the check asks and why it matters: its module's docstring."""
    return getdoc(importlib.import_module(f"{__name__}.{check.name}")) or ""
