"""link MODEL... --conversation FILE: a link that opens this conversation for these models, with all it needs.

The models are loaded and rendered, so that the link knows which revision, which template and which prompt it shows.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import sys
from pathlib import Path

from formats import share, state
from formats.cli import render
from formats.compare import versions
from formats.errors import FormatsError
from formats.types import Comparison, Conversation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="+", metavar="MODEL", help="as for render")
    parser.add_argument("--conversation", required=True, metavar="FILE", help="one conversation as JSON; - is stdin")
    parser.add_argument("--output", metavar="FILE", help="a model's raw output to carry along")
    parser.add_argument(
        "--date", type=render.iso_date, metavar="YYYY-MM-DD", help="the date that templates read (today)"
    )
    parser.add_argument("--base", default=share.BASE, metavar="URL", help=f"the address of the page ({share.BASE})")


def run(args: argparse.Namespace) -> int:
    """0: the link is complete; 1: it is there, but a model could not be loaded; 2: the call is wrong."""
    if len(args.models) > state.MAX_MODELS:
        raise FormatsError(f"{len(args.models)} models are more than the {state.MAX_MODELS} that a link holds")
    cases = render.read_cases(_read(args.conversation))
    if len(cases) != 1:
        raise FormatsError(f"{args.conversation} holds {len(cases)} conversations, and a link holds one")
    conversation = cases[0].conversation
    if not isinstance(conversation, Conversation):
        raise conversation
    output = None if args.output is None else share.SharedOutput(_text(args.output))
    today = args.date or datetime.date.today()
    with contextlib.redirect_stdout(sys.stderr):  # whatever a library has to say is no part of the result
        columns = tuple(column for _, column in render.rendered(args.models, cases, today))
    missing = [column for column in columns if column.source.template_sha256 is None]
    for column in missing:
        why = column.error.message if column.error else "no template"
        print(f"link: {column.model}: {why}; the link holds its name alone", file=sys.stderr)
    shown = Comparison(conversation, today.isoformat(), columns, versions())
    print(share.link(share.state_of(shown, output), args.base))
    return int(bool(missing))


def _read(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise FormatsError(f"{path}: {error.strerror}") from None


def _text(path: str) -> str:
    try:
        return _read(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatsError(f"{path}: not UTF-8 text: byte {error.start} does not belong there") from None
