"""What a run of Live needs, with a server that says what a test tells it to."""

import pytest
from scripted import NOON, TODAY

from formats import snapshot
from formats.generate.base import Sampling
from formats.generate.loop import Setup
from formats.models import CARDS
from formats.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def setup(sandbox):
    def setup(model="qwen3", **more):
        values = {"sampling": Sampling(), "today": TODAY, "clock": lambda: NOON} | more
        return Setup(model=snapshot.load(CARDS[model]), sandbox=sandbox, **values)

    return setup
