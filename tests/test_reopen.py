"""A shared state opens as the prompts that were shared, wherever they can be had again."""

import datetime
import hashlib

import pytest

from formats.compare import compare
from formats.errors import ModelError
from formats.reopen import Change, reopen
from formats.sandbox import Sandbox
from formats.share import SharedModel, State, decode, encode, state_of
from formats.types import Conversation, LoadedModel, Source

TODAY = datetime.date(2026, 7, 4)
CHAT = Conversation(({"role": "user", "content": "Hi"},))
OLD, NEW = "{{ bos_token }}{{ messages[0].content }}", "{{ bos_token }}<new>{{ messages[0].content }}"
FIRST, SECOND = "1" * 40, "2" * 40


def model(template: str, name="org/m", revision=FIRST, bos="<s>") -> LoadedModel:
    source = Source("hub", "org/m", revision)
    return LoadedModel(name, "M", {"default": template}, {"bos_token": bos}, source, pinned=True)


class Shelf:
    """A loader over what there is, that counts how often it is asked."""

    def __init__(self, *models: LoadedModel) -> None:
        self.models = {model.name: model for model in models}
        self.asked: list[list[str]] = []

    def __call__(self, names):
        self.asked.append(list(names))
        return [self.models.get(name) or ModelError(f"{name} is not here", "not_found") for name in names]


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def shared(sandbox) -> State:
    """What a link made of the first revision holds, for two models."""
    models = [model("{{ messages[0].content }}", "org/other", None), model(OLD)]
    return decode(encode(state_of(compare(CHAT, models, TODAY, sandbox))))


OTHER = model("{{ messages[0].content }}", "org/other", None)


def prompts(reopened):
    return [column.prompt for column in reopened.comparison.columns]


def test_nothing_has_changed(shared, sandbox):
    shelf = Shelf(OTHER, model(OLD, revision=SECOND))
    reopened = reopen(shared, shelf, sandbox)
    assert (prompts(reopened), reopened.changes) == (["Hi", "<s>Hi"], ())
    assert shelf.asked == [["org/other", "org/m"]]
    assert reopened.comparison.today == "2026-07-04"


def test_a_template_that_changed_is_told_and_the_shared_one_is_shown(shared, sandbox):
    shelf = Shelf(OTHER, model(NEW, revision=SECOND), model(OLD, f"org/m@{FIRST}"))
    reopened = reopen(shared, shelf, sandbox)
    assert prompts(reopened) == ["Hi", "<s>Hi"]
    assert [column.model for column in reopened.comparison.columns] == ["org/other", "org/m"]
    assert shelf.asked == [["org/other", "org/m"], [f"org/m@{FIRST}"]]
    then, now = (hashlib.sha256(template.encode()).hexdigest()[:12] for template in (OLD, NEW))
    assert reopened.changes == (
        Change(
            1,
            f"the template was sha256 {then} (revision {FIRST[:12]}) when this was shared "
            f"and is sha256 {now} (revision {SECOND[:12]}) today",
            True,
            "--- then\n+++ now\n@@ -1 +1 @@\n-<s>Hi\n+<s><new>Hi",
        ),
    )


@pytest.mark.parametrize("again", [None, model(NEW, f"org/m@{FIRST}")])
def test_what_cannot_be_had_again_is_told_and_today_s_is_shown(shared, sandbox, again):
    models = [OTHER, model(NEW, revision=SECOND), *([again] if again else [])]
    reopened = reopen(shared, Shelf(*models), sandbox)
    assert prompts(reopened) == ["Hi", "<s><new>Hi"]
    assert [(change.column, change.restored, change.diff) for change in reopened.changes] == [(1, False, "")]


def test_other_special_tokens_are_told_although_the_template_is_the_same(shared, sandbox):
    shelf = Shelf(OTHER, model(OLD, bos="<b>", revision=SECOND), model(OLD, f"org/m@{FIRST}"))
    (change,) = reopen(shared, shelf, sandbox).changes
    assert "special tokens or the libraries have changed" in change.message
    assert "-<s>Hi\n+<b>Hi" in change.diff


def test_a_name_that_is_gone_opens_by_its_repository_and_revision(shared, sandbox):
    reopened = reopen(shared, Shelf(OTHER, model(OLD, f"org/m@{FIRST}")), sandbox)
    assert prompts(reopened) == ["Hi", "<s>Hi"]
    assert [(change.restored, change.diff) for change in reopened.changes] == [(True, "")]
    assert reopened.changes[0].message == "org/m cannot be had today; this is the revision that was shared"


def test_a_model_that_is_gone_altogether_says_so_in_its_column(shared, sandbox):
    reopened = reopen(shared, Shelf(OTHER), sandbox)
    assert prompts(reopened) == ["Hi", None]
    assert reopened.comparison.columns[1].error.message == "org/m is not here"
    assert reopened.changes == ()


def test_a_state_of_names_alone_opens_too(sandbox):
    names = State(CHAT, (SharedModel("org/m"), SharedModel("gone")), TODAY)
    reopened = reopen(names, Shelf(model(NEW)), sandbox)
    assert (prompts(reopened), reopened.changes) == (["<s><new>Hi", None], ())
    assert reopen(State(CHAT, (), TODAY), Shelf(), sandbox).comparison.columns == ()
