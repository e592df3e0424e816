"""DeepSeek V3.1: a name and a JSON object for each call, all calls in one section.

<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>
{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>

Nothing stands between the separator and the object; the line is broken here only
for its length. R1's distilled Qwen 3 writes V3's layout although servers map it to
this one: its calls are read, and called malformed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from formats.parsers.base import OutputFormat, read_turn, response_template
from formats.parsers.deepseek_v3 import CALL, CALL_END, SECTION, SECTION_END, SEP, STOPS, openers
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall


def read(reader: Reader) -> Wait[None]:
    yield from read_turn(reader, openers("bare"), stops=STOPS)


def write(calls: Sequence[FunctionCall]) -> str:
    written = (f"{CALL}{c['name']}{SEP}{json.dumps(c['arguments'], ensure_ascii=False)}{CALL_END}" for c in calls)
    return SECTION + "".join(written) + SECTION_END


FORMAT = OutputFormat(
    name="deepseek_v31",
    title="DeepSeek V3.1",
    reference="https://huggingface.co/deepseek-ai/DeepSeek-V3.1",
    example=f'{SECTION}{CALL}get_weather{SEP}{{"city": "Paris"}}{CALL_END}{SECTION_END}',
    markers=(SECTION, CALL, SEP, CALL_END, SECTION_END),
    read=read,
    write=write,
    stops=STOPS,
    servers={"vllm": "deepseek_v31", "sglang": "deepseekv31"},
    response_template=response_template(
        "<｜Assistant｜>",
        f"(?:{SECTION})?\\s*{CALL}(?P<name>[^<｜]+){SEP}",
        f"{CALL_END}(?:\\s*{SECTION_END})?",
        {"name": "{name}", "arguments": "{content}"},
        "<｜end▁of▁sentence｜>",
    ),
    broken={
        f'{SECTION}{CALL}get_weather{SEP}{{"city": "Par': CallProblem.UNCLOSED,
        f'{SECTION}{CALL}get_weather{SEP}{{"city": "Paris"{CALL_END}{SECTION_END}': CallProblem.INVALID_JSON,
        f'{CALL}get_weather{SEP}{{"city": "Paris"}}{CALL_END}{SECTION_END}': CallProblem.MALFORMED,
        f"{SECTION}{CALL}{SEP}{{}}{CALL_END}{SECTION_END}": CallProblem.MISSING_NAME,
    },
)
