"""Events -> what is kept of a run: plain JSON, and the words that a terminal shows as it goes."""

from __future__ import annotations

from typing import Any

from formats.conversation import to_json as conversation_json
from formats.generate.engine import Loading, Waiting
from formats.generate.loop import Event, Finished, Round, Setup
from formats.generate.results import Answered
from formats.generate.run import Output, Piece, Timings
from formats.tool_calls import Call, arguments_object
from formats.types import JsonObject, ParsedOutput, ParsedToolCall


class Transcript:
    """A run as JSON: the last round's facts at the top, every round in `rounds`."""

    def __init__(self, model: str, setup: Setup) -> None:
        self._model = model
        self._setup = setup
        self._rounds: list[JsonObject] = []
        self._finished: Finished | None = None

    @property
    def ending(self) -> str:
        return self._finished.ending if self._finished is not None else "stopped"

    def add(self, event: Event) -> None:
        match event:
            case Round():
                self._rounds.append({**round_json(event), "results": []})
            case Output():
                self._rounds[-1] |= output_json(event)
            case Answered():
                self._rounds[-1]["results"].append(answered_json(event))
            case Finished():
                self._finished = event

    def to_json(self) -> JsonObject:
        last = self._rounds[-1] if self._rounds else {"text": "", "stop_reason": self.ending}
        finished = self._finished
        return {
            "model": self._model,
            "style": self._setup.style,
            **{key: value for key, value in last.items() if key not in ("round", "results")},
            "ending": self.ending,
            "violations": list(finished.violations) if finished else [],
            "needed": [call_needed(call) for call in finished.needed] if finished else [],
            "rounds": self._rounds,
            "conversation": conversation_json(finished.conversation) if finished else None,
        }


def round_json(event: Round) -> JsonObject:
    sampling = event.sampling
    return {
        "round": event.number,
        "generated_by": {"where": event.where, "model": event.backend},
        "prompt": event.prompt,
        "ids_count": event.prompt_ids,
        "format": event.format,
        "sampling": {
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "stop": list(sampling.stop),
        },
        "notes": list(event.notes),
    }


def call_needed(call: Call) -> JsonObject:
    """A call that waits for a result."""
    return {"id": call.id, "name": call.name, "arguments": arguments_object(call.arguments)}


def answered_json(event: Answered) -> JsonObject:
    return {"name": event.call.name, "content": event.content, "is_error": event.is_error, "by": event.by}


def output_json(output: Output) -> JsonObject:
    return {
        "text": output.text,
        "parsed": parsed_json(output.parsed),
        "tokens": output.tokens,
        "server_prompt_tokens": output.server_prompt_tokens,
        "timings": timings_json(output.timings),
        "stop_reason": output.stop_reason,
        "stopped_by": output.stopped_by,
    }


def timings_json(timings: Timings) -> JsonObject:
    """Seconds and tokens per second; null where there were too few tokens to tell."""
    return {
        "first_token": _rounded(timings.first_token),
        "total": _rounded(timings.total),
        "tokens_per_second": _rounded(timings.tokens_per_second),
    }


def parsed_json(parsed: ParsedOutput) -> JsonObject:
    return {
        "content": parsed.content,
        "reasoning": parsed.reasoning,
        "calls": [call_json(call) for call in parsed.calls],
        "segments": [[segment.kind, segment.start, segment.end] for segment in parsed.segments],
    }


def call_json(call: ParsedToolCall) -> JsonObject:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "start": call.start,
        "end": call.end,
        "problem": call.problem.value if call.problem else None,
        "schema_errors": [
            {"path": error.path, "keyword": error.keyword, "message": error.message} for error in call.schema_errors
        ],
        "id": call.id,
        "note": call.note,
    }


def words(event: Event) -> str:
    """What a terminal shows of an event: the text as it comes, all else on lines of its own."""
    match event:
        case Piece():
            return printable(event.text)
        case Round():
            count = "as text" if event.prompt_ids is None else f"{event.prompt_ids:,} ids"
            notes = "".join(f"[{note}]\n" for note in event.notes)
            return f"{notes}[round {event.number}: {event.backend} in {event.where}, prompt of {count}]\n"
        case Output():
            speed = event.timings.tokens_per_second
            rate = f", {speed:.1f} tokens/s" if speed else ""
            return f"\n[{event.stop_reason}: {event.tokens} tokens{rate}]\n"
        case Answered():
            return f"[{printable(str(event.call.name))} -> {printable(event.content)}]\n"
        case Finished():
            waits = (f"{printable(call.name)} waits for a result" for call in event.needed)
            return "".join(f"[{line}]\n" for line in (*event.violations, *waits))
        case Loading() | Waiting():
            return ""


def printable(text: str) -> str:
    """Text that commands no terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def _rounded(value: float | None) -> Any:
    return None if value is None else round(value, 4)
