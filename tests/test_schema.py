"""Reading a function gives what transformers' get_json_schema gives when it is run, and nothing is ever run."""

import enum
import inspect
import json
import textwrap
import threading
import time
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import HANGS
from transformers.utils import get_json_schema
from transformers.utils.chat_template_utils import (
    DocstringParsingException,
    TypeHintParsingException,
    parse_google_format_docstring,
)

from formats import docstring
from formats.errors import FormatsError
from formats.python_text import MAX_CHARACTERS
from formats.schema import tools_from_source

GUIDE = '''
def get_current_temperature(location: str, unit: str):
    """
    Get the current temperature at a location.

    Args:
        location: The location to get the temperature for, in the format "City, Country"
        unit: The unit to return the temperature in. (choices: ["celsius", "fahrenheit"])
    """
    return 22.

def get_current_wind_speed(location: str):
    """
    Get the current wind speed in km/h at a given location.

    Args:
        location: The location to get the wind speed for, in the format "City, Country"
    """
    return 6.
'''

# Whole sources, for what a single annotation cannot show: imports, classes, docstrings, signatures.
SOURCES = {
    "the tool-use guide": GUIDE,
    "several, async, with other statements": '''
import math
LIMIT = math.pi
async def first(a: int) -> str:
    """First.

    Args:
        a: An a.

    Returns:
        A text.
    """

def second():
    """Second."""
if LIMIT:
    pass
''',
    "every kind of parameter": '''
def f(a: int, b: str = "x", /, c: float = 1.0, *d: bool, e: list, f: dict = {}, **g: int):
    """All kinds.

    Args:
        a: A
        b: B
        c: C
        d: D
        e: E
        f: F
        g: G
    """
''',
    "positional-only arguments come after plain ones": '''
def f(z: int, /, y: int, *, x: int):
    """D.

    Args:
        x: X
        y: Y
        z: Z
    """
''',
    "methods": '''
class Weather:
    """A class."""
    def __init__(self, key): ...
    def _private(self, x): ...
    def get(self, city: str) -> int:
        """Get it.

        Args:
            city: The city
        """
    @classmethod
    def other(cls, n: int):
        """Other.

        Args:
            n: N
        """
''',
    "self with a type hint is an argument": '''
def f(self: int, x: int):
    """D.

    Args:
        self: S
        x: X
    """
''',
    "a function named like a receiver's": '''
def f(self, x: int):
    """D.

    Args:
        x: X
    """
''',
    "indented, as copied out of a class": '''
    def f(self, x: int):
        """D.

        Args:
            x: X
        """
        return x
''',
    "imports under other names": '''
import typing as t
from typing import Optional as Maybe, List
from typing_extensions import Literal as Lit, Annotated
import typing_extensions
def f(a: t.Optional[int], b: Maybe[str], c: List["t.Any"], d: Lit[1, 2], e: Annotated[int, print("hi")],
      g: typing_extensions.Literal["x"], h: t.Dict[str, t.Tuple[int, str]]):
    """D.

    Args:
        a: A
        b: B
        c: C
        d: D
        e: E
        g: G
        h: H
    """
''',
    "aliases": '''
from typing import Literal, Optional, TypeAlias
Unit = Literal["celsius", "fahrenheit"]
Units: TypeAlias = list[Unit]
Perhaps = Optional
Quoted = "int"
def f(a: Unit, b: Units, c: Perhaps[Unit], d: Quoted, e: "Units", g: Literal[Unit, "kelvin"]):
    """D.

    Args:
        a: A
        b: B
        c: C
        d: D
        e: E
        g: G
    """
''',
    "postponed annotations": '''
from __future__ import annotations
def f(a: int | None, b: list[str], c: Optional[Literal["x"]] = None) -> Any:
    """D.

    Args:
        a: A
        b: B
        c: C
    Returns:
        Anything
    """
''',
    "enums": '''
from enum import Enum, IntEnum, StrEnum
import enum
class Unit(Enum):
    """Units."""
    C = "celsius"
    F = "fahrenheit"
    ALSO_C = "celsius"
    def label(self): return self.name
class Level(IntEnum):
    LOW = 1
    HIGH = -2
class Colour(str, Enum):
    RED: str = "red"
class Mixed(enum.Enum):
    A = 1
    B = None
    C = True
    D = 1.5
class Text(StrEnum):
    X = "x"
def f(a: Unit, b: Level, c: Colour | None, d: list[Mixed], e: Text):
    """D.

    Args:
        a: A
        b: B
        c: C
        d: D
        e: E
    """
''',
    "an empty enum": '''
class Empty(Enum): pass
def f(a: Empty):
    """D.

    Args:
        a: A
    """
''',
    "an enum of lists": '''
class Odd(Enum):
    A = [1]
def f(a: Odd):
    """D.

    Args:
        a: A
    """
''',
    "a class of its own": '''
class Place:
    x: int
def f(a: Place):
    """D.

    Args:
        a: A
    """
''',
    "a NewType": '''
from typing import NewType
UserId = NewType("UserId", int)
def f(a: UserId):
    """D.

    Args:
        a: A
    """
''',
    "an image": '''
from PIL.Image import Image
import PIL.Image
def f(a: Image, b: PIL.Image.Image):
    """D.

    Args:
        a: A
        b: B
    """
''',
    "no docstring": "def f(a: int): return a",
    "an empty docstring": 'def f():\n    """   """',
    "an f-string is no docstring": 'def f():\n    f"""D {1}."""',
    "a docstring and nothing else": 'def f():\n    "D."',
    "not described": 'def f(a: int, b: int):\n    """D.\n\n    Args:\n        a: A\n    """',
    "no Args at all": 'def f(a: int):\n    """D."""',
    "Args on the first line": 'def f(a: int):\n    """Args:\n        a: A\n    """',
    "NumPy style": 'def f(a: int):\n    """D.\n\n    Parameters\n    ----------\n    a : int\n        The a.\n    """',
    "Sphinx style": 'def f(a: int):\n    """D.\n\n    :param a: The a.\n    """',
    "no type hint": 'def f(a, b: int):\n    """D.\n\n    Args:\n        a: A\n        b: B\n    """',
    "no type hint for *args": 'def f(*a):\n    """D.\n\n    Args:\n        a: A\n    """',
    "types in the docstring": '''
def f(a: int, b: str):
    """D.

    Args:
        a (int): The a.
        b (`str`, *optional*): The b.
    """
''',
    "a description over several lines": '''
def f(a: int, b: str):
    """
    First line,
    second line.

    And a paragraph: with a colon.

    Args:
        a:
            starts on the next line,
                goes on

            and ends: here
        b: one
          two: three
    Returns:
        str: a text
        of two lines

        and a paragraph
    Raises:
        ValueError: never
    """
''',
    "section names inside a sentence": '''
def f(a: int):
    """The word Returns: ends a description.

    Args:
        a: The word Raises: ends an argument.
    """
''',
    "choices of every kind": '''
def f(a: str, b: int, c: str, d: str, e: str):
    """D.

    Args:
        a: A (choices: [" tea ", "coffee"])
        b: B (Choices: [1, 2.5, null, true])
        c: (choices: ["x"])
        d: D (choices: ["x"]) not at the end
        e: E (choices: "abc")
    """
''',
    "choices over a Literal": '''
def f(a: Optional[Literal["x", "y"]]):
    """D.

    Args:
        a: A (choices: ["z"])
    """
''',
    "choices that are not JSON": 'def f(a: str):\n    """D.\n\n    Args:\n        a: A (choices: [x, y])\n    """',
    "choices that are no list": 'def f(a: str):\n    """D.\n\n    Args:\n        a: A (choices: 5)\n    """',
    "tabs and Windows line ends": 'def f(a: int):\r\n\t"""D.\r\n\r\n\tArgs:\r\n\t\ta: A\r\n\t\t  b\r\n\t"""\r\n',
    "an escaped docstring": 'def f(a: int):\n    "D.\\n\\nArgs:\\n    a: \\u00e9 \\\\ A\\n"',
    "Unicode names": 'def größe(höhe: float):\n    """Größe 東京.\n\n    Args:\n        höhe: Die Höhe 🌧️\n    """',
    "a decorator and a hostile default": '''
import typing
@typing.final
def f(a: int = [0][0], b: str = (lambda: "x")()):
    """D.

    Args:
        a: A
        b: B
    """
''',
    "two arguments of one name": 'def f(a: int, a: int):\n    """D.\n\n    Args:\n        a: A\n    """',
    "not Python": "def f(a int):\n    pass",
    "cut off": 'def f(a: int):\n    """D.',
}

# One argument's annotation each.
HINTS = """
int
float
str
bool
None
Any
list
tuple
dict
List
Tuple
Dict
list[int]
List[str]
list[list[dict[str, int]]]
list[()]
tuple[()]
tuple[int, str]
Tuple[int, str, bool]
tuple[int]
Tuple[int]
tuple[int, ...]
Tuple[int, ...]
list[...]
dict[str, int]
Dict[str, List[int]]
dict[str, Any]
dict[str, dict[str, tuple[int, str]]]
Optional[int]
Optional[list[int]]
Optional[Any]
Optional[None]
Optional[Optional[int]]
Union[int, str]
Union[str, int, None]
Union[int]
Union[None]
Union[int, int]
Union[int, Union[str, Optional[bool]]]
Union[list[int], str]
Union[list, tuple]
Union[list, str, dict]
Union[list[int], List[int]]
Union[list[int], list[int]]
Union[int, Any]
list[None]
List[None]
list["None"]
dict[str, None]
tuple[int, None]
List[tuple[int, None]]
Union[Literal["a"], Literal["a"], int]
Union[Literal["a", "b"], Literal["b", "a"]]
Union[Literal[1], Literal[True]]
int | None
None | int
int | str | None
int | int
list[int] | None
list[int | None] | dict[str, int]
Optional[int] | str
Any | None
Literal["a", "b"]
Literal["a"] | None
Optional[Literal["a", 1, None, True, 2.5]]
Literal[1, True, 1]
Literal[-1, +2, -1.5]
Literal[Literal["a"], "b"]
Literal["int"]
Literal[()]
Literal[b"x"]
Literal[...]
Annotated[int, "metres"]
Annotated[Optional[int], 5]
Union[Annotated[int, "a"], int, None]
list[Annotated[Literal["a"], 1]]
"int"
"Optional[int]"
"int | None"
list["int"]
list["Optional[int]"]
Optional["str"]
dict[str, "list[int]"]
Union["int", "str", int]
"list['int']"
Text
bytes
set
set[int]
complex
object
Set[int]
Sequence[str]
Iterable[int]
Callable[[int], str]
Type[int]
Optional
Union
Literal
...
5
[int]
{"a": int}
int[str]
Optional[int, str]
Dict[str]
List[int, str]
dict[str]
dict[bytes, int]
list[int, bytes]
"int]"
"int" | None
None | None
None | Optional[None]
"Missing"
list["Missing"]
Missing
(int)
""".strip().splitlines()

RETURNS = ["None", "int", "Any", "list[str]", "bytes", "Optional[int]", "'list[int]'", "tuple[int, ...]"]


def with_hint(hint: str) -> str:
    return f'def f(x: {hint}):\n    """D.\n\n    Args:\n        x: The x.\n    """\n'


def with_return(hint: str, words: str) -> str:
    return f'def f() -> {hint}:\n    """D.\n\n    {words}\n    """\n'


ALL = (
    SOURCES
    | {hint: with_hint(hint) for hint in HINTS}
    | {f"-> {hint}": with_return(hint, "Returns:\n        What comes back.") for hint in RETURNS}
    | {f"-> {hint} without words": with_return(hint, "") for hint in RETURNS}
)


def ours(source: str) -> object:
    try:
        return [json.dumps(tool) for tool in tools_from_source(source)]
    except FormatsError as error:
        return "unsupported_type" if error.kind == "no_function" else error.kind


def oracle(source: str) -> object:
    """What transformers says when the source is run: the schemas as text, or the kind of its error."""
    names = {name: getattr(typing, name) for name in typing.__all__} | {
        name: getattr(enum, name) for name in ("Enum", "IntEnum", "StrEnum")
    }
    own = set(names) | {"__builtins__"}
    for forget in typing._cleanups:  # generics are cached by equality: Optional[A | B] may be what Optional[B | A] was
        forget()
    try:
        exec(textwrap.dedent(source), names)  # the sources of this file, and nobody else's
    except SyntaxError:
        return "not_python"
    except (NameError, TypeError):
        return "unsupported_type"
    defined = [value for name, value in names.items() if name not in own]
    functions = [value for value in defined if inspect.isfunction(value)]
    if not functions:
        functions = [getattr(value, name) for value in defined for name in vars(value) if not name.startswith("_")]
    try:
        return [json.dumps(get_json_schema(function)) for function in functions]
    except DocstringParsingException as error:
        return "no_docstring" if "has no docstring" in str(error) else "argument_not_described"
    except TypeHintParsingException as error:
        return "no_type_hint" if "missing a type hint" in str(error) else "unsupported_type"
    except json.JSONDecodeError:
        return "bad_choices"
    except (TypeError, NameError, SyntaxError) as error:
        return "bad_choices" if "not iterable" in str(error) else "unsupported_type"


def test_there_are_enough():
    assert len(ALL) >= 60


@pytest.mark.parametrize("source", ALL.values(), ids=ALL.keys())
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_equals_get_json_schema(source):
    expected = oracle(source)
    found = ours(source)
    if expected == "argument_not_described":  # here, a docstring in another style is told apart
        assert found in ("argument_not_described", "non_google_docstring")
    else:
        assert found == expected


def test_a_return_hint_that_names_nothing_is_left_out_like_one_without_a_schema():
    assert tools_from_source(with_return("Missing", "")) == tools_from_source(with_return("bytes", ""))


def test_an_audio_argument():
    """As transformers gives it where torch is installed."""
    (tool,) = tools_from_source("import torch\n" + with_hint("torch.Tensor"))
    assert tool["function"]["parameters"]["properties"]["x"]["type"] == "audio"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no docstring", "line 1, f: needs a docstring"),
        ("not described", "line 1, f: argument 'b' is not described; write `b: ...` beneath a docstring line `Args:`"),
        ("NumPy style", "line 1, f: the docstring is not in Google's style; describe 'a' beneath a line `Args:`"),
        ("no type hint", "line 1, f: argument 'a' needs a type hint, such as a: str"),
        ("a class of its own", "line 4, f: argument 'a': the type Place has no JSON Schema"),
        ("a NewType", "line 3, f: argument 'a': NewType('UserId', int) is not a type hint that can be read"),
        ("an empty enum", "line 3, f: argument 'a': the Enum Empty has no members"),
        ("choices that are not JSON", "line 1, f: the choices of argument 'a' are not a JSON list"),
        ("two arguments of one name", "line 1, f: has two arguments of the same name"),
        ("not Python", "line 1: not valid Python"),
        ("tuple[int]", "line 1, f: argument 'x': tuple[int] is a tuple of a single element"),
        ("tuple[int, ...]", "line 1, f: argument 'x': '...' in tuple[int, ...] has no JSON Schema"),
        ('"int" | None', "line 1, f: argument 'x': text in quotes cannot stand beside |"),
    ],
)
def test_the_error_names_the_place(name, message):
    with pytest.raises(FormatsError) as caught:
        tools_from_source(ALL[name])
    assert caught.value.message.startswith(message)


def test_the_line_is_that_of_the_annotation():
    source = (
        'def f(\n    a: int,\n    b: "list[bytes]",\n):\n    """D.\n\n    Args:\n        a: A\n        b: B\n    """'
    )
    with pytest.raises(FormatsError, match=r"^line 3, f: argument 'b': the type bytes has no JSON Schema"):
        tools_from_source(source)


@pytest.mark.parametrize("source", ["", "# only a comment", "x = 1", "class A:\n    def _f(self): ...", "lambda x: x"])
def test_no_function(source):
    with pytest.raises(FormatsError, match="there is no function here") as caught:
        tools_from_source(source)
    assert caught.value.kind == "no_function"


BOMB = "raise SystemExit('this text was run')"
IN_A_DEFAULT = f"exec({BOMB!r})"
DOC = '\n    """D.\n\n    Args:\n        x: X\n    """\n'

HARMLESS = {  # tries to be run; what can be read of it is read
    "on import": f"{BOMB}\nimport antigravity\nfrom os import *\ndef f(x: int):{DOC}",
    "decorator": f"@exec({BOMB!r})\n@(lambda f: exit())\ndef f(x: int):{DOC}",
    "default": f"def f(x: int = {IN_A_DEFAULT}, *, y: int = [{IN_A_DEFAULT} for _ in 'a']):{DOC}".replace(
        "x: X", "x: X\n        y: Y"
    ),
    "metadata": f"def f(x: Annotated[int, {IN_A_DEFAULT}]):{DOC}",
    "class body": f"class A(exit(), metaclass=exit()):\n {BOMB}\n def f(self, x: int):\n  'D.\\n\\nArgs:\\n x: X'",
    "body": f"def f(x: int):{DOC}    {BOMB}",
}
REFUSED = {
    "call in a hint": f"def f(x: {IN_A_DEFAULT}):{DOC}",
    "call in a quoted hint": f"def f(x: {IN_A_DEFAULT!r}):{DOC}",
    "class games": f"def f(x: ().__class__.__base__.__subclasses__()):{DOC}",
    "class games in a Literal": f"def f(x: Literal[().__class__.__mro__[1]]):{DOC}",
    "walrus": f"def f(x: (y := {IN_A_DEFAULT})):{DOC}",
    "lambda": f"def f(x: (lambda: {IN_A_DEFAULT})()):{DOC}",
    "comprehension": f"def f(x: [{IN_A_DEFAULT} for _ in 'a'][0]):{DOC}",
    "f-string": f"def f(x: f'{{{BOMB!r}}}'):{DOC}",
    "alias": f"T = {IN_A_DEFAULT}\ndef f(x: T):{DOC}",
    "alias of itself": f"T = U\nU = T\ndef f(x: T):{DOC}",
    "aliases without end": "".join(f"T{i} = T{i + 1}\n" for i in range(5000)) + f"def f(x: T0):{DOC}",
    "aliases that double": "T0 = int\n"
    + "".join(f"T{i + 1} = tuple[T{i}, T{i}]\n" for i in range(200))
    + f"def f(x: T200):{DOC}",
    "class of itself": f"class E(E, E, E, Enum):\n    A = 1\ndef f(x: E):{DOC}",
    "enum member": f"class E(Enum):\n    A = {IN_A_DEFAULT}\ndef f(x: E):{DOC}",
    "enum metaclass": f"class E(Enum, metaclass={IN_A_DEFAULT}):\n    A = 1\ndef f(x: E):{DOC}",
    "quotes in quotes": f"def f(x: {'list[' * 60 + 'int' + ']' * 60}):{DOC}",
    "megabyte": "#" + "x" * 1_000_000,
    "megabyte of code": f"def f(x: int):{DOC}" * 20_000,
    "open brackets": "(" * 10_000,
    "nested brackets": "x = " + "[" * 10_000 + "]" * 10_000,
    "nested brackets in a hint": f"def f(x: {'list[' * 10_000}int{']' * 10_000}):{DOC}",
    "minus signs": f"def f(x: {'-' * 90_000}1):{DOC}",
    "powers": f"def f(x: {'1**' * 30_000}1):{DOC}",
    "not not": "not " * 20_000 + "x",
    "lambdas": "lambda:" * 14_000 + "x",
    "bars": f"def f(x: {'int|' * 20_000}int):{DOC}",
    "dots": f"def f(x: a{'.a' * 45_000}):{DOC}",
    "fewer dots": f"def f(x: a{'.a' * 900}):{DOC}",
    "subscripts": f"def f(x: a{'[0]' * 30_000}):{DOC}",
    "fewer bars": f"def f(x: {'bytes|' * 900}int):{DOC}",
    "elif": "if a:\n  pass\n" + "elif a:\n  pass\n" * 6_000,
    "indentation": "".join(" " * i + "if x:\n" for i in range(400)),
    "null byte": f"def f(x: int):{DOC}\0",
    "half a character": "def f(): '\ud800'",
    "a long number": "x = " + "9" * 90_000,
    "white space in a docstring": f'def f(x: int):\n    """a{" " * 90_000}b"""',
    "white space in an argument": f'def f(x: int):\n    """D.\n\n    Args:\n        y: a{" " * 90_000}b\n    """',
    "blank lines": 'def f(x: int):\n    """D' + "\n" * 90_000 + 'E."""',
    "many sections": f'def f(x: int):\n    """D.{"Args:" * 15_000}"""',
    "many names": f'def f(x: int):\n    """D.\n\n    Args:\n{"        y: z" * 7_000}"""',
    "deep choices": 'def f(x: int):\n    """D.\n\n    Args:\n        x: X (choices: ' + "[" * 50_000 + ')\n    """',
}


def timed(source: str) -> tuple[object, float]:
    """The answer and its seconds; on a thread, as a web handler would read it, whose stack is smaller."""
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(ours(source)))
    start = time.perf_counter()
    thread.start()
    thread.join()
    return answers[0], time.perf_counter() - start


@pytest.mark.parametrize("source", HARMLESS.values(), ids=HARMLESS.keys())
def test_hostile_source_is_only_read(source):
    answer, seconds = timed(source)
    assert isinstance(answer, list) and '"x": {"type": "integer", "description": "X"}' in answer[0]
    assert seconds < HANGS


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED.keys())
def test_hostile_source_is_turned_away_in_words_and_soon(source):
    answer, seconds = timed(source)
    assert isinstance(answer, str)
    assert seconds < HANGS
    with pytest.raises(FormatsError) as caught:
        tools_from_source(source)
    assert caught.value.message and len(caught.value.message) < 500


def test_the_size_is_limited():
    with pytest.raises(FormatsError, match=f"up to {MAX_CHARACTERS:,} are read") as caught:
        tools_from_source("x" * (MAX_CHARACTERS + 1))
    assert caught.value.kind == "too_large"


LEAVES = st.sampled_from(
    ["int", "str", "bool", "float", "None", "Any", "list", "dict", "tuple", "bytes", "'int'", 'Literal["a", 1]', "List"]
)
TYPES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map("Optional[{}]".format),
        inner.map("list[{}]".format),
        inner.map("List[{}]".format),
        inner.map("dict[str, {}]".format),
        inner.map("Annotated[{}, 1]".format),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"Union[{', '.join(items)}]"),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: f"tuple[{', '.join(items)}]"),
        st.lists(inner.filter(lambda hint: hint != "'int'"), min_size=2, max_size=3).map(" | ".join),
    ),
    max_leaves=6,
)
PIECES = (
    *(
        "Args:",
        "Returns:",
        "Raises:",
        "\nArgs:\n",
        "\n Returns:\n",
        "\n",
        "\n\n",
        "\n    ",
        "\n  ",
        "\t",
        " ",
        ":",
        "\r",
    ),
    *("a", "a: b", "a (int): b", "b:", "é:", "\n    a: one", "\n      c: two", "(choices: [1])", "\x0b", "\u2028"),
)
WORDS = st.sampled_from(PIECES)


@given(TYPES)
@settings(max_examples=200)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_generated_hints_equal_get_json_schema(hint):
    found, expected = ours(with_hint(hint)), oracle(with_hint(hint))
    if hint.count("Union") > 1:  # the cache works inside one hint as well, and decides on the order of its options
        found, expected = sorted(found[0]), sorted(expected[0])
    assert found == expected


@given(st.lists(WORDS, max_size=14).map("".join))
@settings(max_examples=400)
def test_generated_docstrings_equal_transformers(text):
    parts = docstring.parse(text)
    assert (parts.description, parts.arguments, parts.returns) == parse_google_format_docstring(text.strip())


@given(st.text() | st.text("def f(x: int)\n \"'[]|.,=#@:", max_size=60))
def test_any_text_is_answered_in_words(text):
    assert isinstance(ours(text), list | str)
