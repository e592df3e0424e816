"""What the README shows can be typed as it stands: its fenced blocks run against a page of this machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import coroutines
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from formats import samples
from formats.__main__ import COMMANDS
from formats.web import page
from formats.web.engine import Engine
from formats.web.handlers import Workbench
from formats.web.reading import Reading
from formats.web.scoring import Scoring

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = "http://127.0.0.1:7860"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    workbench = Workbench(Engine(), samples.load())
    app = page.build(workbench, Scoring(workbench), Reading(workbench, samples.load_outputs()))
    _, url, _ = page.launch(app, prevent_thread_lock=True, server_name="127.0.0.1", quiet=True)
    yield url.rstrip("/")
    app.close()


def run(program: list[str], text: str) -> str:
    """What a block prints; it must end well."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(program, input=text, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=240)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


def shell(text: str) -> str:
    return run(["bash", "-euo", "pipefail"], text)


def test_the_python_example_prints_what_stands_below_it(address):
    (program,) = blocks("python")
    (printed,) = blocks("text")
    assert run([sys.executable, "-"], program.replace(SHOWN, address)) == printed


def test_the_curl_example_answers_with_a_prompt(address):
    (command,) = [block for block in blocks("bash") if "curl" in block]
    answer = json.loads(json.loads(shell(command.replace(SHOWN, address)))["data"][0])
    assert answer["prompt"] == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


def test_the_mcp_address_lists_the_tools(address):
    (settings,) = blocks("json")
    ((server),) = json.loads(settings.replace(SHOWN, address))["mcpServers"].values()

    async def tools() -> set[str]:
        async with (
            streamable_http_client(server["url"]) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return {tool.name for tool in (await session.list_tools()).tools}

    named = README.partition("## API and MCP")[2].partition("are open to programs")[0]
    assert coroutines.run(tools()) == set(re.findall(r"`(\w+)`", named))


def test_the_frame_shows_the_page(address):
    (code,) = blocks("html")
    source = re.search(r'src="([^"#]+)#', code)[1]
    with urllib.request.urlopen(source.replace(SHOWN, address), timeout=60) as answer:
        assert answer.status == 200 and "Prompt Format Lab" in answer.read().decode()


def test_the_commands_run_and_none_is_missing():
    (commands,) = [block for block in blocks("bash") if "python -m formats" in block]
    lines = commands.splitlines()
    results = [json.loads(shell(line)) for line in lines]
    models, rendered, parsed, judged, opened = results
    assert {"qwen3", "llama-4"} <= {model["name"] for model in models}
    assert [column["model"] for column in rendered] == ["qwen3", "llama-4"]
    assert parsed["calls"][0]["name"] == "f" and judged and opened["models"][0]["name"] == "qwen3"
    assert all(re.search(rf"python -m formats {command}\b", README) for command in COMMANDS)
