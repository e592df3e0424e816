"""The tab "Read an output": a raw output, the calls in it, and how every parser reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from formats.parsers import NAMES
from formats.web import components, words
from formats.web.components import word
from formats.web.handlers import title
from formats.web.quick_import import gr
from formats.web.reading import FOUND, NO_MODEL, Reading

LINES = 10


@dataclass(frozen=True)
class ReadInputs:
    """The tab's own inputs, in the order in which `Reading.read` takes their values."""

    output: Any
    format: Any
    model: Any
    suffix: Any
    sample: Any
    put: Any

    def asked(self) -> list[Any]:
        return [self.output, self.format, self.model, self.suffix]


def build(reading: Reading) -> tuple[gr.Tab, ReadInputs, Any]:
    """The tab, its inputs, and the component that shows what was read."""
    samples = [(f"{s.format}: " + word(words.output_key(s)), s.name) for s in reading.samples.values()]
    opening = [(word("read.no_model"), NO_MODEL), *((title(name), name) for name in reading.workbench.opening)]
    with gr.Tab(word("tabs.read"), id="read") as tab:
        with gr.Column(elem_id="reading-inputs"):
            output = gr.Textbox(
                label=word("read.output"),
                placeholder=word("read.output_hint"),
                lines=LINES,
                max_lines=LINES * 3,
                elem_id="output-text",
            )
            with gr.Row():
                sample = gr.Dropdown(samples, value=None, label=word("read.sample"), elem_id="output-sample")
                format = gr.Dropdown(
                    [(word("read.own"), FOUND), *((name, name) for name in NAMES)],
                    value=FOUND,
                    label=word("read.format"),
                    elem_id="output-format",
                )
                model = gr.Dropdown(
                    opening,
                    value=NO_MODEL,
                    label=word("read.model"),
                    allow_custom_value=True,
                    elem_id="output-model",
                )
                suffix = gr.Textbox(
                    label=word("read.suffix"),
                    placeholder="<think>\\n",
                    max_lines=1,
                    max_length=2000,
                    elem_id="output-suffix",
                )
            put = gr.Button(word("read.put"), size="sm", elem_id="output-put")
        return tab, ReadInputs(output, format, model, suffix, sample, put), components.reading()
