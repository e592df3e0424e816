"""parse --format NAME FILE: the text, the reasoning and the calls in a model's raw output, with what is wrong.

FILE holds one raw output, or a list of cases as JSON, each an object with "output" and, where it has them, "id",
"tools" and "prompt_suffix"; "-" is standard input. With --format auto the format is the one that the template of
--model writes. With --format all every format reads the output, and what each makes of it stands side by side.

The JSON result is one object for one output; a list for a list of cases, for all formats, or for both, each with the
"case" it belongs to. A call's "problem" is the first of its "problems".
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from formats import conversation as conversations
from formats.errors import FormatsError
from formats.parsers import FORMATS
from formats.reading.as_json import to_json
from formats.types import Conversation, JsonObject, ToolDefinition

FOUND, ALL = "auto", "all"


@dataclass(frozen=True, slots=True)
class Case:
    """One output of the file, with what is needed to read it."""

    output: str
    tools: Sequence[ToolDefinition] = ()
    prompt_suffix: str | None = None  # None: what the format's own template writes
    id: Any = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a raw output, or cases as JSON; - is stdin")
    parser.add_argument("--format", default=FOUND, metavar="NAME", help=f"{', '.join(FORMATS)}, {FOUND} or {ALL}")
    parser.add_argument("--model", metavar="MODEL", help="as for render: its template shows the format")
    parser.add_argument("--tools", metavar="FILE", help='tool definitions as JSON: a list, or {"tools": [...]}')
    parser.add_argument(
        "--prompt-suffix", metavar="TEXT", help=r"how the prompt ended, such as <think>; \n is a line break"
    )
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("--fail", action="store_true", help="exit 1 if a call has a problem")


def run(args: argparse.Namespace) -> int:
    """0: all read, whatever is wrong with the calls; 1: with --fail, a call has a problem; 2: the call is wrong."""
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # whatever a library has to say is no part of the result
        suffix = None if args.prompt_suffix is None else args.prompt_suffix.replace("\\n", "\n")
        given = Case(_text(args.file), _tools(args.tools), suffix)
        cases = _cases(given)
        names, found_suffix = _formats(args.format, args.model)
        results = [
            ({} if cases is None else {"case": case.id}) | _read(case, name, found_suffix)
            for case in ([given] if cases is None else cases)
            for name in names
        ]
    if args.json:
        single = cases is None and args.format != ALL
        print(json.dumps(results[0] if single else results, ensure_ascii=False, indent=1), file=out)
    else:
        print("\n".join(_lines(result, out.isatty()) for result in results), file=out)
    return int(args.fail and any(call["problem"] for result in results for call in result["calls"]))


def _read(case: Case, name: str, found_suffix: str) -> JsonObject:
    suffix = case.prompt_suffix
    if suffix is None:
        suffix = found_suffix or FORMATS[name].prompt_suffix
    return to_json(name, FORMATS[name].parse(case.output, case.tools, suffix), case.tools)


# What is asked for


def _formats(chosen: str, model: str | None) -> tuple[tuple[str, ...], str]:
    """The formats to read with, and how the prompts of the model end, as far as it matters for reading."""
    if chosen == ALL:
        return tuple(FORMATS), ""
    if chosen in FORMATS:
        return (chosen,), ""
    if chosen != FOUND:
        raise FormatsError(f"no format is called {chosen!r}; there are {', '.join(FORMATS)}, {FOUND} and {ALL}")
    if model is None:
        raise FormatsError(f"--format {FOUND} needs a --model whose template shows the format; or name a format")
    return _written_by(model)


def _written_by(model: str) -> tuple[tuple[str, ...], str]:
    """As `_formats`. Imports stand here because they take a second, which who names a format need not wait for."""
    from formats import detect, sources
    from formats import template as chat
    from formats.sandbox import Sandbox

    loaded = sources.load(model, allow_files=True)
    name, text = chat.choose(loaded.templates, Conversation((detect.ASK,), (detect.TOOL,)))
    with Sandbox() as sandbox:
        render = chat.render if loaded.pinned else sandbox.render
        found = detect.detect_one(name, text, lambda t, c: render(t, c, loaded.special_tokens, detect.DATE))
    if found.format is None:
        raise FormatsError(f"the template of {loaded.title} writes no call that any format reads; name a --format")
    return (found.format,), found.prompt_suffix


def _text(path: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise FormatsError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FormatsError(f"{path}: not UTF-8 text: byte {error.start} does not belong there") from None


def _tools(path: str | None) -> Sequence[ToolDefinition]:
    if path is None:
        return ()
    value = conversations.parse_json(_text(path).removeprefix("\ufeff"))
    if isinstance(value, dict) and "tools" in value:
        value = value["tools"]
    return conversations.parse_tools(json.dumps(value)) or ()


def _cases(given: Case) -> list[Case] | None:
    """The cases in the text, if it is a list of them and no output itself."""
    try:
        value = json.loads(given.output.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(case, dict) and isinstance(case.get("output"), str) for case in value):
        return None
    return [
        Case(
            output=case["output"],
            tools=case["tools"] if isinstance(case.get("tools"), list) else given.tools,
            prompt_suffix=str(case.get("prompt_suffix", given.prompt_suffix or "")),
            id=case.get("id", place),
        )
        for place, case in enumerate(value)
    ]


# What is shown


def _lines(result: JsonObject, on_terminal: bool) -> str:
    """A heading, the text by part, and each call with its problems."""
    case = f" · case {result['case']}" if "case" in result else ""
    lines = [f"===== {result['format']}{case} · {len(result['calls'])} calls"]
    lines += [f"{part}: {result[part]}" for part in ("reasoning", "content") if result[part]]
    for call in result["calls"]:
        arguments = "?" if call["arguments"] is None else json.dumps(call["arguments"], ensure_ascii=False)
        lines.append(f"call {call['start']}-{call['end']}: {call['name'] or '?'} {arguments}")
        for problem in call["problems"]:
            where = f" at {problem['path']}" if problem["path"] else ""
            lines.append(f"    {problem['kind']}{where}: {problem['message']}")
    return _shown("\n".join(lines), on_terminal)


def _shown(text: str, on_terminal: bool) -> str:
    """The text itself, but for a terminal, which a stranger's output must not get to command."""
    if not on_terminal:
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
