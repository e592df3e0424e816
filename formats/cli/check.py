"""check MODEL...: what each model's template really does with tools, with proof, as scores and stars."""

from __future__ import annotations

import argparse
import json
import sys

from formats import card, sources, verdict
from formats.errors import FormatsError
from formats.sandbox import Sandbox
from formats.types import JsonObject, LoadedModel, Verdict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="catalogue name, Hub id, folder, file or snapshot:NAME"
    )
    parser.add_argument("--json", action="store_true", help="every finding with its evidence, as JSON")
    parser.add_argument("--markdown", action="store_true", help="a report card for each model")
    parser.add_argument("--fail-under", type=float, metavar="STARS", help="exit 1 if a model has fewer stars")


def run(args: argparse.Namespace) -> int:
    """0: all judged; 1: a model could not be judged, or has fewer stars than asked for."""
    if args.json and args.markdown:
        print("check: --json and --markdown exclude each other", file=sys.stderr)
        return 2
    loaded = sources.load_many(args.models, allow_files=True)
    with Sandbox() as sandbox:
        judged = [_judge(name, model, sandbox) for name, model in zip(args.models, loaded, strict=True)]
    verdicts = [v for v in judged if isinstance(v, Verdict)]
    if args.json:
        print(
            json.dumps([v if isinstance(v, dict) else verdict.to_json(v) for v in judged], ensure_ascii=False, indent=1)
        )
    elif args.markdown:
        print("\n".join(card.markdown(v) for v in verdicts))
    else:
        for v in verdicts:
            print(_line(v))
    for failure in judged:
        if isinstance(failure, dict):
            print(f"{failure['model']}: {failure['error']['message']}", file=sys.stderr)
    too_few = args.fail_under is not None and any(v.score.stars < args.fail_under for v in verdicts)
    return int(too_few or len(verdicts) < len(judged))


def _judge(name: str, model: LoadedModel | FormatsError, sandbox: Sandbox) -> Verdict | JsonObject:
    """A verdict, or the reason there is none in the shape of a JSON row."""
    try:
        if isinstance(model, FormatsError):
            raise model
        return verdict.judge(model, sandbox)
    except FormatsError as error:
        return {"model": name, "error": {"kind": error.kind, "message": error.message}}


def _line(v: Verdict) -> str:
    stars = "★" * v.score.stars + "☆" * (5 - v.score.stars)
    return (
        f"{stars}  tools {v.score.tool_support:3}  output {v.score.output_format:3}  {v.format or '-':15} "
        f"{v.title}: {verdict.worst(v)}"
    )
