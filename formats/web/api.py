"""The public endpoints, which are MCP tools as well: the same engine as the page's, with the same limits.

Every argument is checked here, since anybody can call; what is wrong with it comes
back as an error in words. What is wrong with one model is that model's answer.

Answers are JSON text: MCP hands text on as it is, numbers keep all their digits, and
no client takes an object with a "path" for a file to fetch.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from formats import conversation as conversations
from formats.errors import FormatsError
from formats.types import Comparison, Conversation, JsonObject, LoadedModel
from formats.validate import check_tool_choice
from formats.web.handlers import MOST_CHARACTERS, MOST_MODELS, Workbench, model_ids
from formats.web.quick_import import gr
from formats.web.reading import MOST_CHARACTERS as MOST_OUTPUT
from formats.web.scoring import Scoring

PATIENCE = 60.0  # seconds that a call waits for a model to be loaded or judged
LIMITS = (
    f"Limits: {MOST_MODELS} models, {MOST_CHARACTERS:,} characters of conversation, {MOST_OUTPUT:,} of output, "
    f"{PATIENCE:g} s for a model to load."
)


class Api:
    """What programs can ask; one for all callers."""

    def __init__(self, workbench: Workbench, scoring: Scoring) -> None:
        self.workbench = workbench
        self.scoring = scoring

    def functions(self) -> Sequence[Callable[..., Any]]:
        """The endpoints, each under its own name."""
        return (self.compare, self.render, self.parse_output, self.check, self.models, self.link, self.open_link)

    def compare(
        self,
        models: list[str],
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        options: dict[str, Any] | None = None,
        date: str = "",
    ) -> dict[str, Any]:
        """Render one conversation for several chat models: the exact prompt and token count that each one gets.

        Args:
            models: catalogue names (see `models`), Hub ids "org/name" or "org/name@revision", or "snapshot:NAME".
            messages: chat messages in the OpenAI shape: role, content, tool_calls, tool_call_id, reasoning_content.
            tools: tool definitions in the OpenAI shape, or null for a conversation without tools.
            options: add_generation_prompt (true), continue_final_message, documents, chat_template, kwargs.
            date: the day that templates are told is today, YYYY-MM-DD; today by default.

        Returns:
            date, versions of all that has a say in a prompt, and columns: one object for each model with source,
            special_tokens, prompt, tokens (count and ids) or the reason there are none, and error.
        """
        from formats.cli.render import Case, result

        compared = self._compare(_conversation(messages, tools, options), models, date)
        return {
            "date": compared.today,
            "versions": dict(compared.versions),
            "columns": [result(Case(None, compared.conversation), column) for column in compared.columns],
        }

    def render(
        self,
        model: str,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        options: dict[str, Any] | None = None,
        date: str = "",
    ) -> dict[str, Any]:
        """Render one conversation for one chat model: the exact prompt, its token ids, and where both come from.

        Args:
            model: a catalogue name, a Hub id "org/name" or "org/name@revision", or "snapshot:NAME".
            messages: chat messages in the OpenAI shape.
            tools: tool definitions in the OpenAI shape, or null.
            options: add_generation_prompt (true), continue_final_message, documents, chat_template, kwargs.
            date: the day that templates are told is today, YYYY-MM-DD; today by default.

        Returns:
            source, special_tokens, prompt, tokens (count and ids) or the reason there are none, and error.
        """
        column: dict[str, Any] = self.compare([model], messages, tools, options, date)["columns"][0]
        return column

    def parse_output(
        self,
        output: str,
        format: str = "auto",
        tools: list[dict[str, Any]] | None = None,
        model: str = "",
        prompt_suffix: str = "",
    ) -> dict[str, Any]:
        """Read a model's raw output: content, reasoning, and every attempted tool call with what is wrong with it.

        Args:
            output: the raw text that the model wrote, special tokens and all.
            format: a format's name such as "hermes" or "llama3_json", or "auto" for the format of `model`'s template.
            tools: tool definitions in the OpenAI shape: arguments are checked against their schemas.
            model: whose template shows the format, for "auto".
            prompt_suffix: how the prompt ended, such as "<think>", where that matters for reading.

        Returns:
            format, content, reasoning, calls (id, name, arguments, problem, problems, start, end, raw) and segments.
        """
        from formats.parsers import FORMATS
        from formats.reading.as_json import to_json
        from formats.web.reading import FOUND, Reading

        if not isinstance(output, str) or len(output) > MOST_OUTPUT:
            raise FormatsError(f"output: needs text of at most {MOST_OUTPUT:,} characters")
        if format != FOUND and format not in FORMATS:
            raise FormatsError(f"no format is called {format!r}; there are {', '.join(FORMATS)}, or auto with a model")
        name, suffix, _ = Reading(self.workbench, ()).format(format, model, prompt_suffix)
        definitions = _conversation([{"role": "user", "content": ""}], tools, None).tools or ()
        return to_json(name, FORMATS[name].parse(output, definitions, suffix), definitions)

    def check(self, model: str) -> dict[str, Any]:
        """Judge what a model's chat template really does with tools: stars, two scores, and findings with their proof.

        Args:
            model: a catalogue name, a Hub id "org/name" or "org/name@revision", or "snapshot:NAME".

        Returns:
            stars (1-5), scores (tool_support and output_format, 0-100), format, reasons, and findings: check, status,
            outcome, message, points, of, evidence.
        """
        from formats.verdict import to_json

        return to_json(self.scoring.verdict(model_ids([model])[0], PATIENCE))

    def models(self, query: str = "") -> list[dict[str, Any]]:
        """List models by name: the catalogue, and public templates of the snapshot that match the query.

        Args:
            query: words that the name, title or Hub id must hold; empty for the whole catalogue.

        Returns:
            id (what other endpoints take), title, and what it is about.
        """
        return self.workbench.search(query)

    def link(
        self,
        models: list[str],
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        options: dict[str, Any] | None = None,
        date: str = "",
        output: str = "",
    ) -> str:
        """Make a link that opens this comparison: the whole state is in the link, nothing is stored.

        Args:
            models: as for `compare`.
            messages: chat messages in the OpenAI shape.
            tools: tool definitions in the OpenAI shape, or null.
            options: as for `compare`.
            date: the day that templates are told is today, YYYY-MM-DD; today by default.
            output: a model's raw output to carry along.

        Returns:
            the fragment to put behind the address of the page, beginning with "#s=".
        """
        from formats import share

        compared = self._compare(_conversation(messages, tools, options), models, date)
        state = share.state_of(compared, share.SharedOutput(output) if output else None)
        return f"#s={share.encode(state)}"

    def open_link(self, link: str) -> dict[str, Any]:
        """Read what a link of this page holds.

        Args:
            link: the whole address, its fragment, or what stands behind "#s=".

        Returns:
            version, models, conversation, output, date, view.
        """
        from formats import share

        if not isinstance(link, str):
            raise FormatsError("link: needs text")
        return share.to_json(share.decode(link))

    def _compare(self, conversation: Conversation, models: Any, date: Any) -> Comparison:
        names = model_ids(models)
        today = _date(date)
        loaded = [_loaded(name, model) for name, model in zip(names, self._load(names), strict=True)]
        return self.workbench.engine.compare(conversation, loaded, today)

    def _load(self, names: list[str]) -> list[LoadedModel | FormatsError | None]:
        return self.workbench.load(names, PATIENCE)


def _loaded(name: str, model: LoadedModel | FormatsError | None) -> LoadedModel | tuple[str, FormatsError]:
    if isinstance(model, LoadedModel):
        return model
    return name, model or FormatsError(f"{name} is still being fetched; ask again in a moment", "loading")


def _date(value: Any) -> datetime.date:
    if value in ("", None):
        return datetime.date.today()
    try:
        return datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise FormatsError(f"date: {str(value)[:40]!r} is no date; write it as YYYY-MM-DD") from None


def _conversation(messages: Any, tools: Any, options: Any) -> Conversation:
    value: JsonObject = {"messages": messages, "tools": tools, "options": options or {}}
    if _size(value) > MOST_CHARACTERS:
        raise FormatsError(f"the conversation is larger than the {MOST_CHARACTERS:,} characters that are read here")
    conversation = conversations.from_json(value)
    check_tool_choice(conversation.template_kwargs.get("tool_choice"), conversation.tools)
    return conversation


def _size(value: Any) -> int:
    """Characters of all text in a value, counted without recursion."""
    total, left = 0, [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, Mapping):
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            left += item
    return total


def build(api: Api) -> None:
    """Offer every function as an endpoint and MCP tool of its own name; inside the page's Blocks."""
    for function in api.functions():
        gr.api(_worded(function), api_name=function.__name__, queue=False, concurrency_limit=None)


def _worded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Answers as text, and what is wrong with a call in words for the caller; anything else stays a fault of ours."""

    @wraps(function)
    def answered(*arguments: Any, **named: Any) -> str:
        try:
            answer = function(*arguments, **named)
        except FormatsError as error:
            raise gr.Error(error.message, print_exception=False) from None
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)

    answered.__doc__ = f"{function.__doc__}\n{LIMITS}"
    answered.__annotations__ = {**function.__annotations__, "return": "str"}
    return answered
