"""Runs that are stopped, left, or wait for each other."""

import threading
import time

import pytest
from completions_server import CompletionsServer
from patience import HANGS, TRIES
from scripted import ASK, engine_of, outcome

from formats.conversation import from_json
from formats.generate.base import Stop
from formats.generate.engine import Waiting
from formats.generate.loop import converse
from formats.generate.run import Output, Piece


def test_stop_ends_a_run_at_once_and_closes_the_connection(setup):
    def seconds_to_stop():
        with CompletionsServer("word " * 500) as server:
            server.delay = 0.02
            stop, events, asked = Stop(), [], None
            for event in converse(engine_of(server), from_json(ASK), setup(), stop):
                events.append(event)
                if asked is None and len(outcome(events, Piece)) == 5:
                    asked = time.monotonic()
                    stop.now()
                    stop.now()  # a second time changes nothing
            seconds = time.monotonic() - asked
            assert server.closed.wait(HANGS)
        (output,) = outcome(events, Output)
        assert output.stop_reason == "stopped" and output.text and ("word " * 500).startswith(output.text)
        assert events[-1].ending == "stopped"
        return seconds

    assert any(seconds_to_stop() < 0.2 for _ in range(TRIES))


@pytest.mark.parametrize("fault", ["silent", None])
def test_stop_ends_a_run_that_waits_for_a_server(setup, fault):
    with CompletionsServer() as server:
        engine = engine_of(server)
        server.fault, server.delay = fault, 20
        stop = Stop()
        timer = threading.Timer(0.3, stop.now)
        timer.start()
        started = time.monotonic()
        events = list(converse(engine, from_json(ASK), setup(), stop))
        server.release.set()
        assert time.monotonic() - started < HANGS
    assert events[-1].ending == "stopped"


def test_nobody_holds_a_model_for_longer_than_is_stated(setup):
    with CompletionsServer("word " * 500) as server:
        server.delay = 0.02
        events = list(converse(engine_of(server), from_json(ASK), setup(), Stop(seconds=0.4)))
    (output,) = outcome(events, Output)
    assert output.stop_reason == "time" == events[-1].ending
    assert 0.3 < output.timings.total < HANGS


def test_who_leaves_gives_the_place_up_and_the_connection_back(setup):
    with CompletionsServer("word " * 500) as server:
        server.delay = 0.02
        engine = engine_of(server)
        run = converse(engine, from_json(ASK), setup(), Stop())
        for event in run:
            if isinstance(event, Piece) and event.text:
                break
        run.close()
        assert server.closed.wait(HANGS)
        with engine.turns.place() as place:
            assert list(place.wait(Stop())) == []


def test_the_queue_shows_a_place_and_goes_on_in_order(setup):
    with CompletionsServer() as server:
        engine = engine_of(server)
        engine.turns._slots = 1
        aheads, waits, finished = ([], []), (threading.Event(), threading.Event()), []
        nearer = threading.Event()  # the second has been told that it has come nearer

        def visit(number):
            for event in converse(engine, from_json(ASK), setup(), Stop()):
                if isinstance(event, Waiting):
                    aheads[number].append(event.ahead)
                    waits[number].set()
                    if (number, event.ahead) == (1, 1):
                        nearer.set()
                elif number == 0 and isinstance(event, Piece):
                    assert nearer.wait(HANGS)
            finished.append((number, event.ending))

        visits = [threading.Thread(target=visit, args=(number,)) for number in range(2)]
        with engine.turns.place():
            for number in range(2):
                visits[number].start()
                assert waits[number].wait(HANGS)
        for visit_ in visits:
            visit_.join(30)
    assert [max(ahead) for ahead in aheads] == [1, 2]
    assert finished == [(0, "answer"), (1, "answer")]


def test_who_waits_can_be_stopped_too(setup):
    with CompletionsServer() as server:
        engine = engine_of(server)
        engine.turns._slots = 1
        with engine.turns.place():
            stop, events = Stop(), []
            for event in converse(engine, from_json(ASK), setup(), stop):
                events.append(event)
                stop.now()
    assert isinstance(events[0], Waiting) and events[-1].ending == "stopped" and len(events) == 2
