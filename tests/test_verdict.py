"""The rubric gives the ratings it must, out of findings alone: no name has a say in them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest

from formats import card, snapshot, verdict
from formats.models import CARDS
from formats.score import score
from formats.types import Finding, Status

STARS = {
    "llama-3.1-405b": 2,
    "hermes-3-llama-3.1-405b": 3,
    "llama-4": 3,
    "qwen3": 5,
    "deepseek-r1": 2,
    "deepseek-v3.1": 2,
    "gemma-3-27b": 1,
    "grok-2": 1,
}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, verdict.Verdict]:
    return {name: verdict.judge(snapshot.load(CARDS[name]), None) for name in (*STARS, "qwen2.5")}


@pytest.mark.parametrize(("name", "stars"), STARS.items())
def test_the_ratings_of_the_eight(verdicts, name, stars):
    found = verdicts[name]
    assert found.score.stars == stars, card.markdown(found)


def test_templates_that_do_the_same_rate_the_same(verdicts):
    assert verdicts["qwen2.5"].score.stars == verdicts["qwen3"].score.stars


@pytest.mark.parametrize(
    ("name", "reasons"),
    {
        "llama-3.1-405b": ["added_dates", "added_environment", "calls_delimited"],
        "llama-4": ["added_environment", "calls_delimited"],
        "hermes-3-llama-3.1-405b": ["tools_are_json"],
        "deepseek-r1": ["shows_tools"],
        "deepseek-v3.1": ["shows_tools"],
        "gemma-3-27b": ["shows_tools", "call_read"],
        "grok-2": ["shows_tools", "call_read"],
    }.items(),
)
def test_points_are_lost_for_the_stated_reasons(verdicts, name, reasons):
    lost = {finding.check for finding in verdict.lost_points(verdicts[name])}
    assert set(reasons) <= lost


@pytest.mark.parametrize("name", STARS)
def test_each_lost_point_has_its_finding_and_proof(verdicts, name):
    for finding in verdict.lost_points(verdicts[name]):
        assert finding.message
        assert finding.evidence or finding.status is Status.SKIP or finding.check == "call_read", finding.check


@pytest.mark.parametrize("name", ["llama-3.1-405b", "qwen3"])
def test_another_name_changes_nothing(verdicts, name):
    model = snapshot.load(CARDS[name])
    renamed = replace(
        model, name="x", title="Y", family="z", licence="", source=replace(model.source, repo="a/b", note="")
    )
    again = verdict.judge(renamed, None)
    assert again.findings == verdicts[name].findings
    assert again.score == verdicts[name].score


def test_the_order_of_models_changes_nothing(verdicts):
    names = list(STARS)
    random.Random(7).shuffle(names)
    assert {n: verdict.judge(snapshot.load(CARDS[n]), None).score.stars for n in names[:3]} == {
        n: verdicts[n].score.stars for n in names[:3]
    }


def finding(check: str, status: Status, points: float, of: float, outcome: str = "") -> Finding:
    return Finding(check, status, outcome, "", points, of)


def test_no_tools_cannot_pass_two_stars_and_unread_calls_not_three():
    rest = [finding("history_call", Status.PASS, 1000, 1000), finding("calls_json", Status.PASS, 1000, 1000)]
    blind = score([*rest, finding("shows_tools", Status.FAIL, 0, 30), finding("call_read", Status.PASS, 30, 30)])
    unread = score([*rest, finding("shows_tools", Status.PASS, 30, 30), finding("call_read", Status.FAIL, 0, 30)])
    neither = score(
        [*rest, finding("shows_tools", Status.FAIL, 0, 30), finding("call_read", Status.FAIL, 0, 30, "dropped")]
    )
    assert (blind.stars, unread.stars, neither.stars) == (2, 3, 1)
    assert "does not show the tools" in blind.reasons[-1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "formats", *arguments], capture_output=True, text=True, timeout=120)


def test_check_on_the_command_line(command_line):
    done = command_line("check", "qwen3", "llama-3.1-405b", "--json", "--fail-under", "3")
    assert done.returncode == 1, done.stderr
    rows = json.loads(done.stdout)
    assert [(row["model"], row["stars"]) for row in rows] == [("qwen3", 5), ("llama-3.1-405b", 2)]
    assert set(rows[0]) >= {"model", "source", "stars", "scores", "format", "findings"}
    assert set(rows[0]["scores"]) == {"tool_support", "output_format"}
    first = rows[0]["findings"][0]
    assert set(first) == {"check", "status", "outcome", "message", "points", "of", "evidence"}
    assert command_line("check", "qwen3", "--fail-under", "5").returncode == 0


def test_a_model_that_cannot_be_had_is_a_row_and_a_line(command_line):
    done = command_line("check", "no-such-model-kqz", "qwen3", "--json")
    assert done.returncode == 1
    rows = json.loads(done.stdout)
    assert rows[0]["error"]["message"] and rows[1]["stars"] == 5
    assert "no-such-model-kqz" in done.stderr


def test_a_report_card_on_the_command_line(command_line):
    done = command_line("check", "hermes-3-llama-3.1-405b", "--markdown")
    assert done.returncode == 0
    for part in ("★★★☆☆", "Tools in the prompt", "Output format", "Parser", "Points off", "Recommendation"):
        assert part in done.stdout


def test_audit_gives_every_template_a_row_and_goes_on_after_a_stop(tmp_path):
    folder = tmp_path / "templates"
    folder.mkdir()
    good = snapshot.load(CARDS["qwen3"]).templates["default"]
    (folder / "good.jinja").write_text(good, encoding="utf-8")
    (folder / "broken.jinja").write_text("{% if %}", encoding="utf-8")
    (folder / "refuses.jinja").write_text("{{ raise_exception('no') }}", encoding="utf-8")
    out = tmp_path / "rows.json"
    done = run("audit", "--templates", str(folder), "--out", str(out), "--jobs", "2")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(out.read_text())}
    assert set(rows) == {"good", "broken", "refuses"}
    assert rows["good"]["stars"] == 5 and rows["refuses"]["stars"] == 1
    partial = out.with_suffix(".partial.jsonl")
    assert not partial.exists()
    kept = {**rows["good"], "worst": "kept from an earlier run"}
    partial.write_text(json.dumps(kept) + "\n" + '{"name": "cut o', encoding="utf-8")
    assert run("audit", "--templates", str(folder), "--out", str(out)).returncode == 0
    again = {row["name"]: row for row in json.loads(out.read_text())}
    assert again["good"]["worst"] == "kept from an earlier run"
    assert again["broken"] == rows["broken"]


def test_audit_refuses_a_wrong_call(command_line, tmp_path):
    assert command_line("audit", "--out", str(tmp_path / "rows.txt")).returncode == 2
    assert (
        command_line("audit", "--templates", str(tmp_path / "none"), "--out", str(tmp_path / "r.csv")).returncode == 2
    )
