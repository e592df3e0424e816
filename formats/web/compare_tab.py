"""The tab "Compare": the summary of all columns and their prompts side by side."""

from __future__ import annotations

from typing import Any

from formats.web import components
from formats.web.components import word
from formats.web.handlers import Workbench
from formats.web.quick_import import gr
from formats.web.scoring import Scoring


def build(workbench: Workbench, scoring: Scoring) -> Any:
    """The component that shows answers, with empty cards for the columns that come first."""
    with gr.Tab(word("tabs.compare"), id="compare"):
        return components.answer(len(workbench.opening), scoring.ratings)
