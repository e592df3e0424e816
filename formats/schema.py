"""Python function source -> tool definition, by reading it, never by running it.

The result equals what `transformers.utils.get_json_schema` gives for the same function, key order included, since the
order of keys is what a template writes into the prompt. Decorators, default values, bodies and other statements have
no say in it: a default only makes its argument optional.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap

from formats import docstring
from formats.errors import FormatsError
from formats.python_text import parse_module
from formats.type_hints import Names, Unsupported, schema
from formats.types import FunctionDefinition, JsonObject, ToolDefinition

Function = ast.FunctionDef | ast.AsyncFunctionDef

_CHOICES = re.compile(r"\(choices:", re.IGNORECASE)
_OTHER_STYLES = re.compile(
    r"^[ \t]*(:param |@param |Parameters[ \t]*\n[ \t]*---)", re.MULTILINE
)  # Sphinx, epydoc, NumPy


def tools_from_source(source: str) -> tuple[ToolDefinition, ...]:
    """The tools in a source text: its functions in order, or, where it has none, its classes' public methods.

    Raises FormatsError with the line, the function and the argument; its kind is one of too_large, not_python,
    no_function, no_docstring, no_type_hint, unsupported_type, argument_not_described, non_google_docstring,
    bad_choices.
    """
    source = source.removeprefix("\ufeff")
    first = next((line for line in source.splitlines() if line.strip()), "")
    module = parse_module(textwrap.dedent(source) if first[:1].isspace() else source)  # a method copied from its class
    names = Names()
    for statement in module.body:
        names.learn(statement)
    tools = tuple(_tool(function, names) for function in _functions(module))
    if not tools:
        raise FormatsError(
            "there is no function here; paste one such as\ndef f(x: int):\n"
            '    """What it does.\n\n    Args:\n        x: What x is.\n    """',
            "no_function",
        )
    return tools


def _functions(module: ast.Module) -> list[Function]:
    functions = [statement for statement in module.body if isinstance(statement, Function)]
    classes = [statement for statement in module.body if isinstance(statement, ast.ClassDef)]
    methods = [member for owner in classes for member in owner.body if isinstance(member, Function)]
    return functions or [method for method in methods if not method.name.startswith("_")]


def _tool(function: Function, names: Names) -> ToolDefinition:
    text = ast.get_docstring(function)
    if not text:
        raise _error(function, f'needs a docstring: """What {function.name} does.""" as its first line', "no_docstring")
    parts = docstring.parse(text)
    parameters = _parameters(function, names)
    for argument, described in parameters["properties"].items():
        _describe(function, argument, described, parts, text)
    definition: FunctionDefinition = {
        "name": function.name,
        "description": parts.description,
        "parameters": parameters,
    }
    returned = _return(function, names)
    if returned is not None:
        if parts.returns is not None:
            returned["description"] = parts.returns
        definition["return"] = returned  # type: ignore[typeddict-unknown-key]  # transformers' own addition
    return {"type": "function", "function": definition}


def _parameters(function: Function, names: Names) -> JsonObject:
    arguments = _arguments(function)
    for name, (annotation, _) in arguments.items():
        if annotation is None:
            words = f"argument {name!r} needs a type hint, such as {name}: str"
            raise _error(function, words, "no_type_hint")
    properties = {}
    for name in _annotation_order(function, list(arguments)):
        annotation, _ = arguments[name]
        assert annotation is not None
        try:
            properties[name] = schema(names.hint(annotation))
        except Unsupported as error:
            raise _error(function, f"argument {name!r}: {error.message}", error.kind, error.line) from None
    required = [name for name, (_, has_default) in arguments.items() if not has_default]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _arguments(function: Function) -> dict[str, tuple[ast.expr | None, bool]]:
    """Argument name -> (annotation, has a default), in the order of the signature, without a method's receiver."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    without = len(positional) - len(spec.defaults)
    found = [(arg, index >= without) for index, arg in enumerate(positional)]
    found += [(spec.vararg, False)] if spec.vararg else []
    found += [(arg, default is not None) for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]
    found += [(spec.kwarg, False)] if spec.kwarg else []
    if found and found[0][0].arg in ("self", "cls") and found[0][0].annotation is None:
        del found[0]
    arguments = {arg.arg: (arg.annotation, has_default) for arg, has_default in found}
    if len(arguments) != len(found):
        raise _error(function, "has two arguments of the same name", "not_python")
    return arguments


def _annotation_order(function: Function, arguments: list[str]) -> list[str]:
    """The order in which CPython keeps annotations: positional-only arguments come after the plain ones."""
    plain = [arg.arg for arg in function.args.args]
    return [name for name in plain if name in arguments] + [name for name in arguments if name not in plain]


def _return(function: Function, names: Names) -> JsonObject | None:
    """The schema of what is returned; a hint that has none is left out, as transformers does: no model writes it."""
    if function.returns is None:
        return None
    try:
        return schema(names.hint(function.returns))
    except Unsupported:
        return None


def _describe(function: Function, argument: str, described: JsonObject, parts: docstring.Docstring, text: str) -> None:
    """Add an argument's description, and the choices at its end, to its schema."""
    if argument not in parts.arguments:
        if not parts.arguments and _OTHER_STYLES.search(text):
            words = f"the docstring is not in Google's style; describe {argument!r} beneath a line `Args:`"
            raise _error(function, words, "non_google_docstring")
        words = f"argument {argument!r} is not described; write `{argument}: ...` beneath a docstring line `Args:`"
        raise _error(function, words, "argument_not_described")
    description = parts.arguments[argument]
    choices = _CHOICES.search(description)
    if choices and description.endswith(")"):
        try:
            values = json.loads(description[choices.end() : -1].lstrip())
            described["enum"] = [value.strip() if isinstance(value, str) else value for value in values]
        except (ValueError, TypeError, RecursionError):
            words = f'the choices of argument {argument!r} are not a JSON list; write (choices: ["a", "b"])'
            raise _error(function, words, "bad_choices") from None
        description = description[: choices.start()].strip()
    described["description"] = description


def _error(function: Function, words: str, kind: str, line: int | None = None) -> FormatsError:
    return FormatsError(f"line {line or function.lineno}, {function.name}: {words}", kind)
