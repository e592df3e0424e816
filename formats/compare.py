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
from typing import Any, Literal, Protocol

import formats
from formats import template as chat
from formats.errors import FormatsError
from formats.types import Column, Comparison, Conversation, LoadedModel, Source, Tokenizer, Tokens

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


def blank(model: Loaded, error: FormatsError | None = None, **more: Any) -> Column:
    """A model's column before anything is rendered, with the error that keeps it so; `more` are further fields."""
    if isinstance(model, tuple):
        name, why = model
        kind: Literal["snapshot", "hub"] = "snapshot" if name.startswith("snapshot:") else "hub"
        return Column(name, name, Source(kind, repo=name), {}, error=(error or why).problem)
    return Column(
        model=model.name,
        title=model.title,
        special_tokens=model.special_tokens,
        error=error.problem if error else None,
        control_tokens=model.tokenizer.special_tokens if model.tokenizer is not None else None,
        **{"source": model.source, "tokens_missing": model.tokens_missing, **more},
    )


@cache
def versions() -> Mapping[str, str]:
    """The distributions that have a say in a prompt, with their versions."""
    return {"prompt-format-lab": formats.__version__, **{name: metadata.version(name) for name in LIBRARIES}}


def _begin(conversation: Conversation, model: Loaded, today: datetime.date, sandbox: Sandbox) -> Callable[[], Column]:
    """Start one model's renderings; the result finishes its column."""
    if isinstance(model, tuple):
        failed = blank(model)
        return lambda: failed
    known: dict[str, Any] = {}
    try:
        if model.template_kwargs:
            options = {**model.template_kwargs, **conversation.template_kwargs}
            conversation = replace(conversation, template_kwargs=options)
        name, template = chat.choose(model.templates, conversation)
        known = {
            "template_name": name,
            "source": replace(model.source, template_sha256=_sha256(template)),
            "reads_clock": chat.reads_clock(template),
        }
        prompt = cache(_started(template, conversation, model, today, sandbox))  # rendered once, read twice
        bare = _without_tools(conversation, model, today, sandbox, template, prompt)
    except Exception as error:
        failed = _failed(model, error, known)
        return lambda: failed
    return lambda: _finished(model, prompt, bare, known)


def _started(
    template: str, conversation: Conversation, model: LoadedModel, today: datetime.date, sandbox: Sandbox
) -> Callable[[], str]:
    if model.pinned:
        return lambda: chat.render(template, conversation, model.special_tokens, today)
    return sandbox.begin(template, conversation, model.special_tokens, today)


def _without_tools(
    conversation: Conversation,
    model: LoadedModel,
    today: datetime.date,
    sandbox: Sandbox,
    used: str,
    prompt: Callable[[], str],
) -> Callable[[], str] | None:
    """The prompt that the tools are measured against; None where there is nothing to measure.

    `used` is the template with the tools, which gave `prompt`. One that does not name them cannot see them, so it is
    not asked again.
    """
    if conversation.tools is None or model.tokenizer is None:
        return None
    conversation = replace(conversation, tools=None)
    try:
        _, template = chat.choose(model.templates, conversation)
    except FormatsError:  # a model may have a template for tools alone
        return None
    if template == used and "tools" not in template:
        return prompt
    return _started(template, conversation, model, today, sandbox)


def _finished(
    model: LoadedModel, prompt: Callable[[], str], bare: Callable[[], str] | None, known: dict[str, Any]
) -> Column:
    try:
        text = prompt()
        return blank(model, prompt=text, **known, **_counted(text, model, bare))
    except Exception as error:
        return _failed(model, error, known)


def _failed(model: LoadedModel, error: Exception, known: dict[str, Any]) -> Column:
    """The column with the reason in it; what is not in words for people is a fault of ours, and is logged."""
    if not isinstance(error, FormatsError):
        logger.error("the column of %s", model.name, exc_info=error)
        fault = f"a fault of this app, not of the template: {type(error).__name__}: {error}"
        error = FormatsError(fault, "internal_error")
    return blank(model, error, **known)


def _counted(text: str, model: LoadedModel, bare: Callable[[], str] | None) -> dict[str, Any]:
    """The fields of a column that its tokenizer has a say in."""
    if model.tokenizer is None:
        return {}
    try:
        ids = model.tokenizer.ids(text)
    except FormatsError as error:
        return {"tokens_missing": error.message}
    return {"tokens": Tokens(tuple(ids)), "tool_tokens": _tool_tokens(len(ids), model.tokenizer, bare)}


def _tool_tokens(count: int, tokenizer: Tokenizer, bare: Callable[[], str] | None) -> int | None:
    try:
        return None if bare is None else count - len(tokenizer.ids(bare()))
    except FormatsError:
        return None


@lru_cache(maxsize=1024)
def _sha256(template: str) -> str:
    return hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()
