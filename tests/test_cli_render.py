"""python -m formats render, as other programs call it: results on standard output, words on standard error."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_sandbox import ENDLESS
from transformers import PreTrainedTokenizerFast

from formats.__main__ import main
from formats.models import CARDS
from formats.snapshot import vocabulary

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"
WEATHER = GOLDEN / "weather" / "conversation.json"
KEYS = ["case", "model", "source", "special_tokens", "prompt", "error", "tokens", "tokens_missing"]


@pytest.fixture
def results(command_line):
    """Exit status, and what standard output holds: JSON and nothing else."""

    def results(*arguments: object, stdin: bytes = b"") -> tuple[int, list]:
        done = command_line("render", *arguments, "--json", stdin=stdin)
        return done.returncode, json.loads(done.stdout)

    return results


def test_one_conversation_for_several_models(results, tmp_path):
    template = tmp_path / "mine.jinja"
    template.write_bytes("{{ strftime_now('%d %b %Y') }} {{ messages[1].content }} 東京".encode())
    status, found = results("qwen3", "gemma-3-27b", template, "--conversation", WEATHER, "--date", "2026-07-04")
    assert status == 0
    assert [list(one) for one in found] == [KEYS] * 3
    assert [one["model"] for one in found] == ["qwen3", "gemma-3-27b", str(template)]
    assert [one["case"] for one in found] == [None] * 3
    assert [one["error"] for one in found] == [None] * 3
    qwen, gemma, mine = found
    assert qwen["prompt"].encode() == (GOLDEN / "weather" / "qwen3.txt").read_bytes()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=vocabulary.load(CARDS["qwen3"].tokenizer))
    assert qwen["tokens"]["ids"] == tokenizer.encode(qwen["prompt"], add_special_tokens=False)
    assert qwen["tokens"]["count"] == len(qwen["tokens"]["ids"])
    assert qwen["tokens_missing"] is None
    assert qwen["special_tokens"] == dict(CARDS["qwen3"].special_tokens)
    assert {"kind", "repo", "revision", "template_sha256"} <= set(qwen["source"])
    assert (qwen["source"]["kind"], qwen["source"]["repo"]) == ("snapshot", "Qwen/Qwen3-8B")
    assert qwen["source"]["template_sha256"] == CARDS["qwen3"].templates["default"].sha256
    assert gemma["tokens"] is None
    assert "needs the Hub" in gemma["tokens_missing"]
    assert mine["prompt"] == "04 Jul 2026 Hey, what's the temperature in Paris right now? 東京"
    assert mine["source"]["kind"] == "file"
    assert mine["source"]["template_sha256"] == hashlib.sha256(template.read_bytes()).hexdigest()


def test_a_list_of_cases_and_what_goes_wrong_in_it(results, tmp_path):
    endless = tmp_path / "endless.jinja"
    endless.write_text("{% if messages | length == 1 %}" + ENDLESS + "{% endif %}")
    picky = tmp_path / "picky.jinja"
    picky.write_text("{{ raise_exception('Only ' ~ messages[0].role ~ ' turns?') if messages | length > 1 }}ok \\ud800")
    half = tmp_path / "half.jinja"
    half.write_text("{{ '\\ud83c' }}ok")
    user = {"role": "user", "content": "Hi"}
    cases = [
        {"id": "good", "messages": [user], "tools": None, "options": {}},
        {"id": "bad", "messages": [{"role": 5}]},
        {"messages": [user, user]},
        "no object",
    ]
    status, found = results(
        *(picky, endless, half, "org/missing", "--conversation", "-"), stdin=json.dumps(cases).encode()
    )
    assert status == 1
    outcome = {(one["case"], Path(one["model"]).stem): one for one in found}
    assert [one["case"] for one in found] == [c for c in ("good", "bad", 2, 3) for _ in range(4)]
    assert outcome["good", "picky"]["prompt"] == "ok \\ud800"
    assert outcome["good", "half"]["prompt"] == "\ud83cok"
    assert outcome["good", "endless"]["error"]["kind"] == "timeout"
    assert outcome["good", "missing"]["error"]["kind"] == "hub_unreachable"
    assert outcome["bad", "picky"]["error"]["kind"] == "bad_conversation"
    assert outcome["bad", "picky"]["error"]["message"].startswith("[1].messages[0].role: needs text")
    assert outcome["bad", "picky"]["source"]["kind"] == "file"
    assert outcome[2, "picky"]["error"] == {"kind": "template_refused", "message": "Only user turns?"}
    assert outcome[3, "picky"]["error"]["message"].startswith("[3]: needs an object")


def test_the_text_form(command_line):
    done = command_line("render", "qwen3", "grok-2", "--conversation", WEATHER)
    assert done.returncode == 0
    text = done.stdout
    assert "===== qwen3 · snapshot Qwen/Qwen3-8B\n<|im_start|>system\n" in text
    assert "\n----- 221 tokens\n" in text
    assert "tokens not counted: no installed data package" in text


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "nothing to read"),
        (b"{", "line 1, column 2"),
        (b"[]", "messages: is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"messages": "Hi"}', "messages: needs a list"),
    ],
)
def test_a_file_that_is_no_conversation_is_every_column_s_error(tmp_path, capsys, raw, words):
    path = tmp_path / "conversation.json"
    path.write_bytes(raw)
    assert main(["render", "grok-2", "--conversation", str(path), "--json"]) == 1
    (one,) = json.loads(capsys.readouterr().out)
    assert one["error"]["kind"] == "bad_conversation"
    assert words in one["error"]["message"]
    assert one["prompt"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ["render", "--conversation", str(WEATHER)],
        ["render", "qwen3"],
        ["render", "qwen3", "--conversation", "/nowhere/at/all.json"],
        ["render", "qwen3", "--conversation", str(ROOT)],
        ["render", "qwen3", "--conversation", str(WEATHER), "--date", "yesterday"],
        ["render", "qwen3", "--conversation", str(WEATHER), "--colour"],
        ["no-such-command"],
        [],
    ],
)
def test_a_wrong_call(command_line, arguments):
    done = command_line(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    assert "the exact prompt and token ids each model gets" in capsys.readouterr().out


def test_a_program_reads_the_json_of_another_process():
    line = [sys.executable, "-m", "formats", "render", "qwen3", "--conversation", WEATHER, "--json"]
    done = subprocess.run(line, capture_output=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["model"] == "qwen3"


def test_a_reader_that_has_seen_enough():
    line = f"{sys.executable} -m formats render qwen3 --conversation {WEATHER} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, cwd=ROOT)
    assert done.stdout == b"="
    assert b"Traceback" not in done.stderr
