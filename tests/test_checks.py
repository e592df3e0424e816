"""Every fault that real templates have is caught by a named check, and its sound twin is not.

GOOD is a small template without faults. Each fault is one edit of it; the check
must fail on the edited template and pass on GOOD.
"""

from __future__ import annotations

import re

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from formats.checks import CHECKS, explanation, run_all
from formats.checks.base import Subject
from formats.score import score
from formats.tokens import TokenizerFast
from formats.types import Status

GOOD = """\
{%- macro text(content) -%}
{%- if content is string %}{{ content }}{% elif content is mapping %}{{ content | tojson }}
{%- elif content is iterable %}{% for part in content %}{{ part.text }}{% endfor %}{% endif -%}
{%- endmacro -%}
{%- if tools %}{{ '<|im_start|>system\\n# Tools\\n<tools>\\n' }}
{%- for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{% endfor %}
{{- '</tools>\\nAnswer with <tool_call>\\n{"name": <name>, "arguments": <object>}\\n</tool_call><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>tool\\n' }}{{ text(message.content) }}{{ '<|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' }}{{ text(message.content) }}
{%- if message.tool_calls %}{% for call in message.tool_calls %}
{%- set arguments = call.function.arguments %}
{{- '\\n' if message.content or not loop.first }}{{ '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- arguments if arguments is string else arguments | tojson }}{{ '}\\n</tool_call>' }}
{%- endfor %}{% endif %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
"""

MARKERS = ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>")


def tokenizer(special: tuple[str, ...] = MARKERS) -> TokenizerFast:
    """Bytes as tokens, and the markers as control tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    return TokenizerFast(raw)


def findings(template: str, special: tuple[str, ...] = MARKERS) -> dict:
    subject = Subject({"default": template}, {"eos_token": "<|im_end|>"}, tokenizer(special))
    return {finding.check: finding for finding in run_all(subject)}


@pytest.fixture(scope="module")
def good() -> dict:
    return findings(GOOD)


def edit(*changes: tuple[str, str]) -> str:
    template = GOOD
    for old, new in changes:
        assert old in template, old
        template = template.replace(old, new)
    return template


ARGUMENTS = "{{- arguments if arguments is string else arguments | tojson }}"
CONTENT = "{%- if content is string %}{{ content }}{% elif content is mapping %}{{ content | tojson }}"
PARTS = "{% for part in content %}{{ part.text }}{% endfor %}"
ROLE = "{{- '<|im_start|>' + message.role + '\\n' }}{{ text(message.content) }}"
CALLS = "{%- if message.tool_calls %}"
RESULT = "{{- '<|im_start|>tool\\n' }}{{ text(message.content) }}"
REFUSE = "{{ raise_exception('no') }}"
GENERATION = "{{ '<|im_start|>assistant\\n' }}"

FAULTS = {
    "R1 text arguments refused": (
        "arguments_text",
        edit((ARGUMENTS, "{%- for k, v in arguments | items %}{{ k }}{{ v }}{% endfor %}")),
    ),
    "R2 text arguments encoded twice": ("arguments_text", edit((ARGUMENTS, "{{- arguments | tojson }}"))),
    "R3 doubled braces": (
        "arguments_text",
        edit((ARGUMENTS, "{{- '{' + arguments + '}' if arguments is string else arguments | tojson }}")),
    ),
    "R4 result escaped twice": (
        "result_json",
        edit((RESULT, RESULT.replace("text(message.content)", "message.content | tojson"))),
    ),
    "R5 null becomes None": (
        "content_null",
        edit(
            (ROLE, ROLE.replace("text(message.content)", "message.content if message.content is defined else 'None'"))
        ),
    ),
    "R6 null refused": ("content_null", edit((ROLE, ROLE.replace("text(message.content)", "'' + message.content")))),
    "R7 missing content refused": (
        "content_missing",
        edit((ROLE, ROLE.replace("text(message.content)", "'' + message.content"))),
    ),
    "R8 parts come out empty": ("content_parts", edit((PARTS, ""))),
    "R9 parts printed as a list": ("content_parts", edit((PARTS, "{{ content }}"))),
    "R10 empty tool_calls refused": (
        "tool_calls_empty",
        edit(
            (
                CALLS,
                "{%- if message.tool_calls is defined and not message.tool_calls %}" + REFUSE + "{% endif %}" + CALLS,
            )
        ),
    ),
    "R11 two calls refused": (
        "history_parallel",
        edit(
            (CALLS, "{%- if message.tool_calls and message.tool_calls | length > 1 %}" + REFUSE + "{% endif %}" + CALLS)
        ),
    ),
    "R12 only the first call": ("history_parallel", edit(("in message.tool_calls %}", "in message.tool_calls[:1] %}"))),
    "R13 ids of nine letters": (
        "call_ids",
        edit(
            (CALLS, "{%- for c in message.tool_calls or [] if c.id | length != 9 %}" + REFUSE + "{% endfor %}" + CALLS)
        ),
    ),
    "R14 result without quotes": (
        "history_result",
        edit(
            (
                RESULT,
                RESULT.replace("{{ text(message.content) }}", "{{ '{\"content\": ' + text(message.content) + '}' }}"),
            )
        ),
    ),
    "R15 result object by Python": (
        "result_object",
        edit(("{% elif content is mapping %}{{ content | tojson }}", "{% elif content is mapping %}{{ content }}")),
    ),
    "R15 result object empty": (
        "result_object",
        edit(("{% elif content is mapping %}{{ content | tojson }}", "{% elif content is mapping %}")),
    ),
    "R16 Python's True and None": ("arguments_object", edit((ARGUMENTS, "{{- arguments }}"))),
    "R17 tools ignored": ("shows_tools", edit(("{%- if tools %}", "{%- if false %}"))),
    "R18 call missing": ("history_call", edit((CALLS, "{%- if false %}"))),
    "R18 result as a user turn": ("history_result", edit((RESULT, RESULT.replace("tool", "user")))),
    "R19 system refused": (
        "system_role",
        edit((ROLE, "{%- if message.role == 'system' %}" + REFUSE + "{% endif %}" + ROLE)),
    ),
    "R19 system merged": (
        "system_role",
        edit(
            (
                ROLE,
                "{%- if message.role == 'system' %}"
                + ROLE.replace("message.role", "'user'")
                + "{{ '\\n' }}{% continue %}{% endif %}{%- if loop.index0 and messages[loop.index0 - 1].role == 'system' %}{{ text(message.content) }}{% else %}"
                + ROLE
                + "{% endif %}",
            )
        ),
    ),
    "R20 developer dropped": (
        "developer_role",
        edit((ROLE, "{%- if message.role == 'developer' %}{% continue %}{% endif %}" + ROLE)),
    ),
    "R20 default system prompt": (
        "added_system",
        edit(
            (
                "{%- for message in messages %}",
                "{%- if messages[0].role != 'system' %}{{ '<|im_start|>system\\nYou are a very helpful assistant.<|im_end|>\\n' }}{% endif %}{%- for message in messages %}",
            )
        ),
    ),
    "R21 prefix lost": (
        "prefix_kept",
        edit(
            (
                GENERATION,
                "{{ '<|im_start|>assistant\\n' }}{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}",
            )
        ),
    ),
    "R22 switch as text": (
        "options_typed",
        edit((GENERATION, "{{ '<|im_start|>assistant\\n' }}{% if enable_thinking %}{{ '<think>\\n' }}{% endif %}")),
    ),
    "R23 union lost": (
        "schema_keywords",
        edit(
            (
                "{{ tool | tojson }}",
                "{{ tool.function.name }} {{ tool.function.description }} {% for k, v in tool.function.parameters.properties.items() %}{{ k }} {{ v.type or 'any' }} {{ v.description }}{% endfor %}",
            )
        ),
    ),
    "R25 sorted keys": ("tool_key_order", edit(("{{ tool | tojson }}", "{{ tool | tojson(sort_keys=true) }}"))),
    "R25 escaped letters": ("tools_readable", edit(("{{ tool | tojson }}", "{{ tool | tojson(ensure_ascii=true) }}"))),
    "date added": ("added_dates", edit(("# Tools", "Today Date: 26 Jul 2024\\n# Tools"))),
    "environment added": ("added_environment", edit(("# Tools", "Environment: ipython\\n# Tools"))),
    "clock read": ("clock", edit(("# Tools", "' ~ strftime_now('%d') ~ '\\n# Tools"))),
    "generation prompt ignored": ("generation_prompt", edit(("{%- if add_generation_prompt %}", "{%- if true %}"))),
    "prefill trimmed": ("prefill", edit(("{{ content }}{% elif", "{{ content | trim }}{% elif"))),
    "text beside a call lost": (
        "history_call_text",
        edit((ROLE, ROLE.replace("text(message.content)", "'' if message.tool_calls else text(message.content)"))),
    ),
    "definition is broken JSON": (
        "tools_are_json",
        edit(
            (
                "{{ tool | tojson }}",
                '{{ \'{"name": "\' + tool.function.name + \'", "description": "\' + tool.function.description + \'", "parameters": \' + tool.function.parameters | tojson + \'}\' }}',
            )
        ),
    ),
    "empty tools announced": ("tools_empty", edit(("{%- if tools %}", "{%- if tools is not none %}"))),
    "tool without description refused": (
        "tool_minimal",
        edit(("{{ tool | tojson }}", "{{ tool | tojson }}{{ '' + tool.function.description }}")),
    ),
    "tools in the user's turn": (
        "tools_beside_text",
        edit(
            ("{%- if tools %}", "{%- if false %}"),
            (
                "message.role + '\\n' }}",
                "message.role + '\\n' }}{{ tools | tojson if tools and message.role == 'user' else '' }}",
            ),
        ),
    ),
    "no instructions": (
        "call_instructions",
        edit(('Answer with <tool_call>\\n{"name": <name>, "arguments": <object>}\\n</tool_call>', "Use them.")),
    ),
    "told another format": (
        "instructions_match",
        edit(
            (
                'Answer with <tool_call>\\n{"name": <name>, "arguments": <object>}\\n</tool_call>',
                "Answer with [TOOL_CALLS].",
            )
        ),
    ),
    "late system refused": (
        "late_system",
        edit((ROLE, "{%- if message.role == 'system' and loop.index0 %}" + REFUSE + "{% endif %}" + ROLE)),
    ),
    "alternation enforced": (
        "alternation",
        edit(
            (
                ROLE,
                "{%- if message.role == 'user' and loop.index0 and messages[loop.index0 - 1].role == 'user' %}"
                + REFUSE
                + "{% endif %}"
                + ROLE,
            )
        ),
    ),
    "text trimmed": ("text_verbatim", edit(("{{ content }}{% elif", "{{ content | trim }}{% elif"))),
    "text escaped": ("text_verbatim", edit(("{{ content }}{% elif", "{{ content | e }}{% elif"))),
    "clock read without a system turn": (
        "clock",
        edit(
            (
                "{%- for message in messages %}",
                "{%- if messages[0].role != 'system' %}{{ '<|im_start|>system\\nIt is the ' ~ strftime_now('%d') ~ '.<|im_end|>\\n' }}{% endif %}{%- for message in messages %}",
            )
        ),
    ),
    "date in a default system prompt": (
        "added_dates",
        edit(
            (
                "{%- for message in messages %}",
                "{%- if messages[0].role != 'system' %}{{ '<|im_start|>system\\nToday: July 26, 2024<|im_end|>\\n' }}{% endif %}{%- for message in messages %}",
            )
        ),
    ),
    "a default system prompt that tells a date": (
        "added_system",
        edit(
            (
                "{%- for message in messages %}",
                "{%- if messages[0].role != 'system' %}{{ '<|im_start|>system\\nYou are a very helpful assistant. Your knowledge ends in June 2024. Be kind.<|im_end|>\\n' }}{% endif %}{%- for message in messages %}",
            )
        ),
    ),
    "developer as user": (
        "developer_role",
        edit((ROLE, ROLE.replace("message.role +", "message.role.replace('developer', 'user') +"))),
    ),
    "late system as user": (
        "late_system",
        edit((ROLE, ROLE.replace("message.role +", "('user' if loop.index0 else message.role) +"))),
    ),
    "a user's string dropped": (
        "text_verbatim",
        edit((CONTENT, CONTENT.replace("{{ content }}", "{{ '' if content.strip().startswith('kqz') else content }}"))),
    ),
    "text beside a call as reasoning": (
        "text_beside_call",
        edit(
            (
                ROLE,
                "{%- if message.tool_calls and message.content %}{{- '<|im_start|>assistant\\n<think>' + message.content + '</think>' }}{% else %}"
                + ROLE
                + "{% endif %}",
            )
        ),
    ),
    "calls nobody reads": (
        "call_read",
        edit(
            ('<tool_call>\\n{"name": "\' +', "@@call \"' +"),
            ("}\\n</tool_call>' }}\n{%- endfor", "@@' }}\n{%- endfor"),
        ),
    ),
    "bare calls": (
        "calls_delimited",
        edit(
            ('<tool_call>\\n{"name": "\'', '{"name": "\''),
            ("}\\n</tool_call>' }}\n{%- endfor", "}' }}\n{%- endfor"),
        ),
    ),
}


@pytest.mark.parametrize(("check", "template"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_caught_and_its_twin_is_not(good, check, template):
    found = findings(template)[check]
    assert found.status is Status.FAIL, found.message
    assert found.evidence or check == "call_read"
    assert found.points < found.of or not found.of
    assert good[check].status in (Status.PASS, Status.SKIP), good[check].message
    if check not in ("options_typed",):
        assert good[check].status is Status.PASS, good[check].message


SECTIONS = (("<|im_start|>", "((("), ("<|im_end|>", ")))"))  # turns marked by nothing that is a control token elsewhere


def test_turns_are_told_apart_by_what_the_template_itself_writes():
    found = findings(edit(*SECTIONS), special=())
    for check in ("tools_beside_text", "history_result", "system_role"):
        assert found[check].status is Status.PASS, found[check].message
    assert found["tools_place"].outcome == "a block of their own"


def test_a_header_that_two_roles_share_in_part_is_no_users_turn():
    """Only the whole mark of a user's turn makes a result the user's; the same token behind another role does not."""
    template = edit(("'<|im_start|>' + message.role + '\\n'", "'<|role|>' + message.role + '<|sep|>'"))
    template = template.replace("'<|im_start|>tool\\n'", "'<|role|>ipython<|sep|>'")
    assert findings(template)["history_result"].status is Status.PASS


def test_a_marker_that_the_format_does_not_know_is_a_marker():
    template = edit(
        ('\'<tool_call>\\n{"name"', '\'@@CALL@@\\n{"name"'),
        ("}\\n</tool_call>' }}\n{%- endfor", "}\\n@@END@@' }}\n{%- endfor"),
    )
    found = findings(template)["calls_delimited"]
    assert found.status is Status.PASS and "@@CALL@@" in found.message, found.message


def test_a_template_that_needs_a_system_turn_is_asked_with_one():
    needs = "{%- if messages[0].role != 'system' %}{{ raise_exception('no') }}{% endif %}" + GOOD
    assert findings(needs)["alternation"].status is Status.PASS


def test_names_that_a_template_sets_for_itself_are_no_options():
    template = (
        "{%- if messages %}{% set rest = messages %}{% else %}{% set rest = [] %}{% endif %}{{ rest | length }}" + GOOD
    )
    assert findings(template)["options"].outcome == "none"


def test_control_tokens_in_user_text_are_told_by_ids():
    """R24: the same template is open where its markers are control tokens, and not where they are text."""
    assert findings(GOOD)["injection"].status is Status.FAIL
    assert "<|im_start|> = " in findings(GOOD)["injection"].message
    assert findings(GOOD, special=())["injection"].status is Status.PASS


def test_two_beginnings_of_text_are_told_by_ids():
    subject = Subject({"default": "{{ bos_token }}{{ bos_token }}" + GOOD}, {"bos_token": "<s>"}, tokenizer(("<s>",)))
    found = {f.check: f for f in run_all(subject)}["double_bos"]
    assert found.status is Status.FAIL


def test_markers_are_judged_by_ids():
    assert findings(GOOD)["markers_special"].outcome == "one token"
    assert findings(GOOD, special=())["markers_special"].outcome == "plain text"


def test_a_sound_template_loses_no_point_but_for_its_neighbours(good):
    assert [f"{f.check}: {f.message}" for f in good.values() if f.points < f.of] == []
    assert score(good.values()).stars == 5


def test_evidence_ranges_lie_in_their_text(good):
    for finding in good.values():
        for proof in finding.evidence:
            if proof.start is not None:
                assert 0 <= proof.start <= proof.end <= len(proof.text)


@pytest.mark.parametrize("check", CHECKS.values(), ids=lambda c: c.name)
def test_a_check_explains_itself_and_knows_no_model(check):
    text = explanation(check)
    assert text.split("\n")[0].endswith("?"), "the first line asks the question"
    assert check.title and (check.weight > 0) == (check.score is not None)
    assert not re.search(r"\b(llama|qwen|mistral|deepseek|gemma|hermes)", text + check.title, re.IGNORECASE)
