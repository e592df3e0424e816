"""The public endpoints over real HTTP, with the clients that people use: gradio_client, plain posts, MCP's own."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import coroutines
import pytest
from gradio_client import Client
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from formats import samples
from formats.web import page
from formats.web.engine import Engine
from formats.web.handlers import Workbench
from formats.web.quick_import import gr
from formats.web.reading import Reading
from formats.web.scoring import Scoring

MESSAGES = [{"role": "user", "content": "Hey, what's the temperature in Paris right now?"}]
TOOL = {
    "type": "function",
    "function": {"name": "f", "description": "F.", "parameters": {"type": "object", "properties": {}}},
}
CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
NAMES = {"compare", "render", "parse_output", "check", "models", "link", "open_link"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    workbench = Workbench(Engine(), samples.load())
    blocks = page.build(workbench, Scoring(workbench), Reading(workbench, samples.load_outputs()))
    _, url, _ = page.launch(blocks, prevent_thread_lock=True, server_name="127.0.0.1", quiet=True)
    yield url.rstrip("/")
    blocks.close()


@pytest.fixture(scope="module")
def client(address) -> Client:
    return Client(address, verbose=False)


def ask(client: Client, name: str, *arguments: Any) -> Any:
    return json.loads(client.predict(*arguments, api_name=f"/{name}"))


def post(address: str, name: str, *data: Any) -> Any:
    """What curl does: one plain post."""
    request = urllib.request.Request(
        f"{address}/gradio_api/run/{name}",
        json.dumps({"data": data}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(json.load(answer)["data"][0])


def test_only_the_endpoints_are_public(client):
    named = client.view_api(return_format="dict")["named_endpoints"]
    assert {name.strip("/") for name in named} == NAMES


def test_an_app_that_waits_takes_no_processor(address, monkeypatch):
    """Gradio looks into its queue a thousand times a second where it is not told otherwise."""
    looks = []
    monkeypatch.setattr(gr.queueing.Queue, "__len__", lambda queue: looks.append(queue) or 0)
    time.sleep(0.5)
    assert 0 < len(looks) < 50


def test_an_openapi_description_is_served(address):
    with urllib.request.urlopen(f"{address}/gradio_api/openapi.json", timeout=60) as answer:
        described = json.load(answer)
    assert described["openapi"].startswith("3.")
    assert all(any(path.endswith(f"/{name}") for path in described["paths"]) for name in NAMES)


def test_compare(client):
    answer = ask(client, "compare", ["qwen3", "gemma-3-27b"], MESSAGES, [TOOL], None, "2024-07-26")
    first, second = answer["columns"]
    assert first["prompt"].startswith("<|im_start|>system") and first["tokens"]["count"] == len(first["tokens"]["ids"])
    assert second["tokens"] is None and "Hub" in second["tokens_missing"]
    assert answer["date"] == "2024-07-26" and "transformers" in answer["versions"]


def test_a_plain_post_gives_the_same(address, client):
    by_post = post(address, "render", "qwen3", MESSAGES, None, None, "2024-07-26")
    assert by_post == ask(client, "render", "qwen3", MESSAGES, None, None, "2024-07-26")


def test_one_model_that_fails_is_its_own_column(client):
    answer = ask(client, "compare", ["qwen3", "no-such-model-kqz"], MESSAGES, None, None, "")
    assert answer["columns"][0]["error"] is None
    assert answer["columns"][1]["error"]["kind"] in ("not_found", "hub_unreachable")  # with the Hub, and without
    assert "no-such-model-kqz" in answer["columns"][1]["error"]["message"]


def test_parse_output(client):
    read = ask(client, "parse_output", CALL, "hermes", [TOOL], "", "")
    assert [(c["name"], c["arguments"], c["problem"]) for c in read["calls"]] == [("f", {}, None)]
    found = ask(client, "parse_output", CALL, "auto", [TOOL], "qwen3", "")
    assert found["format"] == "hermes"


def test_check_and_models(client):
    judged = ask(client, "check", "qwen3")
    assert judged["stars"] == 5 and judged["findings"][0]["evidence"]
    assert "qwen3" in [model["id"] for model in ask(client, "models", "qwen3")]


def test_a_link_opens_as_what_was_put_into_it(client):
    link = client.predict(["qwen3"], MESSAGES, [TOOL], None, "2024-07-26", CALL, api_name="/link")
    state = ask(client, "open_link", link)
    assert state["conversation"]["messages"] == MESSAGES and state["output"]["text"] == CALL
    assert state["models"][0]["name"] == "qwen3" and state["date"] == "2024-07-26"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("compare", (["qwen3"], [], None, None, ""), "messages"),
        ("compare", (["qwen3"], [{"role": 5}], None, None, ""), r"messages\[0\]"),
        ("compare", (["m"] * 0, MESSAGES, None, None, ""), "models"),
        ("compare", ([str(n) for n in range(20)], MESSAGES, None, None, ""), "12"),
        ("compare", (["qwen3"], MESSAGES, None, None, "tomorrow"), "YYYY-MM-DD"),
        ("compare", (["qwen3"], [{"role": "user", "content": "x" * 2_100_000}], None, None, ""), "larger"),
        ("parse_output", (CALL, "no_such_format", None, "", ""), "no format is called"),
        ("parse_output", (CALL, "auto", None, "", ""), "choose a format"),
        ("check", ("no-such-model-kqz",), "no-such-model-kqz"),
        ("open_link", ("#s=1.broken",), "link"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(client, name, arguments, words):
    with pytest.raises(Exception, match=words):
        client.predict(*arguments, api_name=f"/{name}")


def test_the_same_functions_are_mcp_tools(address):
    async def talk() -> None:
        async with (
            streamable_http_client(f"{address}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert set(tools) == NAMES
            assert "exact prompt" in tools["compare"].description
            assert "messages" in tools["compare"].inputSchema["properties"]
            compared = await session.call_tool("compare", {"models": ["qwen3"], "messages": MESSAGES})
            answer = json.loads(compared.content[0].text)
            assert answer["columns"][0]["prompt"].endswith("<|im_start|>assistant\n")
            read_back = await session.call_tool("parse_output", {"output": CALL, "format": "hermes"})
            assert json.loads(read_back.content[0].text)["calls"][0]["name"] == "f"
            wrong = await session.call_tool("parse_output", {"output": CALL, "format": "no_such_format"})
            assert wrong.isError and "no format is called" in wrong.content[0].text

    coroutines.run(talk())
