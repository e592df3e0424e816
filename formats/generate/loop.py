"""The tool loop: render, generate, read, answer the calls, append, and again.

What is sent is the prompt that the comparison shows for the same model and conversation. A call without a problem is
answered by a result that somebody typed, or by a built-in tool; one with a problem gets the problem as its result, so
that the model may try again. A call that a person has to answer ends the run with what there is so far, so that nobody
holds the model while he types; `go_on` takes it up again with the results.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from formats import template as chat
from formats.compare import Sandbox, compare
from formats.detect import Render, detect_one
from formats.errors import FormatsError
from formats.generate import styles, tools
from formats.generate.base import Backend, Sampling, Stop
from formats.generate.engine import Engine, Loading, Waiting
from formats.generate.results import Answered, Answers, given, message, waiting
from formats.generate.run import Output, Piece, Reading, generate
from formats.parsers import FORMATS
from formats.text import common_prefix
from formats.tool_calls import Call
from formats.types import Conversation, Detection, JsonObject, LoadedModel, Message, ParsedToolCall
from formats.validate import CHOICES, check_tool_choice

MOST_ROUNDS = 8

Ending = Literal["answer", "rounds", "result_needed", "stopped", "time"]


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything a run is made of beside the conversation."""

    model: LoadedModel
    sampling: Sampling
    sandbox: Sandbox
    today: datetime.date  # that templates read
    clock: tools.Clock  # that current_time reads
    style: str = styles.NATIVE  # how tools are told to the model
    format: str | None = None  # the format that outputs are read in; None: the one that the template or style teaches
    format_stops: bool = True  # also end at the stop strings of that format
    tool_choice: Any = "auto"
    rounds: int = 1
    results: Mapping[str, str] = field(default_factory=dict)  # typed beforehand: tool name -> what it returns
    by_hand: bool = False  # a person answers every call, also those of built-in tools


@dataclass(frozen=True, slots=True)
class Round:
    """One round begins: what is sent, and how the answer will be read."""

    number: int
    prompt: str
    prompt_ids: int | None
    ids: tuple[int, ...] | None
    backend: str
    where: Literal["process", "server"]
    format: str
    sampling: Sampling
    notes: tuple[str, ...] = ()  # what a reader must know


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over. `conversation` has every turn but the last output, which is in it where it makes calls."""

    ending: Ending
    conversation: Conversation
    needed: tuple[Call, ...] = ()  # calls of the last turn that wait for a result
    violations: tuple[str, ...] = ()  # what tool_choice asked for and the output did not keep to


Event = Loading | Waiting | Round | Piece | Output | Answered | Finished


@dataclass(frozen=True, slots=True)
class Prepared:
    """A conversation as it will be sent, and how its outputs are read. Made before anybody waits for a model."""

    prompt: str
    reading: Reading
    arguments_as: Literal["object", "text"]
    notes: tuple[str, ...]


def converse(engine: Engine, conversation: Conversation, setup: Setup, stop: Stop, before: int = 0) -> Iterator[Event]:
    """Generate, answer and generate again, at most `setup.rounds` times. Raises FormatsError.

    `stop` ends it at any moment; its time begins when it is the run's turn and the model is there. `before` is how
    many rounds there have been already.
    """
    if not 1 <= setup.rounds <= MOST_ROUNDS:
        raise FormatsError(f"rounds need a number from 1 to {MOST_ROUNDS}, not {setup.rounds}", "bad_input")
    if not 0 <= before < setup.rounds:
        raise FormatsError(f"of {setup.rounds} rounds {before} are used up", "bad_input")
    choice = check_choice(setup.tool_choice, conversation)
    if before:
        choice = Choice("auto")  # a call that was asked for has been made
    prepared = prepare(conversation, setup)
    with engine.turns.place() as place:
        for ahead in place.wait(stop):
            yield Waiting(ahead)
        backend: Backend | None = None
        for news in engine.ready(stop):
            if isinstance(news, Loading):
                yield news
            else:
                backend = news
        if backend is None:
            yield Finished(_ending(stop), conversation)
            return
        stop.start()
        yield from _rounds(backend, conversation, prepared, setup, choice, stop, before + 1)


def go_on(
    engine: Engine, conversation: Conversation, typed: Mapping[str, str], before: int, setup: Setup, stop: Stop
) -> Iterator[Event]:
    """Take up a run that waits for results: `typed` has one for each call by its id. Raises FormatsError."""
    conversation, answers = given(conversation, typed)
    yield from answers
    yield from converse(engine, conversation, setup, stop, before)


def _rounds(
    backend: Backend,
    conversation: Conversation,
    prepared: Prepared,
    setup: Setup,
    choice: Choice,
    stop: Stop,
    number: int,
) -> Iterator[Event]:
    while True:
        output = None
        for event in _round(backend, number, prepared, setup, stop):
            output = event if isinstance(event, Output) else output
            yield event
        assert output is not None
        calls = output.parsed.calls
        violations = choice.violations(calls)
        if output.stop_reason in ("stopped", "time"):
            yield Finished(_ending(stop), conversation, violations=violations)
            return
        if not calls or choice.kind == "none":
            yield Finished("answer", conversation, violations=violations)
            return
        answers = Answers(setup.clock, setup.results, setup.by_hand, choice.name)
        done = [found for call in calls if (found := answers.to(call, conversation)) is not None]
        yield from done
        conversation = extended(conversation, output, done, prepared)
        needed = waiting(conversation) if len(done) < len(calls) else ()
        if needed or number == setup.rounds:
            ending: Ending = "rounds" if number == setup.rounds else "result_needed"
            yield Finished(ending, conversation, needed, violations)
            return
        number += 1
        choice = Choice("auto")  # a call that was asked for has been made
        prepared = prepare(conversation, setup)


def _round(backend: Backend, number: int, prepared: Prepared, setup: Setup, stop: Stop) -> Iterator[Event]:
    ids = backend.ids(prepared.prompt)
    sampling = setup.sampling
    if setup.format_stops:
        stops = dict.fromkeys((*sampling.stop, *prepared.reading.format.stops))
        sampling = replace(sampling, stop=tuple(stops))
    known = ids if ids is not None else _own_ids(setup.model, prepared.prompt)
    yield Round(
        number,
        prepared.prompt,
        None if known is None else len(known),
        None if known is None else tuple(known),
        backend.name,
        backend.where,
        prepared.reading.format.name,
        sampling,
        prepared.notes,
    )
    yield from generate(
        backend, prepared.prompt, None if known is None else len(known), prepared.reading, sampling, stop
    )


def _own_ids(model: LoadedModel, prompt: str) -> list[int] | None:
    """For a server, which counts for itself: the ids that the column's own tokenizer makes of the prompt."""
    try:
        return model.tokenizer.ids(prompt) if model.tokenizer is not None else None
    except FormatsError:
        return None


def _ending(stop: Stop) -> Ending:
    return "time" if stop.reason == "time" else "stopped"


# What is sent and how it is read.


def prepare(conversation: Conversation, setup: Setup) -> Prepared:
    """Render the conversation. Raises FormatsError in the words that the column shows."""
    style = styles.find(setup.style)
    sent = style.rewrite(conversation)
    prompt = _rendered(sent, setup)
    name, text = chat.choose(setup.model.templates, sent)
    detection = detect_one(name, text, _renderer(setup))
    output_format = setup.format or style.format or detection.format
    notes = list(_notes(conversation, detection, setup))
    if output_format is None:
        output_format = "plain"
        if conversation.tools:
            notes.append("The template teaches no format for calls: the output is read as plain JSON.")
    if output_format not in FORMATS:
        raise FormatsError(f"no format is called {output_format[:80]!r}; there are {', '.join(FORMATS)}", "bad_input")
    reading = Reading(
        FORMATS[output_format],
        conversation.tools or (),
        _suffix(sent, prompt, setup),
        _begun(sent, prompt),
    )
    return Prepared(prompt, reading, detection.arguments_as or "object", tuple(notes))


def _rendered(conversation: Conversation, setup: Setup) -> str:
    column = compare(conversation, [setup.model], setup.today, setup.sandbox).columns[0]
    if column.prompt is None:
        assert column.error is not None
        raise FormatsError(column.error.message, column.error.kind)
    return column.prompt


def _renderer(setup: Setup) -> Render:
    def render(text: str, conversation: Conversation) -> str:
        if setup.model.pinned:
            return chat.render(text, conversation, setup.model.special_tokens, setup.today)
        return setup.sandbox.begin(text, conversation, setup.model.special_tokens, setup.today)()

    return render


def _suffix(conversation: Conversation, prompt: str, setup: Setup) -> str:
    """What the template writes for the model's turn to begin with: it may open a thought."""
    if not conversation.add_generation_prompt:
        return ""
    try:
        without = _rendered(replace(conversation, add_generation_prompt=False), setup)
    except FormatsError:
        return ""
    return prompt[common_prefix(prompt, without) :]


def _begun(conversation: Conversation, prompt: str) -> str:
    """The model's own turn as far as the prompt holds it already."""
    if not conversation.continue_final_message:
        return ""
    content = conversation.messages[-1].get("content")
    if not isinstance(content, str):
        return ""
    return next((text for text in (content, content.rstrip()) if prompt.endswith(text)), "")


def _notes(conversation: Conversation, detection: Detection, setup: Setup) -> Iterator[str]:
    if conversation.tools and setup.style == styles.NATIVE and detection.written is None:
        yield "This template shows no tools to the model: ReAct or JSON in system tell it of them."
    if not conversation.add_generation_prompt and not conversation.continue_final_message:
        yield "add_generation_prompt is off: the prompt opens no turn for the model, and is sent as it is."


# tool_choice


@dataclass(frozen=True, slots=True)
class Choice:
    """What tool_choice asks for. A prompt cannot enforce it: the output is judged by it."""

    kind: Literal["none", "auto", "required", "named"]
    name: str = ""

    def violations(self, calls: Sequence[ParsedToolCall]) -> tuple[str, ...]:
        if self.kind == "none" and calls:
            return ("tool_choice is none, and the model called a tool all the same; the call was not run",)
        if self.kind in ("required", "named") and not calls:
            return (f"tool_choice is {self.name or 'required'}, and the model called no tool",)
        others = {call.name for call in calls} - {self.name} if self.kind == "named" else set()
        return tuple(f"tool_choice is {self.name}, and the model called {name}" for name in sorted(map(str, others)))


def check_choice(value: Any, conversation: Conversation) -> Choice:
    """none, auto, required, the name of a tool, or {"type": "function", "function": {"name"}}. Raises FormatsError."""
    if isinstance(value, str) and value and value not in CHOICES:
        value = {"type": "function", "function": {"name": value}}
    check_tool_choice(value or None, conversation.tools)
    if isinstance(value, dict):
        return Choice("named", value["function"]["name"])
    return Choice(value or "auto")


# The next turn


def extended(
    conversation: Conversation, output: Output, answers: Sequence[Answered], prepared: Prepared
) -> Conversation:
    """The conversation with the model's turn and the results behind it.

    A call without a name cannot stand in a conversation: its turn is kept as text, and the error comes from the user.
    """
    messages = list(conversation.messages)
    if conversation.continue_final_message:
        messages.pop()
    turn: Message = {"role": "assistant", "content": output.parsed.content}
    if output.parsed.reasoning:
        turn["reasoning_content"] = output.parsed.reasoning
    calls = [call for call in output.parsed.calls if call.name]
    ids = {call.start: f"call{len(messages):02d}{index:03d}" for index, call in enumerate(calls)}
    if calls:
        turn["tool_calls"] = [cast(Any, _call(call, ids[call.start], prepared.arguments_as)) for call in calls]
    else:
        turn["content"] = output.parsed.raw
    messages.append(turn)
    messages += [message(ids[one.call.start], one) for one in answers if one.call.name]
    unnamed = [answered.content for answered in answers if not answered.call.name]
    if unnamed:
        messages.append({"role": "user", "content": "\n".join(unnamed)})
    return replace(conversation, messages=tuple(messages), add_generation_prompt=True, continue_final_message=False)


def _call(call: ParsedToolCall, call_id: str, arguments_as: Literal["object", "text"]) -> JsonObject:
    arguments = call.arguments or {}
    written = json.dumps(arguments, ensure_ascii=False) if arguments_as == "text" else arguments
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": written}}
