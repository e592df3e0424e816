"""What the tab "Tools as text" calls: one model told of the tools by its template, and in plain text."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from formats.errors import FormatsError
from formats.text import common_prefix
from formats.types import Column, Conversation, JsonObject, LoadedModel
from formats.web import views
from formats.web.handlers import Workbench, model_ids, title, typed_conversation, typed_date
from formats.web.pretty import pretty

PATIENCE = 5.0  # seconds that an answer waits for a model
MOST_TURNS = 6  # turns of the model that are shown
NATIVE = "native"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the loop: what is new in the prompt, and what the model writes; words where it is refused."""

    tokens: int | None
    given: str
    written: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to tell a model of its tools, with what comes of it."""

    name: str
    title: str
    parser: str  # the format that reads the answers; "" for the template's own
    stops: tuple[str, ...]
    column: Column
    turns: tuple[Turn, ...]


class PlainTools:
    """The listener of the tab; one for all visitors."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench

    def show(self, model: Any, *values: Any, token: str | None = None) -> JsonObject:
        """{"number", "problem": HTML, "html": HTML or None, "texts": {way: {"messages", "tools"}}} for plain.js.

        `values` are the page's inputs and a number. Without a model, the first that ignores the tools is taken.
        """
        *given, today, models, number = values
        answer: JsonObject = {"number": number if isinstance(number, int) else 0, "problem": "", "html": None}
        problems: dict[str, FormatsError] = {}
        try:
            conversation = typed_conversation(given, problems)
            if conversation is None:
                raise next(iter(problems.values()))
            date, names = typed_date(today), model_ids(models)
            ignoring = self._ignoring(conversation, date, names, token)
            name = model if isinstance(model, str) and model in names else (ignoring or names)[0]
            ways, texts = self._ways(conversation, date, self._model(name, token))
        except FormatsError as error:
            return {**answer, "problem": views.problem(error)}
        html = views.filled(
            "plain.html",
            ways=ways,
            chosen=name,
            models=[(known, title(known), known in ignoring) for known in names],
            ignores=name in ignoring,
            has_tools=bool(conversation.tools),
            prompt=views.prompt,
        )
        return {**answer, "html": html, "texts": texts}

    def _model(self, name: str, token: str | None) -> LoadedModel:
        loaded = self.workbench.load([name], PATIENCE, token)[0]
        if not isinstance(loaded, LoadedModel):
            raise loaded or FormatsError(f"{title(name)} is still being fetched; try again in a moment", "loading")
        return loaded

    def _ignoring(
        self, conversation: Conversation, today: datetime.date, names: list[str], token: str | None
    ) -> list[str]:
        """The models whose prompt is the same without the tools."""
        if not conversation.tools:
            return []
        loaded = [model for model in self.workbench.load(names, token=token) if isinstance(model, LoadedModel)]
        asked = replace(conversation, messages=_before_calls(conversation))
        columns = [self.workbench.engine.compare(c, loaded, today).columns for c in (asked, replace(asked, tools=None))]
        return [a.model for a, b in zip(*columns, strict=True) if a.prompt is not None and a.prompt == b.prompt]

    def _ways(
        self, conversation: Conversation, today: datetime.date, model: LoadedModel
    ) -> tuple[list[Way], dict[str, JsonObject]]:
        from formats.plain_tools import PLAIN_FORMATS

        def render(asked: Conversation) -> Column:
            return self.workbench.engine.compare(asked, [model], today).columns[0]

        native = Way(
            NATIVE, "The template's own tools", "", (), render(conversation), _turns(conversation, _same, render)
        )
        ways, texts = [native], {}
        for plain in PLAIN_FORMATS.values():
            rewritten = plain.apply(conversation)
            turns = _turns(conversation, plain.apply, render)
            ways.append(Way(plain.name, plain.title, plain.parser, plain.stops, render(rewritten), turns))
            texts[plain.name] = {"messages": pretty([dict(message) for message in rewritten.messages]), "tools": ""}
        return ways, texts


def _same(conversation: Conversation) -> Conversation:
    return conversation


def _before_calls(conversation: Conversation) -> tuple[Any, ...]:
    """The messages up to the first that a template without tools may refuse; at least one."""
    messages = conversation.messages
    first = next((at for at, m in enumerate(messages) if m["role"] == "tool" or m.get("tool_calls")), len(messages))
    return messages[: max(first, 1)]


def _turns(
    conversation: Conversation,
    rewrite: Callable[[Conversation], Conversation],
    render: Callable[[Conversation], Column],
) -> tuple[Turn, ...]:
    """The loop as the model sees it: each of its turns with the prompt before it, as far as that is new."""
    turns: list[Turn] = []
    before = ""
    asked = replace(conversation, add_generation_prompt=True, continue_final_message=False)
    done = replace(asked, add_generation_prompt=False)
    places = [place for place, message in enumerate(conversation.messages) if message["role"] == "assistant" and place]
    for place in places[:MOST_TURNS]:
        column = render(rewrite(replace(asked, messages=conversation.messages[:place])))
        after = render(rewrite(replace(done, messages=conversation.messages[: place + 1])))
        refused = column.error or after.error
        prompt, full = column.prompt or "", after.prompt or ""
        tokens = column.tokens.count if column.tokens else None
        given = prompt[common_prefix(before, prompt) :]
        turns.append(Turn(tokens, given, full[common_prefix(prompt, full) :], refused.message if refused else ""))
        before = full
    return tuple(turns)
