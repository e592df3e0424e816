"""A state that somebody shared -> the prompts that were shared, and what has changed since.

Every model is loaded by its name as it is today. Where that gives another prompt, or nothing, the revision that was
shared is loaded as well; if it still gives the prompt that was shared, that one is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from formats.compare import Sandbox, compare
from formats.errors import FormatsError
from formats.state import State, differences, prompt_diff
from formats.types import Column, Comparison, LoadedModel

Loader = Callable[[Sequence[str]], Sequence[LoadedModel | FormatsError]]


@dataclass(frozen=True, slots=True)
class Change:
    """One column whose model is not today what it was when the state was shared."""

    column: int
    message: str
    restored: bool  # the column shows what was shared; False: it cannot be had again, and today's is shown
    diff: str = ""  # from the prompt that was shared to today's; "" where either is missing


@dataclass(frozen=True, slots=True)
class Reopened:
    comparison: Comparison
    changes: tuple[Change, ...]


def reopen(state: State, load_many: Loader, sandbox: Sandbox) -> Reopened:
    """The state's comparison, one column for each of its models; never raises for what is wrong with one of them."""
    today = _compared(state, load_many, sandbox)
    columns, changes = list(today.columns), []
    found = {difference.column: difference.message for difference in differences(state, columns)}
    lost = [index for index, column in enumerate(columns) if column.source.template_sha256 is None]
    then = _earlier(state, sorted({*found, *lost}), load_many, sandbox)
    for index in sorted({*found, *then}):
        now, earlier = columns[index], then.get(index)
        if earlier is not None:
            columns[index] = replace(earlier, model=now.model)
        message = found.get(index) or f"{now.model} cannot be had today; this is the revision that was shared"
        changes.append(Change(index, message, earlier is not None, _diff(earlier, now)))
    return Reopened(replace(today, columns=tuple(columns)), tuple(changes))


def _earlier(state: State, indices: Sequence[int], load_many: Loader, sandbox: Sandbox) -> dict[int, Column]:
    """The columns of the revisions that were shared, as far as they can be had and are what they were."""
    pinned = [(i, name) for i in indices if (name := state.models[i].pinned) and name != state.models[i].name]
    part = replace(state, models=tuple(replace(state.models[i], name=name) for i, name in pinned))
    if not pinned:
        return {}
    columns = _compared(part, load_many, sandbox).columns
    changed = {difference.column for difference in differences(part, columns)}
    return {
        index: column
        for place, ((index, _), column) in enumerate(zip(pinned, columns, strict=True))
        if place not in changed and column.source.template_sha256 is not None
    }


def _compared(state: State, load_many: Loader, sandbox: Sandbox) -> Comparison:
    names = [model.name for model in state.models]
    loaded = [
        (name, model) if isinstance(model, FormatsError) else model
        for name, model in zip(names, load_many(names), strict=True)
    ]
    return compare(state.conversation, loaded, state.date, sandbox)


def _diff(then: Column | None, now: Column) -> str:
    if then is None or then.prompt is None or now.prompt is None:
        return ""
    return prompt_diff(then.prompt, now.prompt)
