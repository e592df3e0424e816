"""Where in a prompt a text stands: the stretch between control tokens that holds it.

Templates write turns between control tokens, and those have a few shapes in the
whole field: <|...|>, <start_of_turn>, [INST], <s>, DeepSeek's full-width bars.
The stretch between two of them is one block: a turn, a header, or a section of
its own. Plain tags such as <tools> are text inside a block.
"""

from __future__ import annotations

import re

CONTROL = re.compile(
    r"<\|[^<>|\n]{1,60}\|?>|<[^<>|\n]{1,60}\|>"  # <|im_start|>, <|turn>, <turn|>
    r"|<｜[^<>｜\n]{1,60}｜>"  # DeepSeek
    r"|</?(?:start|end)_of_(?:turn|image|role|text|utterance)>|</?(?:s|(?:bos|eos|pad|unk)(?:_token)?)>"
    r"|\[/?[A-Z][A-Z_]{2,40}\]"  # Mistral
    r"|\[(?:gMASK|sMASK)\]|<sop>|\]<\][^<>\n]{1,40}\[>\["  # GLM, MiniMax
)


def block(prompt: str, position: int) -> tuple[int, int]:
    """The stretch of text without control tokens around a position."""
    start, end = 0, len(prompt)
    for match in CONTROL.finditer(prompt):
        if match.end() <= position:
            start = match.end()
        elif match.start() > position:
            end = match.start()
            break
    return start, end


def blocks(prompt: str) -> list[tuple[int, int]]:
    """Every stretch between control tokens that is not empty."""
    edges = [0, *(edge for match in CONTROL.finditer(prompt) for edge in match.span()), len(prompt)]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]
