"""The tab "Leaderboard": the verdicts on every public template of the snapshot, to search, sort and filter."""

from __future__ import annotations

from typing import Any

from formats.web import words
from formats.web.components import word
from formats.web.quick_import import gr
from formats.web.ranking import ANY, HEADERS, Ranking

KINDS = ["str", "number", "number", "number", "str", "str"]


def build(ranking: Ranking) -> None:
    any_one = (word("board.any"), ANY)
    with gr.Tab(word("tabs.leaderboard"), id="leaderboard") as tab:
        about = gr.HTML("", elem_id="board-about", apply_default_css=False)
        with gr.Row(elem_id="board-filters"):
            query = gr.Textbox(
                label=word("board.search"), placeholder=word("board.search_hint"), max_lines=1, elem_id="board-query"
            )
            stars = gr.Dropdown([any_one, *"54321"], value=ANY, label=word("scores.stars"), elem_id="board-stars")
            format = gr.Dropdown([any_one], value=ANY, label=word("scores.output_format"), elem_id="board-format")
            family = gr.Dropdown([any_one], value=ANY, label=word("board.publisher"), elem_id="board-family")
            check = gr.Dropdown([any_one], value=ANY, label=word("scores.check"), elem_id="board-check")
            outcome = gr.Dropdown([any_one], value=ANY, label=word("board.outcome"), elem_id="board-outcome")
        table = gr.Dataframe(
            headers=[words.text("en", key) for key in HEADERS],
            datatype=KINDS,
            interactive=False,
            wrap=True,
            max_height=640,
            column_widths=["24%", "9%", "9%", "11%", "12%", "35%"],
            elem_id="board",
            show_label=False,
        )
        again = gr.Button(word("board.again"), size="sm", elem_id="board-again")
        stop = gr.Button(word("action.stop"), size="sm", visible=False, elem_id="board-stop")
        # Gradio does not translate the head of a table: the listeners that fill it are told the visitor's language.
        language = gr.Textbox(visible=False)
    filters = [query, stars, format, family, check, outcome, language]
    told = "(...inputs) => [...inputs.slice(0, -1), window.lab.language]"
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "queue": False}
    filled: dict[str, Any] = {"js": told, **private}
    tab.select(ranking.choices, None, [about, format, family, check], **private).then(
        ranking.rows, filters, table, **filled
    )
    check.select(ranking.outcomes, check, outcome, **private).then(ranking.rows, filters, table, **filled)
    gr.on(
        [query.change, stars.input, format.input, family.input, outcome.input],
        ranking.rows,
        filters,
        table,
        trigger_mode="always_last",
        **filled,
    )
    running = again.click(
        ranking.again,
        filters,
        [about, table, again, stop],
        js=told,
        api_visibility="private",
        concurrency_limit=1,
        show_progress_on=about,
    )
    stop.click(
        lambda: (gr.Button(visible=True), gr.Button(visible=False)), None, [again, stop], cancels=[running], **private
    )
