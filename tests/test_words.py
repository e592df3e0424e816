"""Every word of the page stands in words/, in each language, and nothing else on the page is words."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from formats import samples
from formats.fixes import FIXES
from formats.web import words

WEB = Path(words.__file__).parent
OTHERS = sorted(set(words.LANGUAGES) - {"en"})
ENGLISH = words.LANGUAGES["en"]
SAMPLES = ("sample.", "reason.", "output.")  # one can be added without a translation: it is shown in English

SOURCES = {
    path: path.read_text(encoding="utf-8")
    for path in [*WEB.glob("*.py"), *WEB.glob("html/*.html"), *WEB.glob("assets/*.js"), *WEB.glob("assets/*.html")]
    if path.name not in ("words.py", "words.js")
}
KEY = r"[a-z_]+\.[a-z0-9_]*[a-z0-9]"
TABLES = {key.split(".")[0] for key in ENGLISH}
# A key is written whole, or its last part is joined on: `"card.file_" ~ role`, `f"sample.{name}"`, `"tabs." + id`.
WHOLE = re.compile(rf"""["'`]({KEY})["'`]""")
JOINED = re.compile(r"""["'`]([a-z_]+\.[a-z_]*)(?:["'] ?[~+]|\$?\{)""")


def of_a_table(found):
    """Those that are no names of files."""
    return {key for key in found if key.split(".")[0] in TABLES and not key.endswith((".js", ".html", ".css", ".json"))}


USED = of_a_table(key for text in SOURCES.values() for key in WHOLE.findall(text))
STARTS = of_a_table(start for text in SOURCES.values() for start in JOINED.findall(text))


def holes(text):
    return sorted(words.HOLE.findall(text))


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_every_word(language):
    missing, unknown = set(ENGLISH) - set(words.LANGUAGES[language]), set(words.LANGUAGES[language]) - set(ENGLISH)
    assert {key for key in missing if not key.startswith(SAMPLES)} == unknown == set()
    assert {key for key, text in words.LANGUAGES[language].items() if not text.strip()} == set()


@pytest.mark.parametrize("language", OTHERS)
def test_the_holes_of_a_word_are_the_same_in_every_language(language):
    said = words.LANGUAGES[language]
    assert {key: holes(text) for key, text in said.items()} == {key: holes(ENGLISH[key]) for key in said}


def test_every_word_that_is_asked_for_exists():
    assert USED - set(ENGLISH) == set()
    assert {start for start in STARTS if not any(key.startswith(start) for key in ENGLISH)} == set()


def test_every_word_is_asked_for():
    named = tuple(STARTS | {words.output_key(sample) for sample in samples.load_outputs()})
    asked = {key for key in ENGLISH if key in USED or key.startswith(named)}
    assert set(ENGLISH) - asked == {"language.tag"}


def test_words_that_gradio_shows_itself_have_nothing_that_it_would_fill_in():
    """Gradio reads a brace as the start of a value, and fails without one."""
    python = "".join(text for path, text in SOURCES.items() if path.suffix == ".py")
    shown = set(re.findall(rf'\bword\("({KEY})"\)', python)) | {key for key in ENGLISH if key.startswith(SAMPLES)}
    for language in words.LANGUAGES.values():
        assert not [key for key in shown if set("{}") & set(language.get(key, ""))]


def test_english_that_stands_elsewhere_is_taken_from_there():
    assert ENGLISH["sample.01-weather"] == samples.load()[0].title
    assert {key.partition(".")[2] for key in ENGLISH if key.startswith("fix.")} == set(FIXES)


# What stands on the page without being a word: names, and parts of code.
NAMES = {"Prompt Format Lab", "Markdown", "transformers", "tokenizer.response_template", "sha256", "id", "JSON"}
SAID = ("title", "aria-label", "placeholder", "alt", "label")


class Bare(HTMLParser):
    """The texts of a template that are no words: Jinja's own parts are taken out before."""

    def __init__(self, markup):
        super().__init__()
        self.found = []
        self.feed(re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", "", markup, flags=re.DOTALL))
        self.close()

    def handle_data(self, data):
        self.found.append(data)

    def handle_starttag(self, tag, attrs):
        self.found += [value or "" for name, value in attrs if name in SAID]


@pytest.mark.parametrize("path", sorted(p for p in SOURCES if p.suffix == ".html"), ids=lambda path: path.name)
def test_no_template_has_words_of_its_own(path):
    texts = [" ".join(text.split()) for text in Bare(SOURCES[path]).found]
    assert [text for text in texts if re.search(r"[A-Za-z]{2}", text) and text.strip(" :.,") not in NAMES] == []


OPTIONS = {"add_generation_prompt", "continue_final_message", "chat_template", "top_p", "tool_choice"}
GIVEN = re.compile(
    r"""\b(?:label|placeholder|info)=f?["']([^"']*[A-Za-z]{2}[^"']*)|\bgr\.(?:Button|Tab|Accordion)\(\s*f?["']([^"']+)"""
)


@pytest.mark.parametrize("path", sorted(WEB.glob("*.py")), ids=lambda path: path.name)
def test_no_component_has_words_of_its_own(path):
    given = {first or second for first, second in GIVEN.findall(path.read_text(encoding="utf-8"))}
    assert {text for text in given if not text.startswith("<")} - OPTIONS == set()


@pytest.mark.parametrize("path", sorted(WEB.glob("assets/*.css")), ids=lambda path: path.name)
def test_no_style_has_words_of_its_own(path):
    assert re.findall(r"""content: *["'][^"']*[A-Za-z]{2}""", path.read_text(encoding="utf-8")) == []


LITERAL = re.compile(r"""(["'`])((?:\\.|(?!\1).)*)\1""")
WORDS = re.compile("[A-Za-z]{2},? [A-Za-z]{2}")
# Names of classes, selectors and markup, by what stands before them or in them.
CODE_BEFORE = re.compile(
    r"""(class(Name|List)?\b[^,;]*|make\("\w+", [^,]*|(querySelector|querySelectorAll|closest|matches|Error)\()$"""
)
CODE = re.compile(r"[\[\]#<>=]")


def sentences(code):
    """The string literals of a script that look like words for people: a space between two words."""
    for line in code.splitlines():
        for found in LITERAL.finditer(line.split("// ")[0]):
            text = re.sub(r"\$\{[^}]*\}", "", found[2])
            if WORDS.search(text) and not CODE.search(text) and not CODE_BEFORE.search(line[: found.start()]):
                yield text


@pytest.mark.parametrize("path", sorted(WEB.glob("assets/*.js")), ids=lambda path: path.name)
def test_no_script_has_sentences_of_its_own(path):
    assert list(sentences(path.read_text(encoding="utf-8"))) == []


def test_a_sentence_in_a_script_is_found():
    assert list(sentences('node.textContent = "Copy the link";')) == ["Copy the link"]
    assert list(sentences('node.className = "live-call bad-call"; say("card.copy")')) == []


def test_a_word_keeps_what_is_put_into_it_as_text():
    attack = '"><img src=x onerror=alert(1)>{n}'
    for markup in (words.html("card.prompt", title=attack), words.attribute("title", "card.prompt", title=attack)):
        assert "<img" not in markup and "&lt;img" in markup and "{n}" in markup
    key, _, values = re.search(r'data-word="([^"]*)"', words.html("card.fetching", n=1234))[1].partition(" ")
    assert (key, json.loads(values.replace("&#34;", '"'))) == ("card.fetching", {"n": 1234})
    assert "1,234 s" in words.html("card.fetching", n=1234)


def test_a_language_that_is_not_there_is_english():
    for language in ("fr", "", None, ["zh"]):
        assert words.text(language, "tabs.compare") == "Compare"
    assert words.text("zh", "tabs.compare") == "对比"
