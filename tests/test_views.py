"""What the page shows of a value: all of it, escaped, and never more than there is."""

import html
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.errors import BadConversation, FormatsError
from formats.types import Column, Comparison, Conversation, Problem, Source, SourceFile, Tokens
from formats.web import views

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</pre><script>alert(1)</script>",
    "${alert(1)}",
    "{{ 7 * 7 }}",
    "`+alert(1)+`",
    "\" onmouseover='alert(1)",
    "&lt;b&gt;",
]
SHA = "ab" * 32


class Text(HTMLParser):
    """The text a browser would show, and the tags and attributes it would see."""

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.text, self.tags, self.attributes = "", set(), set()
        self.feed(str(markup))
        self.close()

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        code = dict(attrs).get("data-code")
        if code == "0":  # the one character that no HTML can hold; the page's script puts it in
            self.text += "\0"


def column(**changes):
    source = Source("snapshot", repo="org/name", files=(SourceFile("template", "a/b.jinja", SHA, "pkg 1.0"),))
    return replace(
        Column(
            "name",
            "Title",
            source,
            {},
            prompt="<s>Hi",
            template_name="default",
            tokens=Tokens(tuple(range(1234))),
            tool_tokens=12,
            control_tokens=frozenset({"<s>"}),
        ),
        **changes,
    )


def comparison(*columns):
    conversation = Conversation(({"role": "user", "content": "Hi"},))
    return Comparison(conversation, "2026-11-30", columns, {"transformers": "5.24.0"})


def card(**changes):
    one = column(**changes)
    return views.card(one, comparison(one))


@given(st.text(), st.sets(st.text(min_size=2, max_size=8), max_size=3))
def test_a_marked_prompt_reads_back_as_the_prompt(text, control_tokens):
    assert Text(views.prompt(text, control_tokens)).text == text
    assert Text(views.prompt(text, None)).text == text


@pytest.mark.parametrize("character", ["\r", "\0", "\x80", "\u200b", "\u202e", "\ufeff", "\U000e0041", "\xa0"])
def test_characters_that_cannot_be_seen_are_named(character):
    marked = views.prompt(f"a{character}b", frozenset())
    assert f'data-name="U+{ord(character):04X}"' in marked
    assert Text(marked).text == f"a{character}b"


def test_joiners_that_scripts_and_emoji_need_are_left_alone():
    text = "👩🏽\u200d🔬 می\u200cخواهم"
    assert views.prompt(text, frozenset()) == text


def test_control_tokens_are_marked_the_longest_first():
    marked = views.prompt("<s><s>>", frozenset({"<s>", "<s>>"}))
    assert marked == (
        '<wbr><span class="token">&lt;s&gt;</span><wbr><wbr><span class="token">&lt;s&gt;&gt;</span><wbr>'
    )


def test_without_a_tokenizer_marks_are_called_guesses():
    marked = views.prompt("<start_of_turn>user <b>", None)
    assert '<span class="token guess">&lt;start_of_turn&gt;</span>' in marked
    assert "&lt;b&gt;" in marked and "&lt;b&gt;</span>" not in marked


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_every_place(text):
    error = Problem("not_found", text)
    file = SourceFile("template", text, text, text)
    source = Source("hub", repo=text, revision=text, files=(file,), note=text)
    columns = [
        column(model=text, title=text, prompt=text, template_name=text, source=source, reads_clock=True),
        column(model=text, title=text, prompt=None, tokens=None, error=error, source=source),
        column(model=text, title=text, prompt=None, tokens=None, error=Problem("template_refused", text)),
        column(model=text, title=text, tokens=None, tokens_missing=text),
        views.Waiting(text, text, text),
    ]
    pieces = [views.summary(columns), *(views.card(one, comparison()) for one in columns)]
    pieces += [views.problem(BadConversation(text, text)), views.problem(FormatsError(text))]
    for piece in pieces:
        seen = Text(piece)
        assert not {"img", "script"} & seen.tags
        assert not {name for name in seen.attributes if name.startswith("on")}
        assert text in seen.text


def test_only_a_paragraph_without_end_is_not_asked_for_its_direction():
    """A browser takes seconds for that, where a megabyte stands in one line."""
    assert 'class="prompt long endless"' in card(prompt="x" * 100_001)
    assert 'class="prompt long"' in card(prompt="שלום\n" * 100_000)
    assert 'class="prompt"' in card(prompt="")


def test_a_card_shows_count_prompt_and_source():
    shown = Text(card(source=replace(column().source, revision="0123456789" * 4, template_sha256="cd" * 32))).text
    for fact in ("Title", "1,234", "<s>Hi", "org/name", "0123456789" * 4, "a/b.jinja", SHA, "cd" * 32, "pkg 1.0"):
        assert fact in shown
    assert "transformers 5.24.0" in shown and "snapshot @ 0123456" in shown


def test_a_first_line_break_of_a_prompt_survives_the_parser_that_drops_one():
    assert ">\n\nHi</pre>" in card(prompt="\nHi")


def test_a_refusal_is_set_apart_from_a_fault():
    refused = card(prompt=None, tokens=None, error=Problem("template_refused", "roles must alternate"))
    fault = card(prompt=None, tokens=None, error=Problem("hub_unreachable", "no answer"))
    assert 'class="answer refused"' in refused and "<blockquote>roles must alternate</blockquote>" in refused
    assert 'class="answer fault"' in fault and "hub unreachable" in fault and "blockquote" not in fault
    assert "Copy" not in refused and "Copy" not in fault


def test_a_missing_count_gives_its_reason_and_no_number():
    shown = Text(card(tokens=None, tool_tokens=None, tokens_missing="the count needs the Hub")).text
    assert "the count needs the Hub" in shown and "no count" in shown
    assert (
        "the count needs the Hub"
        in Text(views.summary([column(tokens=None, tokens_missing="the count needs the Hub")])).text
    )


def test_a_template_that_reads_the_clock_says_so():
    assert "reads the clock, given 2026-11-30" in Text(card(reads_clock=True)).text
    assert "clock" not in Text(card()).text


def test_the_summary_has_a_row_for_each_column_in_order():
    rows = [
        column(title="First"),
        column(title="Second", prompt=None, tokens=None, error=Problem("timeout", "2 s")),
        views.Waiting("third", "Third", "..."),
    ]
    shown = Text(views.summary(rows)).text
    assert shown.index("First") < shown.index("Second") < shown.index("Third")
    assert "stopped" in shown and "loading" in shown and "+12" in shown


@pytest.mark.parametrize(
    ("longest", "ticks"),
    [(0, [0]), (1, [0, 1]), (7, [0, 2, 4, 6, 8]), (213, [0, 100, 200, 300]), (1000, [0, 250, 500, 750, 1000])],
)
def test_the_axis_starts_at_zero_and_covers_the_longest_bar(longest, ticks):
    assert views.axis(longest) == ticks


@given(st.integers(min_value=1, max_value=10**7))
def test_the_axis_always_covers_the_longest_bar_in_few_steps(longest):
    ticks = views.axis(longest)
    assert ticks[0] == 0 and ticks[-1] >= longest and 2 <= len(ticks) <= 5


def test_bars_share_one_scale():
    markup = views.summary([column(tokens=Tokens(tuple(range(300))), tool_tokens=100), column(tokens=Tokens(()))])
    assert 'style="width:66.6' in markup and 'class="tools" style="width:33.3' in markup


def test_a_problem_names_its_path_once():
    shown = Text(views.problem(BadConversation("needs text", "messages[1].role"))).text
    assert html.unescape(shown).split() == ["messages[1].role", "needs", "text"]
