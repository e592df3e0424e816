"""python -m formats COMMAND: the engine of the page on the command line.

Results go to standard output; whatever else there is to say, to standard error. Exit status: 0 done, 1 done with
errors in the result, 2 a wrong call.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import sys
from collections.abc import Sequence

from formats import cli
from formats.errors import FormatsError

COMMANDS = tuple(info.name for info in pkgutil.iter_modules(cli.__path__))


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    args = _parser(given).parse_args(given)
    for stream in (sys.stdout, sys.stderr):  # half a surrogate pair becomes its escape, in JSON as well as in text
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except FormatsError as error:
        print(f"{args.command}: {error.message}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """Only the command that is called is imported: most of them need much that the others do not."""
    parser = argparse.ArgumentParser(prog="python -m formats", description=_summary(__doc__))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    called = [name for name in given[:1] if name in COMMANDS]
    for name in called or COMMANDS:
        module = importlib.import_module(f"{cli.__name__}.{name}")
        command = commands.add_parser(name, help=_summary(module.__doc__), description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _summary(docstring: str | None) -> str:
    return (docstring or "").partition("\n")[0].partition(": ")[2]


if __name__ == "__main__":
    sys.exit(main())
