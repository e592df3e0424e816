"""What the tab "Read an output" calls: one raw output read by one format, and by all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from formats import conversation as conversations
from formats.errors import FormatsError
from formats.samples import OutputSample
from formats.types import Conversation, JsonObject, LoadedModel, ToolDefinition
from formats.web import views
from formats.web.handlers import Workbench, title
from formats.web.pretty import pretty

MOST_CHARACTERS = 400_000  # of an output: every parser reads it at once
FOUND = "auto"  # the choice that takes the model's own format
NO_MODEL = ""


class Reading:
    """The listeners of the tab; one for all visitors."""

    def __init__(self, workbench: Workbench, samples: Sequence[OutputSample]) -> None:
        self.workbench = workbench
        self.samples: Mapping[str, OutputSample] = {sample.name: sample for sample in samples}

    def read(
        self, output: Any, chosen: Any, model: Any, suffix: Any, tools: Any, number: Any, *, token: str | None = None
    ) -> JsonObject:
        """{"number", "problem": HTML, "reading": HTML or None} for reading.js; None keeps the last one."""
        answer: JsonObject = {"number": number if isinstance(number, int) else 0, "problem": "", "reading": None}
        try:
            text, definitions = _text(output), _tools(tools)
            if not text.strip():
                return answer
            name, prompt_suffix, how = self._chosen(text, definitions, chosen, model, suffix, token)
        except FormatsError as error:
            return {**answer, "problem": views.problem(error)}
        from formats.web import reading_views

        html = reading_views.reading(text, name, prompt_suffix, how, definitions)
        return {**answer, "reading": html}

    def pick(self, name: Any) -> list[Any]:
        """A sample's output, format, prompt suffix and tools, for the inputs."""
        sample = self.samples.get(name) if isinstance(name, str) else None
        if sample is None:
            raise ValueError(f"no output sample is called {name!r}")
        return [sample.output, sample.format, sample.prompt_suffix, pretty(list(sample.tools))]

    def put(
        self,
        output: Any,
        chosen: Any,
        model: Any,
        suffix: Any,
        messages: Any,
        tools: Any,
        number: Any,
        *,
        token: str | None = None,
    ) -> tuple[str, JsonObject]:
        """The messages with what was read as the next turn, and an answer that says what was done or is wrong."""
        answer: JsonObject = {"number": number if isinstance(number, int) else 0, "problem": "", "reading": None}
        try:
            definitions = _tools(tools)
            conversation = Conversation(conversations.parse_messages(_text(messages)), definitions or None)
            text = _text(output)
            if not text.strip():
                raise FormatsError("there is no output to put into the conversation: paste one first")
            name, prompt_suffix, _ = self._chosen(text, definitions, chosen, model, suffix, token)
            from formats.parsers import FORMATS
            from formats.reading.message import next_turn

            parsed = FORMATS[name].parse(text, definitions, prompt_suffix)
            done = next_turn(conversation, parsed)
        except FormatsError as error:
            return messages if isinstance(messages, str) else "", {**answer, "problem": views.problem(error)}
        return pretty([dict(message) for message in done.messages]), answer

    def choices(self, models: Any) -> list[tuple[str, str]]:
        """The models whose format can be asked for: those of the comparison."""
        names = [name for name in models if isinstance(name, str)] if isinstance(models, list) else []
        return [(title(name), name) for name in names]

    def format(self, chosen: Any, model: Any, suffix: Any, token: str | None = None) -> tuple[str, str, str]:
        """(format, prompt suffix, title of the model whose template showed it) of what was chosen.

        Raises FormatsError with what would work.
        """
        from formats.parsers import FORMATS

        typed = _typed(suffix)
        if isinstance(chosen, str) and chosen in FORMATS:
            return chosen, typed or FORMATS[chosen].prompt_suffix, ""
        if not isinstance(model, str) or not model:
            raise FormatsError("choose a format, or a model whose template shows it")
        loaded = self.workbench.load([model], 10.0, token)[0]
        if not isinstance(loaded, LoadedModel):
            raise loaded or FormatsError(f"{title(model)} is still being fetched; try again in a moment")
        detection = self._detection(loaded)
        if detection is None or detection.format is None:
            raise FormatsError(f"the template of {loaded.title} writes no call that a parser reads: choose a format")
        return detection.format, typed or detection.prompt_suffix, loaded.title

    def _chosen(
        self, text: str, tools: Sequence[ToolDefinition], chosen: Any, model: Any, suffix: Any, token: str | None
    ) -> tuple[str, str, tuple[str, JsonObject] | None]:
        """As `format`, with what the page says of the choice; where nothing was chosen the parsers decide."""
        from formats.detect import detect_output
        from formats.parsers import FORMATS

        if chosen != FOUND or model:
            name, prompt_suffix, shown_by = self.format(chosen, model, suffix, token)
            return name, prompt_suffix, ("read.found", {"title": shown_by}) if shown_by else None
        typed = _typed(suffix)
        best = detect_output(text, tools, typed)
        if not best:
            return "plain", typed, ("read.nobody", {})
        name, *others = best
        said = ("read.also", {"others": ", ".join(FORMATS[other].title for other in others)})
        return name, typed or FORMATS[name].prompt_suffix, said if others else ("read.guessed", {})

    def _detection(self, model: LoadedModel) -> Any:
        from formats import detect
        from formats import template as chat

        run = chat.render if model.pinned else self.workbench.engine.sandbox.render
        name, text = chat.choose(model.templates, Conversation((detect.ASK,), (detect.TOOL,)))
        return detect.detect_one(name, text, lambda t, c: run(t, c, model.special_tokens, detect.DATE))


def _typed(suffix: Any) -> str:
    """The end of the prompt as it was typed, where a line break is written as such."""
    return suffix.replace("\\n", "\n") if isinstance(suffix, str) else ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise FormatsError("needs text")
    if len(value) > MOST_CHARACTERS:
        raise FormatsError(f"{len(value):,} characters are more than the {MOST_CHARACTERS:,} that are read here")
    return value


def _tools(value: Any) -> tuple[ToolDefinition, ...]:
    return conversations.parse_tools(_text(value or "")) or ()
