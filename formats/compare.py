"""(conversation, loaded models) -> Comparison: the one call that the page, the command line and the API make.

Columns know nothing of each other. What a template, a tokenizer or a loader could not do is its own column's
content, and every column says which template it was rendered with.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import metadata
from typing import Protocol

import formats
from formats import template as chat
from formats.errors import FormatsError
from formats.types import Column, Comparison, Conversation, LoadedModel, Problem, Source, Tokens

LIBRARIES = ("transformers", "jinja2", "tokenizers", "huggingface-hub")  # all that has a say in a prompt or its ids

logger = logging.getLogger(__name__)


class Sandbox(Protocol):
    """Where the templates of strangers are rendered."""

    def begin(
        self, template: str, conversation: Conversation, special_tokens: Mapping[str, str], today: datetime.date
    ) -> Callable[[], str]:
        """Start a rendering; the result waits for it and answers as `template.render` does."""
        ...


def compare(
    conversation: Conversation,
    models: Sequence[LoadedModel | tuple[str, FormatsError]],
    today: datetime.date,
    sandbox: Sandbox,
) -> Comparison:
    """One column for each model, in order; a model that could not be loaded is (its name, the error).

    Templates that a sha256 of ours pins are rendered here, all others in the sandbox, at the same time. Never raises
    for what is wrong with one model.
    """
    begun = [_begin(conversation, model, today, sandbox) for model in models]
    return Comparison(conversation, today.isoformat(), tuple(finish() for finish in begun), versions())


@cache
def versions() -> Mapping[str, str]:
    """The distributions that have a say in a prompt, with their versions."""
    return {"prompt-format-lab": formats.__version__, **{name: metadata.version(name) for name in LIBRARIES}}


@dataclass(frozen=True, slots=True)
class _Rendering:
    """A template that was chosen, and the prompt it gives as soon as somebody asks."""

    template_name: str
    template: str
    prompt: Callable[[], str]


def _begin(
    conversation: Conversation, model: LoadedModel | tuple[str, FormatsError], today: datetime.date, sandbox: Sandbox
) -> Callable[[], Column]:
    """Start one model's renderings; the result finishes its column."""
    if isinstance(model, tuple):
        name, error = model
        return lambda: Column(name, name, Source("hub", repo=name), {}, error=error.problem)
    column = Column(
        model.name,
        model.title,
        model.source,
        model.special_tokens,
        tokens_missing=model.tokens_missing,
        control_tokens=model.tokenizer.special_tokens if model.tokenizer is not None else None,
    )
    conversation = replace(conversation, template_kwargs={**model.template_kwargs, **conversation.template_kwargs})
    try:
        rendering = _rendering(conversation, model, today, sandbox)
    except FormatsError as error:
        problem = error.problem
        return lambda: replace(column, error=problem)
    bare = _without_tools(conversation, model, today, sandbox)
    return lambda: _finish(column, model, rendering, bare)


def _rendering(conversation: Conversation, model: LoadedModel, today: datetime.date, sandbox: Sandbox) -> _Rendering:
    name, template = chat.choose(model.templates, conversation)
    if model.pinned:
        return _Rendering(name, template, lambda: chat.render(template, conversation, model.special_tokens, today))
    return _Rendering(name, template, sandbox.begin(template, conversation, model.special_tokens, today))


def _without_tools(
    conversation: Conversation, model: LoadedModel, today: datetime.date, sandbox: Sandbox
) -> Callable[[], str] | None:
    """The prompt that the tools are measured against; None where there is nothing to measure."""
    if conversation.tools is None or model.tokenizer is None:
        return None
    try:
        return _rendering(replace(conversation, tools=None), model, today, sandbox).prompt
    except FormatsError:
        return None


def _finish(column: Column, model: LoadedModel, rendering: _Rendering, bare: Callable[[], str] | None) -> Column:
    source = replace(column.source, template_sha256=_sha256(rendering.template))
    column = replace(
        column,
        source=source,
        template_name=rendering.template_name,
        reads_clock=chat.reads_clock(rendering.template),
    )
    try:
        column = replace(column, prompt=rendering.prompt())
        return _counted(column, model, bare)
    except FormatsError as error:
        return replace(column, error=error.problem)
    except Exception as error:  # ours; the other columns stand all the same
        logger.exception("the column of %s", model.name)
        fault = f"a fault of this app, not of the template: {type(error).__name__}: {error}"
        return replace(column, error=Problem("internal_error", fault))


def _counted(column: Column, model: LoadedModel, bare: Callable[[], str] | None) -> Column:
    if model.tokenizer is None or column.prompt is None:
        return column
    try:
        ids = model.tokenizer.ids(column.prompt)
    except FormatsError as error:
        return replace(column, tokens_missing=error.message)
    return replace(column, tokens=Tokens(tuple(ids)), tool_tokens=_tool_tokens(len(ids), model, bare))


def _tool_tokens(count: int, model: LoadedModel, bare: Callable[[], str] | None) -> int | None:
    if bare is None or model.tokenizer is None:
        return None
    try:
        return count - len(model.tokenizer.ids(bare()))
    except FormatsError:
        return None


@lru_cache(maxsize=1024)
def _sha256(template: str) -> str:
    return hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()
