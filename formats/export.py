"""A conversation -> what people take away: a request of an API, a command, or Python that gives the same prompt.

Each says what its reader will not see; paths in `lost` are those of our own JSON (messages, tools, options).
"""

from __future__ import annotations

import datetime
import keyword
import pprint
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version

from formats.errors import FormatsError
from formats.interop import SHAPES
from formats.interop.base import Exported, json_document
from formats.interop.openai_chat import server_body
from formats.interop.writing import Writer
from formats.types import Conversation, JsonObject


@dataclass(frozen=True, slots=True)
class Target:
    """The model that an export names, and what makes its prompt come out the same on another day."""

    model: str = "MODEL"
    revision: str | None = None  # the commit of a Hub model
    today: datetime.date | None = None  # for a template that reads the clock


@dataclass(frozen=True, slots=True)
class Export:
    name: str
    title: str
    suffix: str  # of a file that holds it
    write: Callable[[Conversation, Target], Exported]


def export(conversation: Conversation, name: str, target: Target | None = None) -> Exported:
    """The conversation in one of EXPORTS; FormatsError (not_found) for a name there is not."""
    if name not in EXPORTS:
        raise FormatsError(f"there is no export {name!r}; there are {', '.join(EXPORTS)}", "not_found")
    return EXPORTS[name].write(conversation, target or Target())


def _transformers(conversation: Conversation, target: Target) -> Exported:
    """Python that prints the prompt, and not a character more."""
    revision = f", revision={target.revision!r}" if target.revision else ""
    arguments = ["messages"]
    values: dict[str, object] = {"messages": list(conversation.messages)}
    if conversation.tools is not None:
        values["tools"] = list(conversation.tools)
    if conversation.documents is not None:
        values["documents"] = list(conversation.documents)
    arguments += [f"{name}={name}" for name in values if name != "messages"]
    if conversation.chat_template is not None:
        arguments.append(f"chat_template={conversation.chat_template!r}")
    arguments.append(f"add_generation_prompt={conversation.add_generation_prompt}")
    if conversation.continue_final_message is not False:
        arguments.append(f"continue_final_message={conversation.continue_final_message!r}")
    arguments += ["tokenize=False", *map(_keyword_argument, conversation.template_kwargs.items())]
    lines = [
        f"# transformers=={version('transformers')}",
        *(_CLOCK.format(target.today.year, target.today.month, target.today.day).splitlines() if target.today else ()),
        "from transformers import AutoTokenizer",
        "",
        f"tokenizer = AutoTokenizer.from_pretrained({target.model!r}{revision})",
        "",
        *(f"{name} = {pprint.pformat(value, width=110, sort_dicts=False)}" for name, value in values.items()),
        "",
        "prompt = tokenizer.apply_chat_template(",
        *(f"    {argument}," for argument in arguments),
        ")",
        'print(prompt, end="")',
    ]
    return Exported("\n".join(lines) + "\n")


_CLOCK = """\
import datetime

from transformers.utils import chat_template_utils


class Day(datetime.datetime):  # the template reads the date; this is the day of the prompt
    @classmethod
    def now(cls, tz=None):
        return cls({}, {}, {})


chat_template_utils.datetime = Day
"""


def _keyword_argument(item: tuple[str, object]) -> str:
    """Python folds letters in identifiers (ﬁ is fi), so that other names than plain ones are passed as text."""
    name, value = item
    is_plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return f"{name}={value!r}" if is_plain else f"**{dict([item])!r}"


_TEMPLATE_OPTIONS = ("add_generation_prompt", "continue_final_message")


def _vllm(conversation: Conversation, target: Target) -> Exported:
    writer = Writer(conversation)
    body = server_body(writer, target.model, (*_TEMPLATE_OPTIONS, "documents"))
    return _curl("http://localhost:8000/v1/chat/completions", writer, body)


def _llama_cpp(conversation: Conversation, target: Target) -> Exported:
    writer = Writer(conversation)
    return _curl(
        "http://localhost:8080/v1/chat/completions", writer, server_body(writer, target.model, _TEMPLATE_OPTIONS)
    )


def _ollama(conversation: Conversation, target: Target) -> Exported:
    write = SHAPES["ollama"].write
    assert write is not None
    exported = write(conversation, target.model)
    assert exported.body is not None
    return Exported(_command("http://localhost:11434/api/chat", exported.body), exported.lost, exported.body)


def _curl(url: str, writer: Writer, body: JsonObject) -> Exported:
    return Exported(_command(url, body), tuple(writer.losses), body)


def _command(url: str, body: JsonObject) -> str:
    """A shell command; the quoted here-document takes any text as it is, of any length.

    No line of the body can be its last line: all begin with white space or a bracket.
    """
    header = "-H 'Content-Type: application/json'"
    return f"curl {url} {header} -d @- <<'JSON'\n{json_document(body)}\nJSON\n"


def _of_shapes() -> dict[str, Export]:
    def writer(name: str) -> Callable[[Conversation, Target], Exported]:
        write = SHAPES[name].write
        assert write is not None
        return lambda conversation, target: write(conversation, target.model)

    return {name: Export(name, shape.title, "json", writer(name)) for name, shape in SHAPES.items() if shape.write}


EXPORTS: Mapping[str, Export] = {
    "transformers": Export("transformers", "Python (transformers)", "py", _transformers),
    "vllm": Export("vllm", "curl for vLLM", "sh", _vllm),
    "llama_cpp": Export("llama_cpp", "curl for llama.cpp", "sh", _llama_cpp),
    "ollama_curl": Export("ollama_curl", "curl for Ollama", "sh", _ollama),
    **_of_shapes(),
}
