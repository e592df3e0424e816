"""The tab "Live": let a model continue a column's prompt, and see what it writes being read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from markupsafe import Markup

from formats.parsers import NAMES
from formats.web import views, words
from formats.web.components import asset, word
from formats.web.live import BY_HAND, FOUND, NO_STYLE, OWN, Live
from formats.web.login import personal
from formats.web.quick_import import gr

STYLES = [(word(f"live.{style}"), style) for style in ("native", "react", "json_in_system")]
MOST_AT_ONCE = 32  # runs that are begun or wait; more wait in Gradio's own queue


@dataclass(frozen=True)
class LiveInputs:
    """The tab's own inputs, in the order in which `Live.run` takes their values."""

    column: Any
    style: Any
    second: Any
    format: Any
    tokens: Any
    temperature: Any
    top_p: Any
    seed: Any
    stops: Any
    choice: Any
    rounds: Any
    results: Any

    def all(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


@dataclass(frozen=True)
class LiveTab:
    """What is wired: the inputs, the buttons, the probe set's choices, and the two places that show something."""

    inputs: LiveInputs
    start: Any
    stop: Any
    count: Any
    examples: Any
    measure: Any
    output: Any
    report: Any


def build(live: Live, models: list[str]) -> LiveTab | None:
    """The tab; None where live generation is off, and the tab only says how to turn it on."""
    with gr.Tab(word("tabs.live"), id="live"):
        if live.missing() is not None:
            off = Markup('<p class="live-off">{}</p>').format(words.html("live.off"))
            gr.HTML(html_template=off, apply_default_css=False)
            return None
        choices = _choices(live, models)
        with gr.Column(elem_id="live-inputs"):
            with gr.Row():
                column = gr.Dropdown(
                    choices,
                    value=choices[0][1],
                    label=word("live.prompt_of"),
                    allow_custom_value=True,
                    elem_id="live-column",
                )
                style = gr.Dropdown(STYLES, value="native", label=word("live.style"), elem_id="live-style")
                second = gr.Dropdown(
                    [(word("live.nothing"), NO_STYLE), *STYLES],
                    value=NO_STYLE,
                    label=word("live.second"),
                    elem_id="live-second",
                )
                rounds = gr.Number(3, precision=0, label=word("live.rounds"), elem_id="live-rounds")
                tokens = gr.Number(128, precision=0, label=word("live.tokens"), elem_id="live-tokens")
            with gr.Accordion(word("live.more"), open=False, elem_id="live-more"):
                with gr.Row():
                    temperature = gr.Number(0, label=word("live.temperature"), elem_id="live-temperature")
                    top_p = gr.Number(1, label="top_p", elem_id="live-top-p")
                    seed = gr.Number(0, precision=0, label=word("live.seed"), elem_id="live-seed")
                    choice = gr.Dropdown(
                        ["auto", "none", "required"],
                        value="auto",
                        label="tool_choice",
                        allow_custom_value=True,
                        elem_id="live-choice",
                    )
                    form = gr.Dropdown(
                        [(word("live.taught"), FOUND), *((name, name) for name in NAMES)],
                        value=FOUND,
                        label=word("live.read_as"),
                        elem_id="live-format",
                    )
                with gr.Row():
                    stops = gr.Textbox(label=word("live.stops"), lines=2, max_length=2000, elem_id="live-stops")
                    results = gr.Dropdown(
                        [(word("live.results_tools"), ""), (word("live.results_typed"), BY_HAND)],
                        value="",
                        label=word("live.results"),
                        elem_id="live-results",
                    )
            with gr.Row(elem_id="live-buttons"):
                start = gr.Button(word("live.start"), variant="primary", size="sm", elem_id="live-start")
                stop = gr.Button(word("action.stop"), size="sm", elem_id="live-stop")
                measure = gr.Button(word("live.measure"), size="sm", elem_id="live-measure")
                examples = gr.Checkbox(True, label=word("live.examples"), elem_id="live-examples")
                count = gr.Radio([(word("live.ten"), 10), ("50", 50)], value=10, show_label=False, elem_id="live-count")
        output = _shown("live")
        report = _shown("probe")
    inputs = LiveInputs(column, style, second, form, tokens, temperature, top_p, seed, stops, choice, rounds, results)
    return LiveTab(inputs, start, stop, count, examples, measure, output, report)


def wire(live: Live, tab: LiveTab, conversation: list[Any], today: Any, models: Any) -> None:
    """`conversation` are the components that `Live.run` takes first."""
    name = gr.Textbox(visible=False)
    named = "(...inputs) => [...inputs.slice(0, -1), (window.lab.run = window.lab.runName())]"
    running: dict[str, Any] = {
        "js": named,
        "api_visibility": "private",
        "show_progress": "hidden",
        "concurrency_limit": MOST_AT_ONCE,
        "trigger_mode": "multiple",
    }
    tab.start.click(personal(live.run), [*conversation, today, *tab.inputs.all(), name], tab.output, **running)
    tab.output.submit(personal(live.go_on), [tab.output, name], tab.output, **running)
    asked = [tab.inputs.column, tab.count, tab.inputs.seed, tab.examples, name]
    tab.measure.click(personal(live.probe), asked, tab.report, **running)
    instant: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
    tab.stop.click(live.stop, name, None, js="() => [window.lab.run || '']", **instant)

    def columns(names: Any) -> gr.Dropdown:
        return gr.Dropdown(choices=_choices(live, names))

    models.input(columns, models, tab.inputs.column, **instant)


def _choices(live: Live, models: Any) -> list[tuple[Any, str]]:
    return [(word("live.own") + f" {title}" if name == OWN else title, name) for title, name in live.choices(models)]


def _shown(name: str) -> gr.HTML:
    return gr.HTML(
        html_template=views.filled(f"{name}.html"),
        js_on_load=asset(f"{name}.js"),
        apply_default_css=False,
        elem_id=f"{name}-output",
    )
