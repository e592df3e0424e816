"""A read output -> escaped HTML: the text by part, the calls, the message, and how every other format reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from formats.parsers import FORMATS
from formats.parsers.base import OutputFormat
from formats.reading.message import to_message
from formats.reading.problems import WORDS
from formats.types import JsonObject, ParsedOutput, ParsedToolCall, ToolDefinition
from formats.web import views

SERVERS = {"vllm": "vLLM", "sglang": "SGLang", "llama.cpp": "llama.cpp"}


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the output as it is shown; parts with the same call number are one call."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Other:
    """How another format reads the same text."""

    format: OutputFormat
    calls: int
    problems: tuple[str, ...]
    content: int  # characters left as text
    same: bool  # it is the format that was chosen


def reading(
    text: str,
    name: str,
    prompt_suffix: str,
    how: tuple[str, JsonObject] | None,
    tools: Sequence[ToolDefinition],
) -> Markup:
    """The whole answer of the tab for one output; `how` is one of the page's words, and says who chose the format."""
    chosen = FORMATS[name]
    parsed = chosen.parse(text, tools, prompt_suffix)
    message = json.dumps(to_message(parsed), ensure_ascii=False, indent=2)
    return views.filled(
        "reading.html",
        format=chosen,
        how=how,
        suffix=prompt_suffix,
        parts=[Part(segment.kind, parsed.raw[segment.start : segment.end]) for segment in parsed.segments],
        calls=[(call, _arguments(call), _fault(call)) for call in parsed.calls],
        message=message,
        flags=_flags(chosen),
        template=chosen.response_template and json.dumps(chosen.response_template, ensure_ascii=False, indent=2),
        others=_others(parsed, name, prompt_suffix, tools),
    )


def _arguments(call: ParsedToolCall) -> str:
    return "" if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False, indent=2)


def _fault(call: ParsedToolCall) -> str:
    return WORDS[call.problem] if call.problem else ""


def _flags(chosen: OutputFormat) -> list[tuple[str, str]]:
    """What to start a server with so that it reads this format."""
    flags = [(SERVERS.get(name, name), f"--tool-call-parser {flag}") for name, flag in chosen.servers.items()]
    return [*flags, ("llama.cpp", "--jinja")]


def _others(parsed: ParsedOutput, name: str, suffix: str, tools: Sequence[ToolDefinition]) -> list[Other]:
    rows = []
    for other in FORMATS.values():
        found = parsed if other.name == name else other.parse(parsed.raw, tools, suffix)
        problems = tuple(dict.fromkeys(call.problem.value for call in found.calls if call.problem))
        rows.append(Other(other, len(found.calls), problems, len(found.content), other.name == name))
    return sorted(rows, key=lambda row: (-row.calls + len(row.problems), row.content, row.format.name))
