"""python -m formats link and open."""

import json
import subprocess
import sys

import pytest

from formats.share import MAX_LINK, decode, encode_file

CONVERSATION = {"messages": [{"role": "user", "content": "Wie ist das Wetter in 東京?"}], "tools": None, "options": {}}
MODELS = ["snapshot:Qwen-Qwen2.5-7B-Instruct", "snapshot:microsoft-phi-4"]


@pytest.fixture
def conversation(tmp_path):
    path = tmp_path / "conversation.json"
    path.write_text(json.dumps(CONVERSATION), encoding="utf-8")
    return str(path)


@pytest.fixture
def run(command_line):
    """Runs a command: (exit status, standard output, standard error)."""

    def run(*arguments: str, stdin: bytes = b""):
        done = command_line(*arguments, stdin=stdin)
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_link_is_made_and_opened(run, conversation, tmp_path):
    output = tmp_path / "output.txt"
    output.write_bytes(b"<tool_call>\r\n{}")
    date = ("--date", "2026-11-30")
    status, link, _ = run("link", *MODELS, "--conversation", conversation, "--output", str(output), *date)
    assert (status, link.count("\n")) == (0, 1)
    assert link.startswith("http://127.0.0.1:7860/#s=1.")
    status, text, err = run("open", link.strip(), "--json")
    assert (status, text.count("\n"), err) == (0, 1, "")
    state = json.loads(text)
    assert list(state) == ["version", "models", "conversation", "output", "date", "view"]
    assert [model["name"] for model in state["models"]] == MODELS
    assert all(len(model["template_sha256"]) == len(model["prompt_sha256"]) == 64 for model in state["models"])
    assert state["conversation"] == CONVERSATION
    assert state["output"] == {"text": "<tool_call>\r\n{}", "format": None, "model": None}
    assert (state["version"], state["date"]) == (1, "2026-11-30")
    assert json.loads(run("open", link)[1]) == state


def test_render_prints_the_columns_as_render_does(run, conversation):
    _, link, _ = run("link", *MODELS, "--conversation", conversation, "--base", "https://host.example/space?x=1")
    assert link.startswith("https://host.example/space#s=1.")
    opened = run("open", link, "--render")
    rendered = run("render", *MODELS, "--conversation", conversation, "--json")
    assert opened[:2] == rendered[:2]
    assert opened[2] == ""


def test_a_template_of_this_machine_opens_on_this_machine(run, conversation, tmp_path):
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages[0].content }}!", encoding="utf-8")
    _, link, _ = run("link", str(template), "--conversation", conversation)
    assert [column["prompt"] for column in json.loads(run("open", link, "--render")[1])] == [
        "Wie ist das Wetter in 東京?!"
    ]
    template.write_text("{{ messages[0].content }}?", encoding="utf-8")
    status, out, err = run("open", link, "--render")
    assert (status, err.count("\n")) == (0, 1)
    assert err.startswith(f"open: {template}: the template was sha256 ")
    assert err.endswith("; today's prompt is shown\n")
    assert json.loads(out)[0]["prompt"] == "Wie ist das Wetter in 東京??"


def test_links_and_files_come_on_standard_input(run, conversation):
    _, link, _ = run("link", MODELS[0], "--conversation", "-", stdin=json.dumps(CONVERSATION).encode())
    opened = run("open", "-", stdin=link.encode())
    assert opened[0] == 0
    assert run("open", "-", stdin=b"\xef\xbb\xbf" + encode_file(decode(link)).encode()) == opened


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("nonsense", "this link cannot be opened: it holds no state"),
        ("#s=1.AAAA.00000000", "this link cannot be opened: some of its characters were lost"),
        ("2.AAAA.00000000", "this link cannot be opened: it has version 2"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--json",), ("--render",)])
def test_a_broken_link_is_one_line_and_status_2(run, link, words, options):
    for given in (run("open", link, *options), run("open", "-", *options, stdin=link.encode())):
        status, out, err = given
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"open: {words}")


def test_a_broken_file_and_bytes_are_one_line_and_status_2(run):
    for data in (b'{"version": 2}', b"\xff\xfe\x00", b"", b"{" * 5000, b"x" * (2 * MAX_LINK + 1)):
        status, out, err = run("open", "-", stdin=data)
        assert (status, out, err.count("\n")) == (2, "", 1), data[:20]


def test_a_model_that_cannot_be_had_leaves_its_name(run, conversation):
    status, link, err = run("link", "snapshot:no-such-template", MODELS[1], "--conversation", conversation)
    assert status == 1
    assert err.count("\n") == 1
    assert err.startswith("link: snapshot:no-such-template: ")
    assert [model.template_sha256 is None for model in decode(link).models] == [True, False]
    status, out, _ = run("open", link, "--render")
    assert status == 1
    assert [column["error"] is None for column in json.loads(out)] == [False, True]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"text": "[]"}, "link: messages: is empty"),
        ({"text": "nonsense"}, "link: not valid JSON"),
        ({"text": json.dumps([CONVERSATION, CONVERSATION])}, "holds 2 conversations, and a link holds one"),
        ({"text": json.dumps({**CONVERSATION, "options": {"kwargs": {"api_key": "x"}}})}, "is called like a secret"),
        ({"options": ["--base", "ftp://x"]}, "is no address of a page"),
        ({"options": ["--output", "/no/such/file"]}, "link: /no/such/file: No such file"),
        ({"models": [MODELS[0]] * 13}, "13 models are more than the 12"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(run, changes, words):
    stdin = changes.get("text", json.dumps(CONVERSATION)).encode()
    models = changes.get("models", MODELS[:1])
    status, out, err = run("link", *models, "--conversation", "-", *changes.get("options", []), stdin=stdin)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_standard_output_holds_the_link_alone(conversation):
    command = [sys.executable, "-m", "formats", "link", MODELS[0], "--conversation", conversation]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert decode(done.stdout).models[0].name == MODELS[0]
    assert done.stdout.count("\n") == 1
