"""The left side: the conversation, its template options, the date and the models. Every tab works on these."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from formats.web import components, editors, views
from formats.web.components import asset, word
from formats.web.editing import Editing
from formats.web.handlers import MOST_MODELS, Workbench, editor_texts, reason
from formats.web.quick_import import gr
from formats.web.template_options import TemplateOptions


@dataclass(frozen=True)
class Inputs:
    """The components a person edits, in the order in which `Workbench.compare` takes their values."""

    messages: Any
    tools: Any
    add_generation_prompt: Any
    continue_final_message: Any
    chat_template: Any
    documents: Any
    kwargs: Any
    today: Any
    models: Any

    def all(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]

    def conversation(self) -> list[Any]:
        """Those that a sample, a link or an import fills: all but the date and the models."""
        return self.all()[:-2]


@dataclass(frozen=True)
class SamplePicker:
    """Loads a sample into the inputs; what was typed before waits in `earlier`, in the visitor's own browser."""

    sample: Any
    reason: Any
    back: Any
    earlier: Any


def build(workbench: Workbench, editing: Editing) -> tuple[Inputs, SamplePicker, gr.HTML]:
    """The inputs, the samples' picker, and where anything can be pasted."""
    samples = list(workbench.samples.values())
    first = samples[0]
    messages_text, tools_text, adds, goes_on, template, documents_text, kwargs_text = editor_texts(first.conversation)
    gr.HTML(
        html_template=views.filled("panel.html"),
        js_on_load=asset("panel.js"),
        apply_default_css=False,
        elem_id="panel-toggle",
    )
    sample = gr.Dropdown(
        [(word(f"sample.{sample.name}"), sample.name) for sample in samples],
        value=first.name,
        label=word("panel.sample"),
        elem_id="sample",
    )
    about = gr.HTML(reason(first), elem_id="sample-reason", apply_default_css=False)
    back = gr.Button(word("panel.back"), visible=False, size="sm", elem_id="back")
    paste = editors.paste()
    picker = components.picker(workbench.opening, workbench.titles, MOST_MODELS, workbench.search)
    messages = _cards_and_json("messages", messages_text)
    review = editors.review(editing)
    tools = _cards_and_json("tools", tools_text)
    editors.warnings_slot("tools")
    with gr.Row(elem_id="options"):
        add = gr.Checkbox(adds, label="add_generation_prompt", elem_id="add-generation-prompt")
        today = gr.Textbox(
            label=word("panel.date"),
            placeholder=word("panel.date_form"),
            max_lines=1,
            max_length=40,
            elem_id="date",
        )
    components.problem_slot("today")
    with gr.Accordion(word("panel.more"), open=False, elem_id="more-options") as more:
        with gr.Row():
            go_on = gr.Dropdown(
                ["false", "true", "reasoning_content"],
                value=goes_on,
                label="continue_final_message",
                allow_custom_value=True,
                elem_id="continue-final-message",
            )
            name = gr.Dropdown(
                ["", "default", "tool_use", "rag"],
                value=template,
                label="chat_template",
                allow_custom_value=True,
                elem_id="chat-template",
            )
        typed = editors.template_options()
        kwargs = _editor("kwargs", kwargs_text, 2, word("panel.kwargs") + ' {"enable_thinking": false}')
        documents = _editor(
            "documents", documents_text, 2, word("panel.documents") + ' [{"title": "...", "text": "..."}]'
        )
    components.problem_slot("options")
    editors.warnings_slot("options")
    takeaway = editors.takeaway()
    earlier = gr.JSON([], visible=False)
    inputs = Inputs(messages, tools, add, go_on, name, documents, kwargs, today, picker)
    editors.wire_review(editing, review, inputs.conversation())
    editors.wire_options(TemplateOptions(workbench), typed, more, kwargs, picker)
    editors.wire_takeaway(editing, takeaway, inputs.all())
    return inputs, SamplePicker(sample, about, back, earlier), paste


def _cards_and_json(field: str, value: str) -> gr.Code:
    cards = editors.cards(field, value)
    code = _editor(field, value, lines=8)
    editors.join(cards, code)
    return code


def _editor(field: str, value: str, lines: int, label: Any = "") -> gr.Code:
    editor = gr.Code(
        value,
        language="json",
        label=label or field,
        lines=lines,
        max_lines=24,
        wrap_lines=True,
        show_line_numbers=False,
        interactive=True,
        buttons=[],
        elem_id=field,
        elem_classes="editor",
    )
    components.problem_slot(field)
    return editor
