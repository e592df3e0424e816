"""The tokens of each model as a bar chart: a picture of its own, light or dark as the reader's screen is."""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate
from xml.sax.saxutils import escape

from formats.report import facts
from formats.types import Column, Comparison, Source

WIDTH, TOP, ROW, BOTTOM = 760, 64, 56, 34
LEFT, LONGEST = 284, 400  # where the bars begin, and pixels of the longest one
# What XML 1.0 cannot hold in any form.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

STYLE = """
.tokens { font: 13px system-ui, sans-serif; }
.tokens .page { fill: #ffffff; } .tokens text { fill: #1f2937; } .tokens .small { font-size: 10.5px; fill: #4b5563; }
.tokens .head { font-size: 16px; font-weight: 600; } .tokens .bar { fill: #2f6fdb; } .tokens .tools { fill: #d97706; }
.tokens .zero { stroke: #9ca3af; }
@media (prefers-color-scheme: dark) {
.tokens .page { fill: #111827; } .tokens text { fill: #f3f4f6; } .tokens .small { fill: #c5cad3; }
.tokens .bar { fill: #6ea0f5; } .tokens .tools { fill: #f0a94b; } .tokens .zero { stroke: #6b7280; }
}
"""


def to_svg(comparison: Comparison) -> str:
    """A bar from 0 per model, the tools' share at its end; where there is no count, the reason stands in its place."""
    columns = comparison.columns
    height = TOP + ROW * len(columns) + BOTTOM
    longest = max((column.tokens.count for column in columns if column.tokens), default=0)
    rows = [_row(column, TOP + ROW * index, longest) for index, column in enumerate(columns)]
    told = "; ".join(f"{column.title}: {_count(column)}" for column in columns)
    made = f"{comparison.today} · {facts.versions(comparison)}"
    lines = [
        f'<svg class="tokens" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="{_xml(f"Tokens per model. {told}")}">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        '<text class="head" x="16" y="28">Tokens per model</text>',
        *_legend(columns),
        *rows,
        f'<line class="zero" x1="{LEFT}" y1="{TOP - 4}" x2="{LEFT}" y2="{height - BOTTOM}"/>',
        f'<text class="small" x="16" y="{height - 12}">{_xml(made)}</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _row(column: Column, y: int, longest: int) -> str:
    told = "\n".join([column.title, *(f"{name}: {fact}" for name, fact in facts.provenance(column))])
    return "\n".join(
        [
            f"<g><title>{_xml(told)}</title>",
            f'<text x="16" y="{y + 14}">{_xml(clipped(column.title, 36))}</text>',
            *(
                f'<text class="small" x="16" y="{y + place}">{_xml(clipped(line, 44))}</text>'
                for place, line in zip((28, 40), _origin(column.source), strict=False)
            ),
            *(_bar(column, y, longest) if column.tokens else [_reason(column, y)]),
            "</g>",
        ]
    )


def _origin(source: Source) -> list[str]:
    """Two short lines; the whole of it stands in the row's title."""
    where = f"{source.repo or facts.KINDS[source.kind]}{f' @ {source.revision[:12]}' if source.revision else ''}"
    package = next((file.package for file in source.files if file.role == "template" and file.package), None)
    template = f"template {source.template_sha256[:12]}" if source.template_sha256 else ""
    return [where, ", ".join(part for part in (template, package) if part)]


def _bar(column: Column, y: int, longest: int) -> list[str]:
    count = column.tokens.count if column.tokens else 0
    scale = LONGEST / longest if longest else 0
    tools = min(max(column.tool_tokens or 0, 0), count)
    own, added = (count - tools) * scale, tools * scale
    return [
        f'<rect class="bar" x="{LEFT}" y="{y + 10}" width="{own:.2f}" height="20"/>',
        *(
            [f'<rect class="tools" x="{LEFT + own:.2f}" y="{y + 10}" width="{added:.2f}" height="20"/>']
            if tools
            else []
        ),
        f'<text x="{LEFT + own + added + 8:.2f}" y="{y + 25}">{count:,}</text>',
    ]


def _reason(column: Column, y: int) -> str:
    return f'<text class="small" x="{LEFT + 8}" y="{y + 24}">{_xml(clipped(_count(column), 84))}</text>'


def _count(column: Column) -> str:
    return f"{column.tokens.count:,} tokens" if column.tokens else f"no count: {facts.tokens_missing(column)}"


def _legend(columns: tuple[Column, ...]) -> list[str]:
    if not any(column.tool_tokens and column.tool_tokens > 0 for column in columns):
        return []
    return [
        f'<rect class="tools" x="{LEFT}" y="18" width="12" height="12"/>',
        f'<text class="small" x="{LEFT + 18}" y="28">what the tools add</text>',
    ]


def clipped(text: str, width: int) -> str:
    """The text cut to `width` places of a line, in which a wide character takes two."""
    line = " ".join(text.split())
    places = list(accumulate(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line))
    if not places or places[-1] <= width:
        return line
    return line[: sum(place < width for place in places)] + "…"


def _xml(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text), {'"': "&quot;"})
