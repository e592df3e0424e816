"""In a Space a visitor logs in, and links lead to its outer address from inside the frame of its page there."""

from __future__ import annotations

import datetime
import json

import pytest
from hub_server import HubServer
from openid_server import OpenIdServer

from formats import share
from formats.conversation import from_json

pytestmark = pytest.mark.browser

ACCOUNTS = {"ann": "hf_oauth_ann_0123456789abcdef", "bob": "hf_oauth_bob_0123456789abcdef"}
TEMPLATE = "{% for m in messages %}<sesame>{{ m['content'] }}{% endfor %}"
FILES = {"tokenizer_config.json": json.dumps({"chat_template": TEMPLATE, "tokenizer_class": "PreTrainedTokenizerFast"})}
MODEL = "org/sesame"
# Spaces have this package; Gradio asks for it there.
SPACES = {
    "spaces/__init__.py": "gradio_auto_wrap = lambda function: function\n",
    "spaces/reloading.py": "def start_reload_server(**_): pass\n",
    "spaces-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: spaces\nVersion: 1.0\n",
}


@pytest.fixture(scope="module")
def space(start_app, tmp_path_factory):
    """(the app's address, the Hub, the folder of all that the app writes, its log) of one Space."""
    folder = tmp_path_factory.mktemp("space")
    for name, text in SPACES.items():
        (folder / "python" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "python" / name).write_text(text)
    (folder / "tmp").mkdir()
    with HubServer() as hub, OpenIdServer(ACCOUNTS) as provider:
        hub.add(MODEL, FILES, gated=403, opened_by=ACCOUNTS["ann"])
        environment = provider.environment | {
            "HF_HUB_OFFLINE": "",
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(folder / "hub"),
            "TMPDIR": str(folder / "tmp"),
            "PYTHONPATH": str(folder / "python"),
            "HF_TOKEN": ACCOUNTS["ann"],  # the operator may see the model as well: no visitor does because of that
        }
        with start_app(**environment) as url:
            yield url, hub, folder
        assert set(provider.scopes) <= {"openid profile gated-repos"}


@pytest.fixture
def visitor(elsewhere, space):
    faults = []

    def visit():
        page = elsewhere(space[0] + link())
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.wait_for_selector("article.card header")
        return page

    yield visit
    assert not faults


def log_in(page, account):
    page.get_by_role("link", name="Sign in with Hugging Face").click()
    page.get_by_role("link", name=account).click()
    page.get_by_role("link", name=f"Sign out ({account})").wait_for()


def card_says(page, text):
    page.locator(f'article.card[data-model="{MODEL}"]', has_text=text).wait_for()


def link() -> str:
    conversation = from_json({"messages": [{"role": "user", "content": "Open!"}]})
    return "#s=" + share.encode(share.State(conversation, (share.SharedModel(MODEL),), datetime.date(2026, 11, 30)))


def test_each_visitor_sees_what_their_own_token_opens(space, visitor):
    _, hub, folder = space
    ann, anonymous, bob = visitor(), visitor(), visitor()
    card_says(anonymous, "log in here with Hugging Face")
    log_in(ann, "ann")
    card_says(ann, "<sesame>Open!")
    ann.locator(f'article.card[data-model="{MODEL}"] .rating').get_by_text("tools").wait_for()
    assert ann.url.endswith(link()), "the link that was open is open again"
    log_in(bob, "bob")
    card_says(bob, "with the account that you have logged in with")
    card_says(visitor(), "log in here with Hugging Face")
    ann.get_by_role("link", name="Sign out (ann)").click()
    ann.get_by_role("link", name="Sign in with Hugging Face").wait_for()
    card_says(ann, "is gated")
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not [data for data in kept if b"<sesame>" in data or b"hf_oauth_" in data], "nothing stays on disk"
    assert {token for path, token in hub.tokens if MODEL in path} == set(ACCOUNTS.values())


# The Space's page on the Hub, and pages that are not it: served by the browser itself, with the app in a frame.

OUTER = "https://huggingface.co/spaces/somebody/prompt-format-lab"
FRAME = """<!doctype html><title>Outer</title><script>
window.told = [];
addEventListener("message", (event) => told.push(event.data));
</script><iframe src="%s" width="1200" height="700" allow="local-network-access"></iframe>"""


@pytest.fixture
def framed(chromium, space):
    """Opens the app, with a link, in a frame of a page at that address."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["local-network-access"])  # the app is on this machine, the outer page seems not to be

    def open_at(address):
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.route(address, lambda route: route.fulfill(body=FRAME % (space[0] + link()), content_type="text/html"))
        page.goto(address)
        return page, page.frames[1]

    yield open_at
    context.close()


def copied_link(frame):
    frame.locator(".share-note", has_text="Opened").wait_for()
    frame.evaluate("window.lab.copy = (text) => { window.copied = text; }")
    frame.get_by_role("button", name="Copy link").click()
    frame.locator(".share-note", has_text="Link copied").wait_for()
    address, _, fragment = frame.evaluate("window.copied").partition("#")
    assert frame.evaluate("location.hash") == "#" + fragment
    return address, fragment


def test_inside_its_page_on_the_hub_links_lead_to_that_page(framed):
    page, frame = framed(OUTER)
    address, fragment = copied_link(frame)
    assert address == OUTER
    assert [told for told in page.evaluate("told") if "hash" in told] == [{"hash": link()[1:]}, {"hash": fragment}]


@pytest.mark.parametrize("address", ["https://huggingface.co.example.org/spaces/somebody", "http://localhost:9/"])
def test_inside_any_other_page_links_lead_to_the_app_and_the_page_is_told_nothing(framed, space, address):
    page, frame = framed(address)
    assert copied_link(frame)[0] == space[0]
    assert not [told for told in page.evaluate("told") if "s=" in json.dumps(told)]
