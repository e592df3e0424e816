"""A log-in page for tests: an OpenID provider on a loopback port, as a Space's log-in with Hugging Face meets it.

Its page shows the accounts; whoever follows one's link is logged in with it, and the app gets that account's token.
"""

from __future__ import annotations

import base64
import html
import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey

CLIENT, SECRET = "a-space", "a-space-secret-of-32-characters-"
KEY = OctKey.import_key(SECRET, {"kid": "1", "use": "sig", "alg": "HS256"})


class OpenIdServer:
    """Use as a context manager; `environment` is what a Space gets with `hf_oauth: true`."""

    def __init__(self, accounts: Mapping[str, str]) -> None:
        self.accounts = accounts  # name -> its token
        self.codes: dict[str, tuple[str, str]] = {}  # one-time code -> account, nonce
        self.scopes: list[str] = []  # that were asked for
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": self}))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://localhost:{self._server.server_port}"  # another site than the app's 127.0.0.1

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SYSTEM": "spaces",
            "SPACE_ID": "somebody/prompt-format-lab",
            "OAUTH_CLIENT_ID": CLIENT,
            "OAUTH_CLIENT_SECRET": SECRET,
            "OAUTH_SCOPES": "openid profile gated-repos",
            "OPENID_PROVIDER_URL": self.url,
        }

    def __enter__(self) -> OpenIdServer:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    provider: OpenIdServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        url = self.provider.url
        match address.path:
            case "/.well-known/openid-configuration":
                self._json(
                    {
                        "issuer": url,
                        "authorization_endpoint": f"{url}/oauth/authorize",
                        "token_endpoint": f"{url}/oauth/token",
                        "jwks_uri": f"{url}/jwks",
                        "id_token_signing_alg_values_supported": ["HS256"],
                    }
                )
            case "/jwks":
                self._json({"keys": [KEY.as_dict()]})
            case "/oauth/authorize" if asked.get("client_id") == CLIENT:
                self.provider.scopes.append(asked["scope"])
                self._send(200, "text/html", "".join(self._link(name, asked) for name in self.provider.accounts))
            case _:
                self._send(404, "text/plain", "not found")

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        code = self.provider.codes.pop(form.get("code", [""])[0], None)
        if self.path != "/oauth/token" or self.headers.get("Authorization") != f"Basic {known}" or code is None:
            self._json({"error": "invalid_grant"}, 400)
            return
        name, nonce = code
        now = int(time.time())
        profile = {"preferred_username": name, "name": name.title(), "profile": "", "picture": ""}
        claims = {"iss": self.provider.url, "aud": CLIENT, "sub": name, "nonce": nonce, "iat": now, "exp": now + 3600}
        self._json(
            {
                "access_token": self.provider.accounts[name],
                "token_type": "bearer",
                "expires_in": 3600,
                "scope": "openid profile gated-repos",
                "id_token": jwt.encode({"alg": "HS256", "kid": "1"}, claims | profile, KEY),
            }
        )

    def _link(self, name: str, asked: Mapping[str, str]) -> str:
        """Where the visitor goes who logs in with that account."""
        code = f"{name}-{len(self.provider.codes)}-{time.time_ns()}"
        self.provider.codes[code] = (name, asked["nonce"])
        there = asked["redirect_uri"] + ("&" if "?" in asked["redirect_uri"] else "?")
        href = html.escape(there + urlencode({"code": code, "state": asked["state"]}))
        return f'<p><a href="{href}">{name}</a></p>'

    def _json(self, value: object, status: int = 200) -> None:
        self._send(status, "application/json", json.dumps(value))

    def _send(self, status: int, media: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
