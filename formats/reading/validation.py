"""Arguments judged by a tool's JSON Schema, whatever the schema: within bounds of time, and without any network.

Tools are a stranger's text. A pattern may take for ever, references may point to
the network or multiply without end, the schema may be none at all. What cannot be
judged is passed over; everything else in the schema still counts.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from itertools import islice
from typing import Any

import jsonschema
import referencing
import regex
from jsonschema.validators import extend, validator_for

from formats.types import JsonObject, SchemaError

MAX_ERRORS = 100  # more help nobody
MAX_MESSAGE = 300  # characters: jsonschema's messages quote the whole value
MAX_STEPS = 2_000_000  # keywords judged in one output: a schema of references can double at every level
MAX_SECONDS = 5.0  # and the time all of them may take
PATTERN_SECONDS = 0.1  # for one pattern on one string
PATTERN_STEPS = MAX_STEPS // 20  # what a pattern costs that takes longer

Keyword = Callable[[Any, Any, Any, Any], Any]  # validator, the keyword's value, instance, schema -> errors


def schema_errors(arguments: JsonObject, schema: JsonObject, budget: Budget | None = None) -> tuple[SchemaError, ...]:
    """Every place where arguments break the schema, in the order of the paths; at most 100.

    A schema that is itself invalid judges nothing, nor does a keyword that cannot
    be judged: a reference that the schema does not hold, a pattern that is no
    regular expression or takes too long. Once the budget is spent, what was
    found until then is all.
    """
    budget = budget or Budget()
    validator = budget.validator(schema) if schema else None
    if validator is None:
        return ()
    found: list[jsonschema.ValidationError] = []
    budget.start()
    token = _budget.set(budget)
    try:
        found.extend(islice(validator.iter_errors(arguments), MAX_ERRORS))
    except (TooCostly, RecursionError):
        pass
    finally:
        _budget.reset(token)
        budget.stop()
    found.sort(key=lambda error: [f"{p:09}" if isinstance(p, int) else p for p in error.absolute_path])
    return tuple(SchemaError(json_path(e.absolute_path), str(e.validator), _short(e.message)) for e in found)


def json_path(parts: Sequence[str | int]) -> str:
    """`stops[1].zone`; a key that is no plain word is quoted: `["a.b"]`."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[\w$-]+", part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text


def _short(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Any:
    """None for a schema that is itself invalid."""
    schema = json.loads(schema_text)
    base = validator_for({"$schema": str(schema.get("$schema"))}, default=jsonschema.Draft202012Validator)
    try:
        base.check_schema(schema, format_checker=None)
        # what is evaluated is found by a search of jsonschema's own through these two
        unbounded = "patternProperties" in schema_text or "dependentSchemas" in schema_text
        passed_over = ("unevaluatedProperties",) if unbounded else ()
        return _bounded(base)(_bounded_schema(schema, passed_over), registry=referencing.Registry())
    except (jsonschema.SchemaError, RecursionError):
        return None


def _bounded_schema(schema: Any, passed_over: Collection[str]) -> Any:
    """The schema without keywords that would bring back jsonschema's own, unbounded work."""
    if isinstance(schema, list):
        return [_bounded_schema(item, passed_over) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _bounded_schema(value, passed_over)
        for key, value in schema.items()
        if key not in passed_over and not (key == "$schema" and isinstance(value, str))
    }


# Bounds


class TooCostly(Exception):
    """The schema takes more work than any honest one."""


class Budget:
    """What judging one output may cost, all its calls together."""

    def __init__(self) -> None:
        self.steps = MAX_STEPS
        self.seconds = MAX_SECONDS
        self._deadline = 0.0
        self._validators: dict[int, tuple[JsonObject, Any]] = {}  # by the identity of the schema, which is kept

    def validator(self, schema: JsonObject) -> Any:
        """None for what is no schema."""
        if id(schema) not in self._validators:
            try:
                validator = _validator(json.dumps(schema))
            except (TypeError, ValueError, RecursionError):
                validator = None  # it is not JSON
            self._validators[id(schema)] = (schema, validator)
        return self._validators[id(schema)][1]

    def start(self) -> None:
        self._deadline = time.monotonic() + self.seconds

    def stop(self) -> None:
        self.seconds = self._deadline - time.monotonic()

    def spend(self, steps: int = 1) -> None:
        self.steps -= steps
        if self.steps <= 0 or time.monotonic() > self._deadline:
            raise TooCostly


_budget: ContextVar[Budget] = ContextVar("budget")


@cache
def _bounded(base: Any) -> Any:
    """A dialect's validator with every keyword counted, and the unbounded ones replaced."""
    replaced = {name: keyword for name, keyword in _BOUNDED.items() if name in base.VALIDATORS}
    keywords = {**base.VALIDATORS, **replaced}
    for name in {"$ref", "$dynamicRef", "$recursiveRef", "unevaluatedProperties"} & keywords.keys():
        keywords[name] = _within_schema(keywords[name])
    for name in {"type", "enum"} & keywords.keys():
        keywords[name] = _unless_nullable(keywords[name])
    return extend(base, {name: _counted(keyword) for name, keyword in keywords.items()})


def _counted(keyword: Keyword) -> Keyword:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        _budget.get().spend()
        return keyword(validator, value, instance, schema)

    return counted


def _within_schema(keyword: Keyword) -> Keyword:
    def reference(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        try:
            yield from keyword(validator, value, instance, schema)
        except referencing.exceptions.Unresolvable:
            return  # not in this schema, and nothing is fetched

    return reference


def _unless_nullable(keyword: Keyword) -> Keyword:
    """OpenAPI's `nullable`, which tools have though JSON Schema does not know it, makes room for null."""

    def unless_nullable(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if instance is not None or schema.get("nullable") is not True:
            yield from keyword(validator, value, instance, schema)

    return unless_nullable


def _matches(pattern: str, text: str) -> bool | None:
    """None where it cannot be told: the pattern is no regular expression, or takes too long."""
    try:
        return regex.search(pattern, text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        _budget.get().spend(PATTERN_STEPS)
    except (regex.error, RecursionError):
        pass
    return None


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and _matches(pattern, instance) is False:
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    for pattern, subschema in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if _matches(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in schema.get("properties", {}) or any(_matches(p, key) is not False for p in patterns):
            continue
        if allowed is False:
            yield jsonschema.ValidationError(f"{key!r} is not a parameter of this tool", path=[key])
        else:
            yield from validator.descend(value, allowed, path=key)


def _unique_items(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if unique and isinstance(instance, list) and len({_identity(item) for item in instance}) < len(instance):
        yield jsonschema.ValidationError(f"{instance!r} has non-unique elements")


def _identity(value: Any) -> str:
    """The same text for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_whole_numbers(value), sort_keys=True)


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return value


_BOUNDED: dict[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
