"""For an issue or a chat: a table, and every prompt in a code block.

A block holds the prompt and one line break more. It is exact but for NUL, carriage returns and halves of characters,
which Markdown has no way to carry; a prompt with one of those says so.
"""

from __future__ import annotations

import re

from formats import conversation as conversations
from formats.report import facts
from formats.types import Column, Comparison

_MARKUP = re.compile(r"[\\`*_{}\[\]<>|&~#:!@$\"]")
_LOST = re.compile(r"[\0\r\ud800-\udfff]")


def to_markdown(comparison: Comparison, link: str = "") -> str:
    """`link`, if there is one, is the address that opens the comparison."""
    opening = f"The exact prompts, with {_code(comparison.today)} as today's date."
    conversation = facts.json_text(conversations.to_json(comparison.conversation))
    parts = [
        "## Prompts side by side",
        opening + (f" [Open it](<{link}>)." if link else ""),
        _table(comparison),
        *(_section(column) for column in comparison.columns),
        "### The conversation",
        _fenced(conversation, "json"),
        f"Made with {_inline(facts.versions(comparison))}.",
    ]
    return "\n\n".join(parts) + "\n"


def _table(comparison: Comparison) -> str:
    head = ["| Model | Tokens | Tools add | Characters | State |", "| --- | ---: | ---: | ---: | --- |"]
    return "\n".join(head + [_row(column) for column in comparison.columns])


def _row(column: Column) -> str:
    cells = [
        _inline(column.title) + ("" if column.model == column.title else f"<br>{_code(column.model)}"),
        f"{column.tokens.count:,}" if column.tokens else "no count",
        "" if column.tool_tokens is None else f"{column.tool_tokens:,}",
        "" if column.prompt is None else f"{len(column.prompt):,}",
        facts.state(column),
    ]
    return f"| {' | '.join(cells)} |"


def _section(column: Column) -> str:
    parts = [f"### {_inline(column.title)}", "\n".join(f"- {name}: {_code(fact)}" for name, fact in _facts(column))]
    if column.error is not None:
        parts += [f"{facts.state(column).capitalize()}, in its own words:", _fenced(column.error.message)]
    if column.prompt is not None:
        parts.append(_fenced(column.prompt))
        if _LOST.search(column.prompt):
            parts.append("This prompt holds characters that Markdown cannot carry; the JSON export has them exactly.")
    return "\n\n".join(parts)


def _facts(column: Column) -> list[tuple[str, str]]:
    return [*facts.provenance(column), *([("No count", column.tokens_missing)] if column.tokens_missing else [])]


def _fenced(text: str, language: str = "text") -> str:
    """A code block whose fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{facts.whole(text)}\n{fence}"


def _inline(text: str) -> str:
    """Text as it is, on one line: no character of it is markup, also inside a table."""
    line = " ".join(facts.whole(text).replace("\0", "\ufffd").split())
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", line)


def _code(text: str) -> str:
    """The same in code type, where a host does not look for names of people and issues."""
    return f"<code>{_inline(text)}</code>"
