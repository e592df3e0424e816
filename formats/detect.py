"""Which output format does a chat template teach? The one that reads back the call the template itself writes.

We render a conversation whose assistant makes one call with words that occur
nowhere else, cut off the prompt that came before it, and give the rest to every
parser. Whoever returns exactly that call knows the format. Where several do,
the one that leaves the least text unexplained wins, then the one that would
have written the very same characters. Nobody is asked for markers or an order.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from formats import template as chat
from formats.errors import FormatsError
from formats.parsers import FORMATS
from formats.text import common_prefix
from formats.types import Conversation, Detection, FunctionCall, Message, ParsedOutput, ToolDefinition

Render = Callable[[str, Conversation], str]  # (template text, conversation) -> prompt; raises FormatsError

CALL: FunctionCall = {"name": "probe_call_kqz", "arguments": {"probe_key_kqz": "probe value kqz"}}
CALL_ID = "kqz00call"  # nine letters and digits: the strictest rule that templates have for ids
NAMED_ID = f"functions.{CALL['name']}:0"  # for Kimi's templates, which write the id alone: it holds the name
TOOL: ToolDefinition = {
    "type": "function",
    "function": {
        "name": "probe_call_kqz",
        "description": "Probe.",
        "parameters": {
            "type": "object",
            "properties": {"probe_key_kqz": {"type": "string", "description": "Probe."}},
            "required": ["probe_key_kqz"],
        },
    },
}
ASK: Message = {"role": "user", "content": "Hi"}
DATE = datetime.date(2024, 7, 26)


def detect(templates: Mapping[str, str], special_tokens: Mapping[str, str]) -> tuple[Detection, ...]:
    """Judge each of a model's templates, in their order. Templates are rendered in this process."""

    def render(text: str, conversation: Conversation) -> str:
        return chat.render(text, conversation, special_tokens, DATE)

    return tuple(detect_one(name, text, render) for name, text in templates.items())


def detect_output(text: str, tools: Sequence[ToolDefinition] = (), suffix: str = "") -> tuple[str, ...]:
    """The formats that read an output best, all equally well; none where no format finds a call in it.

    Best is who finds the most calls without a problem, then who leaves the least of the text unexplained; first among
    them stand those that would have written the same characters. `suffix` is how the prompt ended; without one each
    format reads the text as behind its own prompts. Where no call is whole, only what the text itself shows counts.
    """
    read = {name: f.parse(text, tools, suffix or f.prompt_suffix) for name, f in FORMATS.items()}
    if not any(map(_whole, read.values())):
        behind_own = [name for name, f in FORMATS.items() if f.prompt_suffix and not suffix]
        read |= {name: FORMATS[name].parse(text, tools) for name in behind_own}
    ranks = {name: _rank(parsed) for name, parsed in read.items() if parsed.calls}
    first = min(ranks.values(), default=None)
    best = [name for name, rank in ranks.items() if rank == first]
    return tuple(sorted(best, key=lambda name: (not _would_write(name, read[name]), name)))


def _whole(parsed: ParsedOutput) -> list[FunctionCall]:
    """The calls without a problem."""
    return [{"name": c.name or "", "arguments": c.arguments or {}} for c in parsed.calls if c.problem is None]


def _rank(parsed: ParsedOutput) -> tuple[int, int, int, int]:
    """The lower the better a format reads an output."""
    whole = len(_whole(parsed))
    return -whole, len(parsed.calls) - whole, len(parsed.content), len(parsed.reasoning or "")


def _would_write(name: str, parsed: ParsedOutput) -> bool:
    calls = _whole(parsed)
    return bool(calls) and FORMATS[name].write(calls).strip() in parsed.raw


def detect_one(name: str, template: str, render: Render) -> Detection:
    """Judge one template; `render` decides where it runs."""
    refusal, unread = None, None
    for call_id, arguments_as, value in _WAYS:
        try:
            cuts = _written_call(template, render, call_id, value)
        except FormatsError as error:
            refusal = refusal or error.message
            continue
        if not all(CALL["name"] in text for text, _ in cuts):
            continue
        best = min((rank for text, suffix in cuts for rank in _readings(text, suffix)), default=None)
        if best is not None:
            _, _, output_format, text, suffix = best
            return Detection(name, output_format, text, arguments_as, suffix)
        unread = unread or Detection(name, None, cuts[-1][0], arguments_as)
    return unread or Detection(name, None, refusal=refusal)


_WAYS: tuple[tuple[str, Literal["object", "text"], object], ...] = (
    (CALL_ID, "object", CALL["arguments"]),
    (CALL_ID, "text", json.dumps(CALL["arguments"])),
    (NAMED_ID, "object", CALL["arguments"]),
)


def _written_call(
    template: str, render: Render, call_id: str, arguments: object
) -> tuple[tuple[str, str], tuple[str, str]]:
    """What the template writes for an assistant turn with one call. Raises FormatsError where it is refused."""
    function = {"name": CALL["name"], "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    turn = {"role": "assistant", "content": "", "tool_calls": [call]}
    after = render(template, _conversation(ASK, turn))  # type: ignore[arg-type]  # a Message by shape
    plain, opened = (render(template, _conversation(ASK, generation=g)) for g in (False, True))
    return cut_turn(after, plain, opened)


def cut_turn(after: str, plain: str, opened: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """The assistant's turn at the end of a prompt, as (text, what a parser must know of the prompt before it).

    `plain` and `opened` are the prompts before it without and with the generation
    prompt. Cut twice, because a generation prompt that ends in "<think>" shares its
    "<" with "<tool_call>": behind as much of the generation prompt as the turn
    begins with, and behind the prompt without it.
    """
    start, cut = common_prefix(after, plain), common_prefix(after, opened)
    return (after[cut:], after[start:cut]), (after[start:], "")


def _conversation(*messages: Message, generation: bool = False) -> Conversation:
    return Conversation(messages, (TOOL,), add_generation_prompt=generation)


def _readings(text: str, suffix: str) -> list[tuple[int, bool, str, str, str]]:
    """(characters left unexplained, not as it would write it, name, text, suffix) of all that read exactly the call."""
    found = []
    for output_format in FORMATS.values():
        parsed = output_format.parse(text, (TOOL,), suffix)
        if [(c.name, c.arguments, c.problem) for c in parsed.calls] == [(CALL["name"], CALL["arguments"], None)]:
            unexplained = sum(s.end - s.start for s in parsed.segments if s.kind == "content")
            canonical = _canonical(output_format.name) in text
            found.append((unexplained, not canonical, output_format.name, text, suffix))
    return found


@lru_cache(maxsize=64)
def _canonical(name: str) -> str:
    return FORMATS[name].write([CALL])
