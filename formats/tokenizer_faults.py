"""What makes a tokenizer unusable here: one that would search for ever, or make a book of a letter.

A tokenizer.json is a stranger's program, if a small one. It runs in this process, so what could take the process down
is looked for in the file itself before any text is given to it. Regular expressions need no such care: the tokenizers
library gives up on one that takes too long.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tokenizers import Tokenizer

MOST_GROWTH = 1000  # characters that one may become; the widest Unicode itself knows is 18, in NFKC


def fault(tokenizer: Tokenizer) -> str | None:
    """Why no text should be given to this tokenizer, as the end of a sentence about it; None where nothing is wrong."""
    endless = _endless(tokenizer)
    if endless is not None:
        return (
            f"the tokenizer's own normalizer makes nothing of its added token {endless!r}, "
            "so that it would look for it for ever"
        )
    if _growth(tokenizer) > MOST_GROWTH:
        return f"the tokenizer's own steps make more than {MOST_GROWTH} characters of one"
    return None


def steps(part: Any) -> Iterator[Mapping[str, Any]] | None:
    """A normalizer, pre-tokenizer or post-processor and the steps inside it, in the form they have in tokenizer.json.

    None for one written in Python, which has no such form and of which nothing is known.
    """
    if part is None:
        return iter(())
    try:
        return _inside(json.loads(part.__getstate__()))
    except Exception:  # whatever the library raises where there is no such form
        return None


def _inside(step: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield step
    for inner in [*step.get("normalizers", []), *step.get("pretokenizers", []), *step.get("processors", [])]:
        yield from _inside(inner)


def _endless(tokenizer: Tokenizer) -> str | None:
    """An added token that is empty once it is normalized: the tokenizers library would match it for ever."""
    if tokenizer.normalizer is None:
        return None
    added = (token.content for token in tokenizer.get_added_tokens_decoder().values() if token.normalized)
    return next((content for content in added if not tokenizer.normalizer.normalize_str(content)), None)


def _growth(tokenizer: Tokenizer) -> float:
    """How many characters one may become at the most, as far as steps that can be told make it."""
    growth = 1.0
    for part in (tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.post_processor):
        for step in steps(part) or ():
            growth *= _step_growth(step)
    return growth


def _step_growth(step: Mapping[str, Any]) -> float:
    match step:
        case {"type": "Replace", "pattern": {"String": str(pattern)}, "content": str(content)} if pattern:
            return max(1.0, len(content) / len(pattern))
        case {"type": "Replace", "content": str(content)}:  # an expression may match between any two characters
            return 1.0 + len(content)
        case {"type": "Prepend", "prepend": str(text)}:
            return 1.0 + len(text)
        case {"type": "Precompiled", "precompiled_charsmap": str(written)}:
            return _longest_replacement(base64.b64decode(written))
        case {"type": "TemplateProcessing", "single": list(pieces)}:  # a text may stand in its template many times
            return float(max(1, sum("Sequence" in piece for piece in pieces)))
        case _:
            return 1.0


def _longest_replacement(charsmap: bytes) -> float:
    """SentencePiece's map: the size of a trie in four bytes, the trie, and texts that each end in a NUL.

    Source: sentencepiece/src/normalizer.cc, Normalizer::DecodePrecompiledCharsMap.
    """
    texts = charsmap[4 + int.from_bytes(charsmap[:4], "little") :]
    return float(max(1, *map(len, texts.split(b"\0"))))
