"""Generation by a server that speaks OpenAI's completions protocol: vLLM, llama.cpp, Ollama, TGI and others.

The raw prompt goes to /v1/completions, so the server's own template has no say. Address and key are the operator's:
they come from the environment, and the key is in no message that anybody sees.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from queue import Empty, SimpleQueue
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2

from formats.generate.base import POLL, Chunk, End, GenerationError, Sampling, Stop
from formats.types import JsonObject

CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 60.0  # without a byte; a long prompt is read in silence
LONGEST_EVENT = 1_000_000  # bytes
MOST_BYTES = 50_000_000  # of one answer


class Server:
    """One model of a completions server."""

    where: Literal["process", "server"] = "server"

    def __init__(self, base_url: str, key: str = "", model: str = "", silence: float = SILENCE_SECONDS) -> None:
        self._base = _base(base_url)
        self._key = key
        self._timeout = httpx2.Timeout(silence, connect=CONNECT_SECONDS)
        names = self.models()
        if model and model not in names:
            raise GenerationError(f"the server has no model {model[:100]!r}; it has {_listed(names)}", "no_model")
        self.name = model or names[0]

    def models(self) -> list[str]:
        """The names that /v1/models gives, at least one."""
        try:
            with httpx2.Client(timeout=self._timeout, headers=self._headers()) as client:
                response = client.get(f"{self._base}/models")
            if response.status_code != 200:
                raise self._refused(response.status_code, response.content)
            names = [entry["id"] for entry in response.json()["data"]]
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._worded(error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise GenerationError(f"{self._base}/models does not answer with a list of models", "bad_server") from error
        if not names or not all(isinstance(name, str) for name in names):
            raise GenerationError("the server has no model loaded", "no_model")
        return names

    def ids(self, prompt: str) -> None:
        """The server makes the ids."""
        return

    def stream(self, prompt: str, sampling: Sampling, stop: Stop) -> Iterator[Chunk | End]:
        if not prompt:
            raise GenerationError("the prompt is empty: there is nothing to continue", "empty_prompt")
        request = _Request(self, self._body(prompt, sampling))
        request.start()
        reading = _Reading()
        try:
            while not reading.done and not stop.reason:
                try:
                    said = request.said.get(timeout=POLL)
                except Empty:
                    yield Chunk()
                    continue
                if isinstance(said, Exception):
                    raise self._worded(said) from said
                yield Chunk(*reading.add(said))
            yield reading.end(stop)
        finally:
            request.cancel()

    def _body(self, prompt: str, sampling: Sampling) -> JsonObject:
        body: JsonObject = {
            "model": self.name,
            "prompt": prompt,
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "stream": True,
            "stream_options": {"include_usage": True},
            "add_special_tokens": False,  # the prompt has its own; servers that do not know the word pass over it
        }
        return body | ({"stop": list(sampling.stop)} if sampling.stop else {})

    async def events(self, body: JsonObject) -> AsyncIterator[JsonObject | None]:
        """The events of one answer; None is the server's own word that it is done."""
        async with (
            httpx2.AsyncClient(timeout=self._timeout, headers=self._headers()) as client,
            client.stream("POST", f"{self._base}/completions", json=body) as response,
        ):
            if response.status_code != 200:
                raise self._refused(response.status_code, await response.aread())
            async for line in _lines(response.aiter_bytes()):
                if line == "[DONE]":
                    yield None
                    return
                yield self._event(line)

    def _event(self, line: str) -> JsonObject:
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise GenerationError(f"the server's stream holds what is no event: {line[:120]!r}", "bad_stream")
        if event.get("error"):
            raise GenerationError(f"the server broke off: {_message(event)[:300]}", "server_error")
        return event

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _safe(self, text: str) -> str:
        """The server's words without the key, should it repeat it."""
        return text.replace(self._key, "...") if self._key else text

    def _refused(self, status: int, body: bytes) -> GenerationError:
        try:
            words = _message(json.loads(body))
        except ValueError:
            words = body.decode("utf-8", "replace")
        said = self._safe(" ".join(words.split()))[:300]
        said = f": {said}" if said else ""
        if status in (401, 403):
            return GenerationError(
                f"the server refuses the key ({status}): whoever runs this page sets LIVE_API_KEY", "unauthorized"
            )
        if status == 404:
            return GenerationError(f"the server knows no /v1/completions or no such model (404){said}", "no_model")
        if status == 429:
            return GenerationError(f"the server is busy (429): try again later{said}", "busy")
        if 300 <= status < 400:
            return GenerationError(f"the server sends on to another address ({status}): set that one", "redirect")
        kind = "server_error" if status >= 500 else "server_refused"
        return GenerationError(f"the server answers with an error ({status}){said}", kind)

    def _worded(self, error: Exception) -> GenerationError:
        """Any error of a request, for the person who sees it."""
        host = urlsplit(self._base).netloc
        match error:
            case GenerationError():
                return GenerationError(self._safe(error.message), error.kind)
            case httpx2.ConnectError() | httpx2.ConnectTimeout():
                return GenerationError(f"no server answers at {host}: is it running?", "server_down")
            case httpx2.TimeoutException():
                return GenerationError(f"the server at {host} is too slow: it was silent for too long", "slow")
            case httpx2.HTTPError():
                return GenerationError(f"the connection to {host} broke: try again", "cut_off")
            case _:
                return GenerationError(f"the server at {host} cannot be used: {type(error).__name__}", "bad_server")


class _Request(threading.Thread):
    """One request in a thread and an event loop of its own: it can be ended at any moment, even while it connects."""

    def __init__(self, server: Server, body: JsonObject) -> None:
        super().__init__(daemon=True)
        self.said: SimpleQueue[JsonObject | Exception | None] = SimpleQueue()
        self._server = server
        self._body = body
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._read())

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            self.said.put(error)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _read(self) -> None:
        async for event in self._server.events(self._body):
            self.said.put(event)
        self.said.put(None)

    def cancel(self) -> None:
        """Close the connection, unless all is over."""
        if self.is_alive():
            try:
                self._loop.call_soon_threadsafe(self._task.cancel)
            except RuntimeError:  # it has ended between the two lines
                return


class _Reading:
    """What the events of one answer say."""

    def __init__(self) -> None:
        self.done = False
        self._finish: str | None = None
        self._stopped_by = ""
        self._usage: JsonObject = {}
        self._pieces = 0

    def add(self, event: JsonObject | None) -> tuple[str, int]:
        """The new text, and how many tokens came with it: one event is one token, as servers write them."""
        if event is None:
            self.done = True
            if self._finish is None:
                raise GenerationError("the server's stream ended before the output did: try again", "cut_off")
            return "", 0
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise GenerationError("the server's stream holds an event without choices", "bad_stream")
        text = "".join(choice.get("text") or "" for choice in choices)
        for choice in choices:
            self._finish = choice.get("finish_reason") or self._finish
            if isinstance(choice.get("stop_reason"), str):  # vLLM names the string
                self._stopped_by = choice["stop_reason"]
        self._pieces += bool(text)
        return text, int(bool(text))

    def end(self, stop: Stop) -> End:
        counted = {name: self._usage.get(name) for name in ("prompt_tokens", "completion_tokens")}
        prompt_tokens, tokens = (n if isinstance(n, int) else None for n in counted.values())
        if not self.done:
            return End(stop.reason or "stopped", "", prompt_tokens, tokens)
        return End("length" if self._finish == "length" else "end", self._stopped_by, prompt_tokens, tokens)


async def _lines(data: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The payloads of server-sent events. Lines end with a line feed alone: JSON text may hold other separators."""
    held, size = b"", 0
    async for piece in data:
        size += len(piece)
        held += piece
        *whole, held = held.split(b"\n")
        if len(held) > LONGEST_EVENT or size > MOST_BYTES:
            raise GenerationError("the server's stream goes on without an end", "bad_stream")
        for line in whole:
            if payload := _payload(line):
                yield payload
    if payload := _payload(held):
        yield payload


def _payload(line: bytes) -> str:
    """The data of one line; other fields and comments say nothing here."""
    text = line.decode("utf-8", "replace").strip("\r")
    field, colon, value = text.partition(":")
    if text and field not in ("data", "event", "id", "retry", ""):
        raise GenerationError(f"the server's stream is no event stream: {text[:120]!r}", "bad_stream")
    return value.strip() if field == "data" and colon else ""


def _message(value: Any) -> str:
    """The words in an error, in the shapes that servers give them."""
    inner = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(inner, dict):
        inner = inner.get("message") or inner.get("detail") or json.dumps(inner)
    return str(inner)


def _base(url: str) -> str:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise GenerationError("LIVE_BASE_URL needs an address such as http://127.0.0.1:8080", "bad_address")
    if parts.username or parts.password:
        raise GenerationError("LIVE_BASE_URL must not hold a password: use LIVE_API_KEY", "bad_address")
    base = url.strip().rstrip("/")
    return base if base.endswith("/v1") else f"{base}/v1"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:20])
