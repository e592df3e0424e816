"""What reading an output costs and gets right, against transformers' ResponseParser and SGLang's detectors.

    pip install --no-deps -r benchmarks/requirements.txt
    python benchmarks/parse.py [--size 1000000] [--limit 10] [--formats hermes,mistral]

Speed: outputs of `--size` characters, read whole and in pieces of 8 characters: prose, one call with a long argument,
many small calls. Times are in seconds of processor time; a reading that takes longer than `--limit` is stopped, and
then its ratio is a lower bound. We check arguments against the tool's schema; SGLang does not.

Right: the cases of tests/cases/outputs. The others name no problems, so a case counts as right where exactly the calls
come out that can be read with certainty, by name and arguments, and (everything right) no other text is lost or shown
as content. SGLang reads reasoning elsewhere: it is given the cases without. The last column is our own tests' rule.

ResponseParser reads with the templates that transformers itself carries, SGLang with the detector that the format's
page names.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from formats.parsers import FORMATS  # noqa: E402
from formats.parsers.base import OutputFormat  # noqa: E402

PIECE = 8  # characters
# the model types whose template in transformers is that of one of our formats
TRANSFORMERS = {"hermes": "qwen3", "qwen3_coder": "qwen3_5", "gemma4": "gemma4"}
TOOL = {
    "type": "function",
    "function": {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        },
    },
}
PROSE = "The greenhouse stands behind the mill, and its panes are cleaned twice a year. "

Calls = list[tuple[str, Any]]
Read = Callable[[Sequence[str], Sequence[dict[str, Any]], str], tuple[Calls, str]]  # pieces, tools, end of the prompt


class TooLong(BaseException):  # so that no reader takes it for a fault of the text
    """The time given is over."""


@dataclass(frozen=True)
class Took:
    seconds: float
    right: bool  # it gave the calls that were written
    stopped: bool = False

    def __str__(self) -> str:
        return f"{'>' if self.stopped else ''}{self.seconds:.3f}"


# The three readers


def ours(output_format: OutputFormat) -> Read:
    def read(pieces: Sequence[str], tools: Sequence[Any], suffix: str) -> tuple[Calls, str]:
        stream = output_format.stream(tools, suffix)
        for piece in pieces:
            stream.feed(piece)
        stream.close()
        parsed = stream.result()
        calls = [(c.name, c.arguments) for c in parsed.calls if c.name is not None and c.arguments is not None]
        return calls, parsed.content

    return read


def transformers_parser(name: str) -> Read | None:
    if name not in TRANSFORMERS:
        return None
    from transformers.cli.serving.utils import _RESPONSE_TEMPLATE_FALLBACKS
    from transformers.utils.chat_parsing import ResponseParser

    template = next(t for types, t in _RESPONSE_TEMPLATE_FALLBACKS.items() if TRANSFORMERS[name] in types)

    def read(pieces: Sequence[str], tools: Sequence[Any], suffix: str) -> tuple[Calls, str]:
        parser = ResponseParser(template, prefix=template_start(template) + suffix, tools=list(tools))
        for piece in pieces:
            parser.feed(piece)
        message, _ = parser.finalize()
        functions = [call["function"] for call in message.get("tool_calls") or ()]
        return [(f["name"], f.get("arguments", {})) for f in functions], message.get("content") or ""

    return read


def template_start(template: dict[str, Any]) -> str:
    anchor = template["start_anchor"]
    return anchor if isinstance(anchor, str) else anchor[0]


def sglang_detector(name: str) -> Read | None:
    key = FORMATS[name].servers.get("sglang")
    if key is None:
        return None
    from llm_router_utils.sglang.srt.entrypoints.openai.protocol import Tool
    from llm_router_utils.sglang.srt.function_call.function_call_parser import FunctionCallParser

    def read(pieces: Sequence[str], tools: Sequence[Any], suffix: str) -> tuple[Calls, str]:
        detector = FunctionCallParser.ToolCallParserEnum[key]()
        definitions = [Tool.model_validate(tool) for tool in tools]
        if len(pieces) == 1:
            found = detector.detect_and_parse(pieces[0], definitions)
            return [(c.name, json.loads(c.parameters)) for c in found.calls], found.normal_text
        names: dict[int, str] = {}
        arguments: dict[int, str] = {}
        content = ""
        for piece in pieces:
            found = detector.parse_streaming_increment(piece, definitions)
            content += found.normal_text
            for call in found.calls:
                names[call.tool_index] = call.name or names[call.tool_index]
                arguments[call.tool_index] = arguments.get(call.tool_index, "") + call.parameters
        return [(names[i], json.loads(arguments[i] or "{}")) for i in sorted(names)], content

    return read


READERS: dict[str, Callable[[str], Read | None]] = {
    "ours": lambda name: ours(FORMATS[name]),
    "transformers": transformers_parser,
    "SGLang": sglang_detector,
}


# Speed


def outputs(output_format: OutputFormat, size: int) -> Iterator[tuple[str, str, Calls]]:
    """(kind, text, the calls in it)"""

    def write(*texts: str) -> tuple[str, Calls]:
        calls: Calls = [("write_file", {"path": "a.txt", "text": text}) for text in texts]
        written = [{"name": name, "arguments": arguments} for name, arguments in calls]
        return output_format.write(written), calls  # type: ignore[arg-type]  # by shape

    prose = (PROSE * (size // len(PROSE) + 1))[:size]
    yield "prose", ("all\n" if output_format.name == "functionary_v3" else "") + prose, []
    yield "argument", *write(prose)
    if output_format.calls_per_turn is None:
        each = len(write("x", "x")[0]) - len(write("x")[0])
        yield "calls", *write(*["x"] * max(1, size // each))


def pieces_of(text: str) -> list[str]:
    return [text[i : i + PIECE] for i in range(0, len(text), PIECE)]


class Watched(list[str]):
    """Pieces that end the reading when its time is over: a reader may swallow what the alarm raises."""

    def __init__(self, pieces: Sequence[str], seconds: float) -> None:
        super().__init__(pieces)
        self.deadline = time.process_time() + seconds

    def __iter__(self) -> Iterator[str]:
        for piece in super().__iter__():
            if time.process_time() > self.deadline:
                raise TooLong
            yield piece


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def timed(read: Read, pieces: Sequence[str], suffix: str, calls: Calls, limit: float) -> Took | None:
    """The mean of as many readings as a tenth of a second holds; None where the reader fails on the text."""
    start, times = time.process_time(), 0
    while not times or (time.process_time() - start < 0.1 and times < 1000):
        try:
            with limited(limit):
                found, _ = read(Watched(pieces, limit), [TOOL], suffix)
        except TooLong:
            return Took(limit, True, stopped=True)
        except Exception:
            return None
        times += 1
    return Took(max((time.process_time() - start) / times, 1e-6), found == calls)


def print_speed(names: Sequence[str], readers: dict[str, dict[str, Read]], size: int, limit: float) -> None:
    print(f"\nProcessor seconds for {size:,} characters, and how many times as long as ours")
    print("(>: stopped there; wrong: other calls than those that were written)\n")
    print(f"{'format':16}{'output':10}{'pieces':8}" + "".join(f"{reader:>24}" for reader in READERS))
    for name in names:
        output_format = FORMATS[name]
        for kind, text, calls in outputs(output_format, size):
            for how, pieces in (("whole", [text]), (f"{PIECE} ch", pieces_of(text))):
                took = {
                    reader: timed(read, pieces, output_format.prompt_suffix, calls, limit)
                    for reader, read in readers[name].items()
                }
                cells = "".join(f"{_cell(took.get(reader), took['ours'], reader in took):>24}" for reader in READERS)
                print(f"{name:16}{kind:10}{how:8}{cells}", flush=True)


def _cell(took: Took | None, base: Took | None, there: bool) -> str:
    if took is None or base is None:
        return "failed" if there else "-"
    wrong = "" if took.right else "wrong "
    ratio = "" if took is base else f"  {'>' if took.stopped else ''}{took.seconds / base.seconds:.1f}x"
    return f"{wrong}{took}{ratio}"


# Right


def cases(name: str) -> list[dict[str, Any]]:
    path = ROOT / "tests" / "cases" / "outputs" / f"{name}.json"
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def right(read: Read, case: dict[str, Any]) -> tuple[bool, bool]:
    """(calls, everything) right."""
    want = [
        (c["name"], c["arguments"])
        for c in case["expect"]["calls"]
        if c["name"] is not None and c["arguments"] is not None
    ]
    try:
        with limited(10):
            calls, content = read([case["output"]], case["tools"], case.get("prompt_suffix", ""))
    except Exception:
        return False, False
    return calls == want, calls == want and _visible(content) == _visible(case["expect"]["content"])


def _visible(text: str) -> str:
    return "".join(text.split())


def by_our_rule(name: str, case: dict[str, Any]) -> bool:
    """Names, arguments, problems, content and reasoning, all as the case says."""
    parsed = FORMATS[name].parse(case["output"], case["tools"], case.get("prompt_suffix", ""))
    got = [(c.name, c.arguments, c.problem and c.problem.value) for c in parsed.calls]
    expect = case["expect"]
    return (
        got == [(c["name"], c["arguments"], c["problem"]) for c in expect["calls"]]
        and _visible(parsed.content) == _visible(expect["content"])
        and _visible(parsed.reasoning or "") == _visible(expect["reasoning"] or "")
    )


def print_right(names: Sequence[str], readers: dict[str, dict[str, Read]]) -> None:
    print("\nCases right: calls / everything, of how many\n")
    print(f"{'format':16}" + "".join(f"{reader:>18}" for reader in READERS) + f"{'our tests':>14}")
    total: dict[str, list[int]] = {reader: [0, 0, 0] for reader in READERS}
    passed = count = 0
    for name in names:
        cells = ""
        for reader in READERS:
            read = readers[name].get(reader)
            given = [c for c in cases(name) if reader != "SGLang" or c["expect"]["reasoning"] is None] if read else []
            results = [right(read, case) for case in given] if read else []
            row = [sum(calls for calls, _ in results), sum(every for _, every in results), len(results)]
            total[reader] = [a + b for a, b in zip(total[reader], row, strict=True)]
            cells += f"{_score(row):>18}"
        own = [by_our_rule(name, case) for case in cases(name)]
        passed, count = passed + sum(own), count + len(own)
        print(f"{name:16}{cells}{f'{sum(own)}/{len(own)}':>14}")
    print(f"{'all':16}" + "".join(f"{_score(total[r]):>18}" for r in READERS) + f"{f'{passed}/{count}':>14}")


def _score(row: Sequence[int]) -> str:
    return f"{row[0]} / {row[1]} of {row[2]}" if row[2] else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=1_000_000, help="characters")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for one reading")
    parser.add_argument("--formats", default=",".join(FORMATS))
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    names = args.formats.split(",")
    readers = {
        name: {reader: read for reader, make in READERS.items() if (read := make(name)) is not None} for name in names
    }
    print_right(names, readers)
    print_speed(names, readers, args.size, args.limit)


if __name__ == "__main__":
    main()
