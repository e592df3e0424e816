"""Reads the fields of one JSON object by name and type; what is wrong, missing or unknown is named with its path.

For the files and links that this project writes itself: links and states, exported comparisons.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn, TypeVar

from formats.errors import FormatsError
from formats.types import JsonObject

T = TypeVar("T")

KIND = "bad_file"
LONGEST_KEY = 40  # characters of a stranger's key that a message repeats


class Fields:
    """A JSON object whose values are asked for one by one; every failure is a FormatsError of kind bad_file."""

    def __init__(self, value: object, path: str, known: Collection[str]) -> None:
        if not isinstance(value, dict):
            fail(path, f"needs an object with {', '.join(known)}, not {kind_of(value)}")
        unknown = next((key for key in value if key not in known), None)
        if unknown is not None:
            fail(path, f"{str(unknown)[:LONGEST_KEY]!r} is not known here; there are {', '.join(known)}")
        self._value: JsonObject = value
        self._path = path

    def path(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def required(self, name: str) -> Any:
        if name not in self._value:
            fail(self.path(name), "is missing")
        return self._value[name]

    def optional(self, name: str) -> Any:
        """The value as it is; None where it is null or missing."""
        return self._value.get(name)

    def text(self, name: str) -> str:
        return typed(self.required(name), str, "text", self.path(name))

    def optional_text(self, name: str) -> str | None:
        return None if self.optional(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        return typed(self.required(name), bool, "true or false", self.path(name))

    def items(self, name: str) -> list[tuple[str, Any]]:
        """The items of a list, each with its path."""
        items = typed(self.required(name), list, "a list", self.path(name))
        return [(f"{self.path(name)}[{index}]", item) for index, item in enumerate(items)]

    def texts(self, name: str) -> dict[str, str]:
        """An object whose values are all text."""
        values = typed(self.required(name), dict, "an object", self.path(name))
        return {key: typed(value, str, "text", self.path(name)) for key, value in values.items()}

    def count(self, name: str) -> int:
        return whole(self.required(name), self.path(name))

    def optional_count(self, name: str) -> int | None:
        return None if self.optional(name) is None else self.count(name)


def typed(value: object, wanted: type[T], words: str, path: str) -> T:
    if not isinstance(value, wanted):
        fail(path, f"needs {words}, not {kind_of(value)}")
    return value


def whole(value: object, path: str) -> int:
    """A whole number from 0 on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        fail(path, f"needs a whole number from 0 on, not {kind_of(value)}")
    return value


def kind_of(value: object) -> str:
    """A JSON value's kind, in words."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, Mapping) else "a number"


def fail(path: str, message: str) -> NoReturn:
    raise FormatsError(f"{path}: {message}" if path else message, KIND)
