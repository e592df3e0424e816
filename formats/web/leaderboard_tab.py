"""The tab "Leaderboard": the verdicts on every public template of the snapshot, to search, sort and filter."""

from __future__ import annotations

from typing import Any

import gradio as gr

from formats.web.ranking import ANY, HEADERS, Ranking

KINDS = ["str", "number", "number", "number", "str", "str"]


def build(ranking: Ranking) -> None:
    with gr.Tab("Leaderboard", id="leaderboard") as tab:
        about = gr.Markdown("", elem_id="board-about")
        with gr.Row(elem_id="board-filters"):
            query = gr.Textbox(label="Search", placeholder="name, repo or alias", max_lines=1, elem_id="board-query")
            stars = gr.Dropdown([ANY, "5", "4", "3", "2", "1"], value=ANY, label="Stars", elem_id="board-stars")
            format = gr.Dropdown([ANY], value=ANY, label="Output format", elem_id="board-format")
            family = gr.Dropdown([ANY], value=ANY, label="Publisher", filterable=True, elem_id="board-family")
            check = gr.Dropdown([ANY], value=ANY, label="Check", filterable=True, elem_id="board-check")
            outcome = gr.Dropdown([ANY], value=ANY, label="Outcome", elem_id="board-outcome")
        table = gr.Dataframe(
            headers=HEADERS,
            datatype=KINDS,
            interactive=False,
            wrap=True,
            max_height=640,
            column_widths=["26%", "7%", "8%", "8%", "13%", "38%"],
            elem_id="board",
            show_label=False,
        )
        again = gr.Button("Judge all templates again", size="sm", elem_id="board-again")
        stop = gr.Button("Stop", size="sm", visible=False, elem_id="board-stop")
    filters = [query, stars, format, family, check, outcome]
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "queue": False}
    tab.select(ranking.choices, None, [about, format, family, check], **private).then(
        ranking.rows, filters, table, **private
    )
    check.input(ranking.outcomes, check, outcome, **private).then(ranking.rows, filters, table, **private)
    gr.on(
        [query.change, stars.input, format.input, family.input, outcome.input],
        ranking.rows,
        filters,
        table,
        trigger_mode="always_last",
        **private,
    )
    running = again.click(
        ranking.again,
        filters,
        [about, table, again, stop],
        api_visibility="private",
        concurrency_limit=1,
        show_progress_on=about,
    )
    stop.click(
        lambda: (gr.Button(visible=True), gr.Button(visible=False)), None, [again, stop], cancels=[running], **private
    )
