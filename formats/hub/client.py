"""How the Hub is asked: under limits of time and size, and with its faults in words.

huggingface_hub waits and tries again by itself, for minutes where a server is
slow or says when to come back. People in front of a page are told instead. Our
limits stand in hooks of its HTTP client, and only hold for what is asked here.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from huggingface_hub import constants, set_client_factory
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import hf_raise_for_status, parse_ratelimit_headers
from huggingface_hub.utils._http import default_client_factory

from formats import host
from formats.errors import ModelError

PROBE_SECONDS = 1.0  # for the question whether the Hub is there at all
ASK_SECONDS = 5.0  # for what a repository holds; after that, what is here stands in
STALL_SECONDS = 10.0  # without a byte of a file
TOTAL_SECONDS = 60.0  # for one model
MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_TOTAL_BYTES = 100 * 1024 * 1024  # of all files of a model
MAX_BREAKS = 2  # of connections, while one model is on its way
PUBLIC_HUB = "https://huggingface.co"

T = TypeVar("T")


class TookTooLong(Exception):
    """The time for one model is over."""


class BrokeOff(Exception):
    """The connection broke again and again."""


class TooLarge(Exception):
    """A file goes on beyond the size limit, whatever its headers say."""


@dataclass(slots=True)
class _Limits:
    deadline: float  # on the monotonic clock
    breaks: int = 0  # of connections, so far

    def left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TookTooLong
        return left


_LIMITS: ContextVar[_Limits | None] = ContextVar("_LIMITS", default=None)


def endpoint() -> str:
    """The Hub's address, read each time so that HF_ENDPOINT can change."""
    return (os.environ.get("HF_ENDPOINT") or PUBLIC_HUB).rstrip("/")


def own_token_counts() -> bool:
    """Whether the token that is set on this machine opens repositories, for all who ask here."""
    return not constants.HF_HUB_DISABLE_IMPLICIT_TOKEN


def cache_folder() -> Path:
    """The local Hub cache, read each time so that HF_HUB_CACHE and HF_HOME can change."""
    if chosen := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(chosen).expanduser()
    if home := os.environ.get("HF_HOME"):
        return Path(home).expanduser() / "hub"
    return Path(constants.HF_HUB_CACHE)


def is_offline() -> bool:
    """Whether the person, or the library on their behalf, has forbidden any request."""
    forbidden = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return forbidden.upper() in constants.ENV_VARS_TRUE_VALUES or constants.is_offline_mode()


@contextmanager
def limits(seconds: float) -> Iterator[None]:
    """Requests made inside end at the deadline, are not repeated for long, and never read more than a file may have."""
    _install()
    token = _LIMITS.set(_Limits(time.monotonic() + seconds))
    try:
        yield
    finally:
        _LIMITS.reset(token)


@cache
def _install() -> None:
    set_client_factory(_client)


def _client() -> httpx2.Client:
    client: httpx2.Client = default_client_factory()
    hooks = client.event_hooks
    client.event_hooks = {
        "request": [*hooks.get("request", []), _before],
        "response": [*hooks.get("response", []), _after],
    }
    return client


def _before(request: httpx2.Request) -> None:
    limits = _LIMITS.get()
    if limits is not None:
        wait = min(limits.left(), STALL_SECONDS)
        given: dict[str, Any] = request.extensions.get("timeout", {})
        request.extensions["timeout"] = {
            kind: min(wait, given.get(kind) or wait) for kind in ("connect", "read", "write", "pool")
        }


def _after(response: httpx2.Response) -> None:
    limits = _LIMITS.get()
    if limits is not None:
        response.stream = _Bounded(response.stream, limits)
        hf_raise_for_status(response)  # here, before the library's own loop takes it for a reason to wait


class _Bounded(httpx2.SyncByteStream):
    """A body that ends with an error when its time or its size is over."""

    def __init__(self, stream: Any, limits: _Limits) -> None:
        self._stream = stream
        self._limits = limits

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        try:
            for chunk in self._stream:
                self._limits.left()
                read += len(chunk)
                if read > MAX_FILE_BYTES:
                    raise TooLarge
                yield chunk
        except (httpx2.RemoteProtocolError, httpx2.ReadError) as error:  # the library goes on where it broke
            self._limits.breaks += 1
            if self._limits.breaks >= MAX_BREAKS:
                raise BrokeOff from error
            raise

    def close(self) -> None:
        self._stream.close()


def within(seconds: float, work: Callable[[], T]) -> T:
    """The work's result, or TookTooLong: for what no timeout reaches, such as a name server that does not answer.

    What goes on then goes on in a thread that does not keep the program from ending.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    try:
        return future.result(seconds)
    except FutureTimeout:
        if future.done():
            raise
        raise TookTooLong from None


def answers() -> bool:
    """Whether anything answers at the Hub's address; at most PROBE_SECONDS."""

    def ask() -> bool:
        try:
            httpx2.head(endpoint(), timeout=PROBE_SECONDS)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
            return False
        return True

    try:
        return within(PROBE_SECONDS, ask)
    except TookTooLong:
        return False


def worded(error: BaseException, repo: str, revision: str | None, token: str | None = None) -> ModelError:
    """Any error of a request about a repository, for the person who sees it; `token` is the visitor's, if one was sent.

    A token never stands in the words.
    """
    where = f"{repo}@{revision}" if revision else repo
    if isinstance(error, LocalEntryNotFoundError) and error.__cause__ is not None:
        return worded(error.__cause__, repo, revision, token)
    if isinstance(error, HfHubHTTPError):
        return _http_error(error, repo, where, revision, token is not None)
    match error:
        case ModelError():
            return error
        case HFValidationError():
            return ModelError(f"{repo!r} cannot be a Hub id: one looks like organisation/name", "not_found")
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.ProxyError() | OfflineModeIsEnabled():
            return ModelError(f"the Hub cannot be reached at {endpoint()}", "hub_unreachable")
        case TookTooLong() | httpx2.TimeoutException():
            return ModelError(f"the Hub is too slow: {where} did not arrive in time; try again later", "slow")
        case TooLarge():
            return ModelError(f"a file of {where} is larger than {megabytes(MAX_FILE_BYTES)}: not loaded", "too_large")
        case httpx2.TooManyRedirects():
            return ModelError(f"the Hub sends requests for {where} round in circles", "redirect_loop")
        case BrokeOff() | httpx2.RemoteProtocolError() | httpx2.ReadError():
            return ModelError(f"the connection broke while {where} was on its way; try again", "cut_off")
        case httpx2.HTTPError():
            return ModelError(f"{where} could not be fetched: {error}", "hub_error")
        case OSError() if "Consistency check failed" in str(error):
            return ModelError(f"the connection broke while {where} was on its way; try again", "cut_off")
        case OSError():
            return ModelError(f"{where} could not be stored: {error}", "disk")
        case _:
            return ModelError(f"what {endpoint()} says about {where} cannot be read: {error}", "hub_error")


def _http_error(error: HfHubHTTPError, repo: str, where: str, revision: str | None, as_visitor: bool) -> ModelError:
    status = error.response.status_code
    match error:
        case GatedRepoError():
            return gated(repo, as_visitor)
        case RepositoryNotFoundError():
            return ModelError(f"the Hub has no public model {repo}: it does not exist or is private", "not_found")
        case RevisionNotFoundError():
            return ModelError(
                f"{repo} has no revision {revision!r}: give a branch, a tag or a 40-digit commit", "bad_revision"
            )
        case DisabledRepoError():
            return ModelError(f"the Hub has disabled {repo}", "not_found")
    if status == 401 and "Invalid credentials" in str(error):
        return ModelError("the Hub does not accept the token it was given: log in again", "bad_token")
    if status in (401, 403):
        return gated(repo, as_visitor)
    if status == 429:
        wait = _seconds_to_wait(error)
        later = f"in {wait} seconds" if wait is not None else "later"
        return ModelError(f"the Hub limits how often it may be asked: try {where} again {later}", "rate_limited")
    if status >= 500:
        return ModelError(f"the Hub has a fault of its own ({status}) with {where}: try again later", "server_error")
    return ModelError(f"the Hub refuses {where} ({status})", "hub_error")


def gated(repo: str, as_visitor: bool = False) -> ModelError:
    """What helps depends on where the app runs, and on whether a visitor has logged in already."""
    licence = f"{repo} is gated: accept its licence at {endpoint()}/{repo}"
    if as_visitor:
        words = f"{licence} with the account that you have logged in with"
    elif host.offers_login():
        words = f"{licence} and log in here with Hugging Face, at the top of the page: your own access opens it for you"
    elif own_token_counts():
        words = f"{licence} and log in (`hf auth login`, or HF_TOKEN)"
    else:
        words = f"{licence} and open it on a machine of your own, logged in there (`hf auth login`, or HF_TOKEN)"
    return ModelError(words, "gated")


def _seconds_to_wait(error: HfHubHTTPError) -> int | None:
    headers = error.response.headers
    if (after := headers.get("retry-after", "")).isdigit():
        return int(after)
    limit = parse_ratelimit_headers(headers)
    return limit.reset_in_seconds if limit is not None else None


def megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:.0f} MB"
