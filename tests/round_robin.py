"""A reverse proxy for tests: every request goes to the next server, or, kept by a cookie, to the visitor's own."""

from __future__ import annotations

import http.client
import itertools
import re
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class RoundRobin:
    """Use as a context manager. `served` counts (server's number, path without query) of every request."""

    def __init__(self, ports, sticky=False):
        self.ports = ports
        self.sticky = sticky
        self.served = Counter()
        self._turn = itertools.count()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def choose(self, cookies):
        """The number of the server that is asked."""
        if self.sticky and (kept := re.search(r"\breplica=(\d+)", cookies)):
            return int(kept[1])
        return next(self._turn) % len(self.ports)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    proxy: RoundRobin

    def log_message(self, *_):
        """Tests read no log."""

    def forward(self):
        number = self.proxy.choose(self.headers.get("Cookie", ""))
        self.proxy.served[number, self.path.partition("?")[0]] += 1
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server = http.client.HTTPConnection("127.0.0.1", self.proxy.ports[number], timeout=120)
        try:
            server.request(self.command, self.path, body, {**self.headers, "Connection": "close"})
            self.pass_on(server.getresponse(), number)
        except (ConnectionError, http.client.IncompleteRead):
            self.close_connection = True  # the client or the server has gone
        finally:
            server.close()

    do_GET = do_POST = do_HEAD = do_DELETE = forward

    def pass_on(self, answer, number):
        """The answer as it comes: events are not held back."""
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "date", "server"):
                self.send_header(name, value)
        if self.proxy.sticky:
            self.send_header("Set-Cookie", f"replica={number}; Path=/")
        self.send_header("Connection", "close")
        self.end_headers()
        while piece := answer.read1(65536):
            self.wfile.write(piece)
            self.wfile.flush()
