"""open LINK: the state that a link holds, {"version", "models", "conversation", "output", "date", "view"}.

LINK is a whole address, its fragment or the code alone. A link longer than a command line takes, or a state file,
comes on standard input: LINK is then "-".
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from functools import partial

from formats import share


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("link", metavar="LINK", help="the link; - reads a link or a state file from standard input")
    parser.add_argument("--json", action="store_true", help="the state on one line")
    parser.add_argument("--render", action="store_true", help="its columns, as render --json prints them")


def run(args: argparse.Namespace) -> int:
    """0: opened; 1: rendered, and a column has an error; 2: the link is broken."""
    state = _state(args.link)
    if args.render:
        return _render(state)
    print(json.dumps(share.to_json(state), ensure_ascii=False, indent=None if args.json else 2))
    return 0


def _state(link: str) -> share.State:
    if link != "-":
        return share.decode(link)
    data = sys.stdin.buffer.read(share.MAX_FILE + 1)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return share.decode_file(data)
    return share.decode(data.decode("utf-8", "replace"))


def _render(state: share.State) -> int:
    """Only this needs the models. What has changed since the state was shared goes to standard error."""
    from formats import sources
    from formats.cli import render
    from formats.reopen import reopen
    from formats.sandbox import Sandbox

    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr), Sandbox() as sandbox:
        reopened = reopen(state, partial(sources.load_many, allow_files=True), sandbox)
        for change in reopened.changes:
            model = reopened.comparison.columns[change.column].model
            shown = "the shared prompt is shown" if change.restored else "today's prompt is shown"
            print(f"open: {model}: {change.message}; {shown}", file=sys.stderr)
        case = render.Case(None, state.conversation)
        return render.write_json(((case, column) for column in reopened.comparison.columns), out)
