"""What looks like a password or an access token never goes into a link or a file that people pass on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from formats.conversation import at
from formats.errors import FormatsError
from formats.types import JsonObject

_USER_IN_URL = re.compile(r"//[^/\s]*@")  # https://user:password@host
_HUB_TOKEN = re.compile(r"\b(?:hf_|api_org_)[A-Za-z0-9]{20,}")
# Names of options, without case, hyphens and underscores. bos_token, image_token and their like are no secrets.
_SECRET_NAME = re.compile(
    r"token|bearer|cookie|.*(?:apikey|password|passwd|secret|secretkey|credentials?|authorization"
    r"|(?:access|auth|bearer|hf|hub|api)token)"
)


def refuse(state: JsonObject) -> None:
    """Raises FormatsError (secret), naming the place, if a state's JSON holds what looks like a secret.

    Looked for are access tokens of the Hub anywhere, user names and passwords in the addresses of models, and template
    options with the name of a secret. Tools and calls may well have an argument called `api_key`: names are looked at
    in the options alone.
    """
    for path, text in _texts(state, ""):
        if _HUB_TOKEN.search(text):
            _fail(path, "holds what looks like an access token of the Hub")
        if path.startswith(("models", "output.model")) and _USER_IN_URL.search(text):
            _fail(path, "holds a user name or a password in its address")
    kwargs = state["conversation"]["options"].get("kwargs")
    for path in _secret_options(kwargs, "conversation.options.kwargs", False):
        _fail(path, "is called like a secret")


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Every text in a JSON value with its path; keys are texts too."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield path, key
            yield from _texts(item, at(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")


def _secret_options(value: object, path: str, secret: bool) -> Iterator[str]:
    """The paths of all texts that are not empty and stand at or below the name of a secret."""
    if isinstance(value, str) and value and secret:
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            named = _SECRET_NAME.fullmatch(re.sub(r"[^a-z0-9]", "", key.lower())) is not None
            yield from _secret_options(item, at(path, key), secret or named)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _secret_options(item, f"{path}[{index}]", secret)


def _fail(path: str, what: str) -> NoReturn:
    message = f"{path[:200]} {what}, and whoever gets the link could read it: remove it before you share"
    raise FormatsError(message, "secret")
