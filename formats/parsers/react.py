"""ReAct, as LangChain and LlamaIndex prompt for it: labelled lines of thought, action and input.

Thought: I need the weather.
Action: get_weather
Action Input: {"city": "Paris"}
Observation:

A thought is reasoning, a final answer is content. A label counts at the start of
a line; an action only if one name follows, and the input below it. A server stops
at `Observation:`; what stands behind it the model has made up, and it is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from formats.parsers._objects import END_OF_TEXT, END_TOKENS, FENCE, bare_payload, end_of_text, past_fence
from formats.parsers._python_calls import python_call
from formats.parsers.base import THINK, OutputFormat, Payload, add_call, opened_by
from formats.reading import json_text
from formats.reading.calls import MISSING, find_schema, tool_names
from formats.reading.frames import NAME_LIMIT, cut_off
from formats.reading.reader import Reader, Wait
from formats.types import CallProblem, FunctionCall, SegmentKind


def _spellings(label: str) -> tuple[str, ...]:
    """A label as models write it: plain, numbered as in the ReAct paper, in bold."""
    return (f"{label}:", *(f"{label} {n}:" for n in range(1, 10)), f"**{label}:**", f"**{label}**:")


THOUGHT, ACTION, INPUT = _spellings("Thought"), _spellings("Action"), _spellings("Action Input")
OBSERVATION, FINAL_ANSWER, ANSWER = _spellings("Observation"), _spellings("Final Answer"), _spellings("Answer")
STOP_WORD_BEGINNING = "Obs"  # so much of the stop word shows that it is meant
_LABELS = (*THOUGHT, *ACTION, *INPUT, *OBSERVATION, *FINAL_ANSWER, *ANSWER)
_OTHER_LABELS = (*OBSERVATION, *THOUGHT, *FINAL_ANSWER, *END_TOKENS)  # what may follow an action without an input
_INPUT_KEYS = ("action_input", "input", "arguments", "parameters")
_MARKS = (*_LABELS, END_OF_TEXT, *END_TOKENS, STOP_WORD_BEGINNING, THINK[0])
_INPUT_ENDS = (*(f"\n{label}" for label in _LABELS), *END_TOKENS, END_OF_TEXT)
_NOT_BLANK, _LINE_END = re.compile(r"[^ \t]"), re.compile(r"\n")
_NOT_IN_NAME = re.compile(r"[^\w.:/`'\"*\[\]-]")
_NAME = re.compile(r"[\w.:/-]+")
_DECORATION = "`'\"*[]"  # what models put around a name
_NO_ACTION = ("none", "n/a")
_CUT_OFF_STOP = re.compile(r"\n(Obs[a-z]*)$")


def read(reader: Reader) -> Wait[None]:
    kind: SegmentKind = "content"
    before = reader.prompt_suffix.rstrip()
    if opened_by(reader.prompt_suffix, THINK):
        yield from _think(reader)
    elif before.endswith(THOUGHT):
        kind = "reasoning"
    elif before.endswith(ACTION):
        yield from action(reader, "", in_thought=True)
    while (mark := (yield from reader.until(_MARKS, kind))) is not None:
        if mark in END_TOKENS:
            reader.take("markup", reader.at + len(mark))
        elif mark == END_OF_TEXT:
            if not (yield from end_of_text(reader)):
                reader.take(kind, reader.at + len(mark))
        elif mark == THINK[0] and kind == "content" and not reader.in_text():
            reader.take("markup", reader.at + len(mark))
            yield from _think(reader)
        else:
            kind = yield from _labelled(reader, mark, kind)


def _think(reader: Reader) -> Wait[None]:
    if (yield from reader.until(THINK[1:], "reasoning")) is not None:
        reader.take("markup", reader.at + len(THINK[1]))


def _labelled(reader: Reader, label: str, kind: SegmentKind) -> Wait[SegmentKind]:
    """Read the label at the cursor, and a call behind it; what follows is of the kind returned.

    Labels stand at the start of a line, or right behind a call. In a thought, an
    action and a final answer need no line of their own.
    """
    in_thought = kind == "reasoning"
    begins = reader.at_line_start() or bool(reader.calls and not in_thought and not reader.in_text())
    if label in ACTION and (begins or in_thought) and (yield from action(reader, label, in_thought)):
        return "content"
    if label in INPUT and begins and (yield from _input_alone(reader, label)):
        return "content"
    if label in THOUGHT and begins:
        reader.take("markup", reader.at + len(label))
        return "reasoning"
    ends_thought = in_thought and label in (*FINAL_ANSWER, *(ANSWER if begins else ()))
    if ends_thought or (begins and label in (*FINAL_ANSWER, *OBSERVATION)):
        reader.take("markup", reader.at + len(label))
        return "content"
    if label == STOP_WORD_BEGINNING and begins and (yield from cut_off(reader, OBSERVATION, reader.at)):
        reader.take("markup", reader.size)
        return "content"
    reader.take(kind, reader.at + len(label))
    return kind


def action(reader: Reader, label: str, in_thought: bool) -> Wait[bool]:
    """Read the call whose label is at the cursor; False, and nothing taken, if it is no call."""
    start = reader.at
    frame = CallProblem.MALFORMED if label.startswith("**") else None
    inside = yield from reader.past_space(start + len(label))
    if below := (yield from reader.sees(INPUT, inside)):
        yield from _input(reader, None, start, inside + len(below), frame)
        return True
    if (yield from _object_action(reader, start, inside)):
        return True
    end = yield from _name_end(reader, inside)
    written = reader.slice(inside, end)
    name = written if _is_tool(reader, written) else written.strip(_DECORATION)
    behind = yield from reader.past_space(end)
    if name and (below := (yield from reader.sees(INPUT, behind))):
        problem = CallProblem.MALFORMED if name != written else frame
        yield from _input(reader, name, start, behind + len(below), problem)
        return True
    if _is_tool(reader, name) and (yield from _arguments_beside(reader, name, start, end)):
        return True
    if (yield from _name_in_words(reader, name, start, inside)):
        return True
    return (yield from _without_input(reader, name, start, end, behind, in_thought))


def _name_end(reader: Reader, start: int) -> Wait[int]:
    """Where one word ends, or the name of a tool that is several."""
    tools = tuple(name for name in tool_names(reader.tools) if " " in name)
    if tools and (name := (yield from reader.sees(tools, start))):
        return start + len(name)
    return (yield from reader.find(_NOT_IN_NAME, start, within=NAME_LIMIT))


def _name_in_words(reader: Reader, name: str, start: int, inside: int) -> Wait[bool]:
    """A whole line of words above an input: the name of a tool, or one with words behind it."""
    end = yield from reader.find(_LINE_END, inside, within=NAME_LIMIT)
    below = yield from reader.past_space(end)
    label = (yield from reader.sees(INPUT, below)) if reader.peek(end, 1) == "\n" else None
    if not label:
        return False
    is_tool = _is_tool(reader, name)
    line = reader.slice(inside, end).strip()
    problem = CallProblem.MALFORMED if is_tool else None
    yield from _input(reader, name if is_tool else line, start, below + len(label), problem)
    return True


def _is_tool(reader: Reader, name: str) -> bool:
    return find_schema(reader.tools, name) is not None


def _without_input(reader: Reader, name: str, start: int, end: int, behind: int, in_thought: bool) -> Wait[bool]:
    """A name below which no input stands: the output ends here, or something else begins; else it is no call."""
    is_name = _is_tool(reader, name) or (_NAME.fullmatch(name) and name.lower() not in _NO_ACTION)
    if not is_name or behind == end < reader.size:
        return False
    likely = in_thought or not reader.tools or _is_tool(reader, name)
    if end == reader.size:  # as much of a name as there is
        likely = in_thought or not reader.tools or any(tool.startswith(name) for tool in tool_names(reader.tools))
        name = name if _is_tool(reader, name) else ""
    ended = yield from cut_off(reader, INPUT, behind)
    if not likely or not (ended or (yield from reader.sees(_OTHER_LABELS, behind))):
        return False
    problem = CallProblem.UNCLOSED if ended else CallProblem.MALFORMED
    add_call(reader, Payload(start, reader.size if ended else end, problem=problem), name, MISSING)
    return True


def _arguments_beside(reader: Reader, name: str, start: int, end: int) -> Wait[bool]:
    """Arguments in the line of the name: find_parcel({"tracking": "B"}), find_parcel {"tracking": "B"}."""
    inside = yield from reader.find(_NOT_BLANK, end)
    mark = yield from reader.ahead(1, inside)
    if mark not in ("(", "{"):
        return False
    first = (yield from reader.past_space(inside + 1)) if mark == "(" else inside
    if (yield from reader.ahead(1, first)) == "{":
        reader.move(first)
        payload = yield from bare_payload(reader, _INPUT_ENDS)
        behind = yield from reader.past_space()
        if mark == "(" and (yield from reader.ahead(1, behind)) == ")":
            payload = replace(payload, end=behind + 1)
        add_call(reader, payload, name, payload.arguments, start=start, problem=CallProblem.MALFORMED)
        return True
    call = yield from python_call(reader, end)
    if call is None or not (call.readable or call.cut_off):
        reader.move(start)
        return False
    problem = CallProblem.UNCLOSED if call.cut_off else CallProblem.MALFORMED
    add_call(
        reader, Payload(start, call.end, problem=problem), name, call.arguments.values if call.arguments else MISSING
    )
    return True


def _object_action(reader: Reader, start: int, inside: int) -> Wait[bool]:
    """One object that holds the action and its input, as LangChain's JSON agents write it."""
    reader.move(inside)
    fenced = yield from reader.sees((FENCE,))
    if fenced:
        reader.move((yield from past_fence(reader)))
    if (yield from reader.ahead(1)) == "{":
        payload = yield from _closed_by(reader, fenced, (yield from bare_payload(reader, (FENCE, *_INPUT_ENDS))))
        value = payload.value if isinstance(payload.value, dict) else {}
        name = next((value[key] for key in ("action", "tool", "name") if isinstance(value.get(key), str)), None)
        if name is not None:
            arguments = next((value[key] for key in _INPUT_KEYS if key in value), MISSING)
            add_call(reader, payload, name, arguments, start=start, problem=CallProblem.MALFORMED)
            return True
    reader.move(start)
    return False


def _closed_by(reader: Reader, closer: str | None, payload: Payload) -> Wait[Payload]:
    """The payload with the fence that closes it, if there is one."""
    behind = yield from reader.past_space()
    if closer and (yield from reader.sees((closer,), behind)):
        return replace(payload, end=behind + len(closer))
    return payload


def _input_alone(reader: Reader, label: str) -> Wait[bool]:
    """An input without an action above it is a call without a name; only an object shows that it is meant as one."""
    inside = yield from reader.past_space(reader.at + len(label))
    if not (yield from reader.sees(("{", FENCE), inside)):
        return False
    yield from _input(reader, None, reader.at, reader.at + len(label))
    return True


def _input(
    reader: Reader, name: str | None, start: int, label_end: int, problem: CallProblem | None = None
) -> Wait[None]:
    """Read what stands behind the label of an input, and add the call that begins at `start`."""
    payload = yield from _input_payload(reader, label_end)
    add_call(reader, payload, name, payload.arguments, start=start, problem=problem)


def _input_payload(reader: Reader, label_end: int) -> Wait[Payload]:
    inside = yield from reader.past_space(label_end)
    if (yield from cut_off(reader, (FENCE,), inside)):
        return Payload(label_end, reader.size, problem=CallProblem.UNCLOSED)
    if (yield from reader.sees((*_LABELS, *END_TOKENS), inside)):
        return Payload(label_end, label_end)
    reader.move(inside)
    fenced = yield from reader.sees((FENCE,))
    if fenced:
        reader.move((yield from past_fence(reader)))
        if (yield from reader.ahead(1)) == "":
            return Payload(label_end, reader.size, problem=CallProblem.UNCLOSED)
    ends = (FENCE, *_INPUT_ENDS) if fenced else _INPUT_ENDS
    if (yield from reader.ahead(1)) == "{":
        payload = yield from bare_payload(reader, ends)
    else:
        payload = yield from _other_input(reader, ends)
    return (yield from _closed_by(reader, fenced, payload))


def _other_input(reader: Reader, ends: tuple[str, ...]) -> Wait[Payload]:
    """An input that is no object goes up to the next label: words, a list, the object in a string."""
    start = reader.at
    found = yield from reader.until(ends, None)
    text = reader.slice(start, reader.at)
    if found is None and (stop := _CUT_OFF_STOP.search(text)) and OBSERVATION[0].startswith(stop.group(1)):
        text = text[: stop.start()]
    text = text.rstrip()
    reader.move(start + len(text))
    try:
        return Payload(start, reader.at, json_text.loads(text))
    except ValueError as error:
        cut = found is None and text[:1] in ('"', "[")
        return Payload(start, reader.at, MISSING, CallProblem.UNCLOSED if cut else CallProblem.INVALID_JSON, str(error))


def write(calls: Sequence[FunctionCall]) -> str:
    return "\n".join(
        f"Action: {call['name']}\nAction Input: {json.dumps(call['arguments'], ensure_ascii=False)}" for call in calls
    )


FORMAT = OutputFormat(
    name="react",
    title="ReAct (Thought / Action / Action Input)",
    reference="https://github.com/ysymyth/ReAct",
    example='Thought: I need the weather.\nAction: get_weather\nAction Input: {"city": "Paris"}',
    markers=("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:"),
    read=read,
    write=write,
    stops=("\nObservation:",),
    broken={
        'Action: get_weather\nAction Input: {"city": "Par': CallProblem.UNCLOSED,
        "Action: get_weather\nAction Input: {'city': 'Paris'}": CallProblem.INVALID_JSON,
        "Action: get_weather\nAction Input: Paris": CallProblem.INVALID_JSON,
        'Action: get_weather\nAction Input: "Paris"': CallProblem.ARGUMENTS_NOT_OBJECT,
        'Action Input: {"city": "Paris"}': CallProblem.MISSING_NAME,
    },
)
