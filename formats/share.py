"""What the page shows <-> the text of a link, and the same as a file.

    http://host/#s=1.<deflate-raw JSON as base64url>.<CRC-32 of the JSON>

The state stands in the fragment, which no browser sends to a server, so nothing is stored and a link outlives every
restart. `1` is the version: a later one reads all earlier ones. The check at the end makes sure that a link that was
cut or changed on its way opens as an error and never as another prompt; it is hexadecimal because programs that find
links in text do not count a final `-` or `_` as theirs.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from formats import conversation as conversations
from formats import secret
from formats.errors import FormatsError
from formats.fields import fail
from formats.state import (
    VERSION,
    Difference,
    SharedModel,
    SharedOutput,
    State,
    differences,
    from_json,
    prompt_diff,
    refuse_version,
    state_of,
    to_json,
)
from formats.types import JsonObject

__all__ = [
    "Difference",
    "SharedModel",
    "SharedOutput",
    "State",
    "about",
    "decode",
    "decode_file",
    "differences",
    "encode",
    "encode_file",
    "link",
    "prompt_diff",
    "state_of",
    "to_json",
]

BASE = "http://127.0.0.1:7860/"  # where app.py serves the page unless it is told otherwise
MAX_LINK = 1_500_000  # characters; browsers take up to about 2 MB
MAX_JSON = 4_000_000  # bytes of JSON in a link: what a hostile one can make a server unpack
MAX_PERCENT = 100_000  # percent signs: only - _ and . may be encoded in a link, few of its characters
MAX_FILE = 16_000_000  # bytes of a file
MAX_VALUES = 200_000  # JSON values of one state
LONGEST_MESSAGE = 300  # characters of an error, which may repeat a stranger's text

_VERSION = re.compile(r"([0-9]{1,4})\.")
# What a sentence puts behind a link is not part of it.
_REST = re.compile(r"([0-9A-Za-z_-]+)\.([0-9a-f]{8})[.,;:!?)\]}*_]*")
# White space, quote marks and invisible characters that mail programs put around and into long links.
_MAIL = re.compile(r"[\s<>\"'\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+")
_DAMAGED = "some of its characters were lost or changed on the way; copy the whole link again, or ask for a file"


def link(state: State, base: str = BASE) -> str:
    """The address that opens `state` on the page at `base`, whose query and fragment are left out.

    A Space's query can hold `__sign`, its visitor's token. Raises what `encode` raises, and FormatsError (bad_base).
    """
    try:
        parts = urlsplit(base)
        fits = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    except ValueError:
        fits = False
    if not fits:
        raise FormatsError(f"{base[:200]!r} is no address of a page; it looks like https://host/path/", "bad_base")
    return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}#s={encode(state)}"


def encode(state: State) -> str:
    """The text behind `#s=`; the same state gives the same text.

    Raises FormatsError: secret; too_long_for_link; bad_state or bad_conversation for what JSON cannot hold.
    """
    body = _shareable(state)
    del body["version"]
    data = _dumped(body).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = base64.urlsafe_b64encode(packer.compress(data) + packer.flush()).decode().rstrip("=")
    text = f"{VERSION}.{packed}.{zlib.crc32(data):08x}"
    if len(text) > MAX_LINK or len(data) > MAX_JSON:
        raise FormatsError(
            f"too long for a link: {len(data):,} bytes make {len(text):,} characters, and a link holds up to "
            f"{MAX_JSON:,} and {MAX_LINK:,}. Save it as a file instead; dropping the file on the page opens it",
            "too_long_for_link",
        )
    return text


def decode(text: str) -> State:
    """The state in a link: a whole address, its fragment or the bare text, as mail programs and browsers change them.

    Raises FormatsError (bad_link) with one line for anything else.
    """
    try:
        version, rest = _opened(text)
        return _READERS[version](rest)
    except FormatsError as error:
        raise FormatsError(_one_line("this link cannot be opened", error), "bad_link") from None


def encode_file(state: State) -> str:
    """The state as JSON text for a file, in the shape of `to_json`. Raises what `encode` raises but for the length."""
    data = _dumped(_shareable(state), indent=2) + "\n"
    if (size := len(data.encode())) > MAX_FILE:
        raise FormatsError(f"too long to share: {size:,} bytes, and a file holds up to {MAX_FILE:,}", "too_large")
    return data


def decode_file(data: str | bytes) -> State:
    """The inverse of `encode_file`. Raises FormatsError (bad_file) with one line for anything else."""
    try:
        if not isinstance(data, str | bytes):
            fail("", "it is not text")
        if len(data) > MAX_FILE:
            fail("", f"it is larger than the {MAX_FILE:,} bytes that are read")
        return from_json(_loaded(data))
    except FormatsError as error:
        raise FormatsError(_one_line("this file cannot be opened", error), "bad_file") from None


def about(state: State) -> JsonObject:
    """What a link shows, to be said beside it: {"said": the last text, shortened, "tools", "models", "date"}."""
    said = [text for message in state.conversation.messages if isinstance(text := message.get("content"), str)]
    words = " ".join(said[-1].split()) if said else ""
    return {
        "said": f"{words[:60]}…" if len(words) > 60 else words,
        "tools": len(state.conversation.tools or ()),
        "models": len(state.models),
        "date": state.date.isoformat(),
    }


def _shareable(state: State) -> JsonObject:
    """The state's JSON, made sure that it can be read back and holds no secret."""
    try:
        _limit_values(to_json(state))
        value = to_json(from_json(to_json(state)))
    except FormatsError as error:
        kind = "bad_state" if error.kind == "bad_file" else error.kind
        raise FormatsError(_one_line("this cannot be shared", error), kind) from None
    secret.refuse(value)
    return value


def _dumped(value: JsonObject, indent: int | None = None) -> str:
    separators = (",", ":") if indent is None else None
    try:
        return json.dumps(value, ensure_ascii=False, separators=separators, indent=indent)
    except ValueError:  # Python's limit on the digits of a whole number
        raise FormatsError("a number of thousands of digits cannot be shared; write it as text", "bad_state") from None


def _opened(text: str) -> tuple[int, str]:
    """The version of a link and what stands behind it."""
    if not isinstance(text, str):  # raw requests reach this too
        fail("", "it is not text")
    if len(text) > 2 * MAX_LINK or text.count("%") > MAX_PERCENT:
        fail("", f"it has {len(text):,} characters, and no link has more than {MAX_LINK:,}")
    payload = _payload(_MAIL.sub("", unquote(unquote(text))))
    match = _VERSION.match(payload)
    if not match:
        fail("", "it holds no state; a link of this page has #s= with a version, a point and a long code")
    version = int(match[1])
    if version not in _READERS:
        refuse_version(version)
    return version, payload[match.end() :]


def _payload(text: str) -> str:
    """What stands behind s= in the fragment of an address, or the text itself if it is no address."""
    fragment = text.partition("#")[2] or text
    named = re.search(r"(?:^|[?&])s=([^&#]*)", fragment)
    return named[1] if named else fragment


def _read_1(rest: str) -> State:
    match = _REST.fullmatch(rest)
    if not match:
        fail("", _DAMAGED)
    try:
        packed = base64.b64decode(match[1] + "=" * (-len(match[1]) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj(-15)
        data = unpacker.decompress(packed, MAX_JSON + 1)
    except (binascii.Error, zlib.error):
        fail("", _DAMAGED)
    if len(data) > MAX_JSON:
        fail("", f"it unpacks to more than {MAX_JSON:,} bytes, and no link does")
    if not unpacker.eof or unpacker.unused_data or zlib.crc32(data) != int(match[2], 16):
        fail("", _DAMAGED)
    value = _loaded(data)
    return from_json({**value, "version": 1} if isinstance(value, dict) else value)


# Every version that there ever was; none is taken out.
_READERS: dict[int, Callable[[str], State]] = {1: _read_1}


def _loaded(data: str | bytes) -> Any:
    """The JSON value in a text, of a size that can be worked with."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail("", f"it is not UTF-8 text (byte {error.start:,})")
    value = conversations.parse_json(text)
    _limit_values(value)
    return value


def _limit_values(value: object) -> None:
    """Refuses too many values before anything is built from them; depth is checked where they are read."""
    waiting, count = [value], 0
    while waiting:
        item = waiting.pop()
        inner = list(item.values()) if isinstance(item, dict) else item if isinstance(item, list | tuple) else ()
        count += len(inner)
        if count > MAX_VALUES:
            fail("", f"it holds more than {MAX_VALUES:,} JSON values")
        waiting.extend(inner)


def _one_line(what: str, error: FormatsError) -> str:
    message = " ".join(error.message.split())
    return f"{what}: {message[:LONGEST_MESSAGE]}{'…' if len(message) > LONGEST_MESSAGE else ''}"
