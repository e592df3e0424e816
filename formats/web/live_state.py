"""Events of a run -> the state that the tab "Live" shows. Imported at the first run: it needs the whole engine."""

from __future__ import annotations

from formats.generate import report
from formats.generate.engine import Loading, Waiting
from formats.generate.loop import Answered, Event, Finished, Round
from formats.generate.run import Output, Piece
from formats.types import JsonObject


def add(column: JsonObject, event: Event) -> str | None:
    """Write an event into the column's state; words where the state should be shown at once."""
    rounds = column["rounds"]
    match event:
        case Waiting():
            return f"Waiting: {event.ahead} before you"
        case Loading():
            return event.words
        case Round():
            rounds.append(
                {**report.round_json(event), "text": "", "content": "", "reasoning": "", "calls": [], "results": []}
            )
            return ""
        case Piece():
            current = rounds[-1]
            current["text"] += event.text
            current["content"] += event.delta.content
            current["reasoning"] += event.delta.reasoning
            current["calls"] = [*current["calls"], *(report.call_json(call) for call in event.delta.calls)]
            current["tokens"], current["timings"] = event.tokens, report.timings_json(event.timings)
            return None
        case Output():
            output = report.output_json(event)
            parsed = output.pop("parsed")
            rounds[-1] |= output | {
                "content": parsed["content"],
                "reasoning": parsed["reasoning"] or "",
                "calls": parsed["calls"],
            }
            return ""
        case Answered():
            rounds[-1]["results"] = [*rounds[-1]["results"], report.answered_json(event)]
            return ""
        case Finished():
            column["ending"] = event.ending
            column["violations"] = list(event.violations)
            column["needed"] = [call.name for call in event.needed]
            return ""
    return None
