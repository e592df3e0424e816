"""Logging in with Hugging Face, in a Space: the visitor's own token reaches the listeners that load models.

Gradio keeps the token in the visitor's signed cookie. It is handed on as plain text and never into an answer. Other
sites may send requests with that cookie, and Gradio lets them read what comes back: the token counts only for
requests of our own page.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from formats.host import offers_login
from formats.web.quick_import import gr

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{8,4096}=*")  # what may stand in an Authorization header


def who(profile: gr.OAuthProfile | None) -> str:
    """The name of the account a visitor has logged in with; "" for all others."""
    return profile.username if profile is not None else ""


def personal(listener: Callable[..., Any]) -> Callable[..., Any]:
    """A listener that takes a `token` -> one that Gradio gives the visitor's; the same one where nobody can log in."""
    if not offers_login():
        return listener

    def asked(request: gr.Request, token: gr.OAuthToken | None, *values: Any) -> Any:
        return listener(*values, token=_own(request, token))

    def run(request: gr.Request, token: gr.OAuthToken | None, *values: Any) -> Iterator[Any]:
        yield from listener(*values, token=_own(request, token))

    chosen = run if inspect.isgeneratorfunction(listener) else asked
    chosen.__name__ = listener.__name__
    return chosen


def _own(request: gr.Request, token: gr.OAuthToken | None) -> str | None:
    from_here = request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    return token.token if token is not None and from_here and _TOKEN.fullmatch(token.token) else None
