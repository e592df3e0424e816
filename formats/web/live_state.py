"""Events of a run -> the state that the tab "Live" shows. Imported at the first run: it needs the whole engine."""

from __future__ import annotations

from typing import Any

from formats.conversation import to_json as conversation_json
from formats.generate import report
from formats.generate.engine import Loading, Waiting
from formats.generate.loop import Event, Finished, Round
from formats.generate.results import Answered
from formats.generate.run import Output, Piece
from formats.tool_calls import Call, dumps
from formats.types import JsonObject, ParsedToolCall


def column(style: str, again: JsonObject) -> JsonObject:
    """A column before its first event; `again` is what begins it again where it has to wait for results."""
    return {
        "style": style,
        "answered": [],  # results typed for the round before the first of these rounds
        "rounds": [],
        "ending": None,
        "violations": [],
        "problem": "",
        "again": again,
        "waits": None,
    }


def loading(news: Loading) -> list[Any]:
    """What is being done for the model, as one of the page's words: its key, its values."""
    return ["live.loading", {"what": news.words}]


def add(column: JsonObject, event: Event) -> str | list[Any] | None:
    """Write an event into the column's state; words, or a key of the page's words with its values, to show at once."""
    rounds = column["rounds"]
    match event:
        case Waiting():
            return ["live.waiting", {"n": event.ahead}]
        case Loading():
            return loading(event)
        case Round():
            rounds.append(
                {**report.round_json(event), "text": "", "content": "", "reasoning": "", "calls": [], "results": []}
            )
            return None  # shown with the first piece
        case Piece():
            current = rounds[-1]
            words = "" if event.text and not current["text"] else None
            current["text"] += event.text
            current["content"] += event.delta.content
            current["reasoning"] += event.delta.reasoning
            current["calls"] = [*current["calls"], *map(_call, event.delta.calls)]
            current["tokens"], current["timings"] = event.tokens, report.timings_json(event.timings)
            return words
        case Output():
            output = report.output_json(event)
            parsed = output.pop("parsed")
            rounds[-1] |= output | {
                "content": parsed["content"],
                "reasoning": parsed["reasoning"] or "",
                "calls": [_call(call) for call in event.parsed.calls],
            }
            return ""
        case Answered():
            if rounds:
                rounds[-1]["results"] = [*rounds[-1]["results"], report.answered_json(event)]
            else:
                column["answered"] = [*column["answered"], report.answered_json(event)]
            return ""
        case Finished():
            column["ending"] = event.ending
            column["violations"] = list(event.violations)
            column["needed"] = [call.name for call in event.needed]
            if event.ending == "result_needed":
                column["waits"] = _waits(event, column["again"])
            return ""
    return None


def _call(call: ParsedToolCall) -> JsonObject:
    """A call with its arguments as text as well: a browser would not keep the digits of a long number."""
    return {**report.call_json(call), "written": dumps(call.arguments)}


def _waits(event: Finished, again: JsonObject) -> JsonObject:
    """What the page needs to ask for results and to go on. The conversation is text, so that no digit is lost there."""
    return {
        **again,
        "conversation": dumps(conversation_json(event.conversation)),
        "calls": [{"id": str(call.id), "name": call.name, "arguments": _written(call)} for call in event.needed],
    }


def _written(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else dumps(call.arguments or {})
