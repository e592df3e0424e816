"""A Google-style docstring taken apart the way transformers does it when a function becomes a tool.

What is given back equals `transformers.utils.chat_template_utils.parse_google_format_docstring` on every text, but the
time is linear in its length: a docstring of white space cannot keep the reader busy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_SECTION = re.compile("Args:|Returns:|Raises:")  # ends the description, even in the middle of a sentence
_AFTER_ARGS = re.compile("Returns:|Raises:")
_ARGS_LINE = re.compile(r"\n[^\S\n]*Args:\n")  # never the first line: a description comes before it
_RETURNS_LINE = re.compile(r"\n[^\S\n]*Returns:\n")
_ARGUMENT = re.compile(r"([ \t]*)(\w+)(?:[ \t]*\([^()\n]*\))?:")  # "name:" or "name (type):"


@dataclass(frozen=True, slots=True)
class Docstring:
    description: str
    arguments: dict[str, str] = field(default_factory=dict)
    returns: str | None = None


def parse(text: str) -> Docstring:
    """The parts of a docstring that `inspect.cleandoc` has already been over."""
    text = text.strip()
    args, returns = _ARGS_LINE.search(text), _RETURNS_LINE.search(text)
    return Docstring(
        description=_SECTION.split(text, maxsplit=1)[0].strip(),
        arguments=_arguments(_AFTER_ARGS.split(text[args.end() :], maxsplit=1)[0]) if args else {},
        returns=text[returns.end() :].split("Raises:", maxsplit=1)[0].strip() if returns else None,
    )


def _arguments(block: str) -> dict[str, str]:
    """Argument name -> description; lines that are indented deeper than the name continue its description."""
    lines = [line for line in block.split("\n") if line.strip()]
    found: dict[str, str] = {}
    index = 0
    while index < len(lines):
        header = _ARGUMENT.match(lines[index])
        index += 1
        if header is None:
            continue
        texts = [header.string[header.end() :]]
        if not texts[0].strip():  # the description starts on the next line, whatever that looks like
            texts += lines[index : index + 1]
            index += 1
        while index < len(lines) and not _ends(lines[index], header[1]):
            texts.append(lines[index])
            index += 1
        found[header[2]] = " ".join(text.strip() for text in texts if text.strip())
    return found


def _ends(line: str, indentation: str) -> bool:
    """Whether a line begins the next argument."""
    return _ARGUMENT.match(line) is not None and not line.startswith((f"{indentation} ", f"{indentation}\t"))
