"""The pieces of a streamed answer -> the answer as its API would have given it whole.

Pieces are what stands in the events or lines of a stream. Texts are joined as they come, calls by their index, and what
cannot be joined is reported: a stream that ends too early, an error in the middle, pieces of another answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from formats.interop.base import Loss
from formats.interop.taking import objects
from formats.tool_calls import loads
from formats.types import JsonObject

CUT_OFF = "the stream ends before the answer does; what there is of it is taken"
_REPEATED = ("role", "type", "id", "object")  # said once, or the same again


@dataclass(frozen=True, slots=True)
class Joined:
    """A whole answer."""

    body: JsonObject
    pieces: int
    lost: tuple[Loss, ...] = ()


def joined(values: Sequence[object], ended: bool = False) -> Joined | None:
    """The answer in the pieces of a stream; None where the first value is no piece, or an answer by itself.

    `ended`: the stream has said that it is complete.
    """
    pieces = [value for value in values if isinstance(value, dict)]
    api = next((api for api in _APIS if pieces and api.is_piece(pieces[0])), None)
    if api is None or (api.is_last(pieces[0]) and not _has_delta(pieces[0])):
        return None
    losses: list[Loss] = []
    own = [piece for piece in pieces if api.is_piece(piece)]
    mine = [piece for piece in own if api.answer(piece) in (None, api.answer(own[0]))]
    if not api.goes_on:
        mine = mine[: next((count for count, piece in enumerate(mine, 1) if api.is_last(piece)), len(mine))]
    body = api.join(mine, losses)
    if len(mine) < len(own):
        losses.append(Loss("", f"pieces of another answer are not taken: {len(own) - len(mine):,}"))
    losses += [Loss("", f"the server broke off: {_message(piece)}") for piece in pieces if _is_error(piece)]
    if not ended and not any(map(api.is_last, mine)):
        losses.append(Loss("", CUT_OFF))
    return Joined(body, len(mine), tuple(losses))


def is_piece(value: object) -> bool:
    return isinstance(value, dict) and any(api.is_piece(value) for api in _APIS)


def _is_error(piece: JsonObject) -> bool:
    return piece.get("type") == "error" or ("error" in piece and not is_piece(piece))


def _message(piece: JsonObject) -> str:
    error = piece.get("error", piece)
    return str(error.get("message", error) if isinstance(error, dict) else error)[:200]


def grown(old: Any, new: Any, key: str = "") -> Any:
    """A value and what a further piece adds to it: texts are joined, objects key by key, lists item by item."""
    if new is None:
        return old
    if isinstance(new, list):
        return _lengthened(old if isinstance(old, list) else [], new)
    if isinstance(new, dict):
        known = old if isinstance(old, dict) else {}
        return {**known, **{name: grown(known.get(name), value, name) for name, value in new.items()}}
    if isinstance(old, str) and isinstance(new, str):
        return new or old if key in _REPEATED else old + new
    return new


def _lengthened(old: list[Any], new: list[Any]) -> list[Any]:
    """Items with the index of one that is there belong to it, unless they have an id of their own."""
    items = list(old)
    for item in new:
        place = next((n for n in reversed(range(len(items))) if _is_same(items[n], item)), None)
        if place is None:
            items.append(grown(None, item))
        else:
            items[place] = grown(items[place], _without_repeated_name(items[place], item))
    return items


def _is_same(one: Any, two: Any) -> bool:
    if not (isinstance(one, dict) and isinstance(two, dict)) or two.get("index") is None:
        return False
    return one.get("index") == two["index"] and two.get("id") in (None, "", one.get("id"))


def _without_repeated_name(call: JsonObject, piece: JsonObject) -> JsonObject:
    """Some servers say id and name of a call in every piece of it."""
    before, now = call.get("function"), piece.get("function")
    if piece.get("id") and isinstance(before, dict) and isinstance(now, dict) and before.get("name") == now.get("name"):
        return {**piece, "function": {**now, "name": ""}}
    return piece


def _counted(value: object, default: int = 0) -> int:
    return value if isinstance(value, int) else default


# OpenAI: chat completions and completions


def _openai(pieces: Sequence[JsonObject], losses: list[Loss]) -> JsonObject:
    body: JsonObject = {}
    choices: dict[int, JsonObject] = {}
    for piece in pieces:
        body |= {key: value for key, value in piece.items() if key != "choices" and value is not None}
        for choice in objects(piece.get("choices")):
            place = _counted(choice.get("index"))
            said = {("message" if key == "delta" else key): value for key, value in choice.items() if key != "index"}
            choices[place] = grown(choices.get(place, {"index": place}), said)
    for choice in choices.values():
        message = choice.get("message")
        for call in objects(message.get("tool_calls")) if isinstance(message, dict) else []:
            call.pop("index", None)
    body["object"] = str(body.get("object", "")).removesuffix(".chunk")
    return {**body, "choices": [choices[place] for place in sorted(choices)] or [{"message": {"content": ""}}]}


def _is_openai(piece: JsonObject) -> bool:
    choices = piece.get("choices")
    return isinstance(choices, list) and not any("message" in choice for choice in objects(choices))


def _has_delta(piece: JsonObject) -> bool:
    return any("delta" in choice for choice in objects(piece.get("choices")))


def _openai_ends(piece: JsonObject) -> bool:
    return any(choice.get("finish_reason") for choice in objects(piece.get("choices")))


# Anthropic


_ANTHROPIC = (
    *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
    *("message_delta", "message_stop", "ping"),
)
_DELTAS = ("text", "thinking", "signature", "partial_json")  # the texts that a delta adds to


def _anthropic(pieces: Sequence[JsonObject], losses: list[Loss]) -> JsonObject:
    body: JsonObject = {"type": "message", "role": "assistant"}
    blocks: dict[int, JsonObject] = {}
    for piece in pieces:
        place = _counted(piece.get("index"))
        match piece:
            case {"type": "message_start", "message": dict(message)}:
                body |= message
            case {"type": "content_block_start", "content_block": dict(block)}:
                blocks[place] = dict(block)
            case {"type": "content_block_delta", "delta": dict(delta)}:
                blocks[place] = grown(blocks.get(place, {}), {key: delta[key] for key in _DELTAS if key in delta})
                if "citation" in delta:
                    blocks[place] = grown(blocks[place], {"citations": [delta["citation"]]})
            case {"type": "message_delta"}:
                body |= piece.get("delta") or {}
                body = grown(body, {"usage": piece.get("usage")})
    for number, place in enumerate(sorted(blocks)):
        block = blocks[place]
        text = block.pop("partial_json", "")
        if "type" not in block:
            block["type"] = "thinking" if "thinking" in block else "tool_use" if text else "text"
            losses.append(Loss(f"content[{number}]", "its beginning is not in the stream"))
        if text:
            value = loads(text)
            block["input"] = text if value is None else value
            if value is None:
                losses.append(Loss(f"content[{number}].input", "is cut off; it is kept as text"))
    return {**body, "content": [blocks[place] for place in sorted(blocks)]}


# Ollama


def _ollama(pieces: Sequence[JsonObject], losses: list[Loss]) -> JsonObject:
    body: JsonObject = {}
    for piece in pieces:
        said = {key: grown(body.get(key), piece[key]) for key in ("message", "response", "thinking") if key in piece}
        body |= piece | said
    return body


def _is_ollama(piece: JsonObject) -> bool:
    return "done" in piece and ("message" in piece or "response" in piece)


# OpenAI Responses


_ENDS = ("response.completed", "response.incomplete", "response.failed")


def _responses(pieces: Sequence[JsonObject], losses: list[Loss]) -> JsonObject:
    body: JsonObject = {}
    items: dict[int, JsonObject] = {}
    for piece in pieces:
        place = _counted(piece.get("output_index"))
        match piece:
            case {"response": dict(response)}:
                body = response
            case {"type": "response.output_item.added" | "response.output_item.done", "item": dict(item)}:
                items[place] = dict(item)
            case {"type": "response.function_call_arguments.delta", "delta": str(delta)}:
                items[place] = grown(items.get(place, {}), {"arguments": delta})
            case {"type": str(kind), "delta": str(delta)} if kind in _PARTS:
                key, part, index = _PARTS[kind]
                said = [{"index": _counted(piece.get(index)), **part, "text": delta}]
                items[place] = grown(items.get(place, {}), {key: said})
    output = body.get("output") or [items[place] for place in sorted(items)]
    for item in objects(output):
        for part in (*objects(item.get("content")), *objects(item.get("summary"))):
            part.pop("index", None)
    return {**body, "object": "response", "output": output}


_PARTS: dict[str, tuple[str, JsonObject, str]] = {  # a delta's kind -> the list of its item, the part, its place
    "response.output_text.delta": ("content", {"type": "output_text"}, "content_index"),
    "response.reasoning_text.delta": ("content", {"type": "reasoning_text"}, "content_index"),
    "response.reasoning_summary_text.delta": ("summary", {"type": "summary_text"}, "summary_index"),
}


# Gemini


def _gemini(pieces: Sequence[JsonObject], losses: list[Loss]) -> JsonObject:
    body: JsonObject = {}
    candidates: dict[int, JsonObject] = {}
    for piece in pieces:
        body |= piece
        for candidate in objects(piece.get("candidates")):
            place = _counted(candidate.get("index"))
            before = candidates.get(place, {})
            content = candidate.get("content")
            content = content if isinstance(content, dict) else {}
            parts = _parts([*before.get("content", {}).get("parts", []), *objects(content.get("parts"))])
            candidates[place] = {**before, **candidate, "content": {"role": "model", **content, "parts": parts}}
    return {**body, "candidates": [candidates[place] for place in sorted(candidates)]}


def _parts(parts: Sequence[JsonObject]) -> list[JsonObject]:
    """Texts that follow each other are one text; a thought is not joined with an answer."""
    whole: list[JsonObject] = []
    for part in parts:
        if whole and "text" in part and "text" in whole[-1] and part.get("thought") == whole[-1].get("thought"):
            whole[-1] = {**whole[-1], **part, "text": f"{whole[-1]['text']}{part['text']}"}
        else:
            whole.append(part)
    return whole


@dataclass(frozen=True, slots=True)
class _Api:
    """How one API streams."""

    is_piece: Callable[[JsonObject], bool]
    is_last: Callable[[JsonObject], bool]
    answer: Callable[[JsonObject], object]  # which answer a piece says it belongs to; None where it does not say
    join: Callable[[Sequence[JsonObject], list[Loss]], JsonObject]
    goes_on: bool = False  # behind the last piece: OpenAI and Gemini count there


_APIS = (
    _Api(_is_openai, _openai_ends, lambda piece: piece.get("id"), _openai, goes_on=True),
    _Api(
        lambda piece: piece.get("type") in _ANTHROPIC, lambda p: p["type"] == "message_stop", lambda p: None, _anthropic
    ),
    _Api(_is_ollama, lambda piece: piece.get("done") is True, lambda piece: None, _ollama),
    _Api(
        lambda piece: str(piece.get("type")).startswith("response."),
        lambda piece: piece["type"] in _ENDS,
        lambda piece: None,
        _responses,
    ),
    _Api(
        lambda piece: isinstance(piece.get("candidates"), list),
        lambda piece: any("finishReason" in candidate for candidate in objects(piece["candidates"])),
        lambda piece: piece.get("responseId"),
        _gemini,
        goes_on=True,
    ),
)
