"""Values -> escaped HTML. No layout of the page, no wiring, no gradio.

Every text that a person, a template or a model wrote passes through one door: the templates in html/ escape what they
are given, and `prompt` escapes what it marks. What a reader selects or copies out of a prompt is the prompt itself,
character for character: marks add colour, never text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from formats.errors import BadConversation, FormatsError
from formats.types import Column, Comparison, Problem
from formats.web import words

# Characters that no reader can see, or that reorder what is seen. Joiners are left alone: scripts and emoji need them.
ODD = (
    r"\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
# What control tokens look like, for columns without a tokenizer that could tell.
LIKELY = re.compile(r"<\|[^<>|\s]{1,60}\|>|<(?:[a-z]+_)+[a-z]+>|</?s>|<(?:bos|eos|pad|unk)>|\[/?[A-Z][A-Z_]+\]")

STOPPED = ("timeout", "memory", "output_too_large", "crashed")

_html = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_html.filters["grouped"] = words.number
_html.globals |= {"word": words.html, "attribute": words.attribute}


def filled(name: str, **values: object) -> Markup:
    """One of the templates in html/ with its values, all of them escaped."""
    return Markup(_html.get_template(name).render(**values))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A column whose model is still being fetched, and how far that has come: one of the page's words."""

    model: str
    title: str
    progress: str


def prompt(text: str, control_tokens: Iterable[str] | None) -> Markup:
    """The text with its control tokens and invisible characters marked.

    None for the tokens means that no tokenizer can tell them; what looks like one is then marked as a guess.
    """
    found = None if control_tokens is None else frozenset(token for token in control_tokens if token and token in text)
    css = "token guess" if control_tokens is None else "token"
    pieces = _pattern(found).split(text)
    return Markup("").join(_piece(piece, css if index % 2 else "") for index, piece in enumerate(pieces) if piece)


@lru_cache(maxsize=1024)
def _pattern(control_tokens: frozenset[str] | None) -> re.Pattern[str]:
    """One capturing group: an odd character, or a control token, the longest first as tokenizers do it.

    It is made of the tokens that occur: a tokenizer has a thousand, and each alternative costs at every character.
    """
    if control_tokens is None:
        tokens = LIKELY.pattern
    else:
        tokens = "|".join(re.escape(token) for token in sorted(control_tokens, key=len, reverse=True))
    return re.compile(f"([{ODD}]|{tokens})" if tokens else f"([{ODD}])")


def _piece(text: str, css: str) -> Markup:
    if not css:
        return escape(text)
    if len(text) > 1:
        return Markup('<wbr><span class="{}">{}</span><wbr>').format(css, text)
    # A browser's parser changes these two unless they are written as references; it takes NUL in no form at all.
    shown = {"\r": Markup("&#13;"), "\0": Markup("")}.get(text, text)
    name = unicodedata.name(text, "control character").lower()
    return Markup('<span class="odd" data-code="{0}" data-name="U+{0:04X}" title="U+{0:04X} {1}">{2}</span>').format(
        ord(text), name, shown
    )


def problem(error: FormatsError) -> Markup:
    """What is wrong with something that was typed, its JSON path first."""
    path = error.path if isinstance(error, BadConversation) else ""
    message = error.message.removeprefix(f"{path}: ") if path else error.message
    return Markup(_html.get_template("problem.html").render(path=path, message=message))


def summary(rows: Sequence[Column | Waiting]) -> Markup:
    """The table of all columns, in their order, with the bar chart of their tokens as one of its columns."""
    counts = [row.tokens.count for row in rows if isinstance(row, Column) and row.tokens]
    return Markup(
        _html.get_template("summary.html").render(
            rows=[(row if isinstance(row, Column) else None, row) for row in rows],
            ticks=axis(max(counts, default=0)),
            state=state,
            origin=origin,
        )
    )


def card(row: Column | Waiting, comparison: Comparison) -> Markup:
    """One column: its count, its prompt or the reason there is none, and where both come from."""
    if isinstance(row, Waiting):
        return Markup(_html.get_template("waiting.html").render(waiting=row))
    return Markup(
        _html.get_template("card.html").render(
            column=row,
            state=state(row),
            origin=origin(row),
            ignores_tools=_ignores_tools(row, comparison),
            prompt=None if row.prompt is None else prompt(row.prompt, row.control_tokens),
            today=comparison.today,
            versions=comparison.versions,
        )
    )


def _ignores_tools(column: Column, comparison: Comparison) -> bool:
    """Do the tools add nothing? Without a tokenizer: does the prompt name none of them?"""
    tools = comparison.conversation.tools
    if not tools or column.prompt is None:
        return False
    if column.tool_tokens is not None:
        return column.tool_tokens == 0
    from formats.validate import tool_name  # it brings jsonschema, which a first page does not need

    names = [name for tool in tools if (name := tool_name(tool))]
    return bool(names) and not any(name in column.prompt for name in names)


def state(column: Column) -> Markup:
    """One word or two for the summary table."""
    return words.html("state.rendered") if column.error is None else state_of(column.error)


def state_of(error: Problem) -> Markup:
    kind = "stopped" if error.kind in STOPPED else error.kind
    if f"state.{kind}" in words.LANGUAGES["en"]:
        return words.html(f"state.{kind}")
    return escape(kind.replace("_", " "))


def origin(column: Column) -> Markup:
    """Where a column comes from, in a few words; nothing where nothing came."""
    source = column.source
    if column.error and not source.files and not source.revision:
        return Markup("")
    kind = words.html(f"origin.{source.kind}")
    return kind + f" @ {source.revision[:7]}" if source.revision else kind


def axis(longest: int) -> list[int]:
    """Round ticks from 0 up to the first one that is not below the longest bar: four or five of them, or fewer."""
    if longest <= 0:
        return [0]
    step = 10 ** (len(str(longest)) - 1)
    step = next(s for s in (step // 4 or 1, step // 2 or 1, step, step * 2, step * 5) if s * 4 >= longest)
    return list(range(0, -(-longest // step) * step + 1, step))
