"""render MODEL... --conversation FILE: the exact prompt and token ids each model gets.

FILE holds one conversation, {"messages", "tools", "options"}, or a list of such cases, each with an "id"; "-" is
standard input. The JSON result is a list of objects, cases in order and models in order within each; with more than
64 models they are done 64 at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from formats import conversation as conversations
from formats import snapshot, sources
from formats.compare import Loaded, blank, compare
from formats.errors import BadConversation, FormatsError
from formats.sandbox import Sandbox
from formats.types import Column, Conversation, JsonObject

BATCH = 64  # models at a time: transformers keeps 128 compiled templates, and a model may need two


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation of the file, or what is wrong with it."""

    id: Any  # None for a conversation that has no id; the place in the list for a case without one
    conversation: Conversation | BadConversation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="catalogue name, Hub id, id@revision, folder, .jinja file, tokenizer_config.json or snapshot:NAME",
    )
    parser.add_argument(
        "--conversation", required=True, metavar="FILE", help="conversation or cases as JSON; - is stdin"
    )
    parser.add_argument("--date", type=iso_date, metavar="YYYY-MM-DD", help="the date that templates read (today)")
    parser.add_argument("--json", action="store_true", help="a list of results as JSON")
    parser.add_argument("--all-snapshot", action="store_true", help="every template of the installed snapshot")


def run(args: argparse.Namespace) -> int:
    """0: all rendered; 1: a column has an error; 2: the call is wrong."""
    names = [*args.models, *(f"{snapshot.SCHEME}{n}" for n in (snapshot.names() if args.all_snapshot else []))]
    if not names:
        print("render: name at least one MODEL, or give --all-snapshot", file=sys.stderr)
        return 2
    try:
        raw = sys.stdin.buffer.read() if args.conversation == "-" else Path(args.conversation).read_bytes()
    except OSError as error:
        print(f"render: {args.conversation}: {error.strerror}", file=sys.stderr)
        return 2
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # whatever a library has to say is no part of the result
        columns = rendered(names, read_cases(raw), args.date or datetime.date.today())
        return write_json(columns, out) if args.json else write_text(columns, out)


def read_cases(raw: bytes) -> list[Case]:
    """The conversations of a file. One that cannot be read is a case too, and costs the others nothing."""
    try:
        value = conversations.parse_json(_decoded(raw))
    except BadConversation as error:
        return [Case(None, error)]
    cases = _list_of_cases(value)
    if cases is None:
        return [_case(value, value.get("id") if isinstance(value, dict) else None, "")]
    return [
        _case(case, case.get("id", index) if isinstance(case, dict) else index, f"[{index}]")
        for index, case in enumerate(cases)
    ]


def rendered(names: Sequence[str], cases: Sequence[Case], today: datetime.date) -> Iterator[tuple[Case, Column]]:
    with Sandbox() as sandbox:
        for start in range(0, len(names), BATCH):
            batch = names[start : start + BATCH]
            models: list[Loaded] = [
                (name, model) if isinstance(model, FormatsError) else model
                for name, model in zip(batch, sources.load_many(batch, allow_files=True), strict=True)
            ]
            for case in cases:
                for column in _columns(case, models, today, sandbox):
                    yield case, column
            if len(names) > BATCH:
                print(f"{min(start + BATCH, len(names))} of {len(names)} models", file=sys.stderr)


def _columns(case: Case, models: Sequence[Loaded], today: datetime.date, sandbox: Sandbox) -> Iterable[Column]:
    if isinstance(case.conversation, Conversation):
        return compare(case.conversation, models, today, sandbox).columns
    return [blank(model, case.conversation) for model in models]


def write_json(columns: Iterable[tuple[Case, Column]], out: TextIO) -> int:
    """A list, one result a line, written as it comes."""
    failed, separator = False, "[\n"
    for case, column in columns:
        print(separator, json.dumps(result(case, column), ensure_ascii=False), sep="", end="", file=out)
        failed, separator = failed or column.error is not None, ",\n"
    print("\n]", file=out)
    return int(failed)


def result(case: Case, column: Column) -> JsonObject:
    """One object of the JSON result."""
    source, tokens = column.source, column.tokens
    return {
        "case": case.id,
        "model": column.model,
        "source": {
            "kind": source.kind,
            "repo": source.repo,
            "revision": source.revision,
            "template_sha256": source.template_sha256,
            "template": column.template_name,
            "files": [{"role": f.role, "path": f.path, "sha256": f.sha256, "package": f.package} for f in source.files],
            "note": source.note,
        },
        "special_tokens": dict(column.special_tokens),
        "prompt": column.prompt,
        "error": column.error and {"kind": column.error.kind, "message": column.error.message},
        "tokens": tokens and {"count": tokens.count, "ids": list(tokens.ids)},
        "tokens_missing": column.tokens_missing,
    }


def write_text(columns: Iterable[tuple[Case, Column]], out: TextIO) -> int:
    failed = False
    for case, column in columns:
        print(_text(case, column, out.isatty()), file=out)
        failed = failed or column.error is not None
    return int(failed)


def _text(case: Case, column: Column, on_terminal: bool) -> str:
    """A heading, the prompt or the reason there is none, and the count."""
    source = column.source
    where = " ".join(filter(None, [source.kind, source.repo, source.revision and f"@{source.revision}"]))
    heading = f"===== {column.model} · {where}" + ("" if case.id is None else f" · case {case.id}")
    if column.prompt is None:
        error = column.error
        return f"{heading}\n{error.kind}: {_shown(error.message, on_terminal)}\n" if error else heading
    count = f"{column.tokens.count} tokens" if column.tokens else f"tokens not counted: {column.tokens_missing}"
    return f"{heading}\n{_shown(column.prompt, on_terminal)}\n----- {count}\n"


def _shown(text: str, on_terminal: bool) -> str:
    """The text itself, but for a terminal, which a stranger's template must not get to command."""
    if not on_terminal:
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def _case(value: object, id_: object, where: str) -> Case:
    try:
        return Case(id_, conversations.from_json(value, where))
    except BadConversation as error:
        return Case(id_, error)


def _list_of_cases(value: object) -> list[object] | None:
    """The list, unless it is one of messages, each of which has a role."""
    if not isinstance(value, list) or not value or any(isinstance(item, dict) and "role" in item for item in value):
        return None
    return value


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadConversation(f"not UTF-8 text: byte {error.start} does not belong there; save it as UTF-8") from None


def iso_date(text: str) -> datetime.date:
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-07-04") from None
