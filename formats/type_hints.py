"""Type hints -> JSON Schema as `transformers.utils.get_json_schema` does it, from the source text alone.

A hint is an expression; here it is looked at, never evaluated. Names are followed through the imports, aliases and
Enum classes of the same source; the names of `typing` are known without an import. What cannot be told without
running the code (a call, a name from another module) is an Unsupported hint, with the line and the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from formats.errors import FormatsError
from formats.python_text import parse_expression
from formats.types import JsonObject

MAX_DEPTH = 50  # hints inside hints, aliases of aliases
MAX_SIZE = 2000  # hints in one hint; aliases of aliases could double it with every line

Scalar = str | int | float | bool | None
Kind = Literal["plain", "list", "dict", "tuple", "union", "literal", "enum"]


class Unsupported(FormatsError):
    """A hint that has no JSON Schema, or whose meaning cannot be read off the source."""

    kind = "unsupported_type"

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Hint:
    """A type; two that are equal are one type to `Union`, so list[int] and typing.List[int] are spelled apart."""

    kind: Kind
    args: tuple[Any, ...]  # plain: its JSON type or None; literal and enum: (Python type, value) pairs; else hints
    spelling: str = ""
    size: int = 1


_NONE = Hint("plain", ("null",), "NoneType")

_BUILTINS = ("int", "float", "str", "bool", "list", "tuple", "dict")
_TYPING = ("Any", "List", "Tuple", "Dict", "Text", "Optional", "Union", "Literal", "Annotated")
_ENUMS = ("enum.Enum", "enum.IntEnum", "enum.StrEnum")

_PLAIN = {
    "int": "integer",
    "float": "number",
    "str": "string",
    "bool": "boolean",
    "list": "array",
    "typing.List": "array",
    "tuple": "array",
    "typing.Tuple": "array",
    "dict": "object",
    "typing.Dict": "object",
    "typing.Any": None,
    "NoneType": "null",
    "PIL.Image.Image": "image",
    "torch.Tensor": "audio",
}
_SCALARS = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}

_MEMBER_TYPES: dict[tuple[str, ...], tuple[type, ...]] = {  # bases of an Enum class -> what its values may be
    ("enum.Enum",): tuple(_SCALARS),
    ("enum.IntEnum",): (int,),
    ("enum.StrEnum",): (str,),
    ("str", "enum.Enum"): (str,),
    ("int", "enum.Enum"): (int,),
    ("float", "enum.Enum"): (float,),
}

_SAME = {"types.NoneType": "NoneType", "typing.Text": "str"}  # one object under two names


class Names:
    """What the names of a source text stand for in a type hint."""

    def __init__(self) -> None:
        self._known: dict[str, str | ast.expr | ast.ClassDef | Hint] = {name: name for name in _BUILTINS}
        self._known |= {name: _SAME.get(f"typing.{name}", f"typing.{name}") for name in _TYPING}
        self._known |= {name.removeprefix("enum."): name for name in _ENUMS} | {"typing": "typing"}

    def learn(self, statement: ast.stmt) -> None:
        """Take note of the names that one statement of the module binds, where they may be types."""
        match statement:
            case ast.Import(names):
                for alias in names:
                    top = alias.name.split(".")[0]
                    self._known[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom(module, names):
                for alias in names:
                    origin = f"{module}.{alias.name}".replace("typing_extensions.", "typing.")
                    self._known[alias.asname or alias.name] = _SAME.get(origin, origin)
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                self._known[name] = value
            case ast.ClassDef(name):
                self._known[name] = statement

    def hint(self, node: ast.expr, depth: int = 0) -> Hint:
        """What an annotation stands for; raises Unsupported."""
        if depth > MAX_DEPTH:
            raise Unsupported(f"the type hint is nested more than {MAX_DEPTH} levels deep", node.lineno)
        found = self._hint(node, depth)
        if found.size > MAX_SIZE:
            raise Unsupported(f"the type hint holds more than {MAX_SIZE} others", node.lineno)
        return found

    def _hint(self, node: ast.expr, depth: int) -> Hint:
        match node:
            case ast.Constant(None):
                return _NONE
            case ast.Constant(str(text)):
                return self._quoted(text, node, depth)
            case ast.Subscript(value, arguments):
                items = tuple(arguments.elts) if isinstance(arguments, ast.Tuple) else (arguments,)
                return self._generic(self._resolve(value, depth), items, node, depth)
            case ast.BinOp(_, ast.BitOr(), _):
                return self._bar(node, depth)
            case ast.Name() | ast.Attribute():
                return self._named(self._resolve(node, depth), node)
        raise Unsupported(f"{_words(node)} is not a type hint that can be read without running the code", node.lineno)

    def _quoted(self, text: str, node: ast.expr, depth: int) -> Hint:
        try:
            inner = parse_expression(text)
        except FormatsError:
            raise Unsupported(f"the text {_words(node)} is not a type hint", node.lineno) from None
        return self.hint(ast.fix_missing_locations(_moved(inner, node.lineno)), depth + 1)

    def _resolve(self, node: ast.expr, depth: int) -> str | Hint:
        """A name, followed to where it comes from: "typing.Optional", or the hint it is an alias of."""
        if depth > MAX_DEPTH:
            raise Unsupported(f"{_words(node)} is an alias of an alias, more than {MAX_DEPTH} times", node.lineno)
        match node:
            case ast.Name(name):
                return self._bound(name, node, depth)
            case ast.Attribute(value, attribute):
                owner = self._resolve(value, depth + 1)
                if isinstance(owner, str):
                    name = f"{owner}.{attribute}".replace("typing_extensions.", "typing.")
                    return _SAME.get(name, name)
        raise Unsupported(f"{_words(node)} is not a type hint that can be read without running the code", node.lineno)

    def _bound(self, name: str, user: ast.expr, depth: int) -> str | Hint:
        """What a name is bound to; a bare generic (`Maybe = Optional`) stays one."""
        bound = self._known.get(name, f"?{name}")
        if isinstance(bound, str | Hint):
            return bound
        self._known[name] = f"?{name}"  # while it is looked up: it may lead back to itself
        if isinstance(bound, ast.ClassDef):
            found: str | Hint = self._class(bound, user, depth)
        elif isinstance(bound, ast.Name | ast.Attribute):
            found = self._resolve(bound, depth + 1)
        else:
            found = self.hint(bound, depth + 1)
        self._known[name] = found
        return found

    def _named(self, name: str | Hint, node: ast.expr) -> Hint:
        if isinstance(name, Hint):
            return name
        if name in _PLAIN:
            return Hint("plain", (_PLAIN[name],), spelling=name)
        raise Unsupported(
            f"the type {_words(node)} has no JSON Schema; what has one is str, int, float, bool, list, tuple, dict, "
            "None, Any, Optional, Union, Literal and Enum classes of the same source",
            node.lineno,
        )

    def _generic(self, name: str | Hint, items: tuple[ast.expr, ...], node: ast.expr, depth: int) -> Hint:
        """`name[items]`; only the items that transformers looks at are looked at here."""
        match name, items:
            case "typing.Optional", (item,):
                return _union([self.hint(item, depth + 1), _NONE])
            case "typing.Union", (_, *_):
                return _union(self.hint(item, depth + 1) for item in items)
            case "typing.Annotated", (item, _, *_):
                return self.hint(item, depth + 1)
            case "typing.Literal", (_, *_):
                return self._literal(items, node, depth)
            case ("list", _) | ("typing.List", (_,)):
                return self._holder("list", name, items[:1], depth)
            case ("dict", _) | ("typing.Dict", (_, _)):
                return self._holder("dict", name, items[1:] if len(items) == 2 else (), depth)
            case "tuple" | "typing.Tuple", (_,):
                raise Unsupported(
                    f"{_words(node)} is a tuple of a single element; use list[...] for any number of elements, "
                    "or the element's own type",
                    node.lineno,
                )
            case "tuple" | "typing.Tuple", _:
                if any(isinstance(item, ast.Constant) and item.value is ... for item in items):
                    raise Unsupported(f"'...' in {_words(node)} has no JSON Schema; use list[...]", node.lineno)
                return self._holder("tuple", name, items, depth)
        raise Unsupported(f"the type {_words(node)} has no JSON Schema", node.lineno)

    def _holder(self, kind: Kind, name: str | Hint, items: tuple[ast.expr, ...], depth: int) -> Hint:
        for item in items:
            if name == kind and isinstance(item, ast.Constant) and item.value is None:  # typing's own generics allow it
                words = f"a bare None inside {kind}[...] is not converted by transformers; write Optional[...]"
                raise Unsupported(words, item.lineno)
        return _with_size(kind, [self.hint(item, depth + 1) for item in items], str(name))

    def _bar(self, node: ast.expr, depth: int) -> Hint:
        """X | Y | Z, read from the right without recursion: a long one is a deep tree."""
        operands = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            operands.append(node.right)
            node = node.left
        operands.append(node)
        if any(isinstance(o, ast.Constant) and isinstance(o.value, str) for o in operands):
            raise Unsupported("text in quotes cannot stand beside |; put the whole type hint in quotes", node.lineno)
        if all(isinstance(o, ast.Constant) and o.value is None for o in operands[-2:]):
            raise Unsupported("None | None is not a type in Python", node.lineno)
        return _union(self.hint(operand, depth + 1) for operand in reversed(operands))

    def _literal(self, items: tuple[ast.expr, ...], node: ast.expr, depth: int) -> Hint:
        values: dict[tuple[str, Scalar], None] = {}
        for item in items:
            if isinstance(item, ast.Subscript | ast.Name | ast.Attribute):
                inner = self.hint(item, depth + 1)
                if inner.kind != "literal":
                    raise Unsupported(f"{_words(item)} inside Literal is not a value written out", node.lineno)
                values |= dict.fromkeys(inner.args)
            else:
                value = _scalar(item)
                values[type(value).__name__, value] = None
        return Hint("literal", tuple(values), size=len(values))

    def _class(self, node: ast.ClassDef, user: ast.expr, depth: int) -> str | Hint:
        """An Enum whose members are written out as values; any other class has no JSON Schema."""
        bases = [
            str(self._resolve(base, depth + 1)) for base in node.bases if isinstance(base, ast.Name | ast.Attribute)
        ]
        if not any(base in _ENUMS for base in bases):
            return f"?{node.name}"
        members = _members(node, bases)
        if not members:
            raise Unsupported(f"the Enum {node.name} has no members, so no value could match it", user.lineno)
        return Hint("enum", tuple((type(m).__name__, m) for m in members), node.name, size=len(members))


def _members(node: ast.ClassDef, bases: list[str]) -> list[Scalar]:
    """The different values of an Enum class; an equal value is another name for the first member."""
    unclear = f"the members of the Enum {node.name} cannot be told without running the code"
    wanted = _MEMBER_TYPES.get(tuple(bases))
    if wanted is None or len(bases) != len(node.bases) or node.keywords:
        raise Unsupported(unclear, node.lineno)
    members: list[Scalar] = []
    for statement in node.body:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                member = _scalar(value)
                if name.startswith("_") or type(member) not in wanted:
                    raise Unsupported(unclear, statement.lineno)
                if member not in members:
                    members.append(member)
            case ast.FunctionDef(name) if name not in ("__new__", "__init__", "value"):
                pass
            case ast.Expr(ast.Constant()) | ast.Pass() | ast.AnnAssign(value=None):
                pass
            case _:
                raise Unsupported(unclear, statement.lineno)
    return members


def schema(hint: Hint) -> JsonObject:
    """The JSON Schema of a type, with its keys in transformers' order."""
    match hint.kind:
        case "plain":
            return {} if hint.args[0] is None else {"type": hint.args[0]}
        case "literal" | "enum":
            values = [value for _, value in hint.args]
            types = list(dict.fromkeys(_SCALARS[type(value)] for value in values))
            return {"type": types[0] if len(types) == 1 else types, "enum": values}
        case "union":
            return _union_schema(hint)
        case "list":
            return {"type": "array"} | ({"items": schema(hint.args[0])} if hint.args else {})
        case "tuple":
            return {"type": "array"} | ({"prefixItems": [schema(h) for h in hint.args]} if hint.args else {})
        case "dict":
            return {"type": "object"} | ({"additionalProperties": schema(hint.args[0])} if hint.args else {})


def _union_schema(hint: Hint) -> JsonObject:
    options = [schema(option) for option in hint.args if option.args != ("null",)]
    if len(options) == 1:
        found = options[0]
    elif all(option.keys() == {"type"} and isinstance(option["type"], str) for option in options):
        types = sorted({option["type"] for option in options})
        found = {"type": types[0] if len(types) == 1 else types}
    else:
        found = {"anyOf": options}
    if len(options) < len(hint.args):
        found["nullable"] = True
    return found


def _union(hints: Iterable[Hint]) -> Hint:
    """Flat and without duplicates, as typing keeps it; the order of a Literal's values makes no difference to it."""
    different: dict[object, Hint] = {}
    for hint in hints:
        for option in hint.args if hint.kind == "union" else (hint,):
            different.setdefault(frozenset(option.args) if option.kind == "literal" else option, option)
    options = list(different.values())
    return options[0] if len(options) == 1 else _with_size("union", options, "")


def _with_size(kind: Kind, hints: list[Hint], spelling: str) -> Hint:
    return Hint(kind, tuple(hints), spelling, 1 + sum(hint.size for hint in hints))


def _scalar(node: ast.expr) -> Scalar:
    """A value that is written out and that JSON can hold."""
    match node:
        case ast.Constant(value) if type(value) in _SCALARS and value not in (float("inf"), float("-inf")):
            return value  # type: ignore[return-value]
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, ast.Constant(int() | float() as number)) if not isinstance(
            number, bool
        ) and number != float("inf"):
            return -number if isinstance(sign, ast.USub) else number
    raise Unsupported(f"{_words(node)} is not text, a number, true, false or null that is written out", node.lineno)


def _moved(node: ast.expr, line: int) -> ast.expr:
    """A tree that was read from a text inside the source, with the line of that text."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.expr):
            inner.lineno = line
    return node


def _words(node: ast.expr) -> str:
    """The source of a short expression."""
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "this"
    return text if len(text) <= 60 else f"{text[:57]}..."
