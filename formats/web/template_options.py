"""Which template options the chosen models read, tried on their templates in the background."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from formats.errors import FormatsError
from formats.types import JsonObject, LoadedModel
from formats.web.background import Background
from formats.web.handlers import Workbench, model_ids, title

PATIENCE = 0.25  # seconds that an answer waits for models which are still being tried
KEPT = 256

Kind = Literal["switch", "text", "json"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of one model."""

    kind: Kind
    has_effect: bool


class TemplateOptions:
    """The listener of the options' controls; one for all visitors."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        self._tried: Background[dict[str, Option]] = Background("options", 1, KEPT, stands=float("inf"))

    def read(self, models: Any, number: Any, *, token: str | None = None) -> JsonObject:
        """{"number", "waiting": int, "options": [{"name", "kind", "effect": [title], "idle": [title]}]}.

        Those with an effect on some model come first, the ones that most models know at the top.
        """
        answer: JsonObject = {"number": number if isinstance(number, int) else 0, "waiting": 0, "options": []}
        try:
            names = model_ids(models)
        except FormatsError:  # said at the picker
            return answer
        loaded = dict(zip(names, self.workbench.load(names, PATIENCE, token), strict=True))
        ready = {name: model for name, model in loaded.items() if isinstance(model, LoadedModel)}
        jobs: dict[Hashable, Callable[[], dict[str, Option]]] = {
            m.source: partial(self._try, m) for m in ready.values()
        }
        done = dict(zip(jobs, self._tried.take(jobs, PATIENCE), strict=True))
        rows: dict[str, JsonObject] = {}
        for name, model in loaded.items():
            found = done[model.source] if isinstance(model, LoadedModel) else model
            answer["waiting"] += found is None
            for option, seen in found.items() if isinstance(found, dict) else ():
                row = rows.setdefault(option, {"name": option, "kind": seen.kind, "effect": [], "idle": []})
                row["effect" if seen.has_effect else "idle"].append(title(name))
                if seen.has_effect and row["kind"] != seen.kind:
                    row["kind"] = seen.kind if len(row["effect"]) == 1 else "json"
        answer["options"] = sorted(rows.values(), key=lambda row: (-len(row["effect"]), row["name"]))
        return answer

    def _try(self, model: LoadedModel) -> dict[str, Option]:
        from formats import template as chat
        from formats.checks.base import Subject
        from formats.checks.options import effects, is_switch

        run = chat.render if model.pinned else self.workbench.engine.sandbox.render
        subject = Subject(model.templates, model.special_tokens, model.tokenizer, model.template_kwargs, run)

        def kind(name: str, values: tuple[Any, ...]) -> Kind:
            if is_switch(subject, name):
                return "switch"
            is_list = name.endswith("tools")  # any text would change the prompt of a template that prints a list
            return "text" if any(isinstance(value, str) for value in values) and not is_list else "json"

        return {name: Option(kind(name, values), bool(values)) for name, values in effects(subject).items()}
