"""What follows from where the app runs: told by an environment and a folder of the test's own."""

import os
import subprocess
import sys

import pytest

from formats import host

SPACE = {
    "SYSTEM": "spaces",
    "SPACE_ID": "somebody/lab",
    "OAUTH_CLIENT_ID": "a",
    "OAUTH_CLIENT_SECRET": "b",
    "OAUTH_SCOPES": "openid profile gated-repos",
    "OPENID_PROVIDER_URL": "https://huggingface.co",
}


@pytest.mark.parametrize("server", ["", "127.0.0.1", "localhost", "::1"])
def test_on_a_machine_of_ones_own_nothing_is_withheld(server, tmp_path):
    env = {"GRADIO_SERVER_NAME": server, "HF_TOKEN": "hf_mine"}
    assert host.is_private(env) and not host.offers_login(env)
    host.settle(env, tmp_path)
    assert "HF_HUB_DISABLE_IMPLICIT_TOKEN" not in env and "HF_HOME" not in env and "FORMATS_CACHE" not in env


@pytest.mark.parametrize("env", [{"GRADIO_SERVER_NAME": "0.0.0.0"}, {"SPACE_ID": "somebody/lab"}, SPACE])
def test_what_others_reach_does_not_use_the_operators_token_unless_told_so(env, tmp_path):
    settled, shared = dict(env), {**env, host.SHARE_TOKEN: "1"}
    host.settle(settled, tmp_path)
    host.settle(shared, tmp_path)
    assert not host.is_private(env)
    assert settled["HF_HUB_DISABLE_IMPLICIT_TOKEN"] == "1" and "HF_HUB_DISABLE_IMPLICIT_TOKEN" not in shared


def test_log_in_is_offered_in_a_space_that_has_all_it_needs():
    assert host.offers_login(SPACE)
    for name in SPACE:
        assert not host.offers_login({key: value for key, value in SPACE.items() if key != name}), name


def test_a_space_keeps_its_caches_on_persistent_storage(tmp_path):
    env = dict(SPACE)
    host.settle(env, tmp_path)
    assert env["HF_HOME"] == str(tmp_path / ".huggingface") and env["FORMATS_CACHE"] == str(tmp_path / "formats")


def test_the_operators_own_folders_stand(tmp_path):
    mine = {"HF_HOME": "/mine", "FORMATS_CACHE": "/cache", "HF_HUB_CACHE": "/hub"}
    env = SPACE | mine
    host.settle(env, tmp_path)
    assert {name: env[name] for name in mine} == mine


def test_without_storage_the_defaults_stand(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    for storage in (tmp_path / "nothing", file):
        env = dict(SPACE)
        host.settle(env, storage)
        assert "HF_HOME" not in env and "FORMATS_CACHE" not in env
    monkeypatch.setattr(os, "access", lambda *_: False)  # tests may run as root, who may write anywhere
    env = dict(SPACE)
    host.settle(env, tmp_path)
    assert "HF_HOME" not in env


def test_the_libraries_follow_what_was_settled(tmp_path):
    """In a process of its own, as app.py does it: before they are imported."""
    code = """if True:
    import os, pathlib, sys
    from formats import host
    host.settle(os.environ, pathlib.Path(sys.argv[1]))
    from formats.hub import client
    from formats.snapshot import vocabulary
    from huggingface_hub import constants
    from huggingface_hub.utils import build_hf_headers
    print(client.cache_folder(), constants.HF_HUB_CACHE, vocabulary.cache_folder(), sep="\\n")
    print(client.own_token_counts(), "authorization" in build_hf_headers(), constants.HF_HUB_DISABLE_XET)
    """
    unset = ("HF_HOME", "HF_HUB_CACHE", "FORMATS_CACHE", "GRADIO_SERVER_NAME", host.SHARE_TOKEN)
    env = {name: value for name, value in os.environ.items() if name not in unset}
    env |= SPACE | {"HF_TOKEN": "hf_operator"}
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=env, capture_output=True, text=True)
    hub = str(tmp_path / ".huggingface" / "hub")
    assert run.stdout.splitlines() == [hub, hub, str(tmp_path / "formats"), "False False True"], run.stderr
