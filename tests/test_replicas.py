"""Two servers that share nothing behind one address: whichever answers, the answer is the same."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import coroutines
import pytest
from completions_server import CompletionsServer
from gradio_client import Client
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from round_robin import RoundRobin

ROOT = Path(__file__).parent.parent
START_SECONDS = 150
MESSAGES = [{"role": "user", "content": "Olá, 東京?"}]


@contextmanager
def app(folder, completions):
    """The app as a person starts it, by the port it serves; caches are its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_SERVER_PORT": str(port),
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / "hub"),
        "LIVE_BASE_URL": completions,
    }
    log = folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(20)
    assert "Traceback" not in log.read_text(), log.read_text()


def wait_for(port):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10):
                return
        except OSError:
            time.sleep(0.3)
    raise AssertionError("a replica serves no page")


@pytest.fixture(scope="module")
def completions():
    with CompletionsServer() as server:
        yield server


@pytest.fixture(scope="module")
def ports(tmp_path_factory, completions):
    with ExitStack() as both:
        ports = [both.enter_context(app(tmp_path_factory.mktemp("replica"), completions.url)) for _ in range(2)]
        for port in ports:
            wait_for(port)
        yield ports


@pytest.fixture
def proxy(ports):
    with RoundRobin(ports) as proxy:
        yield proxy


def replicas_of(proxy, part):
    """Which servers had a request for a path with that part."""
    return {number for number, path in proxy.served if part in path}


def post(address, name, *data):
    request = urllib.request.Request(
        f"{address}/gradio_api/run/{name}", json.dumps({"data": data}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
        return json.load(answer)["data"][0]


def test_every_replica_gives_the_same_answers_and_opens_the_others_links(proxy):
    asked = (["qwen3", "llama-4"], MESSAGES, None, None, "2026-11-30")
    answers = {post(proxy.url, "compare", *asked) for _ in range(4)}
    assert len(answers) == 1 and "東京" in json.loads(*answers)["columns"][0]["prompt"]
    links = {post(proxy.url, "link", *asked, "") for _ in range(2)}
    assert len(links) == 1
    for _ in range(2):
        assert json.loads(post(proxy.url, "open_link", *links))["conversation"]["messages"] == MESSAGES
    assert all(replicas_of(proxy, f"/run/{name}") == {0, 1} for name in ("compare", "link", "open_link"))


def test_a_python_client_is_kept_at_its_replica_by_a_cookie(ports):
    with RoundRobin(ports, sticky=True) as proxy:
        clients = [Client(proxy.url, verbose=False, httpx_kwargs={"timeout": START_SECONDS}) for _ in range(2)]
        answers = [
            client.predict("qwen3", MESSAGES, None, None, "2026-11-30", api_name="/render") for client in clients
        ]
        assert answers[0] == answers[1]


def test_agents_need_no_replica_of_their_own(proxy):
    async def talk():
        async with (
            streamable_http_client(f"{proxy.url}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            tools = (await session.list_tools()).tools
            answers = [await session.call_tool("render", {"model": "qwen3", "messages": MESSAGES}) for _ in range(2)]
            return len(tools), [json.loads(answer.content[0].text)["prompt"] for answer in answers]

    count, prompts = coroutines.run(talk())
    assert count == 7 and "東京" in prompts[0] and prompts[0] == prompts[1]
    assert replicas_of(proxy, "/mcp") == {0, 1}


def open_page(chromium, address):
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector("article.card header")
    page.wait_for_function("!document.querySelector('.state.waiting, .card.skeleton')")
    return page


@pytest.mark.browser
def test_the_page_and_its_links_work_with_every_request_at_another_replica(chromium, proxy):
    page = open_page(chromium, proxy.url)
    page.locator("#sample input").click()
    page.get_by_role("option", name="Plain chat").click()
    card = page.locator('article.card[data-model="qwen3"] pre.prompt')
    page.wait_for_function(
        "!document.querySelector('article.card[data-model=qwen3] pre.prompt').textContent.includes('temperature')"
    )
    page.get_by_role("button", name="Copy link").click()
    page.locator(".share-note", has_text="Link copied").wait_for()
    other = open_page(chromium, page.url)
    other.locator(".share-note", has_text="Opened").wait_for()
    other.wait_for_function(
        "text => document.querySelector('article.card[data-model=qwen3] pre.prompt').textContent === text",
        arg=card.text_content(),
    )
    page.get_by_role("tab", name="Read an output").click()
    page.locator(".reading").first.wait_for()
    assert replicas_of(proxy, "/gradio_api/run/") == {0, 1}
    for tab in (page, other):
        tab.context.close()


@pytest.mark.browser
def test_a_link_opens_at_a_server_that_has_never_seen_it(chromium, ports):
    """As after a restart: another process, with caches of its own."""
    first, second = (f"http://127.0.0.1:{port}/" for port in ports)
    page = open_page(chromium, first)
    page.locator("#messages-cards").get_by_label("Content", exact=True).last.fill("Olá, 東京 & <b>kqz</b>?")
    prompt = page.locator('article.card[data-model="qwen3"] pre.prompt', has_text="<b>kqz</b>?")
    prompt.wait_for()
    page.get_by_role("button", name="Copy link").click()
    page.locator(".share-note", has_text="Link copied").wait_for()
    assert page.url.startswith(first)
    other = open_page(chromium, second + page.url.removeprefix(first))
    opened = other.locator('article.card[data-model="qwen3"] pre.prompt', has_text="<b>kqz</b>?")
    opened.wait_for()
    assert opened.text_content() == prompt.text_content()
    for tab in (page, other):
        tab.context.close()


@pytest.mark.browser
def test_live_generation_works_where_a_cookie_keeps_a_visitor_at_one_replica(chromium, ports, completions):
    with RoundRobin(ports, sticky=True) as proxy:
        completions.script[:] = ["It is warm in Paris."]
        page = open_page(chromium, proxy.url)
        page.get_by_role("tab", name="Live").click()
        page.get_by_role("button", name="Generate", exact=True).click()
        page.locator("#live-output", has_text="It is warm in Paris.").wait_for()
        assert len(replicas_of(proxy, "/gradio_api/queue/")) == 1
        page.context.close()
