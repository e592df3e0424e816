"""Text -> the ids and spans that a model's own tokenizer gives it, with add_special_tokens=False.

Control tokens are cut out of a text before anything else is done to it, and what stands between two of them is
encoded by itself. Such a segment therefore always has the same ids, and an edit of one message re-encodes only that
message. Where a tokenizer makes an exception to this, its texts are encoded whole.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tokenizers import AddedToken, Tokenizer

from formats.errors import FormatsError
from formats.tokenizer_faults import fault, steps
from formats.types import Tokens

CACHE_BYTES = 4 * 1024 * 1024  # for each tokenizer

# Steps that see only the piece of text they are given, never where in the whole text it stands.
LOCAL_STEPS = frozenset(
    {
        *("Sequence", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Replace", "Prepend"),
        *("Precompiled", "BertNormalizer", "Nmt", "ByteLevel", "Split", "Digits", "Punctuation", "Whitespace"),
        *("WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit", "FixedLength", "UnicodeScripts", "Metaspace"),
    }
)


class TokenizerFast:
    """A `tokenizers.Tokenizer` that truncates nothing, pads nothing and adds no token of its own.

    Its ids are those of `PreTrainedTokenizerFast(tokenizer_object=tokenizer).encode(text, add_special_tokens=False)`.
    It takes the tokenizer over: nobody else may change it. Safe to share between threads.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = False  # "<s>" in a text is the control token, as transformers has it
        self._tokenizer = tokenizer
        added = tokenizer.get_added_tokens_decoder().values()
        self.special_tokens = frozenset(token.content for token in added if not token.content.isspace())
        self._fault = fault(tokenizer)
        self._segments = None if self._fault else _segments(tokenizer)

    def ids(self, text: str) -> list[int]:
        """Raises FormatsError: bad_text for text that no tokenizer can read, bad_tokenizer for one that never ends."""
        self._check()
        if self._segments is not None and self._segments.can_cut(text):
            return self._segments.ids(text)
        return _encode(self._tokenizer, text)

    def tokens(self, text: str) -> Tokens:
        """Ids with the span of characters each covers; in order, and without gaps.

        The bytes of one character may be spread over several tokens: all of them then have that character's span.
        White space that the tokenizer counts to no token belongs to the one that follows.
        """
        self._check()
        with _worded(text):
            encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans: list[tuple[int, int]] = []
        covered = 0
        for start, end in encoding.offsets:
            spans.append((min(start, covered), max(end, min(start, covered))))
            covered = max(covered, end)
        if spans and covered < len(text):
            spans[-1] = (spans[-1][0], len(text))
        return Tokens(tuple(encoding.ids), tuple(spans))

    def _check(self) -> None:
        if self._fault is not None:
            raise FormatsError(self._fault, "bad_tokenizer")


class _Segments:
    """A text cut at its control tokens, and the ids of the pieces in between, the last used ones kept."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        first = [t for t in tokenizer.get_added_tokens_decoder().values() if t.content and not t.normalized]
        known = ((t.content, tokenizer.token_to_id(t.content)) for t in first if not _is_greedy(t))
        self._controls = {content: token_id for content, token_id in known if token_id is not None}
        self._control = re.compile(_any_of(self._controls))
        self._greedy = re.compile(_any_of(t.content for t in first if _is_greedy(t)))
        self._kept: OrderedDict[str, array[int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def can_cut(self, text: str) -> bool:
        """Tokens that also take neighbouring white space, or only match as whole words, are left to the tokenizer."""
        return self._greedy.search(text) is None

    def ids(self, text: str) -> list[int]:
        ids: list[int] = []
        position = 0
        for control in self._control.finditer(text):
            if control.start() > position:
                ids.extend(self._segment(text[position : control.start()]))
            ids.append(self._controls[control.group()])
            position = control.end()
        if position < len(text):
            ids.extend(self._segment(text[position:]))
        return ids

    def _segment(self, text: str) -> array[int]:
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        ids = array("I", _encode(self._tokenizer, text))
        with self._lock:
            if text not in self._kept:
                self._kept[text] = ids
                self._bytes += _size(text, ids)
            while self._bytes > CACHE_BYTES:
                self._bytes -= _size(*self._kept.popitem(last=False))
        return ids


def _segments(tokenizer: Tokenizer) -> _Segments | None:
    """None where a tokenizer's texts have to be encoded whole."""
    try:
        return _Segments(tokenizer) if _is_local(tokenizer) else None
    except RecursionError:  # hundreds of tokens that are each other's beginning: nobody's vocabulary, but a file may
        return None


def _encode(tokenizer: Tokenizer, text: str) -> list[int]:
    with _worded(text):
        ids: list[int] = tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids  # fast: without offsets
    return ids


def _size(text: str, ids: array[int]) -> int:
    """Bytes, with an allowance for the objects around them."""
    return 4 * len(text) + ids.itemsize * len(ids) + 300


@contextmanager
def _worded(text: str) -> Iterator[None]:
    """Whatever goes wrong inside the tokenizers library, in words; a panic of its Rust code is no Exception."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        lone = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
        reason = f"it holds {lone!r}, half of a character (a lone surrogate)" if lone else str(error)
        raise FormatsError(f"the tokenizer cannot read this text: {reason}", "bad_text") from error


def _is_greedy(token: AddedToken) -> bool:
    return bool(token.lstrip or token.rstrip or token.single_word)


def _is_local(tokenizer: Tokenizer) -> bool:
    """Whether each piece of a text is encoded without regard to what stands around it."""
    if getattr(tokenizer.model, "dropout", None):
        return False
    parts = [steps(part) for part in (tokenizer.normalizer, tokenizer.pre_tokenizer)]
    return all(
        part is not None and all(step["type"] in LOCAL_STEPS and step.get("prepend_scheme") != "first" for step in part)
        for part in parts
    )


def _any_of(words: Iterable[str]) -> str:
    """A regular expression for the longest of the words that begins at a place; matches nothing if there are none.

    Common beginnings are written once, so that hundreds of reserved tokens cost no more than a few.
    """
    trie: dict[str, Any] = {}
    for word in words:
        node = trie
        for character in word:
            node = node.setdefault(character, {})
        node[""] = {}
    return _pattern(trie) if trie else "(?!)"


def _pattern(node: Mapping[str, Any]) -> str:
    stem = ""
    while len(node) == 1 and "" not in node:
        ((character, node),) = node.items()
        stem += re.escape(character)
    branches = [re.escape(character) + _pattern(rest) for character, rest in node.items() if character]
    if not branches:
        return stem
    return f"{stem}(?:{'|'.join(branches)}){'?' if '' in node else ''}"
