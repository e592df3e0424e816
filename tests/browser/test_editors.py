"""The card editors in a real browser: conversations built from nothing by mouse and keyboard, fast and long ones."""

import json

import pytest

from browser.conftest import visits
from browser.test_compare_page import prompt, wait_for_prompt, write

pytestmark = pytest.mark.browser

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "simple_code",
            "description": "Run Python code.",
            "parameters": {
                "type": "object",
                "properties": {"code": {"type": "string", "description": "The code to run."}},
                "required": ["code"],
            },
        },
    }
]
CALL = {
    "id": "call00001",
    "type": "function",
    "function": {"name": "simple_code", "arguments": {"code": "print(0.9111**3)"}},
}
MESSAGES = [
    {"role": "user", "content": "What is 0.9111**3?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call00001", "name": "simple_code", "content": "0.756307034631\n"},
    {"role": "assistant", "content": "It is 0.756307034631."},
]


def text(page, field):
    """What the JSON editor of a field holds, read by its own component."""
    return page.evaluate(f"window.lab.editors.{field}.text()")


def value(page, field):
    return json.loads(text(page, field))


def in_code(page, field):
    """What the JSON editor shows; short texts only, since a long one is drawn in part."""
    page.locator(f"#{field}-cards [data-show=json]").click()
    shown = page.locator(f"#{field} .cm-content").inner_text()
    page.locator(f"#{field}-cards [data-show=cards]").click()
    return json.loads(shown)


def cards(page, field="messages"):
    return page.locator(f"#{field}-cards .edit-card")


def clear(page, field):
    while cards(page, field).count():
        cards(page, field).first.get_by_role("button", name="Delete", exact=True).click()


def test_the_calculator_loop_is_built_by_mouse(page):
    clear(page, "tools")
    clear(page, "messages")
    page.get_by_role("button", name="Add a tool", exact=True).click()
    tool = cards(page, "tools")
    tool.get_by_label("Name", exact=True).fill("simple_code")
    tool.get_by_label("Description", exact=True).fill("Run Python code.")
    tool.get_by_role("button", name="Add a parameter").click()
    tool.get_by_label("Parameter name").fill("code")
    tool.get_by_label("Required").check()
    tool.get_by_label("Parameter description").fill("The code to run.")

    add = {role: page.get_by_role("button", name=f"Add a message: {role}") for role in ("user", "assistant", "tool")}
    add["user"].click()
    cards(page).nth(0).get_by_label("Content", exact=True).fill(MESSAGES[0]["content"])
    add["assistant"].click()
    cards(page).nth(1).get_by_role("button", name="Add a tool call").click()
    cards(page).nth(1).get_by_label("Argument code").fill("print(0.9111**3)")
    add["tool"].click()
    cards(page).nth(2).get_by_label("Content", exact=True).fill(MESSAGES[2]["content"])
    add["assistant"].click()
    cards(page).nth(3).get_by_label("Content", exact=True).fill(MESSAGES[3]["content"])

    wait_for_prompt(page, "qwen3", MESSAGES[3]["content"])
    assert value(page, "tools") == in_code(page, "tools") == TOOLS
    assert value(page, "messages") == in_code(page, "messages") == MESSAGES
    assert '"arguments": {"code": "print(0.9111**3)"}' in prompt(page, "qwen3")


def test_the_calculator_loop_is_built_by_keyboard_alone(page):
    focused = "() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent"

    def go_to(label, back=False):
        for _ in range(120):
            if page.evaluate(focused) == label:
                return
            page.keyboard.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"{label} is not reached")

    def press(label, back=False):
        go_to(label, back)
        page.keyboard.press("Enter")

    def type_into(label, words):
        go_to(label)
        page.keyboard.press("Control+A")
        page.keyboard.type(words)

    go_to("Role")
    for _ in range(2):
        press("Delete")
    press("Delete")  # of the tool, the next button of that name
    press("Add a tool")
    page.keyboard.type("simple_code")
    type_into("Description", "Run Python code.")
    press("Add a parameter")
    page.keyboard.type("code")
    go_to("Required")
    page.keyboard.press("Space")
    type_into("Parameter description", "The code to run.")

    press("Add a message: user", back=True)
    page.keyboard.type(MESSAGES[0]["content"])
    press("Add a message: assistant")
    press("Add a tool call")
    type_into("Argument code", "print(0.9111**3)")
    press("Add a message: tool")
    page.keyboard.type("0.756307034631\n")
    press("Add a message: assistant")
    page.keyboard.type(MESSAGES[3]["content"])

    wait_for_prompt(page, "qwen3", MESSAGES[3]["content"])
    assert value(page, "tools") == TOOLS
    assert value(page, "messages") == MESSAGES
    page.keyboard.press("Alt+ArrowUp")
    assert [message["role"] for message in value(page, "messages")] == ["user", "assistant", "assistant", "tool"]
    assert page.evaluate(focused) == "Content"
    press("Undo", back=True)
    assert value(page, "messages") == MESSAGES


def test_two_thousand_characters_are_typed_fast_and_none_is_lost(page):
    words = "".join(f"{number} ships sail 'by', " for number in range(200))[:2000]
    content = cards(page).nth(1).get_by_label("Content", exact=True)
    content.fill("")
    content.press_sequentially(words, timeout=120_000)
    assert content.input_value() == words
    wait_for_prompt(page, "qwen3", words)
    assert value(page, "messages")[1]["content"] == words
    assert content.evaluate("node => node === document.activeElement && node.selectionStart") == 2000


def test_edits_in_json_show_in_the_cards_and_nothing_else_changes(page):
    odd = (
        '[{"role": "user", "content": [{"type": "text", "text": "Hi"}],'
        ' "x-key": {"2": 1.0, "1": 12345678901234567890}},'
        ' {"role": "assistant", "content": null}, {"role": "assistant"}, {"role": "user", "content": "Last"}]'
    )
    write(page, "messages", odd)
    wait_for_prompt(page, "qwen3", "Last")
    page.locator("#messages-cards [data-show=cards]").click()
    kinds = page.locator("#messages-cards").get_by_label("Content is")
    assert [kinds.nth(n).input_value() for n in range(4)] == ["parts", "null", "missing", "text"]
    assert "x-key" in cards(page).first.inner_text()
    cards(page).nth(3).get_by_label("Content", exact=True).fill("Very last")
    assert "Very last" in text(page, "messages")  # asking for the text keeps what is on its way to the JSON editor
    wait_for_prompt(page, "qwen3", "Very last")
    kinds.nth(2).select_option("null")
    wait_for_prompt(page, "qwen3", "Very last")
    changed = odd.replace('"Last"', '"Very last"').replace(
        '{"role": "assistant"}', '{"role": "assistant", "content": null}'
    )
    assert value(page, "messages") == json.loads(changed)
    assert '{"2": 1.0, "1": 12345678901234567890}' in text(page, "messages")


PRICED = '{"price": 1.10, "id": 12345678901234567890, "most": 1e400, "least": -0, "step": 1E-7, "3": "1.10"}'
PRICES = {"type": "object", "properties": {"price": {"type": "number"}, "note": {"type": "string"}}}


def digits(json_text):
    """The value in a JSON text, its numbers as they are written."""
    return json.loads(json_text, parse_int="number {}".format, parse_float="number {}".format)


@pytest.fixture(scope="module")
def old(pages, app_url):
    """The page in a browser that can only write a number in its own way, as Firefox and Safari did for years."""
    with visits(pages, app_url) as open_page:
        page = open_page(script="delete JSON.rawJSON; delete JSON.isRawJSON")
        assert page.evaluate("typeof JSON.rawJSON") == "undefined"
        yield page


@pytest.mark.parametrize("kind", ["object", "text"])
def test_numbers_keep_their_digits_in_any_browser(old, kind):
    page = old
    write(page, "tools", json.dumps([{"type": "function", "function": {"name": "order", "parameters": PRICES}}]))
    given = PRICED if kind == "object" else json.dumps(PRICED)
    turn = (
        f'"role": "assistant", "content": "", "tool_calls": [{{"function": {{"name": "order", "arguments": {given}}}}}]'
    )
    write(page, "messages", f'[{{"role": "user", "content": "Hi"}}, {{{turn}}}]')
    page.locator("#messages-cards [data-show=cards]").click()
    card = cards(page).nth(1)
    card.get_by_label("Argument price").wait_for()
    assert card.get_by_label("Argument price").input_value() == "1.10"
    cards(page).first.get_by_label("Content", exact=True).fill("Hello")  # an edit elsewhere
    noted = PRICED.replace("}", ', "note": "soon"}')
    changed = noted.replace("1.10,", "2.50,", 1)
    for field, typed, wanted in ((None, None, PRICED), ("note", "soon", noted), ("price", "2.50", changed)):
        if field:
            card.get_by_label(f"Argument {field}").fill(typed)
        (call,) = digits(text(page, "messages"))[1]["tool_calls"]
        found = call["function"]["arguments"]
        assert found == (digits(wanted) if kind == "object" else wanted)


def test_what_cannot_be_cards_is_left_as_it_is(page):
    write(page, "messages", '[{"role": "user", ')
    page.locator("#messages-cards [data-show=cards]").click()
    page.locator("#messages-cards .quiet-note").wait_for()
    assert not page.get_by_role("button", name="Add a message: user").is_visible()
    page.locator("#messages-cards [data-action=undo]").click()
    wait_for_prompt(page, "qwen3", "temperature in Paris")
    assert cards(page).count() == 2


def test_no_tools_and_an_empty_list_are_told_apart(page):
    clear(page, "tools")
    assert text(page, "tools") == "[]"
    page.get_by_role("button", name="none are passed (null)").click()
    page.wait_for_function("window.lab.editors.tools.text() === ''")
    page.get_by_role("button", name="an empty list []").click()
    page.wait_for_function("window.lab.editors.tools.text() === '[]'")


def test_two_hundred_messages_stay_usable(page):
    roles = ("user", "assistant")
    many = [{"role": roles[n % 2], "content": f"Message {n}: " + "word " * 40} for n in range(199)]
    page.evaluate("text => window.lab.editors.messages.replace(text)", json.dumps(many))
    wait_for_prompt(page, "qwen3", "Message 198")
    spent = page.evaluate(
        """async () => {
        const area = document.querySelectorAll('#messages-cards .edit-card')[150].querySelector('textarea');
        area.focus();
        const times = [];
        for (let n = 0; n < 15; n += 1) {
          area.value += 'x';
          const start = performance.now();
          area.dispatchEvent(new Event('input', { bubbles: true }));
          const typed = performance.now() - start;
          const again = performance.now();
          window.lab.editors.messages.text();
          times.push(typed + performance.now() - again);
        }
        return times.sort((a, b) => a - b)[7];
        }"""
    )
    assert spent < 50, f"{spent:.1f} ms of script for an edit"
    # By keyboard: cards that come into view take their own heights, and the button moves away from the mouse.
    page.get_by_role("button", name="Add a message: assistant").press("Enter")
    assert page.evaluate("window.lab.editors.messages.items.length") == 200
    page.keyboard.type("The two hundredth")
    wait_for_prompt(page, "qwen3", "The two hundredth")
    assert len(value(page, "messages")) == 200


def test_a_draft_survives_a_reload_and_stays_in_the_browser(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    cards(page).nth(1).get_by_label("Content", exact=True).fill("Kept over the reload?")
    page.get_by_role("button", name="Remove Grok 2").click()
    wait_for_prompt(page, "qwen3", "Kept over the reload?")
    assert page.evaluate("localStorage.getItem('lab.draft')").count("Kept over the reload?") == 1
    assert not [url for url in asked if "draft" in url]
    page.reload()
    wait_for_prompt(page, "qwen3", "Kept over the reload?")
    assert value(page, "messages")[1]["content"] == "Kept over the reload?"
    assert "kept in this browser" in page.locator("#sample-reason").inner_text()
    page.wait_for_function("document.querySelectorAll('article.card').length === 8")


def test_a_fix_shows_what_it_changes_before_it_does_and_can_be_undone(page):
    call = {"id": "call00001", "type": "function", "function": {"name": "get_current_temperature", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call00001", "content": "22 degrees"},
    ]
    page.evaluate("text => window.lab.editors.messages.replace(text)", json.dumps(messages))
    warning = page.locator("[data-warnings=messages] li")
    warning.wait_for()
    assert warning.locator("code").inner_text() == "messages[2].content"
    page.get_by_role("button", name="Arguments as objects").click()
    removed = page.locator("#review .diff .removed")
    removed.wait_for()
    assert '"arguments": "{}"' in removed.inner_text()
    assert value(page, "messages") == messages
    page.get_by_role("button", name="Apply", exact=True).click()
    assert value(page, "messages")[1]["tool_calls"][0]["function"]["arguments"] == {}
    page.locator("#messages-cards [data-action=undo]").click()
    assert value(page, "messages") == messages


OLLAMA = {
    "model": "qwen3",
    "created_at": "2026-11-30T10:00:00Z",
    "message": {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "simple_code", "arguments": {"code": "1"}}}],
    },
    "done": True,
    "total_duration": 5191566416,
    "eval_count": 298,
}


def test_anything_is_pasted_and_says_what_it_was_taken_for(page):
    page.get_by_role("button", name="Paste anything").click()
    area = page.get_by_label("What you have")
    area.fill(json.dumps(OLLAMA))
    page.get_by_role("button", name="Load", exact=True).click()
    taken = page.locator("#paste [data-slot=answer]")
    page.wait_for_function("document.querySelector('#paste [data-slot=answer]').innerText.includes('Ollama')")
    assert "total_duration" in taken.inner_text()
    page.wait_for_function("window.lab.editors.messages.text().includes('simple_code')")
    page.get_by_role("button", name="Sample: two Python functions").click()
    page.get_by_role("button", name="Load", exact=True).click()
    page.wait_for_function("window.lab.editors.tools.items.length === 2")
    assert value(page, "tools")[1]["function"]["name"] == "get_current_wind_speed"
    area.fill("def f(x):\n    return <b>")
    page.get_by_role("button", name="Load", exact=True).click()
    page.locator("#paste .problem").wait_for()
    page.get_by_role("button", name="Back to what I typed before").click()
    page.wait_for_function("window.lab.editors.messages.text().includes('simple_code')")


def test_a_conversation_is_taken_away_in_another_shape(page):
    page.get_by_role("button", name="Take away").click()
    page.get_by_label("Take away as").select_option("transformers")
    page.get_by_label("For the model").focus()
    page.get_by_label("For the model").select_option("qwen3")
    page.wait_for_function("document.querySelector('#takeaway pre').textContent.includes('Qwen/Qwen3-8B')")
    cards(page).nth(1).get_by_label("Content", exact=True).fill("Changed since")
    page.wait_for_function("document.querySelector('#takeaway pre').textContent.includes('Changed since')")


def test_a_question_that_waits_for_the_answer_to_another_is_answered(page):
    """Two shapes are chosen, and the link is asked for twice, before the first answer is there."""
    page.get_by_role("button", name="Take away").click()
    held = []
    page.route("**/gradio_api/run/**", lambda route: route.continue_() if held else held.append(route))
    page.get_by_label("Take away as").select_option("transformers")
    page.wait_for_timeout(200)
    page.get_by_label("Take away as").select_option("vllm")
    page.wait_for_timeout(200)
    held[0].continue_()
    page.wait_for_function("document.querySelector('#takeaway pre').textContent.startsWith('curl')")
    copy = page.get_by_role("button", name="Copy link")
    copy.click(click_count=2)
    page.locator(".share-note", has_text="Link copied").wait_for()


def test_template_options_are_typed_controls_over_one_json(page):
    page.get_by_role("button", name="More template options").click()
    thinking = page.locator("#template-options").get_by_label("enable_thinking")
    thinking.wait_for()
    thinking.select_option("false")
    wait_for_prompt(page, "qwen3", "<think>\n\n</think>")
    assert json.loads(page.locator("#kwargs .cm-content").inner_text()) == {"enable_thinking": False}
    write(page, "kwargs", '{"enable_thinking": "false"}')
    warning = page.locator("[data-warnings=options] li")
    warning.wait_for()
    assert "counts as true" in warning.inner_text()
    assert thinking.input_value() == '"false"'


def test_tools_are_told_as_text_where_a_template_ignores_them(page):
    page.locator("article.card[data-model=deepseek-r1]").get_by_role("button", name="tell them as text").click()
    page.locator(".way").nth(2).wait_for()
    assert page.get_by_label("Model of this tab").input_value() == "deepseek-r1"
    assert "ignores the tools" in page.locator(".plain-head .verdict").inner_text()
    react = page.locator(".way").nth(1)
    assert "Action Input" in react.locator("pre.prompt").inner_text()
    react.get_by_role("button", name="Use these messages").click()
    wait_for_prompt(page, "deepseek-r1", "Action Input")
    assert text(page, "tools") == ""


def test_the_editors_fit_a_phone(open_page):
    page = open_page(width=390, height=844)
    page.get_by_role("button", name="Edit the conversation").click()
    page.locator("#sample input").click()
    page.get_by_role("option", name="Calculator, the whole loop").click()
    wait_for_prompt(page, "qwen3", "0.756307034631")
    for name in ("Paste anything", "More template options", "Take away"):
        page.get_by_role("button", name=name).click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
