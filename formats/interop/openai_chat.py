"""OpenAI's Chat Completions, request and response, and the servers that speak it: vLLM, llama.cpp, SGLang, TGI.

Messages have the shape that templates know, so they pass as they are. A request to an open server can carry the
template's options as well (`chat_template_kwargs`, `documents`, `continue_final_message`); OpenAI itself has none.
"""

from __future__ import annotations

from typing import Any

from formats.conversation import RESERVED, at
from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.taking import Box, objects, read_tools, tools_in
from formats.interop.writing import Writer, function_of
from formats.tool_calls import Call, calls_of
from formats.types import Conversation, JsonObject

# Keys that this API has and its neighbours (Anthropic, Ollama) do not.
_OWN_KEYS = (
    *("max_completion_tokens", "response_format", "tool_choice", "parallel_tool_calls", "stream_options", "seed"),
    *("frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "logit_bias", "n", "user", "store"),
    *("functions", "function_call", "chat_template_kwargs", "reasoning_effort", "documents", "add_generation_prompt"),
    *("continue_final_message", "chat_template", "temperature", "extra_body"),
)
_MESSAGE_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio")


def signs(value: JsonObject) -> int:
    choices = objects(value.get("choices"))
    if choices:
        return 6 if any(key in choices[0] for key in ("message", "delta", "text")) else 0
    if not isinstance(value.get("messages"), list):
        return 0
    return 1 + 2 * sum(key in value for key in _OWN_KEYS)


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    return _response(box) if "choices" in box else _request(box)


def _request(box: Box) -> Imported:
    extra = box.take("extra_body")  # how the Python client passes what the API does not have
    box = Box({**extra, **box.rest()}, "", box.losses) if isinstance(extra, dict) else box
    messages = [_message(message, path, box.losses) for message, path in box.items("messages")]
    tools = tools_in(box)
    if box.peek("functions") is not None:
        tools = (*(tools or ()), *read_tools(box.items("functions"), box.losses))
    options = _options(box)
    lost = tuple(box.losses)
    return Imported("an OpenAI chat request", tuple(messages), tools, options, lost=lost, extras=box.rest())


def _options(box: Box) -> JsonObject:
    """The arguments of apply_chat_template that a request to an open server may hold."""
    kwargs = Box(box.take("chat_template_kwargs") or {}, "chat_template_kwargs", box.losses)
    for name in kwargs:
        if name in RESERVED:
            kwargs.lose(name, "is an argument of apply_chat_template itself, not an option of the template")
    options: JsonObject = {"kwargs": kwargs.rest()}
    if isinstance(box.peek("reasoning_effort"), str):
        options["kwargs"]["reasoning_effort"] = box.take("reasoning_effort")
    box.lose("chat_template", "is a template; open it as a model of its own")
    for name in ("documents", "add_generation_prompt", "continue_final_message"):
        if box.peek(name) is not None:
            options[name] = box.take(name)
    if options.get("continue_final_message"):  # the servers take the one or the other
        if options.get("add_generation_prompt", False) is not False:
            box.losses.append(Loss("add_generation_prompt", "does not go with continue_final_message"))
        options["add_generation_prompt"] = False
    return {name: value for name, value in options.items() if value != {}}


def _response(box: Box) -> Imported:
    choices = box.items("choices")
    for _, path in choices[1:]:
        box.losses.append(Loss(path, "only the first answer is taken"))
    choice = Box(choices[0][0] if choices else None, "choices[0]", box.losses)
    streamed = "message" not in choice and "delta" in choice
    if "message" not in choice and not streamed:
        text = choice.text("text")
        extras = {**box.rest(), "choices": [choice.rest()]}
        return Imported("an OpenAI completion", output=text, lost=tuple(box.losses), extras=extras)
    message = _message(choice.take("message", "delta"), choice.at("delta" if streamed else "message"), box.losses)
    message.setdefault("role", "assistant")
    what = "a piece of a streamed OpenAI chat response" if streamed else "an OpenAI chat response"
    extras = {**box.rest(), "choices": [choice.rest()]}
    return Imported(what, (message,), lost=tuple(box.losses), extras=extras)


def _message(value: Any, path: str, losses: list[Loss]) -> Any:
    """A message as it is, but for the calls of the API's first years."""
    box = Box(value, path, losses)
    call = box.take("function_call")
    message = box.rest()
    if isinstance(call, dict):
        losses.append(Loss(f"{path}.function_call", "is read as the first of tool_calls"))
        message["tool_calls"] = [{"type": "function", "function": call}, *(message.get("tool_calls") or ())]
    elif call is not None:
        message["function_call"] = call
    if message.get("role") == "function":
        losses.append(Loss(f"{path}.role", 'is read as "tool"'))
        message["role"] = "tool"
    return message


def write(conversation: Conversation, model: str) -> Exported:
    """A request that OpenAI itself accepts."""
    writer = Writer(conversation)
    body: JsonObject = {"model": model, "messages": [_plain_message(writer, place) for place, _ in writer.numbered()]}
    if conversation.tools is not None:
        boxes = [function_of(tool, place, writer.losses) for place, tool in enumerate(conversation.tools)]
        body["tools"] = [{"type": "function", "function": _function(box)} for box in boxes if box]
    if (effort := writer.option("reasoning_effort", str)) is not None:
        body["reasoning_effort"] = effort
    writer.options()
    return writer.exported(body)


def server_body(writer: Writer, model: str, carried: tuple[str, ...]) -> JsonObject:
    """A request to an open server, with those of our options that it knows."""
    conversation = writer.conversation
    body: JsonObject = {"model": model, "messages": [_message_out(writer, place) for place, _ in writer.numbered()]}
    if conversation.tools is not None:
        boxes = [function_of(tool, place, writer.losses) for place, tool in enumerate(conversation.tools)]
        body["tools"] = [{"type": "function", "function": box.rest()} for box in boxes if box]
    if not conversation.add_generation_prompt and "add_generation_prompt" in carried:
        body["add_generation_prompt"] = False
    if conversation.continue_final_message and "continue_final_message" in carried:
        body["continue_final_message"] = True
        if conversation.continue_final_message is not True:
            writer.lose("options.continue_final_message", "the server continues the content, not another field")
    if conversation.documents is not None and "documents" in carried:
        body["documents"] = list(conversation.documents)
    if conversation.template_kwargs:
        body["chat_template_kwargs"] = dict(conversation.template_kwargs)
    writer.options(*carried, *(f"kwargs.{name}" for name in conversation.template_kwargs))
    return body


def _plain_message(writer: Writer, place: int) -> JsonObject:
    """A message without what OpenAI itself would refuse."""
    message = _message_out(writer, place)
    for key in [key for key in message if key not in _MESSAGE_KEYS]:
        writer.lose(at(f"messages[{place}]", key), "is unknown to OpenAI itself, and left out")
        del message[key]
    if not message.get("tool_calls", True):
        writer.lose(f"messages[{place}].tool_calls", "OpenAI refuses an empty list of calls; it is left out")
        del message["tool_calls"]
    return message


def _message_out(writer: Writer, place: int) -> JsonObject:
    """A message with an id and JSON text in every call, and with text in every result, as the API wants them."""
    message: JsonObject = dict(writer.conversation.messages[place])
    if message.pop("function_call", None) is not None:
        writer.lose(f"messages[{place}].function_call", "belongs to the API's first years; it is left out")
    if message["role"] == "function":
        writer.lose(f"messages[{place}].role", 'belongs to the API\'s first years; it is read back as "tool"')
    if message["role"] == "tool":
        box = writer.box(place)
        message["tool_call_id"] = writer.result_id(place, box)
        message["content"] = writer.content(box)
    elif isinstance(message.get("content"), dict):
        message["content"] = writer.content(writer.box(place))
    if message.get("tool_calls"):
        message["tool_calls"] = [_call_out(writer, call) for call in calls_of(message, place)]  # type: ignore[arg-type]
    return message


def _call_out(writer: Writer, call: Call) -> JsonObject:
    typed = dict(call.value)
    if call.is_flat:
        writer.lose(call.path, 'is written as {"function": {"name", "arguments"}}')
        typed = {"id": None, "type": None}
    if typed.get("type") != "function":
        writer.lose(f"{call.path}.type", 'this API needs a type; "function" is written')
    function = {**call.value.get("function", {}), "name": call.name, "arguments": writer.arguments_text(call)}
    return {**typed, "id": writer.call_id(call), "type": "function", "function": function}


def _function(box: Box) -> JsonObject:
    kept = {key: box.take(key) for key in box if key in ("name", "description", "parameters", "strict")}
    box.lose_rest("is unknown to OpenAI itself, and left out")
    return kept


SHAPE = Shape(
    name="openai",
    title="OpenAI chat",
    reference="https://platform.openai.com/docs/api-reference/chat",
    signs=signs,
    read=read,
    write=write,
)
