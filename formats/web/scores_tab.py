"""The tab "Scores": models by checks, with explanation and proof behind each cell."""

from __future__ import annotations

from typing import Any

from formats.web import components
from formats.web.components import word
from formats.web.quick_import import gr
from formats.web.scoring import Scoring


def build(scoring: Scoring) -> tuple[gr.Tab, Any]:
    """The tab, and the component that shows what `Scoring.matrix` returns."""
    with gr.Tab(word("tabs.scores"), id="scores") as tab:
        return tab, components.scores(scoring.finding, scoring.card)
