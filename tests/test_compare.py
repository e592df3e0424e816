"""One column for each model: what it holds, and that none costs another anything."""

import datetime
import hashlib
import logging
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from formats import snapshot
from formats.compare import compare, versions
from formats.errors import FormatsError, ModelError, TemplateRefused
from formats.models import CARDS
from formats.sandbox import Sandbox
from formats.template import render
from formats.tokens import TokenizerFast
from formats.types import Conversation, LoadedModel, Source

TODAY = datetime.date(2026, 7, 4)
CHAT = Conversation(({"role": "user", "content": "Hi"},))
TOOLS = ({"type": "function", "function": {"name": "f"}},)
ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
PLAIN = "{{ messages[0].content }}{% if tools %} {{ tools | tojson }}{% endif %}"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def words() -> TokenizerFast:
    """One token a character."""
    alphabet = {symbol: i for i, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(alphabet, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return TokenizerFast(tokenizer)


def model(template, name="m", **more) -> LoadedModel:
    templates = template if isinstance(template, dict) else {"default": template}
    return LoadedModel(name, name.upper(), templates, {"bos_token": "<s>"}, Source("file"), **more)


def column(sandbox, template, conversation=CHAT, **more):
    return compare(conversation, [model(template, **more)], TODAY, sandbox).columns[0]


def test_a_column_holds_prompt_tokens_and_source(sandbox):
    got = column(sandbox, "{{ bos_token }}{{ messages[0].content }}{{ strftime_now('%Y') }}", tokenizer=words())
    assert (got.model, got.title, got.template_name) == ("m", "M", "default")
    assert got.prompt == "<s>Hi2026"
    assert got.tokens.count == 9
    assert got.error is None
    assert got.reads_clock
    assert got.tool_tokens is None
    assert got.control_tokens == frozenset()


@pytest.mark.parametrize("pinned", [True, False])
def test_the_source_names_the_template_that_was_used(sandbox, pinned):
    templates = {"default": "plain", "tool_use": "with tools"}
    for tools, text in ((None, "plain"), ((), "with tools")):
        got = column(sandbox, templates, Conversation(CHAT.messages, tools), pinned=pinned)
        assert got.prompt == text
        assert got.source.template_sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_tokens_that_tools_add(sandbox):
    with_tools = Conversation(CHAT.messages, TOOLS)
    added = len(' [{"type": "function", "function": {"name": "f"}}]')
    assert column(sandbox, PLAIN, with_tools, tokenizer=words()).tool_tokens == added
    assert column(sandbox, "{{ messages[0].content }}", with_tools, tokenizer=words()).tool_tokens == 0
    assert column(sandbox, PLAIN, with_tools).tool_tokens is None
    assert column(sandbox, PLAIN, CHAT, tokenizer=words()).tool_tokens is None
    fails_without = "{{ tools | length }}"
    assert column(sandbox, fails_without, with_tools, tokenizer=words()).tool_tokens is None
    assert column(sandbox, {"tool_use": PLAIN}, with_tools, tokenizer=words()).prompt.startswith("Hi [")
    assert column(sandbox, {"tool_use": PLAIN}, with_tools, tokenizer=words()).tool_tokens is None


def test_a_model_s_own_options_lie_under_the_conversation_s(sandbox):
    options = {"enable_thinking": False, "lang": "en"}
    mine = Conversation(CHAT.messages, template_kwargs={"lang": "pt"})
    got = column(sandbox, "{{ enable_thinking }} {{ lang }}", mine, template_kwargs=options)
    assert got.prompt == "False pt"


def test_what_one_cannot_do_is_its_own_column_s(sandbox, caplog):
    class Broken:
        special_tokens = frozenset()

        def ids(self, text):
            raise ZeroDivisionError("ours")

    class Choosy(Broken):
        def ids(self, text):
            raise FormatsError("not this text", "tokens_unknown")

    with caplog.at_level(logging.CRITICAL):
        got = compare(
            Conversation(CHAT.messages, chat_template="default"),
            [
                model(PLAIN, "stranger"),
                model(ENDLESS, "endless"),
                model(ENDLESS + " ", "endless too"),
                ("org/missing", ModelError("there is no org/missing on the Hub")),
                model("{{ raise_exception('no!') }}", "refuses", pinned=True),
                model("{{ messages[0].content * 10 ** 12 }}", "greedy"),
                model({"rag": PLAIN}, "other name"),
                model("\ud800", "half", pinned=True, tokenizer=words()),
                model(PLAIN, "broken", pinned=True, tokenizer=Broken()),
                model(PLAIN, "choosy", pinned=True, tokenizer=Choosy()),
                model(PLAIN, "no tokenizer", tokens_missing="needs the Hub"),
                model(PLAIN, "pinned", pinned=True),
            ],
            TODAY,
            sandbox,
        )
    found = {c.model: (c.prompt, c.error.kind if c.error else None, c.tokens_missing) for c in got.columns}
    missing = found["half"][2]
    assert missing.startswith("the tokenizer cannot read this text")
    assert found == {
        "stranger": ("Hi", None, None),
        "endless": (None, "timeout", None),
        "endless too": (None, "timeout", None),
        "org/missing": (None, "not_found", None),
        "refuses": (None, "template_refused", None),
        "greedy": (None, "memory", None),
        "other name": (None, "no_template", None),
        "half": ("\ud800", None, missing),
        "broken": (None, "internal_error", None),
        "choosy": ("Hi", None, "not this text"),
        "no tokenizer": ("Hi", None, "needs the Hub"),
        "pinned": ("Hi", None, None),
    }
    assert [c.model for c in got.columns] == list(found)


def test_a_template_s_refusal_is_in_its_own_words(sandbox):
    got = column(sandbox, "{{ raise_exception('Conversation roles must alternate') }}")
    assert got.error.message == "Conversation roles must alternate"
    assert got.source.template_sha256


def test_a_model_of_the_catalogue(sandbox):
    got = compare(Conversation(CHAT.messages, TOOLS), [snapshot.load(CARDS["qwen3"])], TODAY, sandbox)
    (qwen,) = got.columns
    assert qwen.prompt.startswith("<|im_start|>system\n# Tools")
    assert qwen.tokens.count > qwen.tool_tokens > 50
    assert "<|im_start|>" in qwen.control_tokens
    assert (got.today, got.conversation.messages) == ("2026-07-04", CHAT.messages)


def test_versions_name_all_that_has_a_say():
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = dict(versions())
    assert found.pop(project["name"]) == project["version"]
    assert set(found) == {"transformers", "jinja2", "tokenizers", "huggingface-hub"}


def test_templates_that_do_not_name_tools_cannot_see_them():
    """What lets `compare` render them once: over each ninth template of the data package."""
    blind = 0
    for name in snapshot.names()[::9]:
        given = snapshot.load_template(name)
        for text in given.templates.values():
            if "tools" not in text:
                blind += 1
                with_tools, without = (said(text, replace(CHAT, tools=tools), given) for tools in (TOOLS, None))
                assert with_tools == without, name
    assert blind > 20


def said(template: str, conversation: Conversation, given: LoadedModel) -> str:
    try:
        return render(template, conversation, given.special_tokens, TODAY)
    except TemplateRefused as refused:
        return f"refused: {refused.message}"
