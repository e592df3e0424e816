"""Links carry the whole state: from one browser to another, over a restart, back and forward, and into other pages."""

from __future__ import annotations

import base64
import datetime
import functools
import json
import random
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.layout import covered
from formats import share
from formats.conversation import from_json

pytestmark = pytest.mark.browser

EDITED = '[{"role": "user", "content": "Olá, 東京 & <b>kqz</b>?"}]'


def made_link(page) -> str:
    """The address after "Copy link"."""
    page.get_by_role("button", name="Copy link").click()
    page.locator(".share-note", has_text="Link copied").wait_for()
    return page.url


def prompt_of(page, model: str) -> str:
    return page.locator(f'article.card[data-model="{model}"] pre.prompt').text_content()


def type_messages(page, text: str) -> None:
    page.locator("#messages-cards [data-show=json]").click()
    editor = page.locator("#messages .cm-content")
    editor.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
    page.locator('article.card[data-model="qwen3"] pre.prompt', has_text="kqz").wait_for()


def opened(page) -> None:
    page.locator(".share-note", has_text="Opened").wait_for()
    page.wait_for_function("!document.querySelector('.state.waiting')")


def card_with(page, text: str) -> None:
    """Wait until the columns follow what was opened."""
    page.locator('article.card[data-model="qwen3"] pre.prompt', has_text=text).wait_for()


def test_a_link_opens_equal_in_another_browser(open_page, elsewhere):
    first = open_page()
    type_messages(first, EDITED)
    link = made_link(first)
    second = elsewhere(link)
    opened(second)
    card_with(second, "kqz")
    assert prompt_of(second, "qwen3") == prompt_of(first, "qwen3")
    assert "Olá, 東京 & <b>kqz</b>?" in prompt_of(second, "qwen3")


def test_back_and_forward_and_a_second_link(open_page):
    page = open_page()
    link_a = made_link(page)
    assert page.locator(".share-note").bounding_box()["height"] < 32, "one line, or it would lie over the tabs"
    type_messages(page, EDITED)
    link_b = made_link(page)
    assert link_a != link_b
    page.evaluate("link => { location.hash = new URL(link).hash; }", link_a)
    opened(page)
    page.wait_for_function("!document.querySelector('article.card[data-model=qwen3] pre').textContent.includes('kqz')")
    page.go_back()
    page.wait_for_function("document.querySelector('article.card[data-model=qwen3] pre').textContent.includes('kqz')")
    page.go_forward()
    page.wait_for_function("!document.querySelector('article.card[data-model=qwen3] pre').textContent.includes('kqz')")


def packed(value) -> str:
    """A link's text with any JSON value, or any bytes, in a frame without fault."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = base64.urlsafe_b64encode(packer.compress(data) + packer.flush()).decode().rstrip("=")
    return f"1.{body}.{zlib.crc32(data):08x}"


def hostile_links() -> dict[str, str]:
    """What is wrong with a link -> its text behind `#s=`."""
    conversation = from_json({"messages": [{"role": "user", "content": "Hi"}]})
    value = share.to_json(share.State(conversation, (share.SharedModel("qwen3"),), datetime.date(2026, 11, 30)))
    good, script = packed(value), "<img src=x onerror=alert(1)><script>alert(1)</script>"
    head, _, check = good.rpartition(".")
    message = value["conversation"]["messages"][0]

    def saying(**changes) -> str:
        return packed({**value, **changes})

    def talking(**changes) -> str:
        return saying(conversation={**value["conversation"], **changes})

    return {
        "nothing": "",
        "a version alone": "1.",
        "a later version": "2" + good[1:],
        "a version far away": "9999" + good[1:],
        "version zero": "0" + good[1:],
        "no version": good[2:],
        "cut off": good[:-20],
        "cut in half": good[: len(good) // 2],
        "without its check": head,
        "another check": f"{head}.{'0' * 8}",
        "one letter changed": f"{head[:9]}{'A' if head[9] != 'A' else 'B'}{head[10:]}.{check}",
        "no base64": "1.@@@@!!!!.00000000",
        "half bytes": "1.%00%ff%C3%28.00000000",
        "not deflated": "1.AAAA.00000000",
        "a bomb": packed(b"[" + b"0," * 30_000_000 + b"0]"),
        "a bomb of spaces": packed(b" " * 50_000_000),
        "deep nesting": packed(b'{"models":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        "deep in a message": talking(
            messages=[{**message, "x": functools.reduce(lambda inner, _: [inner], range(800), 0)}]
        ),
        "no JSON": packed(b"{'a': 1}"),
        "no UTF-8": packed(b'{"a": "\xff\xfe"}'),
        "a number": packed(7),
        "null": packed(None),
        "a list": packed([value]),
        "too many values": saying(conversation={"messages": [message] * 250_000}),
        "nothing in it": packed({}),
        "more in it": saying(surprise=1),
        "a number of 5000 digits": packed(json.dumps(value).replace('"Hi"', "9" * 5000).encode()),
        "infinity": packed(json.dumps(value).replace('"Hi"', "Infinity").encode()),
        "not a number": packed(json.dumps(value).replace('"Hi"', "NaN").encode()),
        "a model of two lines": saying(models=[{**value["models"][0], "name": "qwen3\n"}]),
        "a hundred models": saying(models=value["models"] * 100),
        "a hash that is none": saying(models=[{**value["models"][0], "template_sha256": script}]),
        "a revision up the tree": saying(models=[{**value["models"][0], "revision": "../../etc"}]),
        "a date that is none": saying(date="2026-02-30"),
        "a date with a script": saying(date=script),
        "a view with a script": saying(view=script),
        "a role with a script": talking(messages=[{"role": {"a": script}, "content": "Hi"}]),
        "half a character": packed(json.dumps(value).replace("Hi", "\\ud800").encode()),
        "messages that are text": talking(messages=script),
        "no message": talking(messages=[]),
        "tools that are none": talking(tools={"a": script}),
        "options that are none": talking(options=[script]),
        "an output that is a list": saying(output=[script]),
        "a secret key": saying(**{script: script}),
        "a script": script,
    }


def show(page, fragment: str) -> None:
    """As if the link were pasted into the open page; what the page said before is gone then."""
    page.evaluate(
        """(fragment) => new Promise((done) => {
          addEventListener("hashchange", () => setTimeout(done), { once: true });
          location.hash = fragment;
        })""",
        fragment,
    )


def test_no_broken_or_hostile_link_opens_as_anything(open_page, app_url):
    """Each says so and leaves empty editors; nothing runs, and neither page nor server has a fault of its own."""
    page = open_page()
    page.on("dialog", lambda dialog: pytest.fail("a script of the link runs"))
    links = hostile_links()
    assert len(links) > 40
    for what, text in links.items():
        show(page, f"s={text}")
        problem = page.locator(".share-note .problem")
        problem.wait_for()
        assert "link" in problem.text_content(), what
        expect(page.locator("#messages-cards .edit-card")).to_have_count(0)
        assert page.locator(".share-note img, .share-note script").count() == 0, what
    show(page, f"s={packed_state('after all of them kqz')}")
    card_with(page, "after all of them kqz")


def test_a_broken_link_leaves_what_was_typed_before_to_be_brought_back(open_page):
    page = open_page()
    type_messages(page, EDITED)
    show(page, "s=1.AAAA.00000000")
    expect(page.locator("#messages-cards .edit-card")).to_have_count(0)
    page.get_by_role("button", name="Back to what I typed before").click()
    card_with(page, "<b>kqz</b>?")


SCRIPT = "<img src=x onerror=alert(1)><script>alert(1)</script>${alert(1)}{{ alert(1) }}"


def test_scripts_in_a_link_are_text_wherever_they_stand(open_page):
    """Here every field is what it may be, and each holds a script; one model stands there twice."""
    call = {"id": SCRIPT, "type": "function", "function": {"name": SCRIPT, "arguments": {SCRIPT: SCRIPT}}}
    messages = [
        {"role": "user", "content": SCRIPT, SCRIPT: SCRIPT},
        {"role": "assistant", "content": SCRIPT, "reasoning_content": SCRIPT, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": SCRIPT, "content": SCRIPT},
        {"role": SCRIPT, "content": [{"type": "text", "text": SCRIPT}]},
    ]
    schema = {"type": "object", "properties": {SCRIPT: {"type": "string", "description": SCRIPT, "enum": [SCRIPT]}}}
    tool = {"type": "function", "function": {"name": SCRIPT, "description": SCRIPT, "parameters": schema}}
    options = {
        "chat_template": SCRIPT[:40],
        "kwargs": {SCRIPT: SCRIPT},
        "documents": [{"title": SCRIPT, SCRIPT: SCRIPT}],
    }
    conversation = from_json({"messages": messages, "tools": [tool], "options": options})
    models = tuple(map(share.SharedModel, ("qwen3", "qwen3", SCRIPT, "grok-2")))
    output = share.SharedOutput(SCRIPT, "hermes", SCRIPT)
    page = open_page()
    page.on("dialog", lambda dialog: pytest.fail("a script of the link runs"))
    show(page, "s=" + share.encode(share.State(conversation, models, datetime.date(2026, 11, 30), output)))
    opened(page)
    page.locator("article.card", has_text="onerror").first.wait_for()
    tabs = {
        "Read an output": "#reading .reading",
        "Scores": "table.matrix .cell",
        "Tools as text": "#plain .plain-head",
        "Compare": "article.card header",
    }
    for tab, contents in tabs.items():
        page.get_by_role("tab", name=tab).click()
        page.locator(contents).first.wait_for()
        page.wait_for_timeout(200)
        assert page.locator("img[src=x]").count() == 0, tab
    for editor in page.locator("[data-show=json]:visible").all():
        editor.click()
    page.wait_for_timeout(300)
    assert page.locator("img[src=x]").count() == 0


def packed_state(text: str, models=("qwen3",), **as_shared: str) -> str:
    """A link's state; what is said of the models as they were shared is said of each."""
    conversation = from_json({"messages": [{"role": "user", "content": text}]})
    shared = tuple(share.SharedModel(model, **as_shared) for model in models)
    return share.encode(share.State(conversation, shared, datetime.date(2026, 11, 30)))


def test_what_is_said_of_a_link_lies_over_nothing(open_page):
    page = open_page()
    show(page, f"s={packed_state('kqz', ('qwen3', 'llama-3.1-405b'), template_sha256='0' * 64)}")
    expect(page.locator(".changes details")).to_have_count(2)
    card_with(page, "kqz")
    page.locator(".changes summary").first.click()
    assert {width: covered(page, width) for width in (1440, 820, 390)} == {1440: [], 820: [], 390: []}
    show(page, "s=1.AAAA.00000000")
    page.locator(".share-note .problem").wait_for()
    assert {width: covered(page, width) for width in (1440, 820, 390)} == {1440: [], 820: [], 390: []}


def test_states_of_every_size_open(open_page):
    page = open_page()
    for kilobytes in (2, 64):
        text = "".join(chr(0x4E00 + (n * 7919) % 20000) for n in range(kilobytes * 250)) + f" kqz {kilobytes}"
        show(page, f"s={packed_state(text)}")
        opened(page)
        card_with(page, f"kqz {kilobytes}")
        assert page.locator("article.card").count() == 1


def letters(count: int) -> str:
    """Text that cannot be packed much, the same each time."""
    return base64.b64encode(random.Random(7).randbytes(count * 3 // 4)).decode()


def test_the_longest_link_goes_round_in_the_browser(open_page, elsewhere):
    """1.4 MB of text in the address: opened, copied, and opened again elsewhere as the same."""
    text = letters(1_400_000) + " kqz"
    first = open_page()
    show(first, f"s={packed_state(text, ['grok-2'])}")
    opened(first)
    long_card_with(first, text[-60:])
    shown = first.locator('article.card[data-model="grok-2"] pre.prompt')
    assert shown.evaluate("node => getComputedStyle(node).unicodeBidi") == "isolate", "laid out in seconds otherwise"
    link = made_link(first)
    assert 1_400_000 < len(link) < share.MAX_LINK
    assert share.decode(link).conversation.messages[0]["content"] == text
    second = elsewhere(link)
    long_card_with(second, text[-60:])
    assert prompt_of(second, "grok-2") == prompt_of(first, "grok-2")


def long_card_with(page, text: str) -> None:
    """As `card_with`, for a prompt that is too long to be searched as its words are."""
    prompt = "document.querySelector('article.card[data-model=\"grok-2\"] pre.prompt')"
    page.wait_for_function(f"text => {prompt}?.textContent.includes(text)", arg=text, polling=200)


def drop(page, name: str, text: str) -> None:
    """A file let fall on the page."""
    page.evaluate(
        """([name, text]) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], name, { type: "application/json" }));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        [name, text],
    )


def test_what_is_too_long_for_a_link_becomes_a_file_that_opens_by_drop(open_page):
    text = letters(1_800_000) + " kqz"
    conversation = from_json({"messages": [{"role": "user", "content": text}]})
    state = share.State(conversation, (share.SharedModel("grok-2"),), datetime.date(2026, 11, 30))
    page = open_page()
    drop(page, "state.json", share.encode_file(state))
    long_card_with(page, text[-60:])
    with page.expect_download() as download:
        page.get_by_role("button", name="Copy link").click()
    page.locator(".share-note", has_text="Too long for a link").wait_for()
    assert "s=" not in page.url
    file = download.value.path().read_text(encoding="utf-8")
    assert share.decode_file(file).conversation == conversation
    drop(page, "short.json", share.encode_file(share.decode("#s=" + packed_state("dropped kqz"))))
    card_with(page, "dropped kqz")
    drop(page, "broken.json", '{"version": 1')
    page.locator(".share-note .problem", has_text="this file cannot be opened").wait_for()
    assert "dropped kqz" in prompt_of(page, "qwen3"), "a file that does not open changes nothing"


def saved(page, name: str) -> Path:
    """The file that a button of the menu gives."""
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return download.value.path()


def test_an_exported_comparison_opens_by_drop(open_page):
    page = open_page()
    report = json.loads(saved(page, "Comparison as JSON").read_text(encoding="utf-8"))
    report["conversation"]["messages"] = [{"role": "user", "content": "from a report kqz"}]
    drop(page, "comparison.json", json.dumps(report))
    card_with(page, "from a report kqz")
    assert page.locator("article.card").count() == len(report["columns"])


def test_two_tabs_do_not_disturb_each_other(open_page, app_url):
    first = open_page()
    second = first.context.new_page()
    second.set_default_timeout(30_000)
    second.goto(f"{app_url}#s={packed_state('the second tab kqz')}")
    card_with(second, "the second tab kqz")
    type_messages(first, EDITED)
    links = made_link(first), made_link(second)
    assert [share.decode(link).conversation.messages[0]["content"] for link in links] == [
        json.loads(EDITED)[0]["content"],
        "the second tab kqz",
    ]
    for page, text in ((first, "<b>kqz</b>?"), (second, "the second tab kqz")):
        page.reload()
        card_with(page, text)


def test_a_file_opens_and_exports_are_offered(open_page, tmp_path):
    page = open_page()
    state = json.loads(saved(page, "Save everything as a file").read_text(encoding="utf-8"))
    state["conversation"]["messages"] = [{"role": "user", "content": "from a file kqz"}]
    changed = tmp_path / "state.json"
    changed.write_text(json.dumps(state), encoding="utf-8")
    page.locator("input[type=file]").first.set_input_files(changed)
    opened(page)
    page.locator('article.card[data-model="qwen3"] pre.prompt', has_text="from a file kqz").wait_for()
    for name in (
        "Comparison as Markdown",
        "Comparison as CSV",
        "Comparison as one HTML file",
        "Token chart as a picture",
    ):
        assert saved(page, name).stat().st_size > 500
