"""The prompt is transformers' own: clock, special tokens, options and refusals included."""

import datetime
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from formats.errors import FormatsError, Stopped, TemplateRefused
from formats.template import choose, reads_clock, render
from formats.types import Conversation

TODAY = datetime.date(2026, 7, 4)
CHAT = Conversation(({"role": "user", "content": "Hi"},))
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


def prompt(template: str, conversation: Conversation = CHAT, special=SPECIAL) -> str:
    return render(template, conversation, special, TODAY)


def test_the_clock_is_the_date_that_was_given():
    """Fails the day transformers changes how it reads the clock."""
    assert prompt("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}") == "2026-07-04 00:00:00"


def test_the_clock_outside_of_render_is_the_real_one():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
    before = datetime.date.today().isoformat()
    said = tokenizer.apply_chat_template(
        [{"role": "user"}], chat_template="{{ strftime_now('%Y-%m-%d') }}", tokenize=False
    )
    assert said in (before, datetime.date.today().isoformat())


def test_threads_do_not_share_the_clock():
    start = threading.Barrier(4)

    def years(year: int) -> set[str]:
        start.wait()
        loop = "{% for i in range(20000) %}{% endfor %}{{ strftime_now('%Y') }}"
        return {render(loop, CHAT, {}, datetime.date(year, 1, 1)) for _ in range(10)}

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(years, range(2001, 2005))) == [{"2001"}, {"2002"}, {"2003"}, {"2004"}]


@pytest.mark.parametrize(
    ("template", "reads"),
    [
        ("{{ strftime_now('%Y') }}", True),
        ("{% if strftime_now is defined %}{% set d = strftime_now('%d') %}{% endif %}", True),
        ("strftime_now {# strftime_now() #}{{ 'strftime_now()' }}", False),
        ("{{ messages }}", False),
        ("{{ strftime_now('%Y' }", False),
        ("{# strftime_now #}" + " " * 200_000, True),
    ],
)
def test_reads_clock(template, reads):
    assert reads_clock(template) is reads


def test_only_named_special_tokens_reach_the_template_and_options_overwrite_them():
    seen = "{{ bos_token }}|{{ image_token is defined }}|{{ pad_token is defined }}"
    assert prompt(seen, special={"bos_token": "<s>", "image_token": "<img>"}) == "<s>|False|False"
    shadowed = Conversation(CHAT.messages, template_kwargs={"bos_token": "<other>"})
    assert prompt(seen, shadowed) == "<other>|False|False"


def test_none_keys_are_dropped_and_reasoning_has_its_other_names():
    message = {"role": "assistant", "content": None, "reasoning_content": "why"}
    keys = "{% for key in messages[0] | sort %}{{ key }} {% endfor %}"
    assert prompt(keys, Conversation((message,))) == "reasoning_content role thinking "


def test_no_tools_and_an_empty_list_are_different():
    template = "{{ tools is none }} {{ documents is none }}"
    assert prompt(template) == "True True"
    assert prompt(template, Conversation(CHAT.messages, tools=(), documents=())) == "False False"


def test_continue_final_message():
    template = "{% for m in messages %}<{{ m.role }}>{{ m.reasoning_content }}{{ m.content }}</s>{% endfor %}"
    message = {"role": "assistant", "content": "It is 2", "reasoning_content": "count"}
    prefill = Conversation((message,), add_generation_prompt=False, continue_final_message=True)
    assert prompt(template, prefill) == "<assistant>countIt is 2"
    reason = Conversation((message,), add_generation_prompt=False, continue_final_message="reasoning_content")
    assert prompt(template, reason) == "<assistant>count"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ raise_exception('Only user turns, please!') }}", "Only user turns, please!"),
        ("{{ messages[0].nothing.at_all }}", "'dict object' has no attribute 'nothing'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{% if %}", "Expected an expression, got 'end of statement block'"),
        ("{{ ''.__class__.mro() }}", "access to attribute '__class__' of 'str' object is unsafe."),
        ("{{ tools | length }}", "object of type 'NoneType' has no len()"),
    ],
)
def test_a_refusal_is_in_the_template_s_own_words(template, words):
    with pytest.raises(TemplateRefused) as caught:
        prompt(template)
    assert caught.value.message == words


def test_endless_recursion_and_greed_are_refused():
    with pytest.raises(TemplateRefused, match="recursion"):
        prompt("{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}")
    with pytest.raises(TemplateRefused, match="recursion"):
        prompt("{{ " + 5000 * "(" + "1" + 5000 * ")" + " }}")
    with pytest.raises(Stopped) as caught:
        prompt("{{ 'a' * messages[0].size }}", Conversation(({"role": "user", "size": 10**18},)))
    assert caught.value.kind == "memory"


def test_choose_as_transformers_does():
    templates = {"default": "D", "tool_use": "T", "rag": "R"}
    with_tools = Conversation(CHAT.messages, tools=())
    assert choose(templates, CHAT) == ("default", "D")
    assert choose(templates, with_tools) == ("tool_use", "T")
    assert choose({"default": "D"}, with_tools) == ("default", "D")
    assert choose(templates, Conversation(CHAT.messages, tools=(), chat_template="rag")) == ("rag", "R")


def test_choose_says_what_there_is():
    with pytest.raises(FormatsError, match="no template named 'rag'; this model has default, tool_use") as caught:
        choose({"tool_use": "T", "default": "D"}, Conversation(CHAT.messages, chat_template="rag"))
    assert caught.value.kind == "no_template"
    with pytest.raises(FormatsError, match="no chat template"):
        choose({}, CHAT)
    with pytest.raises(TemplateRefused, match="multiple chat templates with no default"):
        choose({"tool_use": "T"}, CHAT)


PIECES = [
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{# ",
    "messages",
    "[0]",
    ".content",
    " | ",
    "tojson",
    "for x in ",
    "endfor",
    "'",
    "1",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join))
def test_any_template_renders_or_is_refused(template):
    try:
        assert isinstance(prompt(template), str)
    except FormatsError as error:
        assert error.kind == "template_refused"
