"""What the tab "Live" calls: a run as it comes, its end, and the probe set.

The page gets the whole state of a run each time, as plain values that live.js places as text; Gradio sends what
changed. A run is known by a name that its page has made up, so that "Stop" finds it.
"""

from __future__ import annotations

import copy
import datetime
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from formats.conversation import parse_conversation
from formats.errors import FormatsError
from formats.generate.base import GenerationError, Sampling, Stop
from formats.generate.engine import Engine, Loading
from formats.types import Conversation, JsonObject, LoadedModel
from formats.web.handlers import LONGEST_NAME, MOST_CHARACTERS, Workbench, typed_conversation, typed_date

OWN = ""  # the choice of the generating model's own template
NO_STYLE = ""  # the choice of no second column
FOUND = "auto"
EVERY = 0.1  # seconds between two states of a run
PATIENCE = 0.25  # seconds before the first: to tell the page of the prompt takes time from a model that begins to read
BY_HAND = "typed"  # the choice that a person answers every call
CONVERSATION_VALUES = 7
SETTINGS = 12
MOST_RUNS = 256  # that "Stop" can find

Work = Callable[[JsonObject, Stop], Iterator[JsonObject]]


class Live:
    """The listeners of the tab; one for all visitors."""

    def __init__(self, workbench: Workbench, engine: Engine | None = None) -> None:
        self.workbench = workbench
        self.engine = engine or Engine()
        self._running: dict[str, Stop] = {}

    def missing(self) -> str | None:
        """How to turn live generation on; None where it is on."""
        return self.engine.missing()

    def run(self, *values: Any, token: str | None = None) -> Iterator[JsonObject]:
        """The states of a run: 7 values of the conversation, the date, 12 settings of the tab, the run's name.

        {"run", "state": "working" | "done", "words", "problem", "columns": [{"style", "rounds": [...], "ending",
        "violations", "waits"}]}. "words" is text, or [key, values] of one of the page's words; "waits" is what `go_on`
        needs where results have to be typed.
        """
        given, today, settings, run = values[:CONVERSATION_VALUES], values[7], values[8:-1], values[-1]

        def work(state: JsonObject, stop: Stop) -> Iterator[JsonObject]:
            from formats.generate.loop import converse

            conversation = _conversation(given)
            yield from self._columns(
                settings, today, state, stop, token, lambda setup: converse(self.engine, conversation, setup, stop)
            )

        yield from self._states({"run": run, "columns": []}, work)

    def go_on(self, asked: Any, run: Any, *, token: str | None = None) -> Iterator[JsonObject]:
        """The states of a run that is taken up again: one column, with the new rounds and in "answered" what was typed.

        `asked` is {"column": its place on the page, "rounds": how many it has, "waits": as it was given, "typed": {id
        of a call: result}}; the first two stand in every state as "goes_on".
        """

        def work(state: JsonObject, stop: Stop) -> Iterator[JsonObject]:
            from formats.generate.loop import go_on

            waits, before, conversation, typed = _waiting(asked)
            state["goes_on"] = {"column": asked.get("column"), "rounds": before}
            yield from self._columns(
                waits["settings"],
                waits.get("today"),
                state,
                stop,
                token,
                lambda setup: go_on(self.engine, conversation, typed, before, setup, stop),
            )

        yield from self._states({"run": run, "columns": []}, work)

    def stop(self, run: Any) -> None:
        """End that run; one that is over, or not there, is nothing to complain about."""
        if (stop := self._running.get(str(run))) is not None:
            stop.now()

    def probe(
        self, column: Any, count: Any, seed: Any, examples: Any, run: Any, *, token: str | None = None
    ) -> Iterator[JsonObject]:
        """The states of a run of the probe set: {"run", "state", "words", "problem", "done", "of", "report"}."""
        from formats.generate import probe
        from formats.web import live_state

        def work(state: JsonObject, stop: Stop) -> Iterator[JsonObject]:
            number = _number(count, int, "the number of prompts")
            model = None
            for news in self._model(column, stop, token):
                if isinstance(news, LoadedModel):
                    model = news
                else:
                    yield {**state, "words": live_state.loading(news)}
            if model is None:
                return
            sandbox = self.workbench.engine.sandbox
            asked = probe.Probe(model, number, _number(seed, int, "seed"), sandbox, examples=bool(examples))
            for step in asked.run(self.engine, stop):
                state |= {"done": step.done, "of": step.of, "words": step.words}
                if step.items is not None:
                    state["report"] = probe.to_json(asked, step.items)
                yield dict(state)

        yield from self._states({"run": run, "done": 0, "of": 1, "report": None}, work)

    def choices(self, models: Any) -> list[tuple[str, str]]:
        """The columns that can be chosen: the generating model's own, then those of the comparison."""
        from formats.web.handlers import title

        names = [name for name in models if isinstance(name, str)] if isinstance(models, list) else []
        own = [] if self.engine.is_server else [(Path(self.engine.model).name, OWN)]
        return [*own, *((title(name), name) for name in names)]

    def _states(self, state: JsonObject, work: Work) -> Iterator[JsonObject]:
        """The states that `work` gives, and at last one that is done; "Stop" finds the run meanwhile."""
        state |= {"state": "working", "words": "", "problem": ""}
        run, stop = state["run"], Stop()
        try:
            self._begin(run, stop)
            yield from work(state, stop)
        except FormatsError as error:
            state["problem"] = error.message
        finally:
            stop.now()
            if isinstance(run, str) and self._running.get(run) is stop:
                del self._running[run]
        yield {**state, "state": "done", "words": ""}

    def _begin(self, run: Any, stop: Stop) -> None:
        if not isinstance(run, str) or not 8 <= len(run) <= 64 or run in self._running:
            raise GenerationError("a run needs a name of its own", "bad_input")
        if len(self._running) >= MOST_RUNS:
            raise GenerationError("too many runs are under way: try again later", "busy")
        self._running[run] = stop

    def _columns(
        self,
        settings: Sequence[Any],
        today: Any,
        state: JsonObject,
        stop: Stop,
        token: str | None,
        begin: Callable[[Any], Iterator[Any]],
    ) -> Iterator[JsonObject]:
        """The states of one column after the other; `begin` gives the events of a setup."""
        for setup, style, again in self._setups(settings, today, state, stop, token):
            if setup is None:
                yield dict(state)
            else:
                yield from self._column(begin(setup), style, again, state)

    def _setups(
        self, settings: Sequence[Any], today: Any, state: JsonObject, stop: Stop, token: str | None
    ) -> Iterator[Any]:
        """(setup, style, what begins it again) of each column; no setup while `state` says what is being loaded."""
        from formats.generate import styles
        from formats.generate.loop import Setup
        from formats.web import live_state

        column, style, second, form, tokens, temperature, top_p, seed, stops, choice, rounds, results = settings
        names = [str(style), *([str(second)] if second not in (NO_STYLE, None) else [])]
        for name in names:
            styles.find(name)  # raises for what is none
        sampling = Sampling(
            _number(tokens, int, "max tokens"),
            _number(temperature, float, "temperature"),
            _number(top_p, float, "top_p"),
            _number(seed, int, "seed"),
            tuple(line for line in str(stops or "").splitlines() if line),
        )
        values: dict[str, Any] = {
            "sampling": sampling,
            "sandbox": self.workbench.engine.sandbox,
            "today": typed_date(today),
            "clock": lambda: datetime.datetime.now(datetime.UTC),
            "format": None if form in (FOUND, None) else str(form),
            "tool_choice": _choice(choice),
            "rounds": _number(rounds, int, "rounds"),
            "by_hand": results == BY_HAND,
        }
        model = None
        for news in self._model(column, stop, token):
            if isinstance(news, LoadedModel):
                model = news
            else:
                state["words"] = live_state.loading(news)
                yield None, "", {}
        state["words"] = ""
        for name in names:
            if model is not None and not stop.reason:
                again = {"settings": [column, name, NO_STYLE, *settings[3:]], "today": today}
                yield Setup(model=model, style=name, **values), name, again

    def _model(self, column: Any, stop: Stop, token: str | None) -> Iterator[Loading | LoadedModel]:
        """The model whose template makes the prompt; its own files are the operator's, so they may be local ones."""
        from formats import sources

        if not isinstance(column, str) or len(column) > LONGEST_NAME:
            raise FormatsError("choose a column", "bad_input")
        if column != OWN:
            yield self.workbench.engine.load(column, token)
            return
        for news in self.engine.ready(stop):
            if isinstance(news, Loading):
                yield news
            else:
                folder = getattr(news, "folder", None)
                yield replace(sources.load(str(folder or self.engine.model), allow_files=True), name=self.engine.title)

    def _column(self, events: Iterator[Any], style: str, again: JsonObject, state: JsonObject) -> Iterator[JsonObject]:
        """The states while one column is generated; a fault of it is its own."""
        from formats.web import live_state

        column = live_state.column(style, again)
        state["columns"] = [*state["columns"], column]
        due = time.monotonic() + PATIENCE
        try:
            for event in events:
                words = live_state.add(column, event)
                now = time.monotonic()
                if words is not None or now >= due:
                    due = now + EVERY
                    yield _copy(state, words or "")
        except FormatsError as error:
            column["problem"] = error.message
            yield _copy(state)


def _copy(state: JsonObject, words: str | list[Any] = "") -> JsonObject:
    """The state as it is now: Gradio sends what differs from the one before, so they must not share anything."""
    return copy.deepcopy(state) | {"words": words}


def _conversation(values: Sequence[Any]) -> Conversation:
    """What the editors hold; the first thing that is wrong with it as an error."""
    problems: dict[str, FormatsError] = {}
    conversation = typed_conversation(values, problems)
    if conversation is None:
        field, error = next(iter(problems.items()))
        raise FormatsError(f"{field}: {error.message.removeprefix(f'{field}: ')}", error.kind)
    return conversation


def _number(value: Any, kind: type, name: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or (kind is int and value != int(value)):
        raise FormatsError(f"{name} needs a number", "bad_input")
    return kind(value)


def _choice(value: Any) -> Any:
    if value is not None and not isinstance(value, str):
        raise FormatsError("tool_choice needs auto, none, required or the name of a tool", "bad_input")
    return (value or "auto").strip()


def _waiting(asked: Any) -> tuple[JsonObject, int, Conversation, dict[str, str]]:
    """What a page gave back to go on with: what waits, the rounds before, the conversation, and what was typed."""
    try:
        waits, before, typed = asked["waits"], asked["rounds"], asked["typed"]
        text, settings = waits["conversation"], waits["settings"]
        if not isinstance(before, int) or len(settings) != SETTINGS or len(text) > MOST_CHARACTERS:
            raise ValueError
        results = {str(call): str(result) for call, result in typed.items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise FormatsError("no run waits for a result", "bad_input") from None
    return waits, before, parse_conversation(text), results
