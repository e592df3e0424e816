"""Every card of the catalogue keeps the same promises; a new file in formats/models is tested without editing this."""

import re
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest

from formats.models import CARDS, OPENING, PackageFile, find, read_card
from formats.snapshot import packages

each_card = pytest.mark.parametrize("card", CARDS.values(), ids=lambda card: card.name)
PINS = dict(re.findall(r"^([\w-]+)==(\S+)$", (Path(__file__).parent.parent / "requirements.txt").read_text(), re.M))


def package_files(card) -> list[PackageFile]:
    templates = [source for source in card.templates.values() if isinstance(source, PackageFile)]
    if card.tokenizer is None:
        return templates
    return [*templates, card.tokenizer.source, *([card.tokenizer.config] if card.tokenizer.config is not None else [])]


@each_card
def test_a_card_is_complete(card):
    assert re.fullmatch(r"[a-z0-9.-]+", card.name)
    assert card.title and card.family and card.licence
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+", repo) for repo in card.ids)
    assert card.revision is None or re.fullmatch(r"[0-9a-f]{40}", card.revision)
    assert card.templates, "without a template there is nothing to show offline"
    assert all(name.endswith("_token") and text for name, text in card.special_tokens.items())


@each_card
def test_its_files_are_in_packages_that_are_pinned(card):
    for source in package_files(card):
        assert PINS[source.package] == metadata.version(source.package)
        packages.read(source)  # raises where the sha256 is not the file's


@each_card
def test_a_key_that_nobody_reads_is_an_error(card, tmp_path):
    path = Path(__file__).parent.parent / "formats" / "models" / f"{card.name}.toml"
    assert read_card(path) == card
    text = path.read_text(encoding="utf-8")
    for table in ("title =", "package =", "[tokenizer]\n"):
        if table in text:
            slip = f"sizes = 3\n{table}" if "=" in table else f"{table}sizes = 3\n"
            (tmp_path / path.name).write_text(text.replace(table, slip, 1), encoding="utf-8")
            with pytest.raises(TypeError, match="sizes"):
                read_card(tmp_path / path.name)


@each_card
def test_it_is_found_by_everything_it_is_called(card):
    for name in (card.name, card.title, *card.ids):
        assert find(name) is card and find(f" {name.upper()} ") is card


def test_no_two_cards_share_a_name():
    names = [name for card in CARDS.values() for name in {n.casefold() for n in (card.name, card.title, *card.ids)}]
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert find("nobody/nothing") is None


def test_the_page_opens_with_nine():
    first = ["llama-3.1-405b", "hermes-3-llama-3.1-405b", "llama-4", "ministral-8b-2410", "qwen3"]
    assert list(OPENING) == [*first, "deepseek-r1", "deepseek-v3.1", "gemma-3-27b", "grok-2"]
    assert [CARDS[name].opening for name in OPENING] == list(range(1, 10))
    assert len(CARDS) >= 21
