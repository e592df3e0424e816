"""Inputs of the page -> the engine -> what the page shows. No layout, no HTML of its own.

The page keeps no state of a visitor on the server: each answer is made from what the inputs hold. Listeners are
reachable by raw requests too, so each value is checked for type and size before it is used.

The engine is imported where it is called: transformers takes a second to import, and the page is served before that.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from markupsafe import escape

from formats import conversation as conversations
from formats import models
from formats.errors import BadConversation, FormatsError
from formats.samples import Sample
from formats.types import Conversation, JsonObject
from formats.web import views
from formats.web.pretty import pretty
from formats.web.shelf import Shelf

if TYPE_CHECKING:
    from formats.compare import Sandbox

T = TypeVar("T")

MOST_MODELS = 12
MOST_CHARACTERS = 2_000_000  # of one field
MOST_FOUND = 40  # models that a search shows
MOST_EARLIER = 50  # texts that a sample replaced and that can be brought back
LONGEST_NAME = 300  # characters of a model id
PATIENCE = 0.25  # seconds that an answer waits for models which are still on their way

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")

# The parts of a conversation that have an editor of their own; whatever else is wrong shows at the options.
EDITORS = {"messages": "messages", "tools": "tools", "options.documents": "documents", "options.kwargs": "kwargs"}
EDITOR_VALUES = 7  # how many values `editor_texts` gives
FIELDS = ("messages", "tools", "documents", "kwargs", "options", "today", "models")


class Workbench:
    """What the page's listeners call; one for all visitors."""

    opening = models.OPENING
    titles: Mapping[str, str] = {card.name: card.title for card in models.CARDS.values()}

    def __init__(self, shelf: Shelf, samples: Sequence[Sample], sandbox: Sandbox) -> None:
        self.shelf = shelf
        self.samples = {sample.name: sample for sample in samples}
        self.sandbox = sandbox

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
        model_ids: Any,
        number: Any,
    ) -> JsonObject:
        """The answer that answer.js places.

        {"number", "problems": {field: HTML}, "summary": HTML, "cards": [[model, HTML]] or None, "waiting": bool};
        with `cards` None the page keeps the last ones, since what is typed cannot be read as it stands.
        """
        problems: dict[str, FormatsError] = {}
        texts = {"messages": messages, "tools": tools, "documents": documents, "kwargs": kwargs}
        options = {
            "add_generation_prompt": add_generation_prompt,
            "continue_final_message": _flag(continue_final_message),
            "chat_template": chat_template or None,
        }
        conversation = _conversation(texts, options, problems)
        date = _tried(_date, today, "today", problems)
        names = _tried(_names, model_ids, "models", problems)
        answer: JsonObject = {
            "number": number if isinstance(number, int) else 0,
            "problems": {field: views.problem(problems[field]) if field in problems else "" for field in FIELDS},
            "summary": "",
            "cards": None,
            "waiting": False,
        }
        if conversation is not None and date is not None and names is not None:
            answer |= self._columns(conversation, date, names)
        return answer

    def _columns(self, conversation: Conversation, today: datetime.date, names: Sequence[str]) -> JsonObject:
        from formats.compare import compare

        found = dict(zip(names, self.shelf.take(names, PATIENCE), strict=True))
        here = [
            (name, model) if isinstance(model, FormatsError) else model
            for name, model in found.items()
            if model is not None
        ]
        comparison = compare(conversation, here, today, self.sandbox)
        columns = iter(comparison.columns)
        rows = [self._waiting(name) if model is None else next(columns) for name, model in found.items()]
        return {
            "summary": views.summary(rows),
            "cards": [[row.model, views.card(row, comparison)] for row in rows],
            "waiting": any(isinstance(row, views.Waiting) for row in rows),
        }

    def _waiting(self, name: str) -> views.Waiting:
        card = models.find(name)
        return views.Waiting(name, card.title if card else name, "Fetching template and tokenizer ...")

    def pick(self, name: Any, earlier: Any, *current: Any) -> list[Any]:
        """A sample's texts for the inputs, what there is to say about it, and what was typed before it."""
        sample = self.samples.get(name) if isinstance(name, str) else None
        if sample is None:
            raise ValueError(f"no sample is called {name!r}")
        return [*editor_texts(sample.conversation), self._kept(earlier, current), reason(sample)]

    def back(self, earlier: Any, *current: Any) -> list[Any]:
        """The texts that the last sample replaced; those that are there now go to the end of the row."""
        row = _rows(earlier)
        if not row:
            return [*current, row]
        return [*row[0], [*row[1:], *self._kept([], current)]]

    def _kept(self, earlier: Any, current: Sequence[Any]) -> list[list[Any]]:
        """The row of earlier texts with the current ones in front, unless they are a sample as it came."""
        untouched = any(list(current) == editor_texts(sample.conversation) for sample in self.samples.values())
        return ([] if untouched else [list(current)]) + _rows(earlier)[:MOST_EARLIER]


def search(query: Any) -> list[JsonObject]:
    """Models for the picker, [{"id", "title", "about"}]: the catalogue first, then templates of the snapshot.

    A query that is a Hub id stands at the top as it is: any repository can be tried.
    """
    from formats import snapshot

    text = query.strip()[:LONGEST_NAME] if isinstance(query, str) else ""
    words = text.casefold().split()
    cards = [
        card
        for card in models.CARDS.values()
        if all(word in " ".join((card.name, card.title, *card.ids)).casefold() for word in words)
    ]
    found = [{"id": text, "title": text, "about": "from the Hub"}] if HUB_ID.fullmatch(text) else []
    found += [{"id": card.name, "title": card.title, "about": card.repo} for card in cards]
    for entry in snapshot.search(text) if words else []:
        found.append({"id": snapshot.SCHEME + entry.name, "title": entry.name, "about": "template"})
    return found[:MOST_FOUND]


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
    return str(escape(sample.reason))


def _conversation(
    texts: Mapping[str, Any], options: Mapping[str, Any], problems: dict[str, FormatsError]
) -> Conversation | None:
    """What the editors and options say together; what cannot be read is put into `problems`, field by field."""
    messages = _tried(_parsed(conversations.parse_messages), texts["messages"], "messages", problems)
    tools = _tried(_parsed(conversations.parse_tools), texts["tools"], "tools", problems)
    documents = _tried(_parsed(_json_or_nothing), texts["documents"], "documents", problems)
    kwargs = _tried(_parsed(_json_or_nothing), texts["kwargs"], "kwargs", problems)
    if problems:
        return None
    try:
        return conversations.from_json(
            {"messages": messages, "tools": tools, "options": {**options, "documents": documents, "kwargs": kwargs}}
        )
    except BadConversation as error:
        field = next((field for path, field in EDITORS.items() if error.path.startswith(path)), "options")
        problems[field] = error
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


def _date(value: Any) -> datetime.date:
    if not value:
        return datetime.date.today()
    try:
        return datetime.date.fromisoformat(str(value).strip())
    except ValueError:
        raise FormatsError(f"{str(value)[:40]!r} is no date; write it as YYYY-MM-DD, such as 2026-11-30") from None


def _names(value: Any) -> list[str]:
    """The models of the comparison, each once, in their order."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise FormatsError("needs a list of model ids")
    names = list(dict.fromkeys(name.strip() for name in value if name.strip()))
    if not 1 <= len(names) <= MOST_MODELS:
        raise FormatsError(f"choose 2 to {MOST_MODELS} models; there are {len(names)}")
    too_long = next((name for name in names if len(name) > LONGEST_NAME), None)
    if too_long:
        raise FormatsError(f"{too_long[:40]}... is too long to be a model id")
    return names
