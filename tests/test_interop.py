"""What is pasted becomes a conversation, what is exported can be pasted, and nothing is lost without a word."""

import copy
import json

import pytest
from conversations import CASES, CONVERSATIONS, TESTS
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, unreported

from formats.conversation import at, to_json
from formats.errors import BadConversation, FormatsError
from formats.export import EXPORTS, export
from formats.interop import SHAPES, conversation_of, recognise
from formats.interop.pasted import MAX_CHARACTERS
from formats.types import Conversation

WIRE = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((TESTS / "wire").glob("*.json"))}
WRITTEN = [name for name, shape in SHAPES.items() if shape.write]
USER = {"role": "user", "content": "Hi"}
TAKEN_FOR = {
    "anthropic_request": "an Anthropic request",
    "anthropic_response": "an Anthropic response",
    "completion_response": "an OpenAI completion",
    "gemini_request": "a Gemini request",
    "gemini_response": "a Gemini response",
    "mcp_tools": "MCP tools",
    "ollama_generate": "an Ollama response of /api/generate",
    "ollama_request": "an Ollama request",
    "ollama_response": "an Ollama response",
    "openai_legacy": "an OpenAI chat request",
    "openai_request": "an OpenAI chat request",
    "openai_response": "an OpenAI chat response",
    "responses_request": "an OpenAI Responses request",
    "responses_response": "an OpenAI Responses response",
    "sharegpt_row": "a ShareGPT row",
    "vllm_request": "an OpenAI chat request",
}


def pasted(value):
    return recognise(json.dumps(value, ensure_ascii=False))


def call(name, arguments, **more):
    return {**more, "type": "function", "function": {"name": name, "arguments": arguments}}


def lost(imported):
    return {loss.path: loss.message for loss in imported.lost}


# What is read


def test_every_body_is_taken_for_what_it_is():
    assert {name: pasted(body).shape for name, body in WIRE.items()} == TAKEN_FOR


def test_openai_messages_pass_as_they_are():
    found = pasted(WIRE["openai_request"])
    assert list(found.messages) == WIRE["openai_request"]["messages"]
    assert list(found.tools) == WIRE["openai_request"]["tools"]
    assert found.lost == ()
    assert dict(found.extras)["temperature"] == 0.2
    (answer,) = pasted(WIRE["openai_response"]).messages
    assert answer == WIRE["openai_response"]["choices"][0]["message"]


def test_the_options_of_an_open_server_are_template_options():
    found = pasted(WIRE["vllm_request"])
    conversation = conversation_of(found)
    assert conversation.template_kwargs == {"enable_thinking": False, "reasoning_effort": "low"}
    assert conversation.documents == tuple(WIRE["vllm_request"]["documents"])
    assert (conversation.add_generation_prompt, conversation.continue_final_message) == (False, True)
    assert found.lost == ()


def test_the_first_years_of_openai():
    found = pasted(WIRE["openai_legacy"])
    assert found.messages[1:] == (
        {"role": "assistant", "content": None, "tool_calls": [call("shelf", '{"number": 12}')]},
        {"role": "tool", "name": "shelf", "content": '["jars", "lids"]'},
    )
    assert found.tools[0]["function"]["name"] == "shelf"
    assert set(lost(found)) == {"messages[1].function_call", "messages[2].role"}


def test_a_turn_of_the_responses_api_is_put_together():
    found = pasted(WIRE["responses_request"])
    assert found.messages[:5] == (
        {"role": "system", "content": "You look after a greenhouse."},
        {"role": "user", "content": "How warm is it in bay 3, and is the vent open?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "reasoning_content": "Two readings are needed.",
            "tool_calls": [
                call("temperature", '{"bay":3}', id="call_TempBay3"),
                call("vent", '{"bay":3}', id="call_VentBay3"),
            ],
        },
        {"role": "tool", "tool_call_id": "call_TempBay3", "content": '{"celsius": 24.5}'},
        {"role": "tool", "tool_call_id": "call_VentBay3", "content": "open"},
    )
    assert found.messages[5]["content"][0] == {"type": "text", "text": "And bay 4?"}
    assert [tool["function"]["name"] for tool in found.tools] == ["temperature", "vent"]
    assert found.tools[0]["function"]["strict"] is True and "strict" not in found.tools[1]["function"]
    assert found.options == {"kwargs": {"reasoning_effort": "low"}}
    assert {"input[7]", "tools[2]", "input[1].encrypted_content"} <= set(lost(found))


def test_anthropic_blocks_become_messages():
    found = pasted(WIRE["anthropic_request"])
    assert [message["role"] for message in found.messages] == [
        *("system", "user", "assistant", "tool", "tool", "user", "assistant", "user")
    ]
    assert found.messages[2] == {
        "role": "assistant",
        "content": "One moment.",
        "reasoning_content": "Stock first, then the price.",
        "tool_calls": [
            call("stock", {"item": "croissant"}, id="toolu_01Stock"),
            call("price", {"item": "croissant", "count": 6}, id="toolu_01Price"),
        ],
    }
    assert found.messages[4] == {"role": "tool", "tool_call_id": "toolu_01Price", "content": "till is closed"}
    assert found.tools[0]["function"]["parameters"] == WIRE["anthropic_request"]["tools"][0]["input_schema"]
    assert set(lost(found)) == {
        "system[0].cache_control",
        "messages[1].content[0].signature",
        "messages[2].content[1].is_error",
        "messages[3].content[0]",
        "messages[4].content[0]",
        "tools[1].cache_control",
        "tools[2]",
    }
    (answer,) = pasted(WIRE["anthropic_response"]).messages
    assert answer["content"] == "I will look." and answer["tool_calls"][0]["id"] == "toolu_02Stock"


def test_ollama_keeps_timings_beside_the_message():
    found = pasted(WIRE["ollama_response"])
    assert found.messages == (WIRE["ollama_response"]["message"],)
    assert found.extras["total_duration"] == 1893214711 and found.extras["eval_count"] == 34
    request = pasted(WIRE["ollama_request"])
    assert request.messages[2]["reasoning_content"] == "Compute it."
    assert request.messages[3] == {"role": "tool", "name": "simple_code", "content": "4.123105625617661\n"}
    assert request.options == {"kwargs": {"enable_thinking": True}}
    assert request.extras["options"] == {"temperature": 0, "num_ctx": 8192, "stop": ["<|im_end|>"]}
    assert request.lost == ()


def test_a_completion_is_raw_output():
    for name in ("completion_response", "ollama_generate"):
        found = pasted(WIRE[name])
        assert found.messages is None and conversation_of(found) is None
    assert pasted(WIRE["completion_response"]).output.startswith("<think>\n\n</think>\n\n<tool_call>")
    assert pasted(WIRE["ollama_generate"]).output == WIRE["ollama_generate"]["response"]


def test_gemini_parts_become_messages_and_schemas_small():
    found = pasted(WIRE["gemini_request"])
    assert found.messages[2:5] == (
        {
            "role": "assistant",
            "content": "I will look.",
            "reasoning_content": "Two questions at once.",
            "tool_calls": [
                call("find_book", {"title": "Solaris", "limit": 1}, id="fc-1"),
                call("borrower", {"title": "Solaris"}),
            ],
        },
        {"role": "tool", "tool_call_id": "fc-1", "name": "find_book", "content": '{"found": true, "shelf": "S-12"}'},
        {"role": "tool", "name": "borrower", "content": "nobody"},
    )
    properties = found.tools[0]["function"]["parameters"]["properties"]
    assert properties == {
        "title": {"type": "string"},
        "limit": {"type": "integer", "nullable": True},
        "kind": {"type": "string", "enum": ["STRING", "print"]},  # a value, not a type
        "type": {"type": "array", "items": {"type": "string"}},  # a name, not a type
    }
    assert found.tools[1]["function"]["return"] == {"type": "string"}
    snake = {
        "system_instruction": {"parts": [{"text": "S"}]},
        "contents": [{"parts": [{"function_call": {"name": "f"}}]}],
    }
    assert pasted(snake).messages[1]["tool_calls"] == [call("f", {})]


def test_mcp_tools():
    body = WIRE["mcp_tools"]
    found = pasted(body)
    assert found.messages is None
    first = body["result"]["tools"][0]
    assert found.tools[0]["function"] == {
        "name": "read_file",
        "description": "Read the whole text of a file.",
        "parameters": first["inputSchema"],
        "return": first["outputSchema"],
    }
    assert set(lost(found)) == {"result.tools[0].title", "result.tools[0].annotations", "result.nextCursor"}
    assert pasted(body["result"]).tools == pasted(body["result"]["tools"]).tools == found.tools
    assert set(lost(pasted(body["result"]["tools"]))) == {"[0].title", "[0].annotations"}
    assert set(lost(pasted(first))) == {"title", "annotations"}


def test_sharegpt():
    found = pasted(WIRE["sharegpt_row"])
    assert [message["role"] for message in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert found.messages[2]["tool_calls"] == [call("distance", {"from": "Ulm", "to": "Linz"})]
    assert found.tools[0]["function"]["name"] == "distance"
    assert set(lost(found)) == {"conversations[3].weight"}


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}},
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}},
        {"name": "f", "description": "d", "input_schema": {"type": "object"}},
        {"name": "f", "description": "d", "inputSchema": {"type": "object"}},
        {"functionDeclarations": [{"name": "f", "description": "d", "parameters": {"type": "OBJECT"}}]},
        {"name": "f", "description": "d", "parameters": {"type": "OBJECT"}},
        {"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": {"type": "object"}}]},
    ],
)
def test_a_tool_of_any_api_alone_or_in_a_list(tool):
    wanted = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    assert pasted(tool).tools == pasted([tool]).tools == pasted({"tools": [tool]}).tools == (wanted,)
    assert pasted(tool).lost == ()
    if "OBJECT" not in str(tool) and "functionDeclarations" not in tool:  # what only Gemini's own requests hold
        assert pasted({"model": "m", "messages": [USER], "tools": [tool]}).tools == (wanted,)


def test_messages_alone():
    assert pasted([USER]).messages == pasted(USER).messages == (USER,)
    assert pasted([USER]).shape == "messages" and pasted([USER]).tools is None
    blocks = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "5"}]}]
    assert pasted(blocks).messages == ({"role": "tool", "tool_call_id": "t", "content": "5"},)
    items = [USER, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]
    assert pasted(items).messages[1]["tool_calls"] == [call("f", "{}", id="c")]


def test_our_own_shape_with_options():
    found = pasted({"messages": [USER], "tools": [], "options": {"kwargs": {"x": 1}}, "title": "T"})
    assert (found.tools, found.options, found.extras) == ((), {"kwargs": {"x": 1}}, {"title": "T"})
    assert found.shape == "messages and tools"


def test_other_answers_are_reported():
    body = copy.deepcopy(WIRE["openai_response"])
    body["choices"] *= 3
    assert set(lost(pasted(body))) == {"choices[1]", "choices[2]"}
    body = copy.deepcopy(WIRE["gemini_response"])
    body["candidates"] *= 2
    assert set(lost(pasted(body))) == {"candidates[1]"}


def test_a_call_among_texts_says_that_it_moves():
    content = [{"type": "tool_use", "id": "t", "name": "f", "input": {}}, {"type": "text", "text": "late"}]
    found = pasted([{"role": "assistant", "content": content}])
    assert found.messages[0]["content"] == "late" and "[0].content[1]" in lost(found)


def leaves(value, path=()):
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    elif value is not None:
        yield path


def words(path):
    text = ""
    for step in path:
        text = f"{text}[{step}]" if isinstance(step, int) else at(text, step)
    return text


DISCRIMINATORS = ("type", "role", "object", "from", "thought", "jsonrpc", "is_error", "strict", "done")


@pytest.mark.parametrize("name", WIRE)
def test_every_value_is_carried_kept_beside_or_reported(name):
    """Each value in turn becomes one that occurs nowhere else, and must then occur in what was read, or be reported."""
    seen = 0
    for path in leaves(WIRE[name]):
        body = copy.deepcopy(WIRE[name])
        owner = body
        for step in path[:-1]:
            owner = owner[step]
        if path[-1] in DISCRIMINATORS:
            continue
        mark = "kqz" if isinstance(owner[path[-1]], str) else 7351946
        owner[path[-1]] = mark
        seen += 1
        found = answered(json.dumps(body))
        if found is None:
            continue
        kept = [found.messages, found.tools, dict(found.options), found.output, dict(found.extras)]
        assert str(mark) in json.dumps(kept) or not unreported([words(path)], list(lost(found))), words(path)
    assert seen > 3


# How it is found in a text


def test_the_first_of_several_lines():
    rows = "\n".join(json.dumps({"messages": [{"role": "user", "content": f"row {n}"}]}) for n in range(3))
    found = recognise(f"{rows}\n\n")
    assert found.messages == ({"role": "user", "content": "row 0"},)
    assert found.shape == "messages, the first of several lines"
    assert lost(found) == {"lines 2 to 3": "only the first line is taken"}
    assert set(lost(recognise(rows[: rows.rindex("\n")]))) == {"line 2"}


def test_the_first_row_of_a_list_of_rows():
    rows = [{"messages": [{"role": "user", "content": f"row {n}"}]} for n in range(3)]
    found = pasted(rows)
    assert found.messages == ({"role": "user", "content": "row 0"},)
    assert lost(found) == {"[1] to [2]": "only the first row is taken"}
    assert set(lost(pasted([WIRE["sharegpt_row"]] * 2))) == {"[1]", "conversations[3].weight"}


def test_a_line_separator_inside_a_row_ends_no_line():
    rows = [
        json.dumps({"messages": [{"role": "user", "content": f"a\u2028b {n}"}]}, ensure_ascii=False) for n in (1, 2)
    ]
    assert recognise("\n".join(rows)).messages == ({"role": "user", "content": "a\u2028b 1"},)


def test_python_text():
    text = "[{'role': 'user', 'content': 'it\\'s', 'x': (1, None, True)},]"
    found = recognise(text)
    assert found.messages == ({"role": "user", "content": "it's", "x": [1, None, True]},)
    assert found.shape == "messages, read as Python text"
    assert recognise(f"messages = {text}").messages == found.messages
    both = recognise(f"tools = [{{'name': 'f', 'input_schema': {{}}}}]\nmessages = {text}\n")
    assert both.messages == found.messages and both.tools[0]["function"]["name"] == "f"


@pytest.mark.parametrize(
    "text",
    [
        "[{'role': 'user', 'content': __import__('os').getcwd()}]",
        "messages = [{'role': 'user'}]\nimport os",
        "[{'role': open('x')}]",
        "{'messages': [" + "[" * 300 + "]" * 300 + "]}",
        "'" + "x" * 200_000,
    ],
)
def test_python_text_is_never_run(text):
    with pytest.raises(FormatsError):
        recognise(text)


def test_python_values_that_json_has_not_are_named():
    with pytest.raises(BadConversation, match=r"messages\[0\]\.content: a set is not JSON"):
        recognise("{'messages': [{'role': 'user', 'content': {1, 2}}]}")
    with pytest.raises(BadConversation, match=r"a bytes is not JSON"):
        recognise("[{'role': 'user', 'content': b'x'}]")


def test_json_inside_a_log_line_or_a_fence():
    line = f"2026-11-30 10:00:01 [info] POST /api/chat body={json.dumps(WIRE['ollama_request'])} took=3s"
    found = recognise(line)
    assert found.messages == pasted(WIRE["ollama_request"]).messages
    assert found.shape == "an Ollama request, found inside other text"
    assert [loss.message for loss in found.lost] == [
        "the text before it is not taken: 2026-11-30 10:00:01 [info] POST /api/chat body=",
        "the text behind it is not taken: took=3s",
    ]
    assert recognise(f"```json\n{json.dumps([USER])}\n```").messages == (USER,)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to read"),
        ("hello", "no JSON and no Python was found"),
        ("{hello", "not valid JSON at line 1, column 2"),
        ("5", "this is a single value, and no messages or tools were found in it"),
        ("[]", "this is a list, and no messages"),
        ("{}", "this is an empty object"),
        ('{"prompt": "x", "n": 1}', "this is an object with prompt, n, and no messages"),
        ('{"messages": []}', "messages: is empty"),
        ('{"messages": [{"content": "x"}]}', 'messages[0]: needs a "role"'),
        ('{"contents": [5]}', "contents[0]: needs an object, not a number"),
        ('{"contents": [{"parts": "x"}]}', "contents[0].parts: needs a list, not text"),
        ('{"input": [{"type": "function_call", "name": 5}]}', "input[0].name: needs text, not a number"),
        ('{"conversations": [{"from": "human", "value": []}]}', "conversations[0].value: needs text, not a list"),
        ('{"messages": [{"role": "user", "x": "' + "\\ud83d" + '"}]}', "half of a character"),
        ("[" * 100_000, "nested too deeply"),
        ('{"messages": ' + "[" * 200 + "]" * 200 + "}", "nested more than 100 levels"),
        (" " * MAX_CHARACTERS + "{}", "are too many"),
    ],
)
def test_what_cannot_be_read_is_told_in_words(text, words):
    with pytest.raises(FormatsError) as caught:
        recognise(text)
    assert words in caught.value.message


# What is written


@pytest.mark.parametrize("shape", WRITTEN)
@pytest.mark.parametrize("case", CASES)
def test_a_case_comes_back_but_for_what_is_reported(case, shape):
    conversation = CASES[case]
    exported = export(conversation, shape)
    found = recognise(exported.text)
    back = conversation_of(found) or Conversation((), found.tools)
    assert json.loads(exported.text) == exported.body
    assert unreported(differences(conversation, back), [loss.path for loss in exported.lost]) == []
    assert "messages" not in [loss.path for loss in exported.lost] or shape == "mcp"


@pytest.mark.parametrize("shape", WRITTEN)
@pytest.mark.parametrize("name", WIRE)
def test_a_body_of_any_api_comes_back_but_for_what_is_reported(name, shape):
    conversation = conversation_of(pasted(WIRE[name]))
    if conversation is None:
        conversation = Conversation((USER,), pasted(WIRE[name]).tools)
    exported = export(conversation, shape)
    found = recognise(exported.text)
    back = conversation_of(found) or Conversation((), found.tools)
    assert unreported(differences(conversation, back), [loss.path for loss in exported.lost]) == []


@pytest.mark.parametrize("shape", WRITTEN)
@settings(max_examples=60)
@given(conversation=CONVERSATIONS)
def test_any_conversation_comes_back_but_for_what_is_reported(shape, conversation):
    exported = export(conversation, shape)
    found = SHAPES[shape].read(exported.body)
    back = conversation_of(found) or Conversation((), found.tools)
    assert unreported(differences(conversation, back), [loss.path for loss in exported.lost]) == []


def test_nothing_is_reported_that_does_not_change():
    """The everyday loop goes through the open shapes without a word."""
    for shape in ("own", "ollama", "gemini"):
        assert export(CASES["full-loop"], shape).lost == ()
    assert [loss.path for loss in export(CASES["tool-call-string"], "openai").lost] == ["tools[0].function.return"]


def test_what_openai_wants():
    body = export(
        CASES["tool-call-no-id"],
        "openai",
    ).body
    (written,) = body["messages"][1]["tool_calls"]
    assert written == call("get_current_temperature", '{"location": "Paris, France"}', id="call_1")
    assert body["messages"][2]["tool_call_id"] == "call_1"
    result = export(CASES["tool-result-object"], "openai").body["messages"][2]
    assert result["content"] == '{"value": 22, "unit": "C"}'
    assert "reasoning_content" not in export(CASES["reasoning"], "openai").body["messages"][1]


def test_what_anthropic_wants():
    body = export(CASES["parallel"], "anthropic").body
    assert body["system"].startswith("You are a bot") and body["max_tokens"] > 0
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_use", "tool_use"]
    assert [block["tool_use_id"] for block in body["messages"][2]["content"]] == ["a1b2c3d4e", "f5g6h7j8k"]
    assert set(body["tools"][0]) == {"name", "description", "input_schema"}


def test_what_gemini_wants():
    body = export(CASES["parallel"], "gemini").body
    assert [content["role"] for content in body["contents"]] == ["user", "model", "user"]
    assert [part["functionResponse"]["name"] for part in body["contents"][2]["parts"]] == [
        *("get_current_temperature", "get_current_wind_speed")
    ]
    (tool,) = body["tools"]
    assert tool["functionDeclarations"][0]["parameters"]["type"] == "OBJECT"


def test_what_the_responses_api_wants():
    body = export(CASES["parallel"], "responses").body
    assert body["instructions"].startswith("You are a bot")
    assert [item["type"] for item in body["input"]] == [
        *("message", "function_call", "function_call", "function_call_output", "function_call_output")
    ]
    assert body["tools"][0]["strict"] is False and "function" not in body["tools"][0]


def test_two_turns_of_the_assistant_stay_two():
    messages = [
        USER,
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "", "tool_calls": [call("f", "{}", id="x")]},
    ]
    conversation = Conversation(tuple(messages))
    back = conversation_of(recognise(export(conversation, "responses").text))
    assert to_json(back) == to_json(conversation)


# Nothing but FormatsError


def answered(text):
    try:
        return recognise(text)
    except FormatsError as error:
        assert error.message
        return None


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.text() | st.text("{}[]\"':,= \\n0aN(", max_size=40))
def test_any_text_is_answered(text):
    answered(text)


@given(st.data())
@settings(max_examples=400)
def test_any_fault_in_any_body_is_answered_in_words(data):
    """One place of a real body is replaced with something else, removed, or given another name."""
    body = copy.deepcopy(data.draw(st.sampled_from(sorted(WIRE.items())))[1])
    places = []

    def walk(value):
        if isinstance(value, dict | list):
            for key in value if isinstance(value, dict) else range(len(value)):
                places.append((value, key))
                walk(value[key])

    walk(body)
    owner, key = places[data.draw(st.integers(0, len(places) - 1))]
    match data.draw(st.sampled_from(["replace", "remove", "rename"])):
        case "replace":
            owner[key] = data.draw(JUNK)
        case "rename" if isinstance(owner, dict):
            name = data.draw(st.sampled_from(["type", "role", "content", "function", "name", "text", "id"]))
            owner[name] = owner.pop(key)
        case _:
            del owner[key]
    found = answered(json.dumps(body))
    if found is not None and (conversation := conversation_of(found)) is not None:
        for name in EXPORTS:
            export(conversation, name)
