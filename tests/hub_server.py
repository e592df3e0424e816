"""A Hub for tests: a real HTTP server on a loopback port that speaks the Hub's protocol to the real huggingface_hub.

It answers what the client asks when it loads a model (information, tree, resolve with ETag and commit headers,
redirects, ranges), and shows on demand every fault that the Hub or the way to it can have.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LARGE_FILE = 1_000_000  # from here on a file is kept in large file storage, on a host of its own


@dataclass
class Repository:
    """A model repository. What is true of it can be changed while the server runs."""

    files: Mapping[str, bytes]
    revisions: dict[str, str] = field(default_factory=dict)  # branch or tag -> commit
    gated: int | None = None  # the status that files are refused with: 401 without a token, 403 with one
    private: bool = False
    opened_by: str | None = None  # the token that opens a gated repository
    moved_to: str | None = None
    fault: str | None = None  # "rate_limit", "error", "slow", "drip", "loop", "not_json"
    fault_on_files: str | None = None  # the same or "cut_off", but the information is still to be had
    breaks: int = 1_000_000  # how often "cut_off" happens
    breaks_from: int = 0  # bytes; smaller files arrive whole
    claimed_sizes: dict[str, int] = field(default_factory=dict)  # sizes that only the information states
    sizes_in_tree_only: bool = False

    @property
    def commit(self) -> str:
        return self.revisions["main"]

    def knows(self, revision: str) -> bool:
        return revision in self.revisions or revision in self.revisions.values()


def commit_of(files: Mapping[str, bytes]) -> str:
    return hashlib.sha1(b"".join(name.encode() + body for name, body in sorted(files.items()))).hexdigest()


class HubServer:
    """Use as a context manager; `url` is what HF_ENDPOINT has to be."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.requests: list[tuple[str, str, str | None]] = []  # method, path, Range header
        self.tokens: list[tuple[str, str]] = []  # path and token of each request that came with one
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add(self, repo: str, files: Mapping[str, bytes | str], **facts: object) -> Repository:
        bodies = {name: body.encode() if isinstance(body, str) else body for name, body in files.items()}
        repository = Repository(bodies, **facts)
        repository.revisions.setdefault("main", commit_of(bodies))
        self.repositories[repo] = repository
        return repository

    def asked(self, part: str) -> list[tuple[str, str, str | None]]:
        """The requests so far whose path holds that part."""
        return [request for request in self.requests if part in request[1]]

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = urlsplit(self.path).path
        self.hub.requests.append((self.command, unquote(path), self.headers.get("Range")))
        if (sent := self.headers.get("Authorization")) is not None:
            self.hub.tokens.append((unquote(path), sent.removeprefix("Bearer ")))
        if self.headers.get("Authorization") == "Bearer hf_expired":
            self._refuse(401, "", "Invalid credentials in Authorization header")
        elif path.startswith("/api/models/"):
            self._api(path.removeprefix("/api/models/"))
        elif "/resolve/" in path:
            repo, _, rest = path[1:].partition("/resolve/")
            revision, _, name = rest.partition("/")
            self._resolve(repo, unquote(revision), unquote(name))
        elif path.startswith("/storage/"):
            self._storage(path.removeprefix("/storage/"))
        elif path == "/":
            self._send(200, b"a Hub for tests")
        else:
            self._refuse(404, "", "Not found")

    # What the Hub says.

    def _api(self, rest: str) -> None:
        repo, kind, revision = _split(rest)
        repository = self._repository(repo)
        if repository is None or self._shows(repository.fault, self.path):
            return
        if repository.moved_to is not None:
            self._send(307, b"", {"Location": self.path.replace(repo, repository.moved_to)})
        elif not repository.knows(revision):
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif kind == "tree":
            self._send_json([{"type": "file", **_described(n, b)} for n, b in repository.files.items()])
        else:
            self._send_json(self._information(repo, repository, revision))

    def _information(self, repo: str, repository: Repository, revision: str) -> dict:
        blobs = parse_qs(urlsplit(self.path).query).get("blobs") and not repository.sizes_in_tree_only
        siblings = []
        for name, body in repository.files.items():
            described = _described(name, body)
            size = repository.claimed_sizes.get(name, described["size"])
            siblings.append({"rfilename": name, **({"size": size, "blobId": described["oid"]} if blobs else {})})
        sha = repository.revisions.get(revision, revision)
        gated = "auto" if repository.gated else False
        return {"id": repo, "modelId": repo, "sha": sha, "private": False, "gated": gated, "siblings": siblings}

    def _resolve(self, repo: str, revision: str, name: str) -> None:
        repository = self._repository(repo)
        if repository is None or self._shows(repository.fault or repository.fault_on_files, self.path):
            return
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if repository.gated is not None and (not token or token != repository.opened_by):
            self._refuse(repository.gated, "GatedRepo", f"Access to model {repo} is restricted.")
        elif not repository.knows(revision):
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif name not in repository.files:
            self._refuse(404, "EntryNotFound", "Entry not found")
        else:
            self._file(repository, repository.revisions.get(revision, revision), repository.files[name])

    def _file(self, repository: Repository, commit: str, body: bytes) -> None:
        headers = {"X-Repo-Commit": commit, "ETag": f'"{_etag(body)}"', "Accept-Ranges": "bytes"}
        breaks = repository.fault_on_files == "cut_off" and repository.breaks > 0
        cut_off = breaks and len(body) >= repository.breaks_from
        if len(body) >= LARGE_FILE and not cut_off:
            sha256 = hashlib.sha256(body).hexdigest()
            there = f"http://localhost:{self.hub.port}/storage/{sha256}"  # another host, as far as a client can tell
            linked = {"X-Linked-ETag": f'"{sha256}"', "X-Linked-Size": str(len(body)), "Location": there}
            self._send(302, b"", {**headers, **linked})
        elif cut_off and self.command == "GET":
            repository.breaks -= 1
            self._send(200, body[: len(body) // 2], {**headers, "Content-Length": str(len(body))}, close=True)
        else:
            self._ranged(body, headers)

    def _storage(self, sha256: str) -> None:
        bodies = [b for repository in self.hub.repositories.values() for b in repository.files.values()]
        body = next((b for b in bodies if len(b) >= LARGE_FILE and hashlib.sha256(b).hexdigest() == sha256), None)
        if body is None:
            self._refuse(404, "", "Not found")
        else:
            self._ranged(body, {"ETag": f'"{sha256}"', "Accept-Ranges": "bytes"})

    # How it says it.

    def _repository(self, repo: str) -> Repository | None:
        repository = self.hub.repositories.get(repo)
        if repository is None or repository.private:
            self._refuse(401, "RepoNotFound", "Repository not found")
            return None
        return repository

    def _shows(self, fault: str | None, here: str) -> bool:
        """Whether a fault was the answer."""
        match fault:
            case "rate_limit":
                self._send(429, b'{"error": "Too many requests"}', {"Retry-After": "120"})
            case "error":
                self._send(500, b'{"error": "Internal error"}')
            case "slow":
                time.sleep(5)
                self._send(200, b"{}")
            case "drip":
                self._drip()
            case "loop":
                self._send(307, b"", {"Location": here})
            case "not_json":
                self._send(200, b"<html>a page of the hotel's network</html>", {"Content-Type": "text/html"})
            case _:
                return False
        return True

    def _drip(self) -> None:
        """A byte now and then, so that no reading ever times out."""
        self._headers(200, {"Content-Length": "1000000"})
        try:
            for _ in range(100):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass  # the client has lost its patience
        self.close_connection = True

    def _ranged(self, body: bytes, headers: Mapping[str, str]) -> None:
        asked = self.headers.get("Range")
        if asked is None:
            self._send(200, body, headers)
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start, end = int(first), int(last) + 1 if last else len(body)
        self._send(206, body[start:end], {**headers, "Content-Range": f"bytes {start}-{end - 1}/{len(body)}"})

    def _refuse(self, status: int, code: str, message: str) -> None:
        body = json.dumps({"error": message}).encode()
        self._send(status, body, {"X-Error-Code": code, "X-Error-Message": message})

    def _send_json(self, value: object) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] = {}, close: bool = False) -> None:
        self._headers(status, {"Content-Length": str(len(body)), **headers})
        if self.command != "HEAD":
            self.wfile.write(body)
        if close:
            self.close_connection = True

    def _headers(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _split(rest: str) -> tuple[str, str, str]:
    """("org/name", "info" or "tree", revision) of what stands behind /api/models/."""
    for kind in ("tree", "revision"):
        repo, found, revision = rest.partition(f"/{kind}/")
        if found:
            return repo, "tree" if kind == "tree" else "info", unquote(revision)
    return rest, "info", "main"


def _described(name: str, body: bytes) -> dict:
    described = {"path": name, "size": len(body), "oid": _git_oid(body)}
    if len(body) >= LARGE_FILE:
        described["lfs"] = {"oid": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 133}
    return described


def _git_oid(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def _etag(body: bytes) -> str:
    return _git_oid(body)
