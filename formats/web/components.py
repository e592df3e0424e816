"""The two components that Gradio does not have: the answer of all columns, and a compact picker of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from formats.host import offers_login
from formats.types import JsonObject
from formats.web import views, words
from formats.web.login import personal, who
from formats.web.quick_import import gr

T = TypeVar("T")

ASSETS = Path(__file__).parent / "assets"
LANGUAGES = gr.I18n(**words.LANGUAGES)


def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def word(key: str) -> Any:
    """One of the page's words as Gradio's components take it: as a label, placeholder, choice, button or tab."""
    return LANGUAGES(key)


def answer(columns: int, ratings: Callable[[Any], JsonObject]) -> gr.HTML:
    """Shows what `Workbench.compare` returns; its event "tick" asks again while columns are still loading.

    The template is static: an answer's HTML is placed by answer.js and is never compiled as a template.
    """
    return gr.HTML(
        html_template=views.filled("answer.html", columns=columns),
        js_on_load=asset("answer.js"),
        server_functions=[personal(served(ratings))],
        apply_default_css=False,
        elem_id="answer",
    )


def picker(
    value: Sequence[str], titles: Mapping[str, str], most: int, search: Callable[[Any], list[JsonObject]]
) -> gr.HTML:
    """A list of model ids, changed by the person ("input"); any id can be typed, `search` only helps to find one."""
    return gr.HTML(
        value=list(value),
        titles=dict(titles),
        most=most,
        html_template=views.filled("picker.html"),
        js_on_load=asset("picker.js"),
        server_functions=[served(search)],
        apply_default_css=False,
        elem_id="models",
    )


def scores(finding: Callable[[Any], str], card: Callable[[Any], str]) -> gr.HTML:
    """Shows what `Scoring.matrix` returns; "tick" asks again while models are being checked.

    `finding` gives the HTML of a cell's proof, `card` a model's report card to download.
    """
    return gr.HTML(
        html_template=views.filled("scores.html"),
        js_on_load=asset("scores.js"),
        server_functions=[personal(served(finding)), personal(served(card))],
        apply_default_css=False,
        elem_id="scores",
    )


def reading() -> gr.HTML:
    """Shows what `Reading.read` returns."""
    return gr.HTML(
        html_template=views.filled("reading_page.html"),
        js_on_load=asset("reading.js"),
        apply_default_css=False,
        elem_id="reading",
    )


def share(space: str) -> gr.HTML:
    """Links, files and exports; its event "input" asks for what stands in its value, which the answer replaces."""
    return gr.HTML(
        html_template=views.filled("share.html", space=space),
        js_on_load=asset("share.js"),
        apply_default_css=False,
        elem_id="share",
    )


def login(page: gr.Blocks) -> None:
    """Logs in or out; nothing where nobody can. Gradio makes the routes for a page that has a button of its own."""
    if offers_login():
        gr.LoginButton(visible=False)
        shown = gr.HTML(
            html_template=views.filled("login.html"),
            js_on_load=asset("login.js"),
            apply_default_css=False,
            elem_id="login",
        )
        page.load(who, None, shown, queue=False, api_visibility="private", show_progress="hidden")


def problem_slot(field: str) -> gr.HTML:
    """The place beside a field where answer.js puts what is wrong with it."""
    return gr.HTML(
        html_template=f'<div data-problem="{field}" class="problem-slot" role="alert"></div>',
        js_on_load=None,
        apply_default_css=False,
        elem_classes="problem-block",
    )


def served(method: Callable[..., T]) -> Callable[..., T]:
    """A method as a function of the same name: Gradio marks what the browser may call, and methods take no marks."""

    @wraps(method)
    def call(asked: Any, **visitor: Any) -> T:
        return method(asked, **visitor)

    return call


def question(part: str) -> dict[str, Any]:
    """Options of the listener that answers a part's questions (head.js): the last one asked is always answered."""
    return {
        "js": f"(value, ...inputs) => [window.lab.questions.{part} ?? value, ...inputs]",
        "trigger_mode": "always_last",
    }
