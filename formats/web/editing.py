"""What the editors call: warnings, remedies, imports of any shape, and what is taken away. No layout, no gradio."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from formats import conversation as conversations
from formats.errors import FormatsError
from formats.export import EXPORTS, Target, export
from formats.fixes import FIXES, Fix
from formats.interop import Imported, Loss, recognise
from formats.schema import tools_from_source
from formats.template import choose, reads_clock
from formats.types import Conversation, JsonObject, LoadedModel, ToolDefinition
from formats.validate import Warned, tool_name, warnings
from formats.web import views, words
from formats.web.handlers import MOST_CHARACTERS, Workbench, editor_texts, typed_conversation, typed_date
from formats.web.pretty import pretty

PATIENCE = 10.0  # seconds that an export waits for its model
SHOWN = 6  # warnings of one place that are shown at once
MOST_WARNINGS = 200
CONTEXT = 2  # lines around a change

# Kinds of warning with a remedy of their own, by its name.
REMEDIES = {"double_encoded": "decode_arguments", "result_not_text": "results_as_text"}
PLACES = ("messages", "tools", "options")
PYTHON = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a pasted text turned out to be; None stands for what it does not hold."""

    what: str
    messages: list[Any] | None = None
    tools: list[Any] | None = None
    options: Mapping[str, Any] | None = None
    output: str | None = None
    lost: Sequence[Loss] = ()
    extras: Mapping[str, Any] | None = None


class Editing:
    """The listeners of the panel's editors; one for all visitors."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench

    def review(self, *values: Any) -> JsonObject:
        """{"number", "warnings": {place: HTML}, "fixes": HTML}: what is odd about the conversation as it stands.

        `values` are those of `editor_texts` and a number. What cannot be read has no warnings: it says so elsewhere.
        """
        *given, number = values
        found: tuple[Warned, ...] = ()
        fixes: list[Fix] = []
        conversation = typed_conversation(given, {})
        if conversation is not None:
            found = warnings(conversation)[:MOST_WARNINGS]
            fixes = [fix for fix in FIXES.values() if fix.applicable(conversation)]
        return {
            "number": number if isinstance(number, int) else 0,
            "warnings": {place: _warnings([w for w in found if w.path.startswith(place)]) for place in PLACES},
            "fixes": views.filled("fixes.html", fixes=fixes) if fixes else "",
        }

    def fix(self, asked: Any) -> JsonObject:
        """{"diff": HTML, "messages": text} for [name of a remedy, messages, tools], or {"problem": HTML}."""
        try:
            name, messages_text, tools_text = _texts(asked, 3)
            if name not in FIXES:
                raise FormatsError(f"no remedy is called {name[:80]!r}")
            before = Conversation(
                conversations.parse_messages(messages_text), conversations.parse_tools(tools_text or "")
            )
            after = FIXES[name].apply(before)
        except FormatsError as error:
            return {"problem": views.problem(error)}
        old, new = (pretty([dict(m) for m in c.messages]) for c in (before, after))
        return {"diff": views.filled("diff.html", fix=FIXES[name], lines=_diff(old, new)), "messages": new}

    def take(self, asked: Any, earlier: Any, *current: Any) -> list[Any]:
        """Load a pasted text: the answer that paste.js shows, the editors' values, and the row of earlier texts.

        `asked` is {"text": pasted}; the answer {"html", "output": a model's raw text or None, "number"}.
        """
        given = asked if isinstance(asked, dict) else {}
        number = given.get("number", 0)
        try:
            (text,) = _texts([given.get("text")], 1)
            taken = _taken(text, current[1])
        except FormatsError as error:
            return [{"html": views.problem(error), "output": None, "number": number}, *current, earlier]
        html = views.filled(
            "taken.html",
            taken=taken,
            loaded=_loaded(taken),
            extras=pretty(dict(taken.extras)) if taken.extras else "",
        )
        kept = self.workbench.kept(earlier, current)
        return [{"html": html, "output": taken.output, "number": number}, *_filled(taken, current), kept]

    def take_away(self, asked: Any, *values: Any, token: str | None = None) -> JsonObject:
        """One export of the conversation for takeaway.js.

        `asked` is {"name", "model", "number"}; the answer {"text", "file", "losses": HTML} or {"problem": HTML}.
        """
        given = asked if isinstance(asked, dict) else {}
        name, model = str(given.get("name"))[:80], given.get("model")
        answer: JsonObject = {"number": given.get("number", 0)}
        problems: dict[str, FormatsError] = {}
        conversation = typed_conversation(values[:-2], problems)
        try:
            if conversation is None:
                raise next(iter(problems.values()))
            loaded = self._model(model, token)
            if name == "jinja":
                return {**answer, **_jinja(conversation, loaded)}
            made = export(conversation, name, self._target(conversation, loaded, values[-2]))
        except FormatsError as error:
            return {**answer, "problem": views.problem(error)}
        return {
            **answer,
            "text": made.text,
            "file": f"{name}.{EXPORTS[name].suffix}",
            "losses": views.filled("losses.html", losses=made.lost) if made.lost else "",
        }

    def _model(self, name: Any, token: str | None) -> LoadedModel | None:
        if not isinstance(name, str) or not name:
            return None
        loaded = self.workbench.load([name], PATIENCE, token)[0]
        if not isinstance(loaded, LoadedModel):
            raise loaded or FormatsError(f"{name[:80]} is still being fetched; try again in a moment", "loading")
        return loaded

    def _target(self, conversation: Conversation, model: LoadedModel | None, date: Any) -> Target:
        if model is None:
            return Target()
        _, template = choose(model.templates, conversation)
        today = typed_date(date) if reads_clock(template) else None
        return Target(model.source.repo or model.name, model.source.revision, today)


EXPORT_NAMES: Mapping[str, str] = {name: made.title for name, made in EXPORTS.items()}  # "jinja" is the page's own


def _jinja(conversation: Conversation, model: LoadedModel | None) -> JsonObject:
    if model is None:
        raise FormatsError("choose the model whose template it shall be")
    name, text = choose(model.templates, conversation)
    return {"text": text, "file": f"{name}.jinja"}


def _texts(values: Any, count: int) -> list[str]:
    """That many texts of a size that can be worked with. Raises FormatsError."""
    if not isinstance(values, list) or len(values) != count or not all(isinstance(value, str) for value in values):
        raise FormatsError("needs text")
    if any(len(value) > MOST_CHARACTERS for value in values):
        raise FormatsError(f"this is more than the {MOST_CHARACTERS:,} characters that are read here")
    return values


def _warnings(found: Sequence[Warned]) -> str:
    if not found:
        return ""
    rows = [(warned, FIXES.get(REMEDIES.get(warned.kind, ""))) for warned in found]
    return views.filled("warnings.html", shown=rows[:SHOWN], more=rows[SHOWN:])


def _diff(old: str, new: str) -> list[tuple[str, str]]:
    """(kind, line): kept, removed, added, or a gap."""
    kinds = {" ": "kept", "-": "removed", "+": "added", "@": "gap"}
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=CONTEXT))[2:]
    return [(kinds[line[0]], "…" if line[0] == "@" else line[1:]) for line in lines]


def _taken(text: str, tools_text: Any) -> Taken:
    """A pasted text as what it is: Python functions, or a body of one of the wire shapes."""
    if PYTHON.search(text) and not text.lstrip().startswith(("{", "[")):
        tools = tools_from_source(text)
        names = ", ".join(filter(None, map(tool_name, tools)))
        return Taken(f"Python source: {names}", tools=_joined(tools_text, tools))
    imported: Imported = recognise(text)
    return Taken(
        imported.shape,
        None if imported.messages is None else [dict(message) for message in imported.messages],
        None if imported.tools is None else [dict(tool) for tool in imported.tools],
        imported.options or None,
        imported.output,
        imported.lost,
        imported.extras,
    )


def _joined(tools_text: Any, added: Sequence[ToolDefinition]) -> list[Any]:
    """The tools that are there and the new ones, which take the place of those of the same name."""
    try:
        before = conversations.parse_tools(tools_text) if isinstance(tools_text, str) else None
    except FormatsError:  # what cannot be read is replaced; it can be brought back
        before = None
    names = {tool_name(tool) for tool in added}
    return [dict(tool) for tool in (*(t for t in before or () if tool_name(t) not in names), *added)]


def _loaded(taken: Taken) -> list[Markup]:
    parts = {"messages": taken.messages, "tools": taken.tools, "options": taken.options}
    said = [words.html(f"paste.{name}", n=len(part)) for name, part in parts.items() if part is not None]
    return [*said, *([words.html("paste.output")] if taken.output is not None else [])]


def _filled(taken: Taken, current: Sequence[Any]) -> list[Any]:
    """The editors' values with the parts that were taken in their places; options go with the messages."""
    values = list(current)
    if taken.messages is not None:
        body: JsonObject = {"messages": taken.messages, "tools": taken.tools, "options": dict(taken.options or {})}
        return editor_texts(body)
    if taken.tools is not None:
        values[1] = pretty(taken.tools)
    return values
