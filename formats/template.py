"""(template, conversation, special tokens, today) -> prompt text, through transformers' own apply_chat_template.

There is no Jinja environment of ours that could drift from the real one: a prompt is what the public API of the
pinned transformers returns. A template is a program; one that no sha256 pins is rendered by `sandbox`, not here.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache

import jinja2
import jinja2.nodes
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

from formats.errors import FormatsError, Stopped, TemplateRefused
from formats.types import Conversation

CLOCK = "strftime_now"  # the only thing a template can read the clock with
LONGEST_READ = 200_000  # characters of a template whose code is told from its text; Jinja's lexer can be slow

_today: ContextVar[datetime.date | None] = ContextVar("today", default=None)


class _Clock(datetime.datetime):
    """The clock that templates read: midnight of the date that `render` was given, the real time outside of it."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Clock:
        today = _today.get()
        return super().now(tz) if today is None else cls(today.year, today.month, today.day, tzinfo=tz)


# transformers turns template options into plain data, so a clock cannot be handed in; its module's name for it can be
# set. A ContextVar keeps the threads of different visitors apart.
chat_template_utils.datetime = _Clock


def render(template: str, conversation: Conversation, special_tokens: Mapping[str, str], today: datetime.date) -> str:
    """The prompt that `apply_chat_template(..., tokenize=False)` returns.

    Of the special tokens the template sees the named ones (bos_token, eos_token, ...), as in transformers.
    Raises TemplateRefused, whose message is the exception's own text, and Stopped where memory runs out.
    """
    clock = _today.set(today)
    try:
        prompt: str = _tokenizer(frozenset(special_tokens.items())).apply_chat_template(
            list(conversation.messages),
            tools=None if conversation.tools is None else list(conversation.tools),
            documents=None if conversation.documents is None else list(conversation.documents),
            chat_template=template,
            add_generation_prompt=conversation.add_generation_prompt,
            continue_final_message=conversation.continue_final_message,
            tokenize=False,
            **conversation.template_kwargs,
        )
        return prompt
    except MemoryError:
        raise Stopped("the template asks for more memory than there is", "memory") from None
    except Exception as error:  # a template is a program: whatever it raises is its answer
        raise TemplateRefused(str(error)) from error
    finally:
        _today.reset(clock)


def choose(templates: Mapping[str, str], conversation: Conversation) -> tuple[str, str]:
    """(name, text) of the template that transformers picks: the one asked for, else tool_use with tools, else default.

    Raises FormatsError (no_template) for a name the model does not have, TemplateRefused where transformers gives up.
    """
    wanted = conversation.chat_template
    if wanted is not None and wanted not in templates:
        raise FormatsError(f"there is no template named {wanted!r}; this model has {_listed(templates)}", "no_template")
    if not templates:
        raise FormatsError("this model has no chat template", "no_template")
    tokenizer = _tokenizer(frozenset(), tuple(templates))
    try:
        name = tokenizer.get_chat_template(wanted, conversation.tools)
    except ValueError as error:
        raise TemplateRefused(str(error)) from error
    return name, templates[name]


@lru_cache(maxsize=4096)
def reads_clock(template: str) -> bool:
    """Whether the template can read the date: its code (not its text or comments) names strftime_now.

    Sound, since Jinja's sandbox offers no other way to it; a template that names it need not call it every time.
    """
    if CLOCK not in template or len(template) > LONGEST_READ:
        return CLOCK in template
    try:
        tokens = list(jinja2.Environment().lex(template))
    except jinja2.TemplateSyntaxError:  # it renders nothing, so it reads nothing
        return False
    return any(kind == "name" and value == CLOCK for _, kind, value in tokens)


_ALWAYS_GIVEN = frozenset(
    {"messages", "tools", "documents", "add_generation_prompt", "raise_exception", "namespace", "range", "dict", CLOCK}
    | {"cycler", "joiner", "lipsum", *PreTrainedTokenizerFast.SPECIAL_TOKENS_ATTRIBUTES}
)
_GENERATION_TAG = re.compile(r"\{%[-+]?\s*(?:end)?generation\s*[-+]?%\}")  # transformers' own; no names in it


@lru_cache(maxsize=4096)
def options_read(template: str) -> frozenset[str]:
    """The template options: names that the code reads and nobody else gives (enable_thinking, builtin_tools, ...).

    A name that the template sets before it reads it is its own. Empty for a template with a syntax error.
    """
    environment = jinja2.Environment(extensions=["jinja2.ext.loopcontrols"])
    try:
        tree = environment.parse(_GENERATION_TAG.sub("", template))
    except (jinja2.TemplateSyntaxError, RecursionError):
        return frozenset()
    first: dict[str, str] = {}
    for name, way in _uses(tree, frozenset()):
        first.setdefault(name, way)
    macros = {macro.name for macro in tree.find_all(jinja2.nodes.Macro)}
    return frozenset(name for name, way in first.items() if way == "load") - _ALWAYS_GIVEN - _BOUND - macros


_BOUND = frozenset({"loop", "caller", "varargs", "kwargs", "self"})  # by Jinja, where they mean anything


def _uses(node: jinja2.nodes.Node, parameters: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Every name but macros' parameters with "load" or "store", in order: a value before the name it is given to."""
    if isinstance(node, jinja2.nodes.Name) and node.name not in parameters:
        yield node.name, node.ctx
    if isinstance(node, jinja2.nodes.Macro):
        parameters |= {argument.name for argument in node.args}
    children = list(node.iter_child_nodes())
    for child in reversed(children) if isinstance(node, jinja2.nodes.Assign) else children:
        yield from _uses(child, parameters)


@lru_cache(maxsize=1024)
def _tokenizer(special_tokens: frozenset[tuple[str, str]], names: tuple[str, ...] = ()) -> PreTrainedTokenizerFast:
    """What apply_chat_template is a method of: an empty vocabulary, the special tokens, and templates by name.

    Each template stands for itself as its own name, so that what transformers chooses is the name.
    """
    named = {k: v for k, v in special_tokens if k in PreTrainedTokenizerFast.SPECIAL_TOKENS_ATTRIBUTES}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.BPE()), chat_template={name: name for name in names} or None, **named
    )


def _listed(templates: Mapping[str, str]) -> str:
    return ", ".join(sorted(templates)) or "none"
