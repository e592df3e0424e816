"""Where the app runs: on its owner's own machine, on a server that others reach, or in a Space; and what follows."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

LOOPBACK = ("", "127.0.0.1", "localhost", "::1")
STORAGE = Path("/data")  # where a Space's persistent storage is mounted
SHARE_TOKEN = "FORMATS_SHARE_TOKEN"  # "1": what the operator's own token opens is for every visitor
_OAUTH = ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL")


def is_private(env: Mapping[str, str] = os.environ) -> bool:
    """Whether nobody but this machine's own people can reach the page: only they may name files of it as models."""
    return env.get("GRADIO_SERVER_NAME", "") in LOOPBACK and not env.get("SPACE_ID")


def offers_login(env: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a Space with `hf_oauth: true`: visitors can log in with their own account there."""
    return env.get("SYSTEM") == "spaces" and all(env.get(name) for name in ("SPACE_ID", *_OAUTH))


def settle(env: MutableMapping[str, str] = os.environ, storage: Path = STORAGE) -> None:
    """Set what follows for the Hub's client and our own cache; before either is imported.

    - What others can reach must not show them what the operator's token opens, unless the operator says so.
    - A Space keeps downloads and conversions on its persistent storage, if it has one; the operator's choice stands.
    - Files come by plain HTTP: our limits of time and size hold there, and a visitor's files leave no chunks on disk.
    """
    env.setdefault("HF_HUB_DISABLE_XET", "1")
    if not is_private(env) and env.get(SHARE_TOKEN) != "1":
        env["HF_HUB_DISABLE_IMPLICIT_TOKEN"] = "1"
    if env.get("SPACE_ID") and _is_writable(storage):
        env.setdefault("HF_HOME", str(storage / ".huggingface"))
        env.setdefault("FORMATS_CACHE", str(storage / "formats"))


def _is_writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
