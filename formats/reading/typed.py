"""What a value means that is written without quotes: its type stands in the tool's schema alone.

"03106" is text for a string and no number; `True` and `None`, which some
templates print, are what they mean in Python where the schema has room for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from formats.reading import json_text
from formats.types import JsonObject

NULLS = ("null", "None")
PYTHON_BOOLEANS = {"True": True, "False": False}
MAX_DEPTH = 50  # of unions in unions

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
_PYTHON_NAMES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}  # which schemas in the wild give
_NO_JSON: Any = object()


@dataclass(frozen=True, slots=True)
class Typed:
    """A value, and in words what was repaired to read it."""

    value: Any
    repair: str = ""


class ToolSchema:
    """The JSON Schema of a tool's parameters, asked for the types of single ones. Any value will do as a schema."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._referred: dict[str, frozenset[str] | None] = {}

    def declares(self, key: str) -> bool | None:
        """Is there such a parameter? None where the schema lists none at all."""
        declared = self._declared()
        return any(key in properties for properties in declared) if declared else None

    def types(self, key: str) -> frozenset[str] | None:
        """The JSON types that a parameter may have; None where the schema leaves that open."""
        found = [properties[key] for properties in self._declared() if key in properties]
        if not found and isinstance(self._root, dict):
            found = [self._root.get("additionalProperties")]
        return self._union(found, MAX_DEPTH) if found else None

    def _declared(self) -> list[JsonObject]:
        """The `properties` of the schema and of all that it is made of."""
        found, seen, schemas = [], set(), [self._root]
        while schemas:
            schema = schemas.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            if isinstance(schema.get("properties"), dict):
                found.append(schema["properties"])
            schemas.append(self._referred_to(schema.get("$ref")))
            schemas += [part for keyword in ("allOf", "anyOf", "oneOf") for part in _items(schema.get(keyword))]
        return found

    def _types(self, schema: Any, depth: int) -> frozenset[str] | None:
        if not isinstance(schema, dict) or depth == 0:
            return None
        found: frozenset[str] | None = None
        for types in self._stated(schema, depth - 1):
            if types is not None:
                found = types if found is None else (found & types) or found
        return found | {"null"} if found and schema.get("nullable") is True else found

    def _stated(self, schema: JsonObject, depth: int) -> Iterator[frozenset[str] | None]:
        """What each keyword of a schema says of its type."""
        if "type" in schema:
            names = [n.lower() for n in _items(schema["type"], alone=True) if isinstance(n, str)]
            names = [_PYTHON_NAMES.get(name, name) for name in names]
            yield frozenset([*names, *(["integer"] if "number" in names else [])]) or None
        if "const" in schema or "enum" in schema:
            allowed = [schema["const"]] if "const" in schema else _items(schema["enum"])
            yield frozenset(map(_type_of, allowed)) or None
        if "$ref" in schema:
            yield self._of_reference(schema["$ref"], depth)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield self._union(_items(schema[keyword]), depth)
        for part in _items(schema.get("allOf")):
            yield self._types(part, depth)

    def _union(self, schemas: list[Any], depth: int) -> frozenset[str] | None:
        """None if one of them leaves its type open."""
        each = [self._types(schema, depth) for schema in schemas]
        return None if None in each else frozenset().union(*filter(None, each)) or None

    def _of_reference(self, reference: Any, depth: int) -> frozenset[str] | None:
        if not isinstance(reference, str):
            return None
        if reference not in self._referred:
            self._referred[reference] = None  # what refers to itself says nothing
            self._referred[reference] = self._types(self._referred_to(reference), depth)
        return self._referred[reference]

    def _referred_to(self, reference: Any) -> Any:
        """The part of this schema that a reference like `#/$defs/Name` points to; nothing is fetched."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found = self._root
        for step in reference[1:].split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found


def _items(value: Any, alone: bool = False) -> list[Any]:
    """The items of a list, or the one value that stands `alone` in its place."""
    return value if isinstance(value, list) else [value] if alone else []


def typed_value(text: str, types: frozenset[str] | None) -> Typed:
    """The value that a text means under the types that its schema allows.

    A string is the text itself. Of several types the narrowest that fits wins:
    null, then what JSON reads, then text. A value without a schema is JSON unless
    that gives a string; so is one that fits no type, but for a null that the
    schema has no room for: it stays a word.
    """
    value = _json(text) if types is None or not types <= {"string", "null"} else _NO_JSON
    as_written = text if value is _NO_JSON or isinstance(value, str) else value
    if types is None:
        return Typed(as_written)
    word = text.strip()
    if "null" in types and word in NULLS:
        return Typed(None)
    if value is not _NO_JSON and _fits(value, types):
        return Typed(value)
    if "boolean" in types and word in PYTHON_BOOLEANS:
        return Typed(PYTHON_BOOLEANS[word])
    if "string" in types or value is None:
        return Typed(text)
    return _repaired(text, types) or Typed(as_written)


def _repaired(text: str, types: frozenset[str]) -> Typed | None:
    """Text that is nearly JSON, where the schema wants a list or an object."""
    found = json_text.repair(text) if types & {"array", "object"} else None
    if found is None or text[found.end :].strip() or not _fits(found.value, types):
        return None
    return Typed(found.value, found.note)


def _json(text: str) -> Any:
    try:
        return json_text.loads(text)
    except ValueError:
        return _NO_JSON


def _fits(value: Any, types: frozenset[str]) -> bool:
    whole_number = isinstance(value, float) and value.is_integer() and "integer" in types
    return not isinstance(value, str) and (_type_of(value) in types or whole_number)


def _type_of(value: Any) -> str:
    return _TYPES.get(type(value), "null")
