"""A real small model really generates: in this process through transformers, and in a llama.cpp server over HTTP."""

import datetime
import functools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hub_server import HubServer
from live_model import gguf, llama_server, needed, unquantised
from patience import TRIES

from formats import hub, sources
from formats.conversation import from_json
from formats.errors import FormatsError
from formats.generate import probe, tools, weights
from formats.generate.base import Chunk, End, Sampling, Stop
from formats.generate.engine import Engine
from formats.generate.loop import Round, Setup, converse
from formats.generate.run import Output, Piece
from formats.generate.server import Server
from formats.sandbox import Sandbox

pytestmark = pytest.mark.live

ROOT = Path(__file__).parent.parent
QUESTION = "What is the capital of France?"
LONG_ANSWERS = ("Explain what a river is.", "What is water made of?", "What do bees make?")
NOON = datetime.datetime(2026, 7, 4, 12, tzinfo=datetime.UTC)


def chat(text):
    """SmolLM2's own prompt for one question."""
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def folder():
    needed("torch", "accelerate", "gguf")
    return weights.unpacked(gguf(), lambda words: None)


@pytest.fixture(scope="module")
def local(folder):
    from formats.generate.local import LocalModel

    return LocalModel(folder, "smollm2")


@pytest.fixture(scope="module")
def engine(folder, local):
    engine = Engine({"LIVE_MODEL": str(folder)})
    engine._backend = local  # the one copy of this process
    return engine


@pytest.fixture(scope="module")
def server():
    needed("xllamacpp", "gguf")
    with llama_server(unquantised()) as url:
        yield Server(url)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def setup(folder, sandbox):
    def setup(**more):
        model = sources.load(str(folder), allow_files=True)
        values = {"sampling": Sampling(max_tokens=24), "today": NOON.date(), "clock": lambda: NOON} | more
        return Setup(model=model, sandbox=sandbox, **values)

    return setup


def written(backend, prompt, **settings):
    """(text, end) of one generation."""
    said = list(backend.stream(prompt, Sampling(**settings), Stop()))
    assert isinstance(said[-1], End) and all(isinstance(chunk, Chunk) for chunk in said[:-1])
    return "".join(chunk.text for chunk in said[:-1]), said[-1]


def bare(local, prompt, tokens):
    """What transformers' own loop writes, without anything of ours."""
    import torch

    ids = torch.tensor([local._tokenizer.encode(prompt, add_special_tokens=False)])
    made = local.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False)
    return local._tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=False)


@pytest.fixture(scope="module")
def answer(local):
    """(text, end) of twenty tokens that the model in this process answers to a question."""
    return functools.cache(lambda question: written(local, chat(question), max_tokens=20))


@pytest.mark.parametrize("question", LONG_ANSWERS)
def test_in_process_the_output_is_what_transformers_itself_gives(local, answer, question):
    text, end = answer(question)
    assert text == bare(local, chat(question), 20)
    assert end.tokens == 20 and end.prompt_tokens == len(local.ids(chat(question)))


@pytest.mark.parametrize("question", LONG_ANSWERS)
def test_process_and_server_agree_on_ids_and_on_what_the_model_writes(local, answer, server, question):
    """With the same weights. From the quantised file the server writes something else by the 20th token, since
    llama.cpp then rounds the inputs of each product to 8 bits as well; that is the format of the file, not of a prompt.
    """
    import httpx2

    asked = {"content": chat(question), "add_special": False, "parse_special": True}
    ids = httpx2.post(f"{server._base.removesuffix('/v1')}/tokenize", json=asked).json()["tokens"]
    assert local.ids(chat(question)) == ids
    ours, ours_end = answer(question)
    theirs, theirs_end = written(server, chat(question), max_tokens=20)
    assert theirs_end.prompt_tokens == ours_end.prompt_tokens == len(ids)
    assert theirs == ours and ours_end.tokens == theirs_end.tokens == 20


def test_the_same_seed_writes_the_same_and_another_one_something_else(local):
    settings = {"max_tokens": 12, "temperature": 1.2, "top_p": 0.95}
    first, again, other = (written(local, chat(LONG_ANSWERS[0]), seed=seed, **settings)[0] for seed in (7, 7, 8))
    assert first == again != other


def test_a_run_is_the_columns_prompt_and_its_ids_and_is_read_as_it_comes(engine, setup):
    conversation = from_json({"messages": [{"role": "user", "content": QUESTION}]})
    used = setup()
    events = list(converse(engine, conversation, used, Stop()))
    begun = next(event for event in events if isinstance(event, Round))
    output = next(event for event in events if isinstance(event, Output))
    assert begun.ids == tuple(used.model.tokenizer.ids(begun.prompt)) and begun.where == "process"
    assert "Paris" in output.text and output.stop_reason == "end" and output.stopped_by == "<|im_end|>"
    pieces = [event for event in events if isinstance(event, Piece)]
    assert "".join(piece.text for piece in pieces) == output.text
    assert "".join(piece.delta.content for piece in pieces) == output.parsed.content
    assert sum(bool(piece.text) for piece in pieces) > 3
    assert output.timings.first_token > 0 and output.timings.tokens_per_second > 0


@pytest.mark.parametrize("length", [1, 400])
def test_stop_ends_it_at_once_and_leaves_the_model_to_the_next(local, length):
    """In the middle of an output, and while a long prompt is still being read."""
    prompt = chat("All work and no play. " * length)

    def seconds_to_stop():
        stop, asked = Stop(), None
        for chunk in local.stream(prompt, Sampling(max_tokens=1000), stop):
            if asked is None and (chunk.tokens if length == 1 else True):
                asked = time.monotonic()
                stop.now()
                stop.now()
            last = chunk
        assert last.reason == "stopped"
        return time.monotonic() - asked

    assert any(seconds_to_stop() < 0.2 for _ in range(TRIES))
    assert "Paris" in written(local, chat(QUESTION), max_tokens=10)[0]


def test_who_leaves_ends_the_generation(local):
    run = local.stream(chat(LONG_ANSWERS[0]), Sampling(max_tokens=4000), Stop())
    next(run)
    run.close()
    assert "Paris" in written(local, chat(QUESTION), max_tokens=10)[0]


def test_a_prompt_longer_than_the_window_is_refused_in_words(local, server):
    too_long = chat("word " * 9000)
    for backend, said in ((local, "a window of 8,192"), (server, "context size")):
        with pytest.raises(FormatsError) as raised:
            list(backend.stream(too_long, Sampling(), Stop()))
        assert said in raised.value.message
        assert "Paris" in written(backend, chat(QUESTION), max_tokens=10)[0]


def test_an_output_ends_where_the_window_does(local, monkeypatch):
    monkeypatch.setattr(local, "window", len(local.ids(chat(LONG_ANSWERS[0]))) + 3)
    text, end = written(local, chat(LONG_ANSWERS[0]), max_tokens=100)
    assert end.reason == "length" and end.tokens == 3 and text


def asked_before(city, degrees, sky):
    """An earlier question, call, result and answer: what a small model needs to see to do the same."""
    result = {"city": city, "temperature_celsius": degrees, "sky": sky}
    call = {"id": city, "type": "function", "function": {"name": "get_weather", "arguments": {"city": city}}}
    return [
        {"role": "user", "content": f"What is the weather in {city}?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": city, "name": "get_weather", "content": json.dumps(result)},
        {"role": "assistant", "content": f"It is {degrees} degrees and {sky} in {city}."},
    ]


@pytest.mark.parametrize("style", ["json_in_system", "react"])
def test_a_real_model_calls_a_tool_and_answers_with_its_result(engine, setup, style):
    tool = next(tool for tool in tools.DEFINITIONS if tool["function"]["name"] == "get_weather")
    question = {"role": "user", "content": "What is the weather in Paris?"}
    messages = [*asked_before("London", 14, "rain"), *asked_before("Oslo", 8, "snow"), question]
    used = setup(style=style, rounds=2, sampling=Sampling(max_tokens=40))
    events = list(converse(engine, from_json({"messages": messages, "tools": [tool]}), used, Stop()))
    rounds = [event for event in events if isinstance(event, Round)]
    outputs = [event for event in events if isinstance(event, Output)]
    (call,) = outputs[0].parsed.calls
    assert (call.name, call.arguments, call.problem) == ("get_weather", {"city": "Paris"}, None)
    assert len(rounds) == 2 and '"temperature_celsius": 18' in rounds[1].prompt
    assert "18 degrees and cloudy in Paris" in outputs[1].parsed.content
    assert events[-1].ending == "answer"


def test_the_probe_set_is_reproducible_and_keeps_every_raw_output(engine, setup, sandbox, monkeypatch):
    monkeypatch.setattr(probe, "MAX_TOKENS", 12)

    def run(*names):
        asked = probe.Probe(setup().model, 1, 7, sandbox, names)
        steps = list(asked.run(engine, Stop()))
        assert (steps[0].done, steps[-1].done, steps[-1].of) == (0, len(names), len(names))
        report = probe.to_json(asked, steps[-1].items)
        for entry in (*report["rows"], *report["items"]):
            entry.pop("seconds")
        return report

    first, again = run("native", "react", "json_in_system"), run("react")
    assert again["items"] == [item for item in first["items"] if item["style"] == "react"]
    assert [row["style"] for row in first["rows"]] == ["native", "react", "json_in_system"]
    assert all(item["raw"] and item["tokens"] and item["prompt_tokens"] for item in first["items"])
    for row in first["rows"]:
        assert 1 == row["prompts"] >= row["parsed"] >= row["valid"] >= row["right_tool"] >= row["right_arguments"]


@pytest.fixture
def tiny(folder, tmp_path):
    """The files of a model of random numbers, small enough to be sent about."""
    import transformers

    made = tmp_path / "tiny"
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.LlamaConfig(vocab_size=49152, max_position_embeddings=64, **sizes)
    transformers.LlamaForCausalLM(config).save_pretrained(made)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        (made / name).write_bytes((folder / name).read_bytes())
    return {path.name: path.read_bytes() for path in made.iterdir()}


def test_a_model_comes_from_the_hub_unless_it_is_too_large(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    for name in ("HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    said = []
    with HubServer() as hub_server:
        monkeypatch.setenv("HF_ENDPOINT", hub_server.url)
        hub.forget()
        repository = hub_server.add("org/tiny", {**tiny, "model.bin": b"never asked for", "run.py": b"nor this"})
        engine = Engine({"LIVE_MODEL": "org/tiny"})
        *news, backend = engine.ready(Stop())
        said = [loading.words for loading in news]
        assert not hub_server.asked("model.bin") and not hub_server.asked("run.py")
        assert backend.window == 64 and written(backend, chat("Hi"), max_tokens=4)[1].tokens == 4
        repository.claimed_sizes["model.safetensors"] = 5 * 1024**3
        before = len(hub_server.requests)
        with pytest.raises(FormatsError, match=r"5\.0 GB of weights, and up to 4 GB") as raised:
            weights.find("org/tiny", said.append)
        assert raised.value.kind == "too_large"
        assert all("safetensors" not in path for _, path, _ in hub_server.requests[before:])
        with pytest.raises(FormatsError) as raised:
            weights.find("org/no-such-model", said.append)
        assert raised.value.kind == "not_found"
    hub.forget()
    assert any(words.startswith("Fetching") and "of org/tiny" in words for words in said)


OFFLINE = {"HF_HUB_OFFLINE": "1", "LIVE_MODEL": "", "LIVE_BASE_URL": ""}


# The libraries alone take a space that depends on the number of processors: what counts is what the model may take.
WITH_MEMORY = """
import resource, sys
import formats.generate.local, torch, transformers.generation
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from formats.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def process(*arguments, memory=None):
    """`python -m formats generate` as a process of its own, with that many bytes of memory for the model."""
    python = [sys.executable, "-m", "formats"] if memory is None else [sys.executable, "-c", WITH_MEMORY, str(memory)]
    return subprocess.run(
        [*python, "generate", *arguments],
        cwd=ROOT,
        env=os.environ | OFFLINE,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def question_file(tmp_path):
    file = tmp_path / "conversation.json"
    file.write_text(json.dumps({"messages": [{"role": "user", "content": QUESTION}]}))
    return str(file)


def test_the_command_line_streams_the_text_and_prints_the_result(folder, question_file):
    done = process(str(folder), "--conversation", question_file, "--max-tokens", "16", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert "Paris" in result["text"] and result["text"] in done.stderr
    assert result["ids_count"] > 10 and result["prompt"].endswith("<|im_start|>assistant\n")
    assert result["parsed"]["content"] == result["text"].strip() and result["stop_reason"] == "end"
    assert result["timings"]["first_token"] > 0 and result["sampling"]["seed"] == 0


@pytest.fixture
def generate(command_line, monkeypatch):
    """`python -m formats generate` in this process."""
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    return lambda *arguments: command_line("generate", *arguments)


def test_the_command_line_uses_a_server(server, generate, question_file, monkeypatch):
    monkeypatch.setenv("LIVE_BASE_URL", server._base.removesuffix("/v1"))
    done = generate("smollm2", "--conversation", question_file, "--max-tokens", "16")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert "Paris" in result["text"] and result["generated_by"]["where"] == "server"
    assert result["server_prompt_tokens"] > 10


def test_a_process_that_ends_in_the_middle_of_a_run_ends_well(folder):
    code = (
        "import pathlib; from formats.generate.base import Sampling, Stop\n"
        "from formats.generate.local import LocalModel\n"
        f"model = LocalModel(pathlib.Path({str(folder)!r}), 'm')\n"
        f"run = model.stream({chat(LONG_ANSWERS[0])!r}, Sampling(max_tokens=1000), Stop())\n"
        "print(sum(chunk.tokens for chunk, _ in zip(run, range(5))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip().isdigit()) == (0, True), done.stderr


def test_a_model_that_needs_more_memory_than_there_is_says_so(folder, question_file):
    done = process(str(folder), "--conversation", question_file, memory=100 * 1024**2)
    assert done.returncode == 2 and done.stdout == ""
    assert "not enough memory" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["qwen3", "/no/such/folder", "/no/such/file.gguf"])
def test_a_model_that_is_not_there_says_what_would_work(generate, question_file, name):
    done = generate(name, "--conversation", question_file, "--max-tokens", "4")
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()[-1]) > 20
