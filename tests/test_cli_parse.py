"""python -m formats parse, as other programs call it: results on standard output, words on standard error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from formats.__main__ import main
from formats.parsers import FORMATS

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases" / "outputs"
TIMER = {
    "type": "function",
    "function": {
        "name": "set_timer",
        "parameters": {
            "type": "object",
            "properties": {"seconds": {"type": "integer"}, "label": {"enum": ["tea", "glue"]}},
            "required": ["seconds"],
        },
    },
}
OUTPUT = (
    '<think>\nHm.\n</think>\nOne moment. <tool_call>\n{"name": "set_timer", "arguments": {"seconds": 3}}\n</tool_call>'
)
KEYS = ["format", "content", "reasoning", "calls", "segments"]
CALL_KEYS = ["id", "name", "arguments", "problem", "problems", "start", "end", "raw"]


def call(*arguments, stdin=b""):
    return subprocess.run(
        [sys.executable, "-m", "formats", "parse", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )


def parsed(capsys, *arguments):
    """Exit status, and what standard output holds: JSON and nothing else."""
    status = main(["parse", *map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.fixture
def tools(tmp_path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps({"tools": [TIMER]}))
    return path


@pytest.fixture
def write(tmp_path):
    def written(text):
        path = tmp_path / "output.txt"
        path.write_bytes(text.encode())
        return path

    return written


def test_one_output_is_one_object(tools):
    done = call("--format", "hermes", "--tools", tools, "--json", "-", stdin=OUTPUT.encode())
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(found) == KEYS
    assert (found["format"], found["content"], found["reasoning"]) == ("hermes", "One moment.", "Hm.")
    (one,) = found["calls"]
    assert list(one) == CALL_KEYS
    assert (one["id"], one["name"], one["arguments"]) == (None, "set_timer", {"seconds": 3})
    assert (one["problem"], one["problems"]) == (None, [])
    assert one["raw"] == OUTPUT[one["start"] : one["end"]] == '{"name": "set_timer", "arguments": {"seconds": 3}}'
    assert [list(segment) for segment in found["segments"]] == [["kind", "start", "end"]] * len(found["segments"])
    assert "".join(OUTPUT[s["start"] : s["end"]] for s in found["segments"]) == OUTPUT


def test_every_problem_is_told_with_its_place(capsys, tools, write):
    output = '<tool_call>\n{"name": "set_timer", "arguments": {"seconds": "3", "label": "ink",}}\n</tool_call>'
    status, found = parsed(capsys, "--format", "hermes", "--tools", tools, write(output))
    (one,) = found["calls"]
    assert (status, one["problem"]) == (0, "invalid_json")
    assert [(p["kind"], p["path"]) for p in one["problems"]] == [
        ("invalid_json", ""),
        ("schema_mismatch", "label"),
        ("schema_mismatch", "seconds"),
    ]
    assert all(list(p) == ["kind", "path", "message"] and p["message"] for p in one["problems"])
    assert "trailing comma" in one["problems"][0]["message"]


def test_a_tool_that_is_not_defined_is_told_beside_the_first_problem(capsys, tools, write):
    output = '<tool_call>\n{"name": "timer", "arguments": "{\\"seconds\\": 3}"}\n</tool_call>'
    _, found = parsed(capsys, "--format", "hermes", "--tools", tools, write(output))
    assert [p["kind"] for p in found["calls"][0]["problems"]] == ["double_encoded", "unknown_tool"]


def test_the_model_s_own_format_is_found(capsys, write):
    status, found = parsed(capsys, "--model", "qwen3", write(OUTPUT))
    assert (status, found["format"], len(found["calls"])) == (0, "hermes", 1)


def test_all_formats_side_by_side(capsys, write):
    status, found = parsed(capsys, "--format", "all", write(OUTPUT))
    assert status == 0
    assert [one["format"] for one in found] == list(FORMATS)
    assert {one["format"] for one in found if len(one["calls"]) == 1} >= {"hermes", "granite", "plain"}


def test_a_list_of_cases_gives_a_list(capsys):
    path = CASES / "functionary_v3.json"
    cases = json.loads(path.read_text(encoding="utf-8"))
    status, found = parsed(capsys, "--format", "functionary_v3", path)
    assert status == 0
    assert [list(one) for one in found] == [["case", *KEYS]] * len(cases)
    for case, one in zip(cases, found, strict=True):
        assert one["case"] == case["id"]
        want = [(c["name"], c["arguments"], c["problem"]) for c in case["expect"]["calls"]]
        assert [(c["name"], c["arguments"], c["problem"]) for c in one["calls"]] == want
        assert [c["problem"] for c in one["calls"]] == [next(iter(c["problems"]), {}).get("kind") for c in one["calls"]]


def test_an_output_that_is_a_list_of_calls_is_no_list_of_cases(capsys, write):
    _, found = parsed(capsys, "--format", "plain", write('[{"name": "f", "arguments": {}}]'))
    assert [c["name"] for c in found["calls"]] == ["f"]


def test_the_end_of_the_prompt_is_honoured(capsys, write):
    arguments = ["--format", "hermes", write("Hm.\n</think>\nHello.")]
    assert parsed(capsys, *arguments, "--prompt-suffix", "<think>\\n")[1]["reasoning"] == "Hm."
    assert parsed(capsys, *arguments)[1]["reasoning"] is None
    _, found = parsed(capsys, "--format", "functionary_v3", write('set_timer\n{"seconds": 1}'))
    assert [c["name"] for c in found["calls"]] == ["set_timer"]


def test_text_for_people_names_what_is_wrong(capsys, tools, write):
    output = '<tool_call>\n{"name": "set_timer", "arguments": {"seconds": "3"}}\n</tool_call>'
    assert main(["parse", "--format", "hermes", "--tools", str(tools), str(write(output))]) == 0
    shown = capsys.readouterr().out
    assert "set_timer" in shown
    assert "schema_mismatch at seconds: '3' is not of type 'integer'" in shown


def test_fail_asks_for_calls_without_a_problem(write):
    good, bad = write(OUTPUT), '<tool_call>\n{"name": "f"'
    assert main(["parse", "--format", "hermes", "--fail", str(good)]) == 0
    assert main(["parse", "--format", "hermes", "--fail", str(write(bad))]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "nonsense", "-"], "no format is called 'nonsense'"),
        (["-"], "needs a --model"),
        (["--format", "hermes", "there-is-no-such-file"], "there-is-no-such-file"),
        (["--format", "hermes", "--tools", "there-is-no-such-file", "-"], "there-is-no-such-file"),
        (["--model", "there-is-no-such-model", "-"], "there-is-no-such-model"),
    ],
)
def test_a_wrong_call_is_told_in_words(command_line, arguments, words):
    done = command_line("parse", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_bytes_that_are_no_text_are_refused(command_line):
    done = command_line("parse", "--format", "hermes", "-", stdin=b"ab\xff")
    assert (done.returncode, done.stdout) == (2, "")
    assert "byte 2" in done.stderr


@pytest.mark.parametrize("text", ['{"tools": 3}', "[3]", "{", '[{"type"]'])
def test_tools_that_are_none_are_refused_in_words(capsys, write, tmp_path, text):
    path = tmp_path / "tools.json"
    path.write_text(text)
    assert main(["parse", "--format", "hermes", "--tools", str(path), str(write("x"))]) == 2
    assert capsys.readouterr().err.startswith("parse: ")


def test_whoever_names_a_format_does_not_wait_for_transformers():
    code = f"""if True:
    import sys
    from formats.__main__ import main
    main(["parse", "--format", "hermes", {__file__!r}])
    print("transformers" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
