"""The README names what exists, and what exists stands in the README."""

import html
import json
import re
import struct
from collections import Counter
from pathlib import Path

import pytest
import yaml
from huggingface_hub.repocard import metadata_load

from formats import leaderboard
from formats.models import CARDS, OPENING, read_card
from formats.parsers import FORMATS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRONT, _, BODY = README.removeprefix("---\n").partition("\n---\n")
SPACE_COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
GATED = ("meta-llama/", "google/", "mistralai/")
GATE = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def front_matter():
    return yaml.safe_load(FRONT)


def requirement(name):
    return re.search(rf"^{name}(?:\[[a-z,]+\])?==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)[1]


def commands():
    """The two at the top: all indented lines before the first sentence."""
    top = BODY.partition("# Prompt Format Lab\n")[2].partition("\nThe first command")[0]
    return [line.strip() for line in top.splitlines() if line.startswith("    ")]


def test_the_space_header_says_what_is_installed():
    front = front_matter()
    assert front["sdk"] == "gradio" and front["sdk_version"] == requirement("gradio")
    assert front["python_version"] == "3.11" and front["license"] == "apache-2.0"
    assert (ROOT / front["app_file"]).is_file()
    assert len(front["short_description"]) <= 60
    assert {"title", "emoji", "colorFrom", "colorTo", "tags"} <= set(front)


def test_the_space_header_lists_the_models_the_page_opens_with():
    assert front_matter()["models"] == [CARDS[name].repo for name in OPENING]


def test_the_space_header_is_one_that_spaces_read():
    front = front_matter()
    assert front["suggested_hardware"] == "cpu-basic"
    assert re.fullmatch(r"\d+[mh]", front["startup_duration_timeout"])
    assert front["hf_oauth"] is True and front["disable_embedding"] is False and front["pinned"] is False
    assert front["hf_oauth_scopes"] == ["gated-repos"], "what visitors are asked for is no more than is used"
    assert {front["colorFrom"], front["colorTo"]} <= SPACE_COLOURS
    assert all(re.fullmatch(r"[a-z0-9-]+", tag) for tag in front["tags"])
    assert metadata_load(ROOT / "README.md") == front


def test_what_a_space_preloads_are_files_that_models_of_the_page_are_read_from():
    """A file that is missing or gated would end the building of the Space."""
    for entry in front_matter()["preload_from_hub"]:
        repo, files = entry.split(" ")
        assert repo in front_matter()["models"] and not repo.startswith(GATED)
        assert set(files.split(",")) <= {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}


def test_the_two_commands_are_the_ones_the_gate_runs():
    start, test = commands()
    assert f'START="{start}"' in GATE and f'TEST="{test}"' in GATE
    for name in re.findall(r"requirements\S*\.txt", start + test):
        assert (ROOT / name).is_file()


def test_every_requirement_is_pinned_exactly():
    for path in ROOT.glob("requirements*.txt"):
        for line in path.read_text().splitlines():
            assert re.fullmatch(r"(#.*|-r \S+|-c \S+|[A-Za-z0-9._-]+(\[[a-z,]+\])?==\S+|)", line), (
                f"{path.name}: {line}"
            )


def test_the_files_in_reading_order_exist_and_none_is_missing():
    named = re.findall(r"`((?:formats|tests|benchmarks|app)[\w/.]*)`", BODY.partition("## Files")[2])
    assert all((ROOT / name).exists() for name in named)
    present = {
        f"formats/{path.name}{'/' if path.is_dir() else ''}"
        for path in (ROOT / "formats").iterdir()
        if path.name not in ("__init__.py", "__pycache__") and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    assert present - set(named) == set()


def test_every_file_that_the_text_links_to_exists():
    for target in re.findall(r"\]\(([^)#]+)\)", BODY):
        assert "://" in target or (ROOT / target).is_file(), target


def test_the_picture_is_a_real_one_of_modest_size():
    data = (ROOT / "docs" / "page.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert len(data) < 400_000 and width >= 1200 and height >= 700


def test_the_model_in_the_readme_can_be_added_as_it_stands(tmp_path):
    text = re.search(r"```toml\n(.*?)```", BODY, re.DOTALL)[1]
    (tmp_path / "example.toml").write_text(text, encoding="utf-8")
    card = read_card(tmp_path / "example.toml")
    assert card.repo == CARDS["qwen3"].repo
    assert card.templates["default"] == CARDS["qwen3"].templates["default"]


@pytest.mark.parametrize("file", ["LICENSE", "CHANGELOG.md"])
def test_licence_and_changelog_are_there(file):
    assert (ROOT / file).stat().st_size > 500
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_the_list_of_formats_is_what_the_leaderboard_found():
    recognised, unread = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").split("## Not read")
    rows = re.findall(r"^\| (.+) \| (\d+) \| `?([\w-]+)`? \|$", html.unescape(recognised), re.MULTILINE)
    found = Counter(row["format"] for row in leaderboard.load().rows if row["format"])
    assert {title: (int(count), flag) for title, count, flag in rows} == {
        FORMATS[name].title: (count, FORMATS[name].servers.get("vllm", "-")) for name, count in found.items()
    }
    reasons = json.loads((ROOT / "formats" / "unread.json").read_text(encoding="utf-8"))
    listed = re.findall(r"^\| (\S+) \| (.+) \|$", unread, re.MULTILINE)
    assert {name for name, _ in listed[1:]} == set(reasons)
    assert f"{found.total()} write a call that a parser reads back" in recognised
    assert f"{len(reasons)} write one that nobody here reads" in recognised
