"""What the tab "Scores" and the ratings on the cards call: verdicts, made in the background and kept.

Checks render a model's template a few hundred times; an edit of the conversation
never waits for them, and no edit makes them run again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from formats.errors import FormatsError
from formats.types import JsonObject, LoadedModel, Verdict
from formats.web import views
from formats.web.background import Background
from formats.web.handlers import Workbench, model_ids, title

PATIENCE = 0.25  # seconds that an answer waits for verdicts that are on their way
KEPT = 256  # verdicts in memory, for all visitors


class Scoring:
    """The listeners of everything that shows a verdict; one for all visitors."""

    def __init__(self, workbench: Workbench) -> None:
        self.workbench = workbench
        self._verdicts: Background[Verdict] = Background("check", workers=1, kept=KEPT, stands=float("inf"))

    def warm(self) -> None:
        """Judge the models that the page opens with, ahead of the first visitor."""
        self._judge(list(self.workbench.opening), patience=0)

    def matrix(self, models: Any, number: Any, *, token: str | None = None) -> JsonObject:
        """{"number", "problem": HTML, "matrix": HTML or None, "models": int, "waiting": int} for scores.js."""
        answer: JsonObject = {
            "number": number if isinstance(number, int) else 0,
            "problem": "",
            "waiting": 0,
            "models": 0,
        }
        try:
            names = model_ids(models)
        except FormatsError as error:
            return {**answer, "problem": views.problem(error), "matrix": None}
        from formats.web import verdict_views

        rows = []
        for name, judged in self._judge(names, token=token).items():
            if isinstance(judged, Verdict):
                rows.append(verdict_views.row(judged, name))
            else:
                rows.append(verdict_views.Row(name, title(name), error=judged.message if judged else ""))
                answer["waiting"] += judged is None
        return {**answer, "models": len(rows), "matrix": verdict_views.matrix(rows)}

    def ratings(self, models: Any, *, token: str | None = None) -> JsonObject:
        """{"ratings": {model: HTML}, "waiting": int}: the ratings that are there, for the cards of the comparison."""
        try:
            judged = self._judge(model_ids(models), token=token)
        except FormatsError:
            return {"ratings": {}, "waiting": 0}
        from formats.web import verdict_views

        done = {name: verdict_views.rating(v) for name, v in judged.items() if isinstance(v, Verdict)}
        return {"ratings": done, "waiting": sum(v is None for v in judged.values())}

    def finding(self, asked: Any, *, token: str | None = None) -> str:
        """The HTML of one finding with its proof; `asked` is [model, check]."""
        if not (isinstance(asked, list) and len(asked) == 2 and all(isinstance(part, str) for part in asked)):
            return views.problem(FormatsError("needs a model and a check"))
        name, check = asked
        judged = self._judge([name], token=token)[name]
        if not isinstance(judged, Verdict):
            return views.problem(judged or FormatsError("this model is still being checked"))
        from formats.web import verdict_views

        found = next((f for f in judged.findings if f.check == check), None)
        if found is None:
            return views.problem(FormatsError(f"no check is called {check[:80]!r}"))
        return verdict_views.finding(found, judged.title)

    def card(self, model: Any, *, token: str | None = None) -> str:
        """The report card of one model as Markdown, for download; words where there is none."""
        from formats.card import markdown

        try:
            return markdown(self.verdict(model if isinstance(model, str) else "", patience=30.0, token=token))
        except FormatsError as error:
            return error.message

    def verdict(self, model: str, patience: float, token: str | None = None) -> Verdict:
        """One model's verdict. Raises FormatsError where it cannot be had, or not in that many seconds."""
        judged = self._judge([model], patience, token)[model]
        if not isinstance(judged, Verdict):
            raise judged or FormatsError(f"{model} is still being checked; ask again in a moment", "loading")
        return judged

    def _judge(
        self, names: list[str], patience: float = PATIENCE, token: str | None = None
    ) -> dict[str, Verdict | FormatsError | None]:
        """The verdict of each model, or the reason there is none; None while it is on its way.

        A verdict is kept by the source it is about: nobody finds it who cannot load the same files.
        """
        loaded = dict(zip(names, self.workbench.load(names, patience, token), strict=True))
        ready = {name: model for name, model in loaded.items() if isinstance(model, LoadedModel)}
        jobs: dict[Hashable, Callable[[], Verdict]] = {m.source: partial(self._verdict, m) for m in ready.values()}
        done = dict(zip(jobs, self._verdicts.take(jobs, patience), strict=True))
        return {name: done[model.source] if isinstance(model, LoadedModel) else model for name, model in loaded.items()}

    def _verdict(self, model: LoadedModel) -> Verdict:
        from formats.verdict import judge

        return judge(model, self.workbench.engine.sandbox)
