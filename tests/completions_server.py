"""A completions server for tests: real HTTP on a loopback port, saying what it is told to, with every fault on demand.

It speaks the part of OpenAI's protocol that vLLM, llama.cpp and others share: /v1/models and streamed /v1/completions.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def event(text="", finish=None, **more):
    return {"choices": [{"index": 0, "text": text, "finish_reason": finish, **more}]}


class CompletionsServer:
    """Use as a context manager. `script` holds the outputs that the next requests get, in turn."""

    def __init__(self, *script, names=("tiny",), key=""):
        self.script = list(script)
        self.names = list(names)
        self.key = key
        self.fault = None  # "error", "not_found", "limit", "redirect", "silent", "error_in_stream", "malformed", ...
        self.delay = 0.0  # seconds before each event
        self.requests = []  # bodies of the completions asked for
        self.closed = threading.Event()  # the client went away in the middle of an answer
        self.release = threading.Event()  # ends a silence
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"state": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.release.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: CompletionsServer

    def log_message(self, *_):
        """Tests read no log."""

    def do_GET(self):
        if not self._allowed():
            return
        data = {"data": [{"id": name} for name in self.state.names]}
        self._answer(200, b"<html>" if self.state.fault == "no_list" else json.dumps(data).encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._allowed():
            return
        state = self.state
        state.requests.append(body)
        refusals = {
            "error": (500, {"error": {"message": f"out of luck {state.key}"}}),
            "too_long": (400, {"error": {"message": "the prompt exceeds the context size", "code": 400}}),
            "limit": (429, {"detail": "slow down"}),
        }
        if state.fault in refusals:
            status, words = refusals[state.fault]
            self._answer(status, json.dumps(words).encode())
        elif state.fault == "redirect":
            self.send_response(307)
            self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif state.fault == "silent":
            state.release.wait(30)
        else:
            self._stream(body)

    def _stream(self, body):
        state = self.state
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for line in self._lines(body):
                if state.delay and state.release.wait(state.delay):
                    return
                self.wfile.write(line.encode())
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            state.closed.set()

    def _lines(self, body):
        """The answer, a word at a time; a fault comes after the second."""
        fault = self.state.fault
        words = self.state.script.pop(0) if self.state.script else "one two three four five six"
        pieces = [words[place : place + 4] for place in range(0, len(words), 4)]
        yield ": a comment\n\n"
        for number, piece in enumerate(pieces[: body["max_tokens"]]):
            if number == 2 and fault == "error_in_stream":
                yield 'data: {"error": {"code": 500, "message": "the model died"}}\n\n'
                return
            if number == 2 and fault == "malformed":
                yield "data: {not json}\n\n"
            if number == 2 and fault == "no_stream":
                yield "Internal Server Error\n\n"
            if number == 2 and fault == "odd_event":
                yield 'data: {"choices": "none"}\n\n'
            if number == 2 and fault == "cut_off":
                return
            yield f"data: {json.dumps(event(piece), ensure_ascii=False)}\n\n"
        finish = "stop" if len(pieces) <= body["max_tokens"] else "length"
        usage = {"prompt_tokens": 7, "completion_tokens": len(pieces)}
        yield f"data: {json.dumps(event('', finish))}\n\n"
        yield f"data: {json.dumps({'choices': [], 'usage': usage})}\r\n\r\n"
        yield "data: [DONE]\n\n"

    def _allowed(self):
        if self.state.key and self.headers.get("Authorization") != f"Bearer {self.state.key}":
            self._answer(401, json.dumps({"error": {"message": "invalid api key"}}).encode())
            return False
        return True

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
