"""The built-in tools of the tool loop: safe, and the same today as tomorrow, but for the clock they are given.

`calculator` reads its expression as a tree and computes only what stands in a short list; `get_weather` knows a few
cities by heart; `current_time` asks the clock of its caller.
"""

from __future__ import annotations

import ast
import datetime
import json
import math
import operator
import zoneinfo
from collections.abc import Callable, Mapping
from typing import Any

from formats.errors import FormatsError
from formats.types import JsonObject, ToolDefinition

Clock = Callable[[], datetime.datetime]  # an aware datetime

LONGEST_EXPRESSION = 500  # characters
MOST_BITS = 4096  # of a whole number, at any step
DEEPEST = 40

Number = int | float


class ToolError(FormatsError):
    """The tool cannot do what it is asked; the words go back to the model."""

    kind = "tool_error"


# calculator


_CONSTANTS: Mapping[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sqrt": math.sqrt,
    "abs": abs,
    "round": lambda value, digits=0: round(value, max(-20, min(20, digits))) if digits else round(value),
    "floor": math.floor,
    "ceil": math.ceil,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "exp": math.exp,
    "min": min,
    "max": max,
}
_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def calculate(expression: str) -> Number:
    """The value of an arithmetic expression as Python writes it. Raises ToolError for everything else."""
    if len(expression) > LONGEST_EXPRESSION:
        raise ToolError(f"the expression is longer than {LONGEST_EXPRESSION} characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ToolError(f"{expression[:80]!r} is no arithmetic expression, such as 2 * (3 + 4)") from None
    try:
        return _value(tree.body, 0)
    except ZeroDivisionError:
        raise ToolError("division by zero") from None
    except OverflowError:
        raise ToolError("the number is too large") from None
    except (ValueError, TypeError) as error:
        raise ToolError(str(error)) from None


def _value(node: ast.expr, depth: int) -> Number:
    if depth > DEEPEST:
        raise ToolError("the expression is nested too deeply")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _checked(value)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=inner) if type(op) in _OPERATORS:
            return _checked(_OPERATORS[type(op)](_value(inner, depth + 1)))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, depth + 1), _value(right, depth + 1))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _checked(_OPERATORS[type(op)](_value(left, depth + 1), _value(right, depth + 1)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _checked(_FUNCTIONS[name](*(_value(arg, depth + 1) for arg in args)))
    raise ToolError(
        f"{ast.unparse(node)[:80]!r} is not arithmetic: numbers, + - * / // % ** and {', '.join(_FUNCTIONS)}"
    )


def _power(base: Number, exponent: Number) -> Number:
    """Judged before it is computed: a few characters can ask for a number that fills the memory."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and abs(base) > 1 and int(base).bit_length() * exponent > MOST_BITS:
        raise ToolError("the number is too large")
    return _checked(base**exponent)


def _checked(value: Any) -> Number:
    if isinstance(value, complex):
        raise ToolError("the result is no real number")
    if isinstance(value, float) and not math.isfinite(value):
        raise ToolError("the result is no finite number")
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ToolError("the number is too large")
    number: Number = value
    return number


# get_weather, current_time

WEATHER: Mapping[str, tuple[int, str]] = {  # degrees Celsius and the sky, fixed
    "paris": (18, "cloudy"),
    "london": (14, "rain"),
    "berlin": (16, "sunny"),
    "madrid": (27, "sunny"),
    "rome": (25, "sunny"),
    "tokyo": (22, "cloudy"),
    "beijing": (20, "windy"),
    "new york": (19, "sunny"),
    "lisbon": (23, "sunny"),
    "oslo": (8, "snow"),
    "cairo": (33, "sunny"),
    "sydney": (21, "rain"),
    "toronto": (11, "cloudy"),
    "mumbai": (31, "rain"),
    "são paulo": (24, "cloudy"),
    "nairobi": (22, "sunny"),
    "vienna": (15, "windy"),
}


def get_weather(arguments: JsonObject, clock: Clock) -> JsonObject:
    city = _text(arguments, "city")
    known = WEATHER.get(city.strip().casefold())
    if known is None:
        raise ToolError(f"no weather is known for {city[:80]!r}; there is weather for {', '.join(WEATHER).title()}")
    return {"city": city, "temperature_celsius": known[0], "sky": known[1]}


def current_time(arguments: JsonObject, clock: Clock) -> JsonObject:
    name = arguments.get("timezone", "UTC")
    try:
        zone = zoneinfo.ZoneInfo(name) if isinstance(name, str) else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        zone = None
    if zone is None:
        raise ToolError(f"{str(name)[:80]!r} is no time zone, such as Europe/Paris")
    return {"time": clock().astimezone(zone).isoformat(timespec="seconds"), "timezone": name}


def calculator(arguments: JsonObject, clock: Clock) -> JsonObject:
    return {"result": calculate(_text(arguments, "expression"))}


def _text(arguments: JsonObject, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolError(f"the argument {name!r} is missing or no text")
    return value


BUILT_IN: Mapping[str, Callable[[JsonObject, Clock], JsonObject]] = {
    "current_time": current_time,
    "calculator": calculator,
    "get_weather": get_weather,
}


def run(name: str, arguments: JsonObject, clock: Clock) -> str:
    """The result of a built-in tool as JSON text. Raises ToolError, KeyError for a name that is none."""
    return json.dumps(BUILT_IN[name](arguments, clock), ensure_ascii=False)


def _definition(name: str, description: str, properties: JsonObject, required: list[str]) -> ToolDefinition:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


DEFINITIONS: tuple[ToolDefinition, ...] = (
    _definition(
        "calculator",
        "Compute an arithmetic expression.",
        {"expression": {"type": "string", "description": "The expression, such as 2 * (3 + 4)."}},
        ["expression"],
    ),
    _definition(
        "get_weather",
        "Get the weather in a city.",
        {"city": {"type": "string", "description": "The name of the city, such as Paris."}},
        ["city"],
    ),
    _definition(
        "current_time",
        "Get the current time.",
        {"timezone": {"type": "string", "description": "The IANA name of the time zone, such as Europe/Paris."}},
        ["timezone"],
    ),
)
