"""One self-contained file to keep or send: no script, nothing fetched, light or dark as the reader's screen is.

What is read or copied out of a prompt is exact but for NUL, which no HTML can hold and which shows as ␀, and halves of
characters.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from formats import conversation as conversations
from formats.report import facts
from formats.report.as_svg import to_svg
from formats.types import Comparison

_html = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_html.filters["grouped"] = "{:,}".format


def to_html(comparison: Comparison, link: str = "") -> str:
    """`link`, if there is one, is the address that opens the comparison."""
    conversation = facts.json_text(conversations.to_json(comparison.conversation))
    text = _html.get_template("report.html").render(
        comparison=comparison,
        versions=facts.versions(comparison),
        facts=facts,
        verbatim=verbatim,
        conversation=conversation,
        chart=Markup(to_svg(comparison)),
        link=link,
    )
    return facts.whole(text)


def verbatim(text: str) -> Markup:
    """The content of a <pre>: parsers drop a line break at its start and read a carriage return as a line break."""
    shown = escape(text).replace("\0", "␀")
    return Markup("\n") + shown.replace("\r", Markup("&#13;"))
