"""Google's Gemini API, request and response: contents made of parts, calls and results without a text around them.

The API reads camelCase and snake_case alike. Types of a schema are written in capitals there, in its older form.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any, cast

from formats.interop.base import Exported, Imported, Loss, Shape
from formats.interop.taking import Box, objects, one_text, read_tool
from formats.interop.writing import Writer, flat_tools
from formats.tool_calls import dumps, loads
from formats.types import Conversation, JsonObject, ToolDefinition

_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_SCHEMA_KEYS = {  # what the API's own Schema knows; anything else needs its JSON Schema form
    *("type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required"),
    *("minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf", "propertyOrdering", "default"),
    *("items", "minimum", "maximum", "example"),
}
_TOOL = {"name": "name", "description": "description", "parameters": "parameters", "return": "responseJsonSchema"}
_DECLARATIONS = ("functionDeclarations", "function_declarations")
_SYSTEM = ("systemInstruction", "system_instruction")
_RESULT = "result"  # the key of a response that holds a text and nothing else
_OTHER_PARTS = ("inlineData", "inline_data", "fileData", "file_data", "executableCode", "codeExecutionResult")


def signs(value: JsonObject) -> int:
    tools = objects(value.get("tools"))
    declarations = [d for tool in tools for key in _DECLARATIONS for d in objects(tool.get(key))]
    found = 6 * any(isinstance(value.get(key), list) for key in ("contents", "candidates"))
    found += 6 * (bool(declarations) or any(key in value for key in (*_SYSTEM, *_DECLARATIONS)))
    return found + 4 * any(_in_capitals(tool.get("parameters")) for tool in tools)


def _in_capitals(schema: object) -> bool:
    return isinstance(schema, dict) and schema.get("type") in _TYPES


def read(value: JsonObject) -> Imported:
    losses: list[Loss] = []
    box = Box(value, "", losses)
    messages: list[Any] = []
    system = next((key for key in _SYSTEM if key in box), None)
    if system:
        messages += _read_content(Box(box.take(system), system, losses), lambda role: "system")
    for item, path in box.items("contents"):
        messages += _read_content(Box(item, path, losses), _role)
    candidates = box.items("candidates")
    for _, path in candidates[1:]:
        losses.append(Loss(path, "only the first answer is taken"))
    extras: JsonObject = {}
    if candidates:
        first = Box(*candidates[0], losses)
        messages += _read_content(Box(first.take("content") or {"role": "model"}, first.at("content"), losses), _role)
        extras["candidates"] = [first.rest()]
    what = "a Gemini response" if candidates else "a Gemini request" if messages else "Gemini function declarations"
    tools = _read_tools(box)
    return Imported(what, tuple(messages) or None, tools, lost=tuple(losses), extras={**box.rest(), **extras})


def _role(theirs: str | None) -> str:
    return {"model": "assistant", "function": "user", None: "user"}.get(theirs, theirs or "user")


def _read_content(box: Box, role_of: Callable[[str | None], str]) -> list[Any]:
    """One content of theirs is one message of ours, but for results: each of them is a message here."""
    role, messages = role_of(box.text("role")), []
    for is_result, run in groupby(box.items("parts"), lambda item: _is_result(item[0])):
        if is_result:
            messages += [_result(Box(part, path, box.losses)) for part, path in run]
        else:
            messages.append(_message(role, [Box(part, path, box.losses) for part, path in run]))
    box.lose_rest("has no place in a message")
    return messages or [{"role": role, "content": ""}]


def _is_result(part: object) -> bool:
    return isinstance(part, dict) and ("functionResponse" in part or "function_response" in part)


def _message(role: str, boxes: list[Box]) -> JsonObject:
    """Thoughts, texts and calls out of one list of parts."""
    parts: list[JsonObject] = []
    thoughts: list[str] = []
    calls: list[JsonObject] = []
    for box in boxes:
        box.lose("thoughtSignature", "only Gemini can check it; no template reads it")
        if box.peek("thought") is True:
            box.take("thought")
            thoughts.append(box.text("text") or "")
        elif "functionCall" in box or "function_call" in box:
            calls.append(_call(Box(box.take("functionCall", "function_call"), box.at("functionCall"), box.losses)))
        else:
            if calls:
                box.losses.append(Loss(box.path, "stands behind a call; it is read as standing before it"))
            parts.append(_part(box))
        box.lose_rest("has no place in a message")
    message: JsonObject = {"role": role, "content": one_text(parts)}
    if thoughts:
        message["reasoning_content"] = "\n\n".join(thoughts)
    return message | ({"tool_calls": calls} if calls else {})


def _call(box: Box) -> JsonObject:
    found: JsonObject = {"id": box.take("id")} if box.peek("id") is not None else {}
    found |= {"type": "function", "function": {"name": box.text("name"), "arguments": box.take("args") or {}}}
    box.lose_rest("has no place in a call")
    return found


def _part(box: Box) -> JsonObject:
    """A text; any other part is kept, with its only key as its type."""
    if "text" in box:
        return {"type": "text", "text": box.text("text") or ""}
    box.losses.append(Loss(box.path, "is kept as it is; few templates know this kind of part"))
    kind = next(iter(box), "empty")
    return {"type": kind, **box.rest()}


def _result(part: Box) -> JsonObject:
    box = Box(part.take("functionResponse", "function_response"), part.at("functionResponse"), part.losses)
    part.lose_rest("has no place in a result")
    name, asked, response = box.text("name"), box.take("id"), box.take("response")
    box.lose_rest("has no place in a result")
    message: JsonObject = {"role": "tool"} | ({"tool_call_id": asked} if asked is not None else {})
    return message | {"name": name, "content": _result_text(response)}


def _result_text(response: object) -> str:
    """A result is an object here and text there; a single text inside it is that text."""
    if isinstance(response, dict) and list(response) == [_RESULT] and isinstance(response[_RESULT], str):
        return str(response[_RESULT])
    return dumps(response or {})


def _result_object(text: str) -> JsonObject:
    """The object that `_result_text` reads back as this text."""
    value = loads(text)
    return value if isinstance(value, dict) and _result_text(value) == text else {_RESULT: text}


def _read_tools(box: Box) -> tuple[ToolDefinition, ...] | None:
    if not any(key in box for key in ("tools", *_DECLARATIONS)):
        return None
    loose = [({key: box.take(key)}, "") for key in _DECLARATIONS if key in box]
    found = [tool for value, path in loose + box.items("tools") for tool in _declared(Box(value, path, box.losses))]
    return tuple(cast("list[ToolDefinition]", found))


def _declared(box: Box) -> list[JsonObject]:
    """The functions of one tool, which holds several of them here."""
    if "name" in box:  # a declaration without the tool around it
        items = [(box.rest(), box.path)]
    else:
        items = box.items(*_DECLARATIONS)
        box.lose_rest("a tool of the API itself, which no template can show")
    tools = [read_tool(_in_small_letters(value), path, box.losses) for value, path in items]
    return [tool for tool in tools if tool is not None]


def _in_small_letters(declaration: Any) -> Any:
    """A declaration whose schemas spell their types as JSON Schema does."""
    if not isinstance(declaration, dict):
        return declaration
    capital = ("parameters", "response")
    return {key: _respelled(v, str.lower) if key in capital else v for key, v in declaration.items()}


def _respelled(schema: Any, spell: Callable[[str], str]) -> Any:
    """A schema with its types in small or capital letters; names of properties and values stay as they are."""
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            value = spell(value) if value.upper() in _TYPES else value
        elif key == "properties" and isinstance(value, dict):
            value = {name: _respelled(inner, spell) for name, inner in value.items()}
        elif key == "anyOf" and isinstance(value, list):
            value = [_respelled(inner, spell) for inner in value]
        elif key == "items":
            value = _respelled(value, spell)
        found[key] = value
    return found


def write(conversation: Conversation, model: str) -> Exported:
    writer = Writer(conversation)
    body: JsonObject = {}
    places = [place for place, _ in writer.numbered()]
    if conversation.messages[0]["role"] in ("system", "developer"):
        box = writer.box(places.pop(0))
        body["systemInstruction"] = {"parts": _parts(writer, box)}
        box.lose_rest("has no place in this API")
        if conversation.messages[0]["role"] == "developer":
            writer.lose("messages[0].role", "the developer's words are written as the system instruction")
    body["contents"] = _grouped([_content_out(writer, place) for place in places])
    if conversation.tools is not None:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in flat_tools(writer, _TOOL)]}]
    writer.options()
    return writer.exported(body)


def _declaration(tool: JsonObject) -> JsonObject:
    """A function with its schema in the API's own form, or as JSON Schema where that form cannot hold it."""
    schema = tool["parameters"]
    if _fits(schema):
        return {**tool, "parameters": _respelled(schema, str.upper)}
    return {"parametersJsonSchema" if key == "parameters" else key: value for key, value in tool.items()}


def _fits(schema: object) -> bool:
    if not isinstance(schema, dict) or not set(schema) <= _SCHEMA_KEYS:
        return False
    kind, properties, options = schema.get("type"), schema.get("properties", {}), schema.get("anyOf", [])
    if not (isinstance(kind, str) and isinstance(properties, dict) and isinstance(options, list)):
        return False
    inner = [*properties.values(), *options, *([schema["items"]] if "items" in schema else [])]
    return kind in map(str.lower, _TYPES) and all(_fits(value) for value in inner)


def _parts(writer: Writer, box: Box) -> list[JsonObject]:
    content = writer.blocks(box, _OTHER_PARTS)
    if not content or isinstance(content, str):
        return [{"text": content or ""}]
    for part in content:
        if part["type"] not in part:
            writer.lose(box.at("content"), f"a part without its {part['type']!r} is left out")
    return [_part_out(part) for part in content if part["type"] in part] or [{"text": ""}]


def _part_out(part: JsonObject) -> JsonObject:
    """A part is known by its first key here."""
    kind = part["type"]
    return {kind: part[kind]} | {key: value for key, value in part.items() if key != "type"}


def _content_out(writer: Writer, place: int) -> JsonObject:
    role = writer.conversation.messages[place]["role"]
    box = writer.box(place)
    if role == "tool":
        content: JsonObject = {"role": "user", "parts": [{"functionResponse": _response_out(writer, place, box)}]}
    elif role == "assistant":
        content = {"role": "model", "parts": _turn(writer, place, box)}
    else:
        if role != "user":
            writer.lose(f"messages[{place}].role", "this API has no such role here; it is written as a user's")
        content = {"role": "user", "parts": _parts(writer, box)}
    box.lose_rest("has no place in this API")
    return content


def _turn(writer: Writer, place: int, box: Box) -> list[JsonObject]:
    parts: list[JsonObject] = []
    if isinstance(box.peek("reasoning_content"), str):
        parts.append({"text": box.take("reasoning_content"), "thought": True})
    texts = _parts(writer, box)
    calls = writer.calls(place, box)
    parts += [] if calls and texts == [{"text": ""}] else texts
    for call in calls:
        if call.id is not None and not isinstance(call.id, str):
            writer.lose(f"{call.path}.id", "is no text, and left out")
        named = {"id": call.id} if isinstance(call.id, str) else {}
        parts.append({"functionCall": {**named, "name": call.name, "args": writer.arguments(call)}})
    return parts


def _response_out(writer: Writer, place: int, box: Box) -> JsonObject:
    """A result under the name of its call, which this API asks for."""
    name, asked, call = box.take("name"), box.take("tool_call_id"), writer.answers.get(place)
    if not isinstance(name, str):
        name = call.name if call else "unknown"
        writer.lose(box.at("name"), f"this API needs the name of the tool; {name} is written")
    if asked is not None and not isinstance(asked, str):
        writer.lose(box.at("tool_call_id"), "is no text, and left out")
    value = box.peek("content")
    if isinstance(value, dict):
        writer.lose(box.at("content"), "an object is read back as its JSON text")
        return {**({"id": asked} if isinstance(asked, str) else {}), "name": name, "response": box.take("content")}
    text = writer.plain_text(box)
    return {**({"id": asked} if isinstance(asked, str) else {}), "name": name, "response": _result_object(text)}


def _grouped(contents: list[JsonObject]) -> list[JsonObject]:
    """The results of one turn stand together, as the API wants them."""
    grouped: list[JsonObject] = []
    for content in contents:
        if grouped and _is_result(content["parts"][0]) and _is_result(grouped[-1]["parts"][0]):
            grouped[-1]["parts"] += content["parts"]
        else:
            grouped.append(content)
    return grouped


SHAPE = Shape(
    name="gemini",
    title="Gemini",
    reference="https://ai.google.dev/api/generate-content",
    signs=signs,
    read=read,
    write=write,
    bare={"parts": "contents", "parameters": "tools", **dict.fromkeys(_DECLARATIONS, "tools")},
)
