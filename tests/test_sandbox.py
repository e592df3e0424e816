"""Strangers' templates: the same answers as in this process, and every excess ends as its own column's."""

import datetime
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import HANGS, TRIES

from formats import template as chat
from formats.errors import FormatsError, Stopped
from formats.sandbox import Sandbox
from formats.types import Conversation

TODAY = datetime.date(2026, 7, 4)
CHAT = Conversation(({"role": "user", "content": "Hi <b>東京</b> 🌧️"},), tools=({"type": "function"},))
SPECIAL = {"bos_token": "<s>"}
ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def patient():
    """A busy machine may take long to fill the memory."""
    with Sandbox(seconds=30) as sandbox:
        yield sandbox


def stopped(sandbox, template: str) -> str:
    """The kind of the stop."""
    with pytest.raises(Stopped) as caught:
        sandbox.render(template, CHAT, SPECIAL, TODAY)
    assert caught.value.message.startswith("stopped")
    return caught.value.kind


def works(sandbox) -> bool:
    return sandbox.render("{{ messages[0].content }}", CHAT, SPECIAL, TODAY) == CHAT.messages[0]["content"]


@pytest.mark.parametrize(
    "template",
    [
        "{{ bos_token }}{{ messages[0].content }}{{ tools | tojson }}{{ strftime_now('%Y-%m-%d') }}",
        "{{ raise_exception('Only user turns, please! 東京') }}",
        "{{ messages[0].nothing.at_all }}",
        "{{ 1 / 0 }}",
        "{% if %}",
        "{{ ''.__class__.mro() }}",
        "{{ {}.missing() }}",
        "",
    ],
)
def test_the_answer_is_that_of_render(sandbox, template):
    def answer(render):
        try:
            return render(template, CHAT, SPECIAL, TODAY)
        except FormatsError as error:
            return type(error), error.kind, error.message

    assert answer(sandbox.render) == answer(chat.render)


@pytest.mark.parametrize(
    "template",
    [
        ENDLESS,
        "{{ 9 ** (9 ** 9) }}",  # one operation that no signal handler of Python's can break into
    ],
)
def test_an_endless_template_is_stopped_within_three_seconds(sandbox, template):
    def seconds_to_stop():
        start = time.monotonic()
        assert stopped(sandbox, template) == "timeout"
        return time.monotonic() - start

    assert any(seconds_to_stop() < 3 for _ in range(TRIES))
    assert works(sandbox)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ('x' * messages[0].content | length) * 10 ** 12 }}",
        "{{ messages[0].content * 10 ** 8 }}",
        "{% set n = namespace(l=[0]) %}{% for i in range(99) %}{% set n.l = n.l + n.l %}{% endfor %}",
        "{% set n = namespace(l='') %}{% for i in range(9999) %}{% for j in range(9999) %}"
        "{% set n.l = n.l + messages[0].content * 999999 %}{% endfor %}{% endfor %}",
    ],
)
def test_a_greedy_template_is_stopped(patient, template):
    assert stopped(patient, template) == "memory"
    assert works(patient)


@pytest.mark.parametrize(
    "template", ["{% for i in range(50000) %}{{ 'x' * 100 }}{% endfor %}", "{{ raise_exception('x' * 5000000) }}"]
)
def test_too_much_output_is_stopped(sandbox, template):
    assert stopped(sandbox, template) == "output_too_large"
    assert works(sandbox)


def test_many_endless_ones_stop_together_and_the_others_go_on(sandbox):
    start = time.monotonic()
    endless = [sandbox.begin(f"{{# {n} #}}{ENDLESS}", CHAT, SPECIAL, TODAY) for n in range(11)]
    assert works(sandbox)
    assert sum(worker.pending for worker in sandbox._workers) == len(endless), "and all of them are still at work"
    for finish in endless:
        with pytest.raises(Stopped):
            finish()
    assert time.monotonic() - start < HANGS, "one after the other they would take 22 s"


def processes() -> set[int]:
    return {process.pid for process in multiprocessing.active_children()}


def is_at_work(pid: int) -> bool:
    """It has used a fifth of a second of the processor, which starting alone does not."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
    return int(ticks) / os.sysconf("SC_CLK_TCK") > 0.2


def test_a_worker_that_is_killed_at_work():
    others = processes()
    with Sandbox(seconds=60) as sandbox:
        finish = sandbox.begin(ENDLESS, CHAT, SPECIAL, TODAY)
        deadline = time.monotonic() + 50
        while time.monotonic() < deadline and not any(is_at_work(pid) for pid in processes() - others):
            time.sleep(0.01)
        for pid in processes() - others:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(Stopped) as caught:
            finish()
        assert caught.value.kind == "crashed"
        assert works(sandbox)


@pytest.mark.parametrize("seconds", [0, 0.4])
def test_workers_that_are_killed_while_idle(seconds):
    others = processes()
    with Sandbox() as sandbox:
        for finish in [sandbox.begin(f"{number}", CHAT, SPECIAL, TODAY) for number in range(5)]:
            finish()
        for pid in processes() - others:
            os.kill(pid, signal.SIGKILL)
        time.sleep(seconds)
        assert works(sandbox)
        assert sandbox.render("3", CHAT, SPECIAL, TODAY) == "3"


def test_what_a_template_leaves_behind_costs_the_next_one_nothing():
    """Compiled templates are kept; here each of them holds a constant of megabytes."""
    with Sandbox(megabytes=64, workers=1) as small:
        for number in range(40):
            big = f"{{% set x = 'x' * 2000000 %}}{number}"
            assert small.render(big, CHAT, SPECIAL, TODAY) == str(number)
        assert works(small)


def test_a_closed_sandbox_starts_again():
    with Sandbox() as sandbox:
        assert works(sandbox)
        sandbox.close()
        assert works(sandbox)


def test_warm_workers_answer_at_once():
    with Sandbox() as sandbox:
        sandbox.warm(2)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and len(sandbox._workers) < 2:
            time.sleep(0.05)
        time.sleep(1)
        warm = processes()
        assert works(sandbox)
        assert processes() == warm and len(sandbox._workers) == 2


SCRIPT = """
import datetime, multiprocessing, sys, time
from formats.sandbox import Sandbox
from formats.types import Conversation

if __name__ == "__main__":
    sandbox = Sandbox(seconds=1)
    chat = Conversation(({"role": "user", "content": "Hi"},))
    assert sandbox.render("a", chat, {}, datetime.date.today()) == "a"
    finish = sandbox.begin(ENDLESS, chat, {}, datetime.date.today())
    time.sleep(0.3)
    print(*[process.pid for process in multiprocessing.active_children()], flush=True)
    if sys.argv[1] == "wait":
        time.sleep(60)
"""


def script(tmp_path: Path, what: str) -> subprocess.Popen:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.replace("ENDLESS", repr(ENDLESS)), encoding="utf-8")
    root = Path(__file__).parent.parent
    return subprocess.Popen(
        [sys.executable, path, what], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(root)}
    )


def gone(pid: int) -> bool:
    """Ended, or ended and not yet collected."""
    try:
        return re.search(r"^State:\s+Z", Path(f"/proc/{pid}/status").read_text(), re.M) is not None
    except OSError:
        return True


@pytest.mark.parametrize("what", ["exit", "wait"])
def test_no_process_outlives_the_app(tmp_path, what):
    process = script(tmp_path, what)
    pids = [int(pid) for pid in process.stdout.readline().split()]
    if what == "wait":
        process.kill()
    assert process.wait(timeout=10) == (0 if what == "exit" else -signal.SIGKILL)
    process.stdout.close()
    deadline = time.monotonic() + 60  # seconds of its own processor time end it: more on a busy machine
    while time.monotonic() < deadline and not all(map(gone, pids)):
        time.sleep(0.1)
    assert pids
    assert all(map(gone, pids))
