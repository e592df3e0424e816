"""The tab "Tools as text": native calling, ReAct and JSON side by side for one model."""

from __future__ import annotations

from typing import Any

from formats.web import views
from formats.web.components import asset, word
from formats.web.login import personal
from formats.web.plain import PlainTools
from formats.web.quick_import import gr

LISTENER: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}


def build() -> tuple[gr.Tab, gr.HTML]:
    """The tab, and the component that shows what `PlainTools.show` returns and asks anew ("input")."""
    with gr.Tab(word("tabs.plain"), id="plain") as tab:
        shown = gr.HTML(
            html_template=views.filled("plain_page.html"),
            js_on_load=asset("plain.js"),
            apply_default_css=False,
            elem_id="plain",
        )
    return tab, shown


def wire(plain: PlainTools, tab: gr.Tab, shown: gr.HTML, inputs: list[Any]) -> None:
    """Made when the tab is opened, and while it is open on every edit."""
    model = gr.Textbox("", visible=False)
    question = [model, *inputs, gr.Number(0, visible=False)]
    js = "(model, ...values) => window.lab.ask([window.lab.plain ?? '', ...values], 'plain')"
    gr.on(
        [tab.select, shown.input], personal(plain.show), question, shown, js=js, trigger_mode="always_last", **LISTENER
    )
