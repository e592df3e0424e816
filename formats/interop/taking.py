"""How a shape is read: a JSON object is taken apart, and what nobody took is reported with its path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from formats.conversation import at
from formats.errors import BadConversation
from formats.fields import kind_of
from formats.interop.base import Loss
from formats.types import JsonObject, ToolDefinition


class Box:
    """A JSON object that is taken apart key by key."""

    def __init__(self, value: object, path: str, losses: list[Loss]) -> None:
        if not isinstance(value, dict):
            raise BadConversation(f"needs an object, not {kind_of(value)}", path)
        self._left: JsonObject = dict(value)
        self.path = path
        self.losses = losses

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def at(self, key: str) -> str:
        return at(self.path, key)

    def __iter__(self) -> Iterator[str]:
        """The keys that nobody took yet; they may be taken on the way."""
        return iter(list(self._left))

    def take(self, *keys: str) -> Any:
        """The value of the first of these keys that is there; None where none is."""
        key = next((key for key in keys if key in self._left), None)
        return None if key is None else self._left.pop(key)

    def peek(self, key: str) -> Any:
        return self._left.get(key)

    def text(self, *keys: str) -> str | None:
        key = next((key for key in keys if key in self._left), keys[0])
        value = self.take(key)
        if value is not None and not isinstance(value, str):
            raise BadConversation(f"needs text, not {kind_of(value)}", self.at(key))
        return value

    def items(self, *keys: str) -> list[tuple[Any, str]]:
        """The items of a list, each with its path; [] where there is no list."""
        key = next((key for key in keys if key in self._left), keys[0])
        value = self.take(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise BadConversation(f"needs a list, not {kind_of(value)}", self.at(key))
        return [(item, f"{self.at(key)}[{index}]") for index, item in enumerate(value)]

    def all_of(self, key: str) -> tuple[Any, ...] | None:
        """The items of a list as they are; None where there is none."""
        return tuple(item for item, _ in self.items(key)) if self.peek(key) is not None else self.take(key)

    def lose(self, key: str, why: str) -> None:
        """Report a key that has no place in a conversation; null and empty values hold nothing to lose."""
        value = self.take(key)
        if value not in (None, [], {}):
            self.losses.append(Loss(self.at(key), why))

    def lose_rest(self, why: str) -> None:
        for key in self:
            self.lose(key, why)

    def rest(self) -> JsonObject:
        """All that nobody took."""
        left, self._left = self._left, {}
        return left


def objects(value: object) -> list[JsonObject]:
    """The objects in a list, for a look at what it holds; [] for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def one_text(parts: list[JsonObject]) -> str | list[JsonObject]:
    """A single part of text is text; anything else stays a list of parts."""
    if not parts:
        return ""
    if len(parts) == 1 and parts[0].get("type") == "text" and isinstance(parts[0].get("text"), str):
        return str(parts[0]["text"])
    return parts


def read_tools(items: Sequence[tuple[Any, str]], losses: list[Loss]) -> tuple[ToolDefinition, ...]:
    """Tools of any API, in the shape that templates know; those without a name are built into the API and lost."""
    tools = (read_tool(value, path, losses) for value, path in items)
    return tuple(cast("ToolDefinition", tool) for tool in tools if tool is not None)


def tools_in(box: Box) -> tuple[ToolDefinition, ...] | None:
    """The tools of a body; None where it has none, which is not the same as an empty list."""
    if box.peek("tools") is None:
        return None
    return read_tools(box.items("tools"), box.losses)


_FUNCTION_KEYS = {  # what other APIs call the parts of a function definition
    "name": "name",
    "description": "description",
    "parameters": "parameters",
    "input_schema": "parameters",
    "inputSchema": "parameters",
    "parametersJsonSchema": "parameters",
    "parameters_json_schema": "parameters",
    "outputSchema": "return",
    "response": "return",
    "responseJsonSchema": "return",
    "response_json_schema": "return",
    "return": "return",
    "strict": "strict",
}


def read_tool(value: object, path: str, losses: list[Loss]) -> JsonObject | None:
    """One tool; the nested form is kept as it is, a flat one is nested with its keys in their order."""
    box = Box(value, path, losses)
    if "function" in box:
        return box.rest()
    kind = box.take("type")
    if "name" not in box or kind not in (None, "function", "custom"):
        losses.append(Loss(path, f"a tool of the API itself ({kind}), which no template can show"))
        return None
    function: JsonObject = {}
    for key in box:
        if key in _FUNCTION_KEYS and _FUNCTION_KEYS[key] not in function:
            function[_FUNCTION_KEYS[key]] = box.take(key)
    box.lose_rest("has no place in a tool definition")
    return {"type": "function", "function": function}
