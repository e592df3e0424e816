"""Runs of Live against a scripted server: what is asked, and what came of it."""

import datetime

from formats.generate import tools
from formats.generate.engine import Engine
from formats.parsers import FORMATS

NOON = datetime.datetime(2026, 7, 4, 12, tzinfo=datetime.UTC)
TODAY = datetime.date(2026, 7, 4)
ASK = {"messages": [{"role": "user", "content": "What is 6 * 7?"}], "tools": list(tools.DEFINITIONS)}


def engine_of(server, **environment):
    return Engine({"LIVE_BASE_URL": server.url, **environment})


def hermes(name, arguments):
    return FORMATS["hermes"].write([{"name": name, "arguments": arguments}])


def outcome(events, kind):
    return [event for event in events if isinstance(event, kind)]
