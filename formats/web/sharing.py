"""What links, files and exports call: the page's state into a link and back, and the comparison as a document.

The page keeps its state in the visitor's browser; a link carries all of it, so no
server has to remember anything.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from formats.errors import FormatsError
from formats.types import Comparison, JsonObject, LoadedModel
from formats.web import views
from formats.web.handlers import Workbench, editor_texts, model_ids, typed_conversation, typed_date
from formats.web.quick_import import gr

if TYPE_CHECKING:
    from formats.state import State

PATIENCE = 20.0  # seconds that a link or an export waits for models that are on their way
MOST_TEXT = 18_000_000  # characters of a link or file that is opened
INPUTS, OUTPUTS = 9, 3  # values of the left side; and of the tab "Read an output": text, format, model
NOTHING = ["[]", "", True, "false", "", "", ""]  # an empty conversation, as `editor_texts` gives one
KINDS = {
    "markdown": ("comparison.md", "text/markdown"),
    "csv": ("comparison.csv", "text/csv"),
    "json": ("comparison.json", "application/json"),
    "html": ("comparison.html", "text/html"),
    "svg": ("tokens.svg", "image/svg+xml"),
}


class Sharing:
    """The listeners of the share bar; one for all visitors."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench

    def act(self, asked: Any, *values: Any, token: str | None = None) -> list[Any]:
        """Answer the share bar: its own new value first, then every input, unchanged unless a state was opened.

        `asked` is {"ask": "link" | "file" | "open" | one of KINDS, "text", "view", "number"}; an answer is
        {"done": the same word, "number", "text", "name", "type", "about"} or {"problem": HTML, "number"}. An output
        that was opened stands in it as "output": the page places it itself (`editors.place`). After the inputs comes
        the row of earlier texts: a link that cannot be opened leaves empty editors, lest something else is taken for
        what it holds, and what was typed before can be brought back.
        """
        ask = asked if isinstance(asked, dict) else {}
        filled: list[Any] = [gr.skip()] * (INPUTS + OUTPUTS)
        earlier: Any = gr.skip()
        try:
            if ask.get("ask") == "open":
                answer, filled = self._open(ask.get("text"), token)
            else:
                answer = self._make(ask, values, token)
        except FormatsError as error:
            answer = {"problem": views.problem(error)}
            if ask.get("ask") == "open" and str(ask.get("text")).startswith("#"):
                typed, row = list(values[: len(NOTHING)]), (*values, None)[INPUTS + OUTPUTS]
                filled[: len(NOTHING)] = NOTHING
                earlier = gr.skip() if typed == NOTHING else self.workbench.kept(row, typed)
        return [{**answer, "number": ask.get("number", 0)}, *filled, earlier]

    def _make(self, ask: JsonObject, values: Sequence[Any], token: str | None) -> JsonObject:
        kind = ask.get("ask")
        if kind not in ("link", "file", *KINDS):
            raise FormatsError(f"nothing is called {str(kind)[:40]!r} here")
        comparison = self._comparison(values[:INPUTS], token)
        if kind in KINDS:
            return _exported(str(kind), comparison)
        from formats import share

        state = share.state_of(comparison, _output(values[INPUTS : INPUTS + OUTPUTS]), str(ask.get("view") or "")[:40])
        if kind == "link":
            try:
                return {"done": "link", "text": f"#s={share.encode(state)}", "about": share.about(state)}
            except FormatsError as error:
                if error.kind != "too_long_for_link":
                    raise
        text = share.encode_file(state)
        return {
            "done": "file",
            "text": text,
            "name": "state.json",
            "type": "application/json",
            "too_long": kind == "link",
        }

    def _comparison(self, values: Sequence[Any], token: str | None) -> Comparison:
        problems: dict[str, FormatsError] = {}
        conversation = typed_conversation(values[:-2], problems)
        if conversation is None:
            raise next(iter(problems.values()))
        names = model_ids(values[-1])
        found = zip(names, self._load(names, token), strict=True)
        loaded = [(name, model) if isinstance(model, FormatsError) else model for name, model in found]
        return self.workbench.engine.compare(conversation, loaded, typed_date(values[-2]))

    def _load(self, names: Sequence[str], token: str | None) -> list[LoadedModel | FormatsError]:
        loaded = self.workbench.load(list(names), PATIENCE, token)
        return [m or FormatsError(f"{n} is still being fetched", "loading") for n, m in zip(names, loaded, strict=True)]

    def _open(self, text: Any, token: str | None) -> tuple[JsonObject, list[Any]]:
        """The answer, and the values that the inputs get from a link or a file."""
        from formats import conversation as conversations
        from formats import share
        from formats.reopen import reopen

        if not isinstance(text, str) or not text.strip():
            raise FormatsError("there is nothing to open")
        if len(text) > MOST_TEXT:
            raise FormatsError("this file is too large to be a state of this page")
        state = _state(text)
        opened = reopen(state, lambda names: self._load(names, token), self.workbench.engine.sandbox)
        names = [model.name for model in state.models]
        for change in opened.changes:
            if change.restored:
                names[change.column] = state.models[change.column].pinned or names[change.column]
        changes = [
            {"model": state.models[c.column].name, "message": c.message, "restored": c.restored, "diff": c.diff}
            for c in opened.changes
        ]
        answer = {
            "done": "open",
            "view": state.view,
            "about": share.about(state),
            "changes": views.filled("changes.html", changes=changes) if changes else "",
        }
        output = state.output or share.SharedOutput("")
        texts = editor_texts(conversations.to_json(state.conversation))
        filled = [*texts, state.date.isoformat(), names, gr.skip(), output.format or "auto", output.model or ""]
        return {**answer, "output": output.text}, filled


def _state(text: str) -> State:
    """What a link, a state file or an exported comparison holds."""
    from formats import share
    from formats.report import from_report, is_report

    if not text.lstrip().startswith("{"):
        return share.decode(text)
    return share.state_of(from_report(text)) if is_report(text) else share.decode_file(text)


def _exported(kind: str, comparison: Comparison) -> JsonObject:
    from formats import report

    write: dict[str, Callable[[Comparison], str]] = {
        "markdown": report.to_markdown,
        "csv": report.to_csv,
        "json": report.to_json,
        "html": report.to_html,
        "svg": report.to_svg,
    }
    name, media = KINDS[kind]
    return {"done": "export", "text": write[kind](comparison), "name": name, "type": media}


def _output(values: Sequence[Any]) -> Any:
    from formats import share

    text, format, model = (value if isinstance(value, str) else "" for value in values)
    return share.SharedOutput(text, format or None, model or None) if text.strip() else None


def space_address() -> str:
    """The outer address of the Space this runs in, "" elsewhere: links made inside its frame must open it."""
    space = os.environ.get("SPACE_ID", "")
    return f"https://huggingface.co/spaces/{space}" if space else ""
