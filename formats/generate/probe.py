"""The probe set: how well a model keeps to an output format, measured on small questions with known answers.

Each question is asked under each way of telling tools, greedily and with the same three tools; each raw output is
kept. What counts, each a part of the one before: a call that can be read, valid against the tools, to the right tool,
with the right arguments. A small model makes calls only after it has seen some, so one answered question for each tool
stands before, told in the same way; without these examples one sees what the description of a format alone is worth.
"""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from formats.compare import Sandbox
from formats.errors import FormatsError
from formats.generate import report, styles
from formats.generate.base import Sampling, Stop
from formats.generate.engine import Engine, Loading, Waiting
from formats.generate.loop import Finished, Setup, converse
from formats.generate.run import Output
from formats.generate.tools import DEFINITIONS, ToolError, calculate
from formats.types import Conversation, JsonObject, LoadedModel, Message

MAX_TOKENS = 96  # of one output: a call with room for a thought
DATE = datetime.date(2026, 1, 1)  # that templates read, so that a run can be repeated
SYSTEM = "Use the tools to answer."
SCORES = ("parsed", "valid", "right_tool", "right_arguments")


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and the call that answers it."""

    text: str
    tool: str
    arguments: Mapping[str, str]


def _questions() -> tuple[Question, ...]:
    cities = [
        *("Paris", "London", "Berlin", "Madrid", "Rome", "Tokyo", "Beijing", "Lisbon", "Oslo", "Cairo", "Sydney"),
        *("Toronto", "Mumbai", "Nairobi", "Vienna", "New York", "São Paulo"),
    ]
    weather = ("What is the weather in {}?", "Do I need an umbrella in {} today?", "How warm is it in {} right now?")
    sums = [
        *("12 + 30", "6 * 7", "100 / 8", "2 ** 10", "(3 + 4) * 5", "81 - 19", "15 * 15", "1000 - 1", "7 * 8 + 9"),
        *("144 / 12", "25 * 4 - 1", "(10 - 3) ** 2", "0.5 * 60", "99 + 101", "3 * (2 + 2)", "18 / 4", "5 * 5 * 5"),
    ]
    counting = ("What is {}?", "Compute {}.", "Please calculate {} for me.")
    zones = [
        *("Europe/Paris", "Europe/London", "Asia/Tokyo", "America/New_York", "Australia/Sydney", "Africa/Cairo"),
        *("Asia/Shanghai", "America/Los_Angeles", "Europe/Berlin", "Africa/Lagos", "America/Lima", "Asia/Seoul"),
        *("Asia/Dubai", "America/Toronto", "Europe/Madrid", "Asia/Singapore"),
    ]
    clock = ("What time is it in the time zone {}?", "Tell me the current time in {}.")
    return (
        *(Question(weather[i % 3].format(c), "get_weather", {"city": c}) for i, c in enumerate(cities)),
        *(Question(counting[i % 3].format(s), "calculator", {"expression": s}) for i, s in enumerate(sums)),
        *(Question(clock[i % 2].format(z), "current_time", {"timezone": z}) for i, z in enumerate(zones)),
    )


QUESTIONS = _questions()


def _answered(question: Question, result: JsonObject, answer: str) -> tuple[Message, ...]:
    """A question that is none of the set, with its call, result and answer."""
    function: Any = {"name": question.tool, "arguments": dict(question.arguments)}
    call_id = f"{question.tool.replace('_', '')[:8]}0"
    return (
        {"role": "user", "content": question.text},
        {"role": "assistant", "content": "", "tool_calls": [{"id": call_id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": call_id, "name": question.tool, "content": json.dumps(result)},
        {"role": "assistant", "content": answer},
    )


EXAMPLES: tuple[Message, ...] = (
    *_answered(
        Question("What is the weather in Geneva?", "get_weather", {"city": "Geneva"}),
        {"city": "Geneva", "temperature_celsius": 12, "sky": "sunny"},
        "It is 12 degrees and sunny in Geneva.",
    ),
    *_answered(
        Question("What is 20 + 5?", "calculator", {"expression": "20 + 5"}),
        {"result": 25},
        "20 + 5 is 25.",
    ),
    *_answered(
        Question("What time is it in the time zone Asia/Kolkata?", "current_time", {"timezone": "Asia/Kolkata"}),
        {"time": "2026-01-01T05:30:00+05:30", "timezone": "Asia/Kolkata"},
        "It is 05:30 in the time zone Asia/Kolkata.",
    ),
)


@dataclass(frozen=True, slots=True)
class Item:
    """One question under one way of telling tools, and what became of it."""

    style: str
    question: Question
    raw: str
    calls: tuple[JsonObject, ...]
    scores: Mapping[str, bool]
    prompt_tokens: int | None
    tokens: int
    seconds: float
    stop_reason: str
    problem: str = ""  # why nothing was generated


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run has come; `items` where one more is done."""

    done: int
    of: int
    words: str
    items: tuple[Item, ...] | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """A run of the set: the same model, count and seed ask the same questions and get the same answers."""

    model: LoadedModel
    count: int
    seed: int
    sandbox: Sandbox
    style_names: Sequence[str] = field(default_factory=lambda: tuple(styles.STYLES))
    examples: bool = True  # an answered question for each tool stands before the one that is asked

    def questions(self) -> list[Question]:
        """`count` of the questions, chosen by the seed. Raises FormatsError for a count that there is not."""
        if not 1 <= self.count <= len(QUESTIONS):
            raise FormatsError(f"the probe set has 1 to {len(QUESTIONS)} prompts, not {self.count}", "bad_input")
        return random.Random(self.seed).sample(QUESTIONS, self.count)

    def run(self, engine: Engine, stop: Stop) -> Iterator[Step]:
        """Ask all; others get their turn between two questions. Ends early, with what there is, when stopped."""
        questions = self.questions()
        of = len(questions) * len(self.style_names)
        items: tuple[Item, ...] = ()
        for question in questions:
            for style in self.style_names:
                words = f"{styles.find(style).title}: {question.text}"
                yield Step(len(items), of, words)
                item = None
                for news in self._ask(engine, question, style, stop):
                    if isinstance(news, Item):
                        item = news
                    else:
                        yield Step(len(items), of, news or words)
                if item is None or stop.reason:
                    return
                items = (*items, item)
                yield Step(len(items), of, words, items)

    def _ask(self, engine: Engine, question: Question, style: str, stop: Stop) -> Iterator[str | Item]:
        before: tuple[Message, ...] = ({"role": "system", "content": SYSTEM}, *(EXAMPLES if self.examples else ()))
        conversation = Conversation((*before, {"role": "user", "content": question.text}), DEFINITIONS)
        setup = Setup(
            model=self.model,
            sampling=Sampling(max_tokens=MAX_TOKENS, seed=self.seed),
            sandbox=self.sandbox,
            today=DATE,
            clock=lambda: datetime.datetime(DATE.year, DATE.month, DATE.day, tzinfo=datetime.UTC),
            style=style,
        )
        output = None
        try:
            for event in converse(engine, conversation, setup, stop):
                if isinstance(event, Output):
                    output = event
                elif isinstance(event, Finished):
                    break
                yield event.words if isinstance(event, Loading) else _waiting(event)
        except FormatsError as error:
            if error.kind != "template_refused":
                raise
            yield Item(style, question, "", (), dict.fromkeys(SCORES, False), None, 0, 0.0, "", error.message)
        if output is not None:
            yield judged(style, question, output)


def _waiting(event: object) -> str:
    return f"Waiting: {event.ahead} before you" if isinstance(event, Waiting) else ""


def judged(style: str, question: Question, output: Output) -> Item:
    """What the first call of an output is worth."""
    calls = output.parsed.calls
    first = calls[0] if calls else None
    parsed = first is not None and first.name is not None and first.arguments is not None
    valid = parsed and all(call.problem is None for call in calls)
    right_tool = valid and first is not None and len(calls) == 1 and first.name == question.tool
    right = right_tool and first is not None and _same(question, first.arguments or {})
    return Item(
        style=style,
        question=question,
        raw=output.text,
        calls=tuple(report.call_json(call) for call in calls),
        scores=dict(zip(SCORES, (parsed, valid, right_tool, right), strict=True)),
        prompt_tokens=output.server_prompt_tokens if output.prompt_ids is None else output.prompt_ids,
        tokens=output.tokens,
        seconds=output.timings.total,
        stop_reason=output.stop_reason,
    )


def _same(question: Question, arguments: JsonObject) -> bool:
    """Arguments that mean the same: a sum that is worth the same, a city in any case."""
    if set(arguments) != set(question.arguments):
        return False
    for name, wanted in question.arguments.items():
        given = str(arguments[name])
        if name == "expression":
            try:
                if abs(calculate(given) - calculate(wanted)) > 1e-9:
                    return False
            except ToolError:
                return False
        elif given.strip().casefold() != wanted.casefold():
            return False
    return True


def to_json(probe: Probe, items: Sequence[Item]) -> JsonObject:
    """The report: a row for each way of telling tools, and every item with its raw output."""
    return {
        "model": probe.model.name,
        "seed": probe.seed,
        "prompts": probe.count,
        "examples": probe.examples,
        "max_tokens": MAX_TOKENS,
        "rows": [_row(style, [item for item in items if item.style == style]) for style in probe.style_names],
        "items": [_item(item) for item in items],
    }


def _row(style: str, items: Sequence[Item]) -> JsonObject:
    counted = {name: sum(item.scores[name] for item in items) for name in SCORES}
    return {
        "style": style,
        "title": styles.find(style).title,
        "prompts": len(items),
        **counted,
        "prompt_tokens": sum(item.prompt_tokens or 0 for item in items),
        "tokens": sum(item.tokens for item in items),
        "seconds": round(sum(item.seconds for item in items), 2),
    }


def _item(item: Item) -> JsonObject:
    return {
        "style": item.style,
        "question": item.question.text,
        "wanted": {"name": item.question.tool, "arguments": dict(item.question.arguments)},
        "raw": item.raw,
        "calls": list(item.calls),
        **item.scores,
        "prompt_tokens": item.prompt_tokens,
        "tokens": item.tokens,
        "seconds": round(item.seconds, 3),
        "stop_reason": item.stop_reason,
        "problem": item.problem,
    }
