"""What the tab Live costs: tokens per second and time to first token against a bare `model.generate` of the same model.

    LIVE_MODEL=folder-or-file.gguf python benchmarks/live.py [--rounds 5] [--tokens 64]

The tab's way is the listener of the page itself, with its thread, its parser and its states; a client in a process of
its own asks for it over HTTP, through Gradio's queue, as a browser does. The bare way calls `generate` in the same
process with a streamer that only looks at the clock. Both ways are called in turn, in changing order, greedily and with
the same ids; what both write is compared. Speed leaves the time to the first token out.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

PROMPT = "Write a long story about a river and the people who live beside it."


class Clock:
    """A streamer that notes when tokens come."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.times: list[float] = []

    def put(self, value: Any) -> None:
        self.times.append(time.perf_counter() - self.start)

    def end(self) -> None:
        """The last token has been noted."""

    @property
    def figures(self) -> tuple[float, float]:
        """(tokens per second, seconds to the first token); what is put first is the prompt."""
        tokens = self.times[1:]
        return (len(tokens) - 1) / (tokens[-1] - tokens[0]), tokens[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    args = parser.parse_args()
    measure(args.rounds, args.tokens)


def measure(rounds: int, tokens: int) -> None:
    import gradio as gr

    from formats import samples
    from formats.web.engine import Engine
    from formats.web.handlers import Workbench
    from formats.web.live import Live

    workbench = Workbench(Engine(), samples.load())
    live = Live(workbench)
    before = memory()
    with_model = backend(live)
    print(
        f"model {with_model.name}, {loaded_threads()} threads; memory {before:.0f} MB, with the model {memory():.0f} MB"
    )
    with gr.Blocks() as blocks:
        gr.api(listener(live, tokens), api_name="live")
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False)
    visitor = subprocess.Popen(
        [sys.executable, "-c", VISITOR, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )

    tab: list[tuple[float, float]] = []
    bare: list[tuple[float, float]] = []
    texts = set()
    for number in range(rounds + 1):
        ways = [("tab", tab), ("bare", bare)]
        for name, results in ways if number % 2 else ways[::-1]:
            text, figures = through_the_tab(visitor) if name == "tab" else by_hand(live, tokens)
            texts.add(text)
            if number:  # the first time warms up
                results.append(figures)
    print("both write the same:", len(texts) == 1)
    for name, place in (("tokens per second", 0), ("seconds to first token", 1)):
        for kind, best in (("median", statistics.median), ("best", min if place else max)):
            ours, theirs = (best(result[place] for result in results) for results in (tab, bare))
            print(f"{name}, {kind}: tab {ours:.3f}, bare {theirs:.3f}, ratio {ours / theirs:.3f}")
    print(f"memory at the end: {memory():.0f} MB")
    visitor.kill()
    blocks.close()


def backend(live: Any) -> Any:
    from formats.generate.base import Stop

    return list(live.engine.ready(Stop()))[-1]


def loaded_threads() -> int:
    import torch

    return torch.get_num_threads()


def listener(live: Any, tokens: int) -> Any:
    """The tab's own listener, with everything but the prompt as the tab has it."""

    def run() -> Iterator[dict]:
        conversation = [json.dumps([{"role": "user", "content": PROMPT}]), "", True, "false", "", "", ""]
        settings = ["", "native", "", "auto", tokens, 0, 1, 0, "", "auto", 1, ""]
        yield from live.run(*conversation, "2026-07-04", *settings, "benchmark-run")

    return run


VISITOR = """
import json, sys
from gradio_client import Client
client = Client(sys.argv[1], verbose=False)
for line in sys.stdin:
    print(json.dumps(list(client.submit(api_name="/live"))[-1]), flush=True)
"""


def through_the_tab(visitor: subprocess.Popen[str]) -> tuple[str, tuple[float, float]]:
    """The run as the page sees it; its own figures are the ones that are shown."""
    assert visitor.stdin is not None and visitor.stdout is not None
    visitor.stdin.write("go\n")
    final = json.loads(visitor.stdout.readline())
    (round_,) = final["columns"][0]["rounds"]
    return round_["text"], (round_["timings"]["tokens_per_second"], round_["timings"]["first_token"])


def by_hand(live: Any, tokens: int) -> tuple[str, tuple[float, float]]:
    import torch
    from transformers import AutoTokenizer

    local = backend(live)
    tokenizer = AutoTokenizer.from_pretrained(local.folder)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}], add_generation_prompt=True, tokenize=False
    )
    ids = torch.tensor([tokenizer.encode(text, add_special_tokens=False)])
    model, clock = local.model, Clock()
    made = model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False, streamer=clock
    )
    return tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True), clock.figures


def memory() -> float:
    """The most this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
