"""A streamed answer, cut anywhere, is the answer that would have come whole; one that was cut off says so."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.errors import FormatsError
from formats.interop import recognise

TEXT = st.text(max_size=12) | st.sampled_from(["data: x", '{"a": 1}', "[DONE]", "é漢🙂\u2028\n\r"])
NAME = st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True)
VALUE = (
    st.integers(-9, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.none()
    | st.lists(TEXT, max_size=2)
)
CALLS = st.lists(st.tuples(NAME, st.dictionaries(NAME, VALUE, max_size=2)), max_size=3)
ANSWERS = st.fixed_dictionaries({"text": TEXT, "thought": TEXT, "calls": CALLS})


def cut(data, text):
    """A text in pieces that hypothesis chooses; one at least, some of them empty."""
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def openai(answer, data):
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(answer["calls"])
    ]
    message = {"role": "assistant", "content": answer["text"], "reasoning_content": answer["thought"]}
    message |= {"tool_calls": calls} if calls else {}
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in cut(data, answer["thought"])]
    deltas += [{"content": piece} for piece in cut(data, answer["text"])]
    repeats = data.draw(st.booleans())  # some servers say id and name again
    for n, call in enumerate(calls):
        head = {"index": n, "id": call["id"], "type": "function"}
        deltas.append({"tool_calls": [{**head, "function": {"name": call["function"]["name"], "arguments": ""}}]})
        for piece in cut(data, call["function"]["arguments"]):
            function = {"name": call["function"]["name"]} if repeats else {}
            again = head if repeats else {"index": n}
            deltas.append({"tool_calls": [{**again, "function": {**function, "arguments": piece}}]})
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m"}
    pieces = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    pieces.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    pieces.append({**base, "choices": [], "usage": {"total_tokens": 7}})
    whole = {
        **base,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    return {**whole, "usage": {"total_tokens": 7}}, pieces


def completion(answer, data):
    base = {"id": "cmpl-1", "object": "text_completion", "model": "m"}
    texts = cut(data, answer["text"])
    pieces = [{**base, "choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in texts]
    pieces.append({**base, "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]})
    return {**base, "choices": [{"index": 0, "text": answer["text"], "finish_reason": "stop"}]}, pieces


def anthropic(answer, data):
    blocks, pieces = [], []

    def block(start, kind, said, **whole):
        place = len(blocks)
        blocks.append({**start, **whole})
        pieces.append({"type": "content_block_start", "index": place, "content_block": start})
        for piece in cut(data, said):
            key = {"input_json_delta": "partial_json"}.get(kind, kind.removesuffix("_delta"))
            pieces.append({"type": "content_block_delta", "index": place, "delta": {"type": kind, key: piece}})
        pieces.append({"type": "content_block_stop", "index": place})

    block({"type": "thinking", "thinking": ""}, "thinking_delta", answer["thought"], thinking=answer["thought"])
    block({"type": "text", "text": ""}, "text_delta", answer["text"], text=answer["text"])
    for n, (name, arguments) in enumerate(answer["calls"]):
        start = {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": {}}
        block(start, "input_json_delta", json.dumps(arguments), input=arguments)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": []}
    start = {"type": "message_start", "message": {**message, "stop_reason": None, "usage": {"input_tokens": 5}}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    whole = {**message, "content": blocks, "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 9}}
    return whole, [start, {"type": "ping"}, *pieces, end, {"type": "message_stop"}]


def ollama(answer, data):
    calls = [
        {"function": {"index": n, "name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(answer["calls"])
    ]
    message = {"role": "assistant", "content": answer["text"], "thinking": answer["thought"]}
    deltas = [{"content": "", "thinking": piece} for piece in cut(data, answer["thought"])]
    deltas += [{"content": piece} for piece in cut(data, answer["text"])]
    deltas += [{"content": "", "tool_calls": [call]} for call in calls]
    pieces = [{"model": "m", "message": {"role": "assistant", **delta}, "done": False} for delta in deltas]
    end = {"model": "m", "done": True, "done_reason": "stop", "eval_count": 9}
    pieces.append({**end, "message": {"role": "assistant", "content": ""}})
    return {**end, "message": message | ({"tool_calls": calls} if calls else {})}, pieces


def responses(answer, data):
    items = [
        {
            "type": "reasoning",
            "id": "rs",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": answer["thought"]}],
        },
        {
            "type": "message",
            "id": "ms",
            "role": "assistant",
            "content": [{"type": "output_text", "text": answer["text"]}],
        },
        *(
            {
                "type": "function_call",
                "id": f"f{n}",
                "call_id": f"c{n}",
                "name": name,
                "arguments": json.dumps(arguments),
            }
            for n, (name, arguments) in enumerate(answer["calls"])
        ),
    ]
    begun = {"id": "resp_1", "object": "response", "model": "m", "output": [], "status": "in_progress"}
    pieces = [{"type": "response.created", "response": begun}]
    for place, item in enumerate(items):
        kind = {"reasoning": "reasoning_text", "message": "output_text"}.get(item["type"], "function_call_arguments")
        empty = {"arguments": ""} if kind == "function_call_arguments" else {"content": []}
        pieces.append({"type": "response.output_item.added", "output_index": place, "item": item | empty})
        for piece in cut(data, item["arguments"] if "arguments" in item else item["content"][0]["text"]):
            pieces.append({"type": f"response.{kind}.delta", "output_index": place, "content_index": 0, "delta": piece})
    whole = {**begun, "output": items, "status": "completed"}
    return whole, [*pieces, {"type": "response.completed", "response": whole}]


def gemini(answer, data):
    calls = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in answer["calls"]]
    parts = [{"text": piece, "thought": True} for piece in cut(data, answer["thought"])]
    parts += [{"text": piece} for piece in cut(data, answer["text"])]
    whole = [{"text": answer["thought"], "thought": True}, {"text": answer["text"]}, *calls]
    pieces = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}}], "responseId": "r"} for part in parts + calls
    ]
    end = {"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "responseId": "r"}
    return {"candidates": [{**end["candidates"][0], "content": {"role": "model", "parts": whole}}]}, [*pieces, end]


APIS = (openai, completion, anthropic, ollama, responses, gemini)


def as_events(pieces, done=False, names=False):
    lines = [f"event: {piece['type']}\n" if names and "type" in piece else "" for piece in pieces]
    texts = [json.dumps(piece, ensure_ascii=False) for piece in pieces]
    body = "".join(f"{line}data: {text}\n\n" for line, text in zip(lines, texts, strict=True))
    return body + ("data: [DONE]\n\n" if done else "")


def as_lines(pieces):
    return "\n".join(json.dumps(piece, ensure_ascii=False) for piece in pieces)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.__name__)
@settings(max_examples=50)
@given(answer=ANSWERS, data=st.data())
def test_any_split_of_an_answer_joins_to_the_answer(api, answer, data):
    whole, pieces = api(answer, data)
    wanted = recognise(json.dumps(whole))
    for text in (as_events(pieces, done=True), as_events(pieces, names=True), as_lines(pieces), json.dumps(pieces)):
        found = recognise(text)
        assert (found.messages, found.output) == (wanted.messages, wanted.output)
        assert found.lost == wanted.lost
        assert found.shape.startswith(f"{wanted.shape}, joined from ")


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.__name__)
@settings(max_examples=50)
@given(answer=ANSWERS, data=st.data())
def test_a_stream_that_is_cut_off_says_so_and_never_fails_but_in_words(api, answer, data):
    text = as_events(api(answer, data)[1])
    pieces = text.split("\n\n")
    text = text[: data.draw(st.integers(0, len(text) - len(pieces[-2]) - 6))]
    try:
        found = recognise(text)
    except FormatsError as error:
        assert error.message and not text.count("\n\n")  # not one whole event
        return
    said = " ".join(loss.message for loss in found.lost)
    assert "ends before the answer does" in said or api is responses or api is gemini or "finish" in text


KEYS = (
    *("type", "message", "content_block", "delta", "index", "choices", "tool_calls", "function", "name", "id", "text"),
    *("done", "response", "usage", "error", "candidates", "content", "parts", "item", "output_index", "arguments"),
    *("partial_json", "finish_reason", "role"),
)
ODD = st.recursive(
    st.none() | st.integers(-2, 3) | st.sampled_from(["", "x", "message_start", "response.created", "tool_use"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


@given(pieces=st.lists(ODD, min_size=1, max_size=4))
def test_odd_pieces_never_fail_but_in_words(pieces):
    try:
        recognise(as_events([piece if isinstance(piece, dict) else {"x": piece} for piece in pieces]))
    except FormatsError as error:
        assert error.message


def test_what_cannot_be_carried_is_said():
    _, pieces = openai({"text": "Hi.", "thought": "", "calls": []}, Uncut())
    text = "HTTP/1.1 200 OK\n\n" + as_events(pieces[:-2]) + 'data: {"error": {"message": "out of luck"}}\n\ndata: {"id'
    said = [(loss.path, loss.message) for loss in recognise(text).lost]
    assert (f"line {text.count(chr(10)) + 1}", 'is cut off or no JSON, and not taken: {"id') in said
    assert ("", "the text around the events is not taken: HTTP/1.1 200 OK") in said
    assert ("", "the server broke off: out of luck") in said
    assert ("", "the stream ends before the answer does; what there is of it is taken") in said


def test_a_call_that_is_cut_off_is_kept_as_text():
    _, pieces = anthropic({"text": "", "thought": "", "calls": [("f", {"city": "Paris"})]}, Uncut())
    pieces = pieces[:-3]
    pieces[-1]["delta"]["partial_json"] = '{"city": "Par'
    found = recognise(as_events(pieces, names=True))
    assert found.messages[0]["tool_calls"][0]["function"]["arguments"] == '{"city": "Par'
    assert "content[2].input" in [loss.path for loss in found.lost]


def test_two_answers_in_one_log_are_not_mixed():
    _, one = openai({"text": "One.", "thought": "", "calls": []}, Uncut())
    two = [{**piece, "id": "chatcmpl-2"} for piece in one]
    found = recognise(as_events([piece for both in zip(one, two, strict=True) for piece in both], done=True))
    assert found.messages[0]["content"] == "One."
    assert [loss.message for loss in found.lost] == [f"pieces of another answer are not taken: {len(two)}"]


def test_whole_answers_line_by_line_are_rows_and_not_pieces():
    row = {"model": "m", "message": {"role": "assistant", "content": "One."}, "done": True}
    found = recognise(as_lines([row, row]))
    assert found.shape == "an Ollama response, the first of several lines"
    assert recognise(as_events([row])).shape == "an Ollama response, found in an event"


class Uncut:
    """Stands in for hypothesis' data where nothing is to be drawn: each text is one piece."""

    def draw(self, strategy):
        return [] if "lists" in str(strategy) else False
