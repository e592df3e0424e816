"""The faults that public templates are known for are caught on those very templates, each by its named check."""

from __future__ import annotations

from functools import cache

import pytest

from formats import snapshot
from formats.checks import CHECKS
from formats.checks.base import Subject, findings
from formats.models import CARDS
from formats.snapshot import templates
from formats.types import Finding, Status

# fault, template, check that catches it, its outcome, words of its message
FAULTS = (
    ("R1", "Qwen-Qwen3-Coder-30B-A3B-Instruct", "arguments_text", "raises", "JSON text are refused"),
    ("R2", "deepseek-ai-DeepSeek-V3.1", "arguments_text", "corrupted", "encoded twice"),
    ("R3", "google-gemma-4-31B-it", "arguments_text", "corrupted", "second pair of braces"),
    ("R4", "openai-gpt-oss-120b", "result_json", "corrupted", "encoded a second time"),
    ("R7", "Qwen-Qwen3-0.6B", "content_missing", "raises", "needs a string"),
    ("R7", "NousResearch-Hermes-3-Llama-3.1-8B", "content_missing", "raises", "needs a string"),
    ("R7", "microsoft-Phi-4-multimodal-instruct", "content_missing", "raises", "needs a string"),
    ("R8", "Qwen-Qwen3-4B-Instruct-2507", "content_parts", "dropped", "comes out empty"),
    ("R8", "HuggingFaceTB-SmolLM3-3B", "content_parts", "dropped", "comes out empty"),
    ("R9", "meta-llama-Llama-3.1-8B-Instruct", "content_parts", "corrupted", "the list itself is printed"),
    ("R9", "google-gemma-2-2b-it", "content_parts", "corrupted", "the list itself is printed"),
    ("R10", "meta-llama-Llama-3.1-8B-Instruct", "tool_calls_empty", "raises", "tool_calls: [] is refused"),
    ("R11", "meta-llama-Llama-3.2-3B-Instruct", "history_parallel", "raises", "two calls in one turn are refused"),
    ("R12", "openai-gpt-oss-120b", "history_parallel", "dropped", "1 are lost (probe second kqz)"),
    ("R13", "mistralai-Mistral-7B-Instruct-v0.3", "call_ids", "raises", "exactly nine letters and digits"),
    ("R14", "mistralai-Mistral-7B-Instruct-v0.3", "history_result", "corrupted", "without quotes, which is no JSON"),
    ("R15", "ibm-granite-granite-4.0", "result_object", "dropped", "comes out empty"),
    ("R15", "Qwen-Qwen2.5-7B-Instruct", "result_object", "corrupted", "Python's rules"),
    ("R16", "Qwen-Qwen3-Coder-30B-A3B-Instruct", "arguments_object", "corrupted", "True, None"),
    ("R17", "deepseek-ai-DeepSeek-V3.1", "shows_tools", "dropped", "tools are ignored"),
    ("R18", "HuggingFaceTB-SmolLM3-3B", "history_call", "dropped", "the call is not in the prompt"),
    ("R18", "HuggingFaceTB-SmolLM3-3B", "history_result", "merged", "shown as a user turn"),
    ("R19", "google-gemma-2-2b-it", "system_role", "raises", "no system role"),
    ("R19", "unsloth-gemma-3-270m-it", "system_role", "merged", "into the user's turn"),
    ("R20", "Qwen-Qwen2.5-7B-Instruct", "developer_role", "dropped", "a default system prompt stands in its place"),
    ("R20", "Qwen-Qwen2.5-7B-Instruct", "added_system", "default injected", "You are Qwen"),
    ("R21", "Qwen-Qwen3-0.6B", "prefix_kept", "lost", "without thinking from character 69 on"),
    ("R22", "Qwen-Qwen3-0.6B", "options_typed", "corrupted", 'enable_thinking: "false"'),
    ("R23", "google-gemma-4-31B-it", "schema_keywords", "dropped", "anyOf"),
    ("R23", "openai-gpt-oss-120b", "schema_keywords", "dropped", "anyOf"),
)

NULL_IS_DROPPED = "transformers drops keys that are null, so these templates, which test for the key, see no content"

# fault, template, check, what is found instead, why the fault cannot be seen
GONE = (
    ("R5", "GLM-4.6", "content_null", "same", NULL_IS_DROPPED),
    ("R5", "MiniMax-M2", "content_null", "same", NULL_IS_DROPPED),
    ("R6", "openai-gpt-oss-120b", "content_null", "same", NULL_IS_DROPPED),
    (
        "R25",
        "Qwen-Qwen2.5-7B-Instruct",
        "tool_key_order",
        "native",
        "transformers puts its own tojson in Jinja's place",
    ),
    (
        "R25",
        "Qwen-Qwen2.5-7B-Instruct",
        "tools_readable",
        "native",
        "transformers puts its own tojson in Jinja's place",
    ),
)


@cache
def subject(name: str) -> Subject:
    entry = templates.find(name)
    assert entry is not None
    text = templates.text(entry.file)
    return Subject({"default": text}, templates.placeholders(text))


def finding(check: str, of: Subject) -> Finding:
    """That check's finding, from it and those it requires alone."""
    wanted = {check}
    for name in reversed(CHECKS):
        wanted.update(CHECKS[name].requires if name in wanted else ())
    return list(findings([CHECKS[name] for name in CHECKS if name in wanted], of))[-1]


@pytest.mark.parametrize(("fault", "name", "check", "outcome", "words"), FAULTS)
def test_a_known_fault_is_caught_where_it_was_seen(fault, name, check, outcome, words):
    found = finding(check, subject(name))
    assert (found.check, found.status, found.outcome) == (check, Status.FAIL, outcome), found.message
    assert words in found.message
    assert found.evidence, "a fault is proved by a render"


@pytest.mark.parametrize(("fault", "name", "check", "outcome", "why"), GONE)
def test_a_fault_that_other_engines_have_is_not_there(fault, name, check, outcome, why):
    found = finding(check, subject(name))
    assert (found.check, found.status, found.outcome) == (check, Status.PASS, outcome), (found.message, why)


def test_a_users_text_becomes_a_forged_turn():
    """R24: told by the ids of the model's own tokenizer."""
    model = snapshot.load(CARDS["qwen2.5"])
    found = finding("injection", Subject(model.templates, model.special_tokens, model.tokenizer))
    assert (found.status, found.outcome) == (Status.FAIL, "injectable")
    assert "<|im_start|> = 151644, <|im_end|> = 151645" in found.message
