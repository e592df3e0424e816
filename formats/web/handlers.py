"""Inputs of the page -> the engine -> what the page shows. No layout, no HTML of its own.

The page keeps no state of a visitor on the server: each answer is made from what the inputs hold. Listeners are
reachable by raw requests too, so each value is checked for type and size before it is used. A `token` is the visitor's
own token of the Hub, where one has logged in; whatever it opens is for that visitor.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from formats import conversation as conversations
from formats import models as catalogue
from formats.errors import LOCKED, BadConversation, FormatsError
from formats.samples import Sample
from formats.types import Column, Conversation, JsonObject, LoadedModel
from formats.web import views, words
from formats.web.background import Background
from formats.web.engine import Engine
from formats.web.pretty import pretty

T = TypeVar("T")

MOST_MODELS = 12
MOST_CHARACTERS = 2_000_000  # of one field
MOST_FOUND = 40  # models that a search shows
MOST_EARLIER = 50  # texts that a sample replaced and that can be brought back
MODELS_KEPT, COLUMNS_KEPT = 64, 256  # in memory, for all visitors
LONGEST_NAME = 300  # characters of a model id
PATIENCE = 0.25  # seconds that an answer waits for models which are still on their way

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")

# The parts of a conversation that have an editor of their own; whatever else is wrong shows at the options.
EDITORS = {"messages": "messages", "tools": "tools", "options.documents": "documents", "options.kwargs": "kwargs"}
EDITOR_VALUES = 7  # how many values `editor_texts` gives
FIELDS = ("messages", "tools", "documents", "kwargs", "options", "today", "models")


class Workbench:
    """What the page's listeners call; one for all visitors."""

    opening = catalogue.OPENING
    titles: Mapping[str, str] = {card.name: card.title for card in catalogue.CARDS.values()}

    def __init__(self, engine: Engine, samples: Sequence[Sample]) -> None:
        self.engine = engine
        self.samples = {sample.name: sample for sample in samples}
        self._models: Background[LoadedModel] = Background("load", workers=8, kept=MODELS_KEPT)
        self._strangers: Background[Column] = Background("render", workers=16, kept=COLUMNS_KEPT)

    def warm(self) -> None:
        """Fetch the models that the page opens with, ahead of the first visitor."""
        self.load(self.opening, patience=0)

    def compare(
        self,
        messages: Any,
        tools: Any,
        add_generation_prompt: Any,
        continue_final_message: Any,
        chat_template: Any,
        documents: Any,
        kwargs: Any,
        today: Any,
        models: Any,
        number: Any,
        *,
        token: str | None = None,
    ) -> JsonObject:
        """The answer that answer.js places.

        {"number", "problems": {field: HTML}, "summary": HTML, "cards": [[model, HTML]] or None, "waiting": int};
        with `cards` None the page keeps the last ones, since what is typed cannot be read as it stands.
        """
        problems: dict[str, FormatsError] = {}
        given = (messages, tools, add_generation_prompt, continue_final_message, chat_template, documents, kwargs)
        conversation = typed_conversation(given, problems)
        date = _tried(typed_date, today, "today", problems)
        names = _tried(model_ids, models, "models", problems)
        answer: JsonObject = {
            "number": number if isinstance(number, int) else 0,
            "problems": {field: views.problem(problems[field]) if field in problems else "" for field in FIELDS},
            "summary": "",
            "cards": None,
            "waiting": 0,
        }
        if conversation is not None and date is not None and names is not None:
            answer |= self._columns(conversation, date, names, token)
        return answer

    def _columns(
        self, conversation: Conversation, today: datetime.date, names: Sequence[str], token: str | None
    ) -> JsonObject:
        """The part of the answer that shows columns; one that is not there yet says what it waits for.

        Templates of strangers are rendered in the background: the other columns do not wait for one that is slow.
        """
        models: dict[str, LoadedModel | FormatsError | None] = dict(
            zip(names, self.load(names, token=token), strict=True)
        )
        strangers = {
            name: model for name, model in models.items() if isinstance(model, LoadedModel) and not model.pinned
        }
        here = [
            (name, model) if isinstance(model, FormatsError) else model
            for name, model in models.items()
            if model is not None and name not in strangers
        ]
        comparison = self.engine.compare(conversation, here, today)
        columns = iter(comparison.columns)
        apart = self._render_apart(conversation, today, strangers)
        rows: list[Column | views.Waiting] = []
        for name, model in models.items():
            if model is None:
                rows.append(_waiting(name, words.html("card.fetching", n=round(self._models.seconds(name)))))
            elif name in strangers:
                rows.append(apart[name] or _waiting(name, words.html("card.rendering")))
            else:
                rows.append(next(columns))
        return {
            "summary": views.summary(rows),
            "cards": [[name, views.card(row, comparison)] for name, row in zip(names, rows, strict=True)],
            "waiting": sum(isinstance(row, views.Waiting) for row in rows),
        }

    def load(
        self, names: Sequence[str], patience: float = PATIENCE, token: str | None = None
    ) -> list[LoadedModel | FormatsError | None]:
        """Each model, or why there is none, or None while it is on its way.

        All visitors share what opens without a token; only what is locked then is loaded with it, under a key of its
        own. What is made of a model later is known by its source, so nobody finds it who has not loaded the model.
        """
        shared: dict[Hashable, Callable[[], LoadedModel]] = {name: partial(self.engine.load, name) for name in names}
        loaded = dict(zip(shared, self._models.take(shared, patience), strict=True))
        if token is not None:
            owner = hashlib.sha256(token.encode()).digest()

            def job(name: str) -> Callable[[], LoadedModel]:
                return lambda: self.engine.load(name, token)  # unlike a partial, it shows no token when printed

            locked = [name for name in dict.fromkeys(names) if _is_locked(loaded[name])]
            own: dict[Hashable, Callable[[], LoadedModel]] = {(name, owner): job(name) for name in locked}
            loaded |= zip(locked, self._models.take(own, patience), strict=True)
        return [loaded[name] for name in names]

    def _render_apart(
        self, conversation: Conversation, today: datetime.date, strangers: Mapping[str, LoadedModel]
    ) -> dict[str, Column | None]:
        """The columns of templates that nobody vouches for, as far as they are done."""
        question = hashlib.sha256(repr((conversation, today)).encode()).digest()

        def column(name: str, model: LoadedModel | FormatsError) -> Column:
            given = (name, model) if isinstance(model, FormatsError) else model
            return self.engine.compare(conversation, [given], today).columns[0]

        jobs: dict[Hashable, Callable[[], Column]] = {
            (question, name, model.source): partial(column, name, model) for name, model in strangers.items()
        }
        done = self._strangers.take(jobs, PATIENCE)
        return {
            name: column(name, result) if isinstance(result, FormatsError) else result
            for name, result in zip(strangers, done, strict=True)
        }

    def search(self, query: Any) -> list[JsonObject]:
        """Models for the picker, [{"id", "title", "about": text or "word": key}]: the catalogue, then the snapshot.

        A query that is a Hub id stands at the top as it is: any repository can be tried.
        """
        text = query.strip()[:LONGEST_NAME] if isinstance(query, str) else ""
        parts = text.casefold().split()
        found = [{"id": text, "title": text, "word": "picker.hub"}] if HUB_ID.fullmatch(text) else []
        for card in catalogue.CARDS.values():
            if all(part in " ".join((card.name, card.title, *card.ids)).casefold() for part in parts):
                found.append({"id": card.name, "title": card.title, "about": card.repo})
        for entry in self.engine.search(text) if parts else []:
            found.append({"id": f"snapshot:{entry.name}", "title": entry.name, "word": "picker.template"})
        return found[:MOST_FOUND]

    def pick(self, name: Any, earlier: Any, *current: Any) -> list[Any]:
        """A sample's texts for the inputs, what there is to say about it, and what was typed before it."""
        sample = self.samples.get(name) if isinstance(name, str) else None
        if sample is None:
            raise ValueError(f"no sample is called {name!r}")
        return [*editor_texts(sample.conversation), self.kept(earlier, current), reason(sample)]

    def back(self, earlier: Any, *current: Any) -> list[Any]:
        """The texts that the last sample replaced; those that are there now go to the end of the row."""
        row = _rows(earlier)
        if not row:
            return [*current, row]
        return [*row[0], [*row[1:], *self.kept([], current)]]

    def kept(self, earlier: Any, current: Sequence[Any]) -> list[list[Any]]:
        """The row of earlier texts with the current ones in front, unless they are a sample as it came."""
        untouched = any(list(current) == editor_texts(sample.conversation) for sample in self.samples.values())
        return ([] if untouched else [list(current)]) + _rows(earlier)[:MOST_EARLIER]


def _is_locked(model: LoadedModel | FormatsError | None) -> bool:
    """Whether access of one's own to the Hub may show more than this."""
    return model.kind in LOCKED if isinstance(model, FormatsError) else model is not None and model.locked


def title(name: str) -> str:
    """What a model is called in the catalogue, or the id itself."""
    card = catalogue.find(name)
    return card.title if card else name


def _waiting(name: str, what: str) -> views.Waiting:
    return views.Waiting(name, title(name), what)


def editor_texts(conversation: JsonObject) -> list[Any]:
    """A conversation as the inputs hold it: messages, tools, the three options, documents and kwargs."""
    options = conversation.get("options") or {}
    tools, documents, kwargs = conversation.get("tools"), options.get("documents"), options.get("kwargs")
    go_on = options.get("continue_final_message", False)
    return [
        pretty(conversation["messages"]),
        "" if tools is None else pretty(tools),
        options.get("add_generation_prompt", True),
        go_on if isinstance(go_on, str) else str(go_on).lower(),
        options.get("chat_template") or "",
        "" if documents is None else pretty(documents),
        pretty(kwargs) if kwargs else "",
    ]


def _rows(value: Any) -> list[list[Any]]:
    """The earlier texts as the browser holds them; what is no such list is none."""
    return (
        [row for row in value if isinstance(row, list) and len(row) == EDITOR_VALUES] if isinstance(value, list) else []
    )


def reason(sample: Sample) -> str:
    """Why to look at a sample, as the page shows it."""
    return words.html(f"reason.{sample.name}")


def typed_conversation(values: Sequence[Any], problems: dict[str, FormatsError]) -> Conversation | None:
    """What the editors and options say together, their values in the order of `editor_texts`.

    What cannot be read is put into `problems`, field by field.
    """
    messages_text, tools_text, add_generation_prompt, go_on, chat_template, documents_text, kwargs_text = values
    options = {
        "add_generation_prompt": add_generation_prompt,
        "continue_final_message": _flag(go_on),
        "chat_template": chat_template or None,
    }
    messages = _tried(_parsed(conversations.parse_messages), messages_text, "messages", problems)
    tools = _tried(_parsed(conversations.parse_tools), tools_text, "tools", problems)
    documents = _tried(_parsed(_json_or_nothing), documents_text, "documents", problems)
    kwargs = _tried(_parsed(_json_or_nothing), kwargs_text, "kwargs", problems)
    if problems:
        return None
    try:
        for name, value in options.items():
            if isinstance(value, str):
                _check_name(value, name)
        conversation = conversations.from_json(
            {"messages": messages, "tools": tools, "options": {**options, "documents": documents, "kwargs": kwargs}}
        )
        if "tool_choice" in conversation.template_kwargs:
            from formats.validate import check_tool_choice  # it brings jsonschema, which a first page does not need

            check_tool_choice(conversation.template_kwargs["tool_choice"], conversation.tools)
        return conversation
    except FormatsError as error:
        path = (
            error.path if isinstance(error, BadConversation) else "options.kwargs" * (error.kind == "bad_tool_choice")
        )
        problems[next((field for start, field in EDITORS.items() if path.startswith(start)), "options")] = error
        return None


def _parsed(parse: Callable[[str], T]) -> Callable[[Any], T]:
    """A parser that first makes sure that it gets text of a size that can be worked with."""

    def checked(value: Any) -> T:
        text = "" if value is None else value
        if not isinstance(text, str):
            raise FormatsError("needs text")
        if len(text) > MOST_CHARACTERS:
            raise FormatsError(f"{len(text):,} characters are more than the {MOST_CHARACTERS:,} that are read here")
        return parse(text)

    return checked


def _json_or_nothing(text: str) -> object:
    return conversations.parse_json(text) if text.strip() else None


def _tried(read: Callable[[Any], T], value: Any, field: str, problems: dict[str, FormatsError]) -> T | None:
    try:
        return read(value)
    except FormatsError as error:
        problems[field] = error
        return None


def _flag(value: Any) -> Any:
    """continue_final_message as it is chosen or typed: true, false or the name of a field."""
    return {"true": True, "false": False, "": False}.get(value, value) if isinstance(value, str) else value


def typed_date(value: Any) -> datetime.date:
    if not value:
        return datetime.date.today()
    try:
        return datetime.date.fromisoformat(str(value).strip())
    except ValueError:
        raise FormatsError(f"{ascii(value)[:40]} is no date; write it as YYYY-MM-DD, such as 2026-11-30") from None


def model_ids(value: Any) -> list[str]:
    """The models of the comparison, each once, in their order. Raises FormatsError for what is no such list."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise FormatsError("needs a list of model ids")
    names = list(dict.fromkeys(name.strip() for name in value if name.strip()))
    if not 1 <= len(names) <= MOST_MODELS:
        raise FormatsError(f"choose 2 to {MOST_MODELS} models; there are {len(names)}")
    for name in names:
        _check_name(name, "a model id")
    return names


def _check_name(text: str, what: str) -> None:
    """One line of a size to be repeated in an answer, and no half characters, which no answer could carry."""
    if len(text) > LONGEST_NAME or not text.isprintable():
        raise FormatsError(f"{text[:40]!a} ({len(text):,} characters) cannot be {what}")
