"""The page: layout and wiring. What the listeners do stands in handlers.py, what they show in views.py."""

from __future__ import annotations

from typing import Any

from formats.web import api as endpoints
from formats.web import (
    compare_tab,
    components,
    conversation_panel,
    editors,
    leaderboard_tab,
    live_tab,
    plain_tab,
    read_tab,
    scores_tab,
    views,
)
from formats.web.components import ASSETS, LANGUAGES, asset, word
from formats.web.conversation_panel import Inputs, SamplePicker
from formats.web.editing import Editing
from formats.web.handlers import Workbench
from formats.web.live import Live
from formats.web.login import personal
from formats.web.plain import PlainTools
from formats.web.quick_import import gr
from formats.web.ranking import Ranking
from formats.web.read_tab import ReadInputs
from formats.web.reading import NO_MODEL, Reading
from formats.web.scoring import Scoring
from formats.web.sharing import Sharing, space_address

# Between two looks into Gradio's queue. It looks every millisecond by itself, which keeps a processor busy for nothing
# as long as nobody is there.
QUEUE_SECONDS = 0.02
# Listeners that answer at once: past the queue, and never a public endpoint.
INSTANT: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
# A question to all columns: `ask` (head.js) waits for a pause in typing and numbers the question.
ASK: dict[str, Any] = {"js": "(...inputs) => window.lab.ask(inputs)", "trigger_mode": "always_last", **INSTANT}


def build(workbench: Workbench, scoring: Scoring, reading: Reading) -> gr.Blocks:
    """The whole page; `launch` shows it."""
    with gr.Blocks(title="Prompt Format Lab", analytics_enabled=False, fill_width=True) as page:
        endpoints.build(endpoints.Api(workbench, scoring))  # first: the page's own listeners have the same names
        gr.HTML(html_template=views.filled("header.html"), js_on_load=asset("header.js"), apply_default_css=False)
        with gr.Row(elem_id="top"):
            share = components.share(space_address())
            components.login(page)
        with gr.Row(elem_id="lab"):
            with gr.Column(elem_id="panel"):
                editing = Editing(workbench)
                inputs, picker, paste = conversation_panel.build(workbench, editing)
            with gr.Column(elem_id="results"), gr.Tabs():
                answer = compare_tab.build(workbench, scoring)
                read = read_tab.build(reading)
                scores = scores_tab.build(scoring)
                leaderboard_tab.build(Ranking())
                plain = plain_tab.build()
                live = Live(workbench)
                live_parts = live_tab.build(live, list(workbench.opening))
        _wire(page, workbench, inputs, picker, answer)
        _wire_reading(workbench, reading, inputs, answer, *read)
        _wire_scores(scoring, inputs, *scores)
        plain_tab.wire(PlainTools(workbench), *plain, inputs.all())
        taken = editors.wire_paste(editing, paste, inputs.conversation(), picker.earlier, picker.back, read[1].output)
        taken.then(personal(workbench.compare), [*inputs.all(), gr.Number(0, visible=False)], answer, **ASK)
        _wire_sharing(workbench, inputs, picker, answer, read[1], share)
        if live_parts is not None:
            live_tab.wire(live, live_parts, inputs.conversation(), inputs.today, inputs.models)
    return page


def _wire(page: gr.Blocks, workbench: Workbench, inputs: Inputs, picker: SamplePicker, answer: Any) -> None:
    question = [*inputs.all(), gr.Number(0, visible=False)]

    def ask_after(event: Any) -> None:
        """Compare anew once a listener has filled the inputs."""
        event.then(personal(workbench.compare), question, answer, **ASK)

    # A text box's "input" knows key presses only: what is pasted, deleted or written by cards shows in its "change".
    edits = [box.change if isinstance(box, gr.Textbox | gr.Code) else box.input for box in inputs.all()]
    gr.on([*edits, answer.tick], personal(workbench.compare), question, answer, **ASK)

    filled = [*inputs.conversation(), picker.earlier]
    given = [picker.earlier, *inputs.conversation()]
    # Not "input", which a dropdown also sends when it is left as it was: what was typed since would be replaced.
    picked = picker.sample.select(workbench.pick, [picker.sample, *given], [*filled, picker.reason], **INSTANT)
    went_back = picker.back.click(workbench.back, given, filled, **INSTANT)
    for event in (picked, went_back):
        ask_after(event)
        event.then(lambda rows: gr.Button(visible=bool(rows)), picker.earlier, picker.back, **INSTANT)
    ask_after(editors.wire_draft(page, [*inputs.conversation(), inputs.models], picker.sample, picker.reason))
    # A link may have brought its own date already: it stays.
    ask_after(page.load(None, inputs.today, inputs.today, js="(date) => date || window.lab.today()"))


def _wire_reading(
    workbench: Workbench, reading: Reading, inputs: Inputs, answer: Any, tab: gr.Tab, given: ReadInputs, result: Any
) -> None:
    """An output is read again whenever it, its format or the tools change; put into the chat, the columns follow."""
    asked = {"js": "(...inputs) => window.lab.ask(inputs, 'read')", "trigger_mode": "always_last", **INSTANT}
    number = gr.Number(0, visible=False)
    question = [*given.asked(), inputs.tools, number]
    edits = [given.output.change, given.suffix.change, given.format.input, given.model.input, inputs.tools.change]
    gr.on([tab.select, *edits], personal(reading.read), question, result, **asked)

    compared = [*inputs.all(), gr.Number(0, visible=False)]
    filled = [given.output, given.format, given.suffix, inputs.tools]
    picked = given.sample.select(reading.pick, given.sample, filled, **INSTANT)
    picked.then(personal(reading.read), question, result, **asked)
    picked.then(personal(workbench.compare), compared, answer, **ASK)
    put = [*given.asked(), inputs.messages, inputs.tools, number]
    placed = given.put.click(
        personal(reading.put),
        put,
        [inputs.messages, result],
        js="(...i) => [...i.slice(0, -1), ++window.lab.number]",
        **INSTANT,
    )
    placed.then(personal(workbench.compare), compared, answer, **ASK)

    def models(names: Any) -> gr.Dropdown:
        return gr.Dropdown(choices=[(word("read.no_model"), NO_MODEL), *reading.choices(names)])

    inputs.models.input(models, inputs.models, given.model, **INSTANT)


def _wire_sharing(
    workbench: Workbench, inputs: Inputs, picker: SamplePicker, answer: Any, read: ReadInputs, share: Any
) -> None:
    """A link is made from every input, and fills every input."""
    filled = [*inputs.all(), read.output, read.format, read.model, picker.earlier]
    acts = {**components.question("share"), **INSTANT}
    acted = share.input(personal(Sharing(workbench).act), [share, *filled], [share, *filled], **acts)
    acted.then(lambda rows: gr.Button(visible=bool(rows)), picker.earlier, picker.back, **INSTANT)
    editors.place(acted, share, read.output)
    acted.then(personal(workbench.compare), [*inputs.all(), gr.Number(0, visible=False)], answer, **ASK)


def _wire_scores(scoring: Scoring, inputs: Inputs, tab: gr.Tab, scores: Any) -> None:
    """Checks are asked for when their tab is opened, and when the models change; they do not depend on the chat."""
    numbered = "(...inputs) => [...inputs.slice(0, -1), ++window.lab.number]"
    asked = [inputs.models, gr.Number(0, visible=False)]
    gr.on(
        [tab.select, scores.tick, inputs.models.input], personal(scoring.matrix), asked, scores, js=numbered, **INSTANT
    )


def launch(page: gr.Blocks, **options: Any) -> Any:
    """Serve the page; everything it needs comes from this server, fonts too."""
    page._queue.sleep_when_free = page._queue.progress_update_sleep_when_free = QUEUE_SECONDS
    return page.launch(
        theme=_theme(),
        css_paths=sorted(ASSETS.glob("*.css"), key=lambda path: (path.stem != "style", path.stem)),
        head=f"<script>{asset('head.js')}{asset('rest.js')}{asset('words.js')}</script>",
        i18n=LANGUAGES,
        footer_links=[],
        ssr_mode=False,
        run_history=False,
        share=False,
        mcp_server=True,
        **options,
    )


def _theme() -> gr.themes.Base:
    """Gradio's plain theme in fonts that it ships itself; the colours stand in style.css."""
    local = gr.themes.utils.fonts.LocalFont
    return gr.themes.Base(
        primary_hue="indigo",
        neutral_hue="zinc",
        radius_size="sm",
        text_size="sm",
        spacing_size="sm",
        font=(local("IBM Plex Sans", (400, 600)), "system-ui", "sans-serif"),
        font_mono=(local("IBM Plex Mono", (400, 500, 600)), "ui-monospace", "monospace"),
    )
