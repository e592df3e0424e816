"""generate MODEL --conversation FILE: let a model continue the prompt of a column, and read what it writes.

MODEL gives the prompt, as for render. What generates is the completions server of LIVE_BASE_URL (with LIVE_API_KEY),
else LIVE_MODEL in this process, else the weights of MODEL itself. Text goes to standard error as it comes, the
result to standard output as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from formats.cli.render import iso_date, read_cases
from formats.errors import BadConversation, FormatsError
from formats.generate.base import Sampling, Stop
from formats.types import Conversation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="catalogue name, Hub id, folder, .gguf file or snapshot:NAME")
    parser.add_argument("--conversation", required=True, metavar="FILE", help="conversation as JSON; - is stdin")
    parser.add_argument("--max-tokens", type=int, default=256, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--temperature", type=float, default=0.0, metavar="T", help="0, the default, is greedy")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P")
    parser.add_argument("--stop", action="append", default=[], metavar="TEXT", help="more stop strings")
    parser.add_argument("--style", default="native", help="how tools are told: native, react or json_in_system")
    parser.add_argument("--format", help="the output format to read (the one the template teaches)")
    parser.add_argument("--tool-choice", default="auto", help="auto, none, required or the name of a tool")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="generate again with the tools' results")
    parser.add_argument("--results", default="{}", metavar="JSON", help="tool name -> the result to give back")
    parser.add_argument("--date", type=iso_date, metavar="YYYY-MM-DD", help="the date that templates read (today)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="the time that the run may take")
    parser.add_argument("--json", action="store_true", help="the result on one line")


def run(args: argparse.Namespace) -> int:
    """0: generated; 1: it was stopped or out of time; 2: nothing could be generated."""
    from formats import sources
    from formats.generate import report, weights
    from formats.generate.engine import Engine
    from formats.generate.loop import Setup, converse
    from formats.sandbox import Sandbox

    conversation = _conversation(args.conversation)
    sampling = Sampling(args.max_tokens, args.temperature, args.top_p, args.seed, tuple(args.stop))
    out, stop = sys.stdout, Stop(args.seconds)
    with contextlib.redirect_stdout(sys.stderr), _stopped_by_interrupt(stop), Sandbox() as sandbox:
        name = str(weights.find(args.model, _say)) if args.model.endswith(".gguf") else args.model
        model = sources.load(name, allow_files=True)
        engine = Engine(model=_weights(name, model.source.repo))
        setup = Setup(
            model=model,
            sampling=sampling,
            sandbox=sandbox,
            today=args.date or datetime.date.today(),
            clock=lambda: datetime.datetime.now(datetime.UTC),
            style=args.style,
            format=args.format,
            tool_choice=args.tool_choice,
            rounds=args.rounds,
            results=_results(args.results),
        )
        transcript = report.Transcript(model.name, setup)
        for event in converse(engine, conversation, setup, stop):
            transcript.add(event)
            print(report.words(event), end="", file=sys.stderr, flush=True)
    print(json.dumps(transcript.to_json(), ensure_ascii=False, indent=None if args.json else 2), file=out)
    return int(transcript.ending in ("stopped", "time"))


@contextlib.contextmanager
def _stopped_by_interrupt(stop: Stop) -> Iterator[None]:
    """What has come until Ctrl-C is still a result."""
    before = signal.signal(signal.SIGINT, lambda *_: stop.now())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _weights(name: str, repo: str | None) -> str:
    """The repository that a catalogue name stands for, or what was typed."""
    return name if repo is None or Path(name).exists() else repo


def _conversation(file: str) -> Conversation:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise FormatsError(f"{file}: {error.strerror}", "bad_input") from None
    cases = read_cases(raw)
    if len(cases) != 1:
        raise FormatsError(f"{file} holds {len(cases)} conversations: give one", "bad_input")
    conversation = cases[0].conversation
    if isinstance(conversation, BadConversation):
        raise conversation
    return conversation


def _results(text: str) -> dict[str, str]:
    try:
        value: Any = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise FormatsError('--results needs JSON such as {"get_time": "12:00"}', "bad_input")
    return {
        name: item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for name, item in value.items()
    }


def _say(words: str) -> None:
    print(words, file=sys.stderr)
