"""(conversation, loaded models) -> Comparison: the one call that the page, the command line and the API make.

Columns know nothing of each other. What a template, a tokenizer or a loader could not do is its own column's
content, and every column says which template it was rendered with.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib import metadata
from typing import Literal, Protocol

import formats
from formats import template as chat
from formats.errors import FormatsError
from formats.types import Column, Comparison, Conversation, LoadedModel, Problem, Source, Tokens

LIBRARIES = ("transformers", "jinja2", "tokenizers", "huggingface-hub")  # all that has a say in a prompt or its ids

Loaded = LoadedModel | tuple[str, FormatsError]  # a model, or its name and why it cannot be had

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
    models: Sequence[Loaded],
    today: datetime.date,
    sandbox: Sandbox,
) -> Comparison:
    """One column for each model, in order.

    Templates that a sha256 of ours pins are rendered here, all others in the sandbox, at the same time. Never raises
    for what is wrong with one model.
    """
    begun = [_begin(conversation, model, today, sandbox) for model in models]
    return Comparison(conversation, today.isoformat(), tuple(finish() for finish in begun), versions())


def blank(model: Loaded, error: FormatsError | None = None) -> Column:
    """A model's column before anything is rendered, with the error that keeps it so."""
    if isinstance(model, tuple):
        name, why = model
        kind: Literal["snapshot", "hub"] = "snapshot" if name.startswith("snapshot:") else "hub"
        return Column(name, name, Source(kind, repo=name), {}, error=(error or why).problem)
    return Column(
        model.name,
        model.title,
        model.source,
        model.special_tokens,
        error=error.problem if error else None,
        tokens_missing=model.tokens_missing,
        control_tokens=model.tokenizer.special_tokens if model.tokenizer is not None else None,
    )


@cache
def versions() -> Mapping[str, str]:
    """The distributions that have a say in a prompt, with their versions."""
    return {"prompt-format-lab": formats.__version__, **{name: metadata.version(name) for name in LIBRARIES}}


def _begin(conversation: Conversation, model: Loaded, today: datetime.date, sandbox: Sandbox) -> Callable[[], Column]:
    """Start one model's renderings; the result finishes its column."""
    column = blank(model)
    if isinstance(model, tuple):
        return lambda: column
    conversation = replace(conversation, template_kwargs={**model.template_kwargs, **conversation.template_kwargs})
    try:
        name, template = chat.choose(model.templates, conversation)
        column = replace(
            column,
            source=replace(column.source, template_sha256=_sha256(template)),
            template_name=name,
            reads_clock=chat.reads_clock(template),
        )
        prompt = _started(template, conversation, model, today, sandbox)
        bare = _without_tools(conversation, model, today, sandbox)
    except Exception as error:
        failed = _failed(column, error)
        return lambda: failed
    return lambda: _finished(column, model, prompt, bare)


def _started(
    template: str, conversation: Conversation, model: LoadedModel, today: datetime.date, sandbox: Sandbox
) -> Callable[[], str]:
    if model.pinned:
        return lambda: chat.render(template, conversation, model.special_tokens, today)
    return sandbox.begin(template, conversation, model.special_tokens, today)


def _without_tools(
    conversation: Conversation, model: LoadedModel, today: datetime.date, sandbox: Sandbox
) -> Callable[[], str] | None:
    """The prompt that the tools are measured against; None where there is nothing to measure."""
    if conversation.tools is None or model.tokenizer is None:
        return None
    conversation = replace(conversation, tools=None)
    try:
        _, template = chat.choose(model.templates, conversation)
    except FormatsError:  # a model may have a template for tools alone
        return None
    return _started(template, conversation, model, today, sandbox)


def _finished(column: Column, model: LoadedModel, prompt: Callable[[], str], bare: Callable[[], str] | None) -> Column:
    try:
        return _counted(replace(column, prompt=prompt()), model, bare)
    except Exception as error:
        return _failed(column, error)


def _failed(column: Column, error: Exception) -> Column:
    """The column with the reason in it; what is not in words for people is a fault of ours, and is logged."""
    if isinstance(error, FormatsError):
        return replace(column, error=error.problem)
    logger.error("the column of %s", column.model, exc_info=error)
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
