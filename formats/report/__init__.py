"""A Comparison as a document: Markdown, CSV, JSON, HTML, and its token counts as a picture.

Each names the versions, the date and where every column comes from, and says what it cannot carry exactly. JSON is the
complete one, and `from_report` reads it back. All are text that UTF-8 can hold.
"""

from formats.report.as_csv import to_csv
from formats.report.as_html import to_html
from formats.report.as_json import from_report, is_report, to_json
from formats.report.as_markdown import to_markdown
from formats.report.as_svg import to_svg

__all__ = ["from_report", "is_report", "to_csv", "to_html", "to_json", "to_markdown", "to_svg"]
