"""An output that comes without the name of its format is read by the format that it is in."""

import json
from pathlib import Path

import pytest

from formats import samples
from formats.detect import detect_output
from formats.parsers import FORMATS

CASES = [
    pytest.param(path.stem, case, id=case["id"])
    for path in sorted((Path(__file__).parent / "cases" / "outputs").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
    if case["expect"]["calls"] and not any(call["problem"] for call in case["expect"]["calls"])
]
CALL = {"name": "f", "arguments": {"a": 1}}


@pytest.mark.parametrize(("name", "case"), CASES)
def test_whole_calls_are_read_without_the_formats_name(name, case):
    suffix = case.get("prompt_suffix", "")
    found = detect_output(case["output"], case["tools"], suffix)
    assert name in found
    parsed = FORMATS[found[0]].parse(case["output"], case["tools"], suffix or FORMATS[found[0]].prompt_suffix)
    calls = [{"name": call.name, "arguments": call.arguments} for call in parsed.calls]
    assert calls == [{key: call[key] for key in ("name", "arguments")} for call in case["expect"]["calls"]]


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_writes_is_read_by_it_or_by_one_that_writes_the_same(name):
    text = FORMATS[name].write([CALL])
    best, *_ = detect_output(text)
    assert FORMATS[best].write([CALL]).strip() in text


def test_a_call_that_is_cut_off_is_still_seen():
    assert "hermes" in detect_output('<tool_call>\n{"name": "f", "argum')


def test_prose_is_no_call():
    texts = [message["content"] for sample in samples.load() for message in sample.conversation["messages"]]
    spoken = [text for text in texts if isinstance(text, str) and text.strip() and not text.lstrip().startswith("{")]
    assert len(spoken) > 10
    assert {text: found for text in ("hi", *spoken) if (found := detect_output(text))} == {}
