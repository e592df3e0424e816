"""What many programs at once get: clients that call `compare` on the nine models, against one that does nothing.

    python benchmarks/load.py [--clients 50] [--seconds 60]

The app is started as a person starts it, without the Hub, with an endpoint beside it in a bare Gradio app of its own
process. Each client is a thread with one connection that sends its next post when the last is answered; every post of
`compare` holds another text, so no earlier answer is of use. Both get the same clients for the same time, one after
the other, the bare one first. Memory is the resident set of the app's process and of the workers below it, from /proc.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

WEATHER = json.loads((ROOT / "samples" / "conversations" / "01-weather.json").read_text(encoding="utf-8"))
START_SECONDS = 120  # until a server that does not come is given up
BARE_APP = """
import gradio as gr
def nothing(value: list) -> str:
    return ""
with gr.Blocks(analytics_enabled=False) as page:
    gr.api(nothing, api_name="nothing", queue=False, concurrency_limit=None)
page.launch(ssr_mode=False)
"""


@dataclass
class Load:
    """What the clients of one endpoint saw."""

    seconds: float
    times: list[float] = field(default_factory=list)  # seconds, of the posts that were answered well
    errors: list[str] = field(default_factory=list)

    def report(self, name: str) -> None:
        cuts = statistics.quantiles(self.times, n=100)
        print(
            f"{name:8} {len(self.times) / self.seconds:8.1f} requests/s   p50 {cuts[49] * 1000:7.0f} ms   "
            f"p95 {cuts[94] * 1000:7.0f} ms   errors {len(self.errors)}"
        )
        for error in sorted(set(self.errors))[:5]:
            print(f"         {error}")


def main() -> None:
    from formats.models import OPENING

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    numbers = itertools.count()

    def question() -> list[object]:
        user = {"role": "user", "content": f"How warm is it in street {next(numbers)} of Paris?"}
        return [list(OPENING), [WEATHER["messages"][0], user], WEATHER["tools"], None, "2026-07-04"]

    with served([sys.executable, "-c", BARE_APP]) as (port, _):
        bare = load(port, "nothing", lambda: [question()], args.clients, args.seconds)
    with served([sys.executable, "app.py"]) as (port, app):
        load(port, "compare", question, 1, 5.0)  # all nine are loaded, and the workers are up
        start = memory(app)
        compared = load(port, "compare", question, args.clients, args.seconds)
        end = memory(app)
    print(f"{args.clients} clients, {args.seconds:g} s each, {os.cpu_count()} processors")
    bare.report("nothing")
    compared.report("compare")
    ratio = (len(compared.times) / compared.seconds) / (len(bare.times) / bare.seconds)
    print(
        f"ratio of requests/s {ratio:.3f}   memory {start / 2**20:.0f} MB at the start, {end / 2**20:.0f} MB at the end"
    )
    if bare.errors or compared.errors:
        sys.exit(1)


@contextlib.contextmanager
def served(command: list[str]) -> Iterator[tuple[int, int]]:
    """A server of this machine, as (port, process id), until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port), "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryFile("w+") as log:
        app = subprocess.Popen(command, cwd=ROOT, env=os.environ | names, stdout=log, stderr=log)
        try:
            _wait(port, app)
            yield port, app.pid
        finally:
            app.terminate()
            app.wait(30)
            log.seek(0)
            if "Traceback" in (text := log.read()):
                print(text[-4000:], file=sys.stderr)


def _wait(port: int, app: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and app.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise SystemExit("the server did not come up")


def load(port: int, name: str, question: Callable[[], list[object]], clients: int, seconds: float) -> Load:
    """Let so many clients ask as fast as they are answered; the time runs until the last answer is there."""
    result = Load(seconds)
    start = time.monotonic()

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while time.monotonic() < start + seconds:
            began = time.monotonic()
            try:
                _ask(connection, name, question())
            except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
                result.errors.append(f"{type(error).__name__}: {error}"[:200])
                connection.close()
            else:
                result.times.append(time.monotonic() - began)
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.seconds = time.monotonic() - start
    return result


def _ask(connection: http.client.HTTPConnection, name: str, data: list[object]) -> None:
    """One post; ValueError where the answer is not what was asked for."""
    body = json.dumps({"data": data})
    connection.request("POST", f"/gradio_api/run/{name}", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise ValueError(f"{answer.status} {content[:150]!r}")
    text = json.loads(content)["data"][0]
    if name == "compare":
        columns = json.loads(text)["columns"]
        if len(columns) != len(data[0]) or not any(column["prompt"] for column in columns):
            raise ValueError(f"unexpected columns: {text[:150]}")


def memory(process: int) -> int:
    """Bytes resident in a process and all below it; a worker that has ended meanwhile counts for nothing."""
    folder = Path(f"/proc/{process}")
    try:
        own = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        children = [child for path in folder.glob("task/*/children") for child in path.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return own + sum(memory(int(child)) for child in children)


if __name__ == "__main__":
    main()
