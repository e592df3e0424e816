"""Cards beside the JSON editors of messages and tools: two views of one text, which stays in the JSON editor."""

from __future__ import annotations

from typing import Any

from formats import samples
from formats.web import views
from formats.web.components import asset, question, served, word
from formats.web.editing import EXPORT_NAMES, Editing
from formats.web.login import personal
from formats.web.quick_import import gr
from formats.web.template_options import TemplateOptions

# Both run in the browser alone.
LOCAL: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
SAME = "text => text"


def cards(field: str, value: str) -> gr.HTML:
    """The switch "Cards | JSON" and the cards; its value is the JSON text, changed by the person ("input")."""
    return gr.HTML(
        value=value,
        html_template=views.filled("editor.html", field=field),
        js_on_load=asset("editors.js") + asset(f"{field}.js"),
        apply_default_css=False,
        elem_id=f"{field}-cards",
    )


def join(card_editor: gr.HTML, code: gr.Code) -> None:
    """Edits in either show in the other; what fills the JSON editor (a sample, a link) fills the cards."""
    card_editor.input(None, card_editor, code, js=SAME, trigger_mode="multiple", **LOCAL)
    code.change(None, code, card_editor, js=SAME, trigger_mode="multiple", **LOCAL)


def review(editing: Editing) -> gr.HTML:
    """Shows what `Editing.review` returns, below the messages and in every `warnings_slot`."""
    return gr.HTML(
        html_template=views.filled("review.html"),
        js_on_load=asset("review.js"),
        server_functions=[served(editing.fix)],
        apply_default_css=False,
        elem_id="review",
    )


def warnings_slot(field: str) -> gr.HTML:
    """The place below a field where review.js puts what is odd about it."""
    return gr.HTML(
        html_template=f'<div data-warnings="{field}" role="status"></div>',
        js_on_load=None,
        apply_default_css=False,
        elem_classes="warnings-block",
    )


def wire_review(editing: Editing, shown: gr.HTML, conversation: list[Any]) -> None:
    asked = {"js": "(...inputs) => window.lab.ask(inputs, 'review')", "trigger_mode": "always_last"}
    edits = [box.change for box in conversation]
    gr.on(edits, editing.review, [*conversation, gr.Number(0, visible=False)], shown, **asked, **LOCAL)


def paste() -> gr.HTML:
    """A text area that takes anything; its event "input" asks for what stands in its value."""
    with gr.Accordion(word("paste.open"), open=False, elem_id="paste-anything"):
        return gr.HTML(
            html_template=views.filled("paste.html"),
            js_on_load=asset("paste.js"),
            sample=samples.FUNCTIONS.read_text(encoding="utf-8"),
            apply_default_css=False,
            elem_id="paste",
        )


def wire_paste(editing: Editing, pasted: gr.HTML, conversation: list[Any], earlier: Any, back: Any, output: Any) -> Any:
    """What was pasted fills the editors, a raw output its own tab; the event that says that it has."""
    filled = [pasted, *conversation, earlier]
    taken = pasted.input(editing.take, [pasted, earlier, *conversation], filled, **question("paste"), **LOCAL)
    taken.then(lambda rows: gr.Button(visible=bool(rows)), earlier, back, **LOCAL)
    place(taken, pasted, output)
    return taken


def place(event: Any, answered: gr.HTML, output: Any) -> None:
    """The output that an answer brings, into its text box, byte for byte.

    As a String object: Gradio translates any string value that is, or holds, a name of one of the page's words.
    """
    event.then(None, [answered, output], output, js="(answer, text) => new String(answer?.output ?? text)", **LOCAL)


def takeaway() -> gr.HTML:
    """The conversation in other shapes; its event "input" asks for what stands in its value."""
    with gr.Accordion(word("takeaway.open"), open=False, elem_id="take-away"):
        return gr.HTML(
            html_template=views.filled("takeaway.html"),
            js_on_load=asset("takeaway.js"),
            names=dict(EXPORT_NAMES),
            apply_default_css=False,
            elem_id="takeaway",
        )


def wire_takeaway(editing: Editing, shown: gr.HTML, inputs: list[Any]) -> None:
    shown.input(personal(editing.take_away), [shown, *inputs], shown, **question("takeaway"), **LOCAL)


def wire_draft(page: gr.Blocks, kept: list[Any], sample: Any, reason: Any) -> Any:
    """What is typed is kept in the visitor's browser; the event that says that a draft is back, if there was one."""
    edits = [box.change if isinstance(box, gr.Textbox | gr.Code) else box.input for box in kept]
    gr.on(edits, None, kept, None, js="(...values) => window.lab.keep?.(values)", trigger_mode="multiple", **LOCAL)
    return page.load(None, kept, [sample, reason, *kept], js=asset("draft.js"))


def template_options() -> gr.HTML:
    """Typed controls of the template options; "input" writes the JSON of kwargs, "tick" asks for the options again."""
    return gr.HTML(
        html_template=views.filled("options.html"),
        js_on_load=asset("editors.js") + asset("options.js"),
        apply_default_css=False,
        elem_id="template-options",
    )


def wire_options(options: TemplateOptions, shown: gr.HTML, opened: gr.Accordion, kwargs: gr.Code, models: Any) -> None:
    """The options follow the models; their controls and the JSON editor write one text."""
    shown.input(None, [shown, kwargs], kwargs, js="(value, text) => value?.kwargs ?? text", **LOCAL)
    gr.on([kwargs.change, opened.expand], None, kwargs, None, js="text => window.lab.kwargs(text)", **LOCAL)
    asked = {"js": "(models, number) => [models, ++window.lab.number]", "trigger_mode": "always_last"}
    events = [opened.expand, models.change, models.input, shown.tick]
    gr.on(events, personal(options.read), [models, gr.Number(0, visible=False)], shown, **asked, **LOCAL)
