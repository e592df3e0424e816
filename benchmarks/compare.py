"""What an edit costs: nine prompts and their token counts, against doing the same by hand; and what a start costs.

    python benchmarks/compare.py [--iterations 300] [--starts 5]

Every iteration changes one word of the user's message, so no result of an earlier one can be used again. What the
engine keeps between edits is the ids of the segments between two control tokens (`formats/tokens.py`): the edited
message is encoded anew, the others are not. Compiled templates and loaded tokenizers are kept in all three ways. The
engine's time includes a second rendering without the tools, for the count of tokens that they add.

The three ways are called in turn, in changing order, in one process. A model whose exact tokenizer is in no installed
package is rendered and not counted, in all three alike. The sandbox is compared with rendering in this process, and
the start of the app with that of an empty Gradio page, in the same manner.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

WEATHER = ROOT / "samples" / "conversations" / "01-weather.json"
TODAY = datetime.date(2026, 7, 4)
BARE_PAGE = """
import gradio as gr
with gr.Blocks() as page:
    gr.Textbox()
page.launch(ssr_mode=False)
"""
START_SECONDS = 120  # until a page that does not come is given up


@dataclass(frozen=True)
class ByHand:
    """A model as a script would use it: transformers' tokenizer, the template, and whether its tokens are counted."""

    tokenizer: object
    template: str
    counted: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--starts", type=int, default=5, help="0 leaves the start of the app out")
    args = parser.parse_args()
    edits(args.iterations)
    if args.starts:
        starts(args.starts)


def edits(iterations: int) -> None:
    from transformers.utils.chat_template_utils import _compile_jinja_template

    from formats import snapshot
    from formats.compare import compare
    from formats.conversation import from_json
    from formats.models import CARDS, OPENING
    from formats.sandbox import Sandbox
    from formats.template import render

    models = [snapshot.load(CARDS[name]) for name in OPENING]
    weather = json.loads(WEATHER.read_text(encoding="utf-8"))

    with Sandbox() as sandbox:

        def edited(number: int) -> dict[str, object]:
            messages = [dict(message) for message in weather["messages"]]
            messages[-1]["content"] += f" word{number}"
            return {"messages": messages, "tools": weather["tools"]}

        columns = compare(from_json(edited(0)), models, TODAY, sandbox).columns
        hands = [_by_hand(model, column) for model, column in zip(models, columns, strict=True)]

        def bare(conversation: dict[str, object]) -> list[tuple[str, int | None]]:
            results = []
            for hand in hands:
                template = _compile_jinja_template(hand.template)
                special = hand.tokenizer.special_tokens_map
                prompt = template.render(**conversation, documents=None, add_generation_prompt=True, **special)
                backend = hand.tokenizer.backend_tokenizer
                count = len(backend.encode(prompt, add_special_tokens=False).ids) if hand.counted else None
                results.append((prompt, count))
            return results

        def loop(conversation: dict[str, object]) -> list[tuple[str | None, int | None]]:
            results = []
            for hand in hands:
                got = hand.tokenizer.apply_chat_template(
                    conversation["messages"],
                    tools=conversation["tools"],
                    chat_template=hand.template,
                    add_generation_prompt=True,
                    tokenize=hand.counted,
                )
                results.append((None, len(got["input_ids"])) if hand.counted else (got, None))
            return results

        def engine(conversation: dict[str, object]) -> list[tuple[str, int | None]]:
            comparison = compare(from_json(conversation), models, TODAY, sandbox)
            return [(c.prompt, c.tokens.count if c.tokens else None) for c in comparison.columns]

        conversation = edited(1)
        assert engine(conversation) == bare(conversation)
        assert [count for _, count in loop(conversation)] == [count for _, count in bare(conversation)]

        counted = sum(hand.counted for hand in hands)
        print(f"One edit, {len(hands)} models, {counted} of them counted; medians of {iterations} in ms")
        times = timed([bare, loop, engine], [edited(number + 2) for number in range(iterations)])
        report({"bare: compiled templates + tokenizers": times[0], "loop of apply_chat_template": times[1]}, times[2])

        qwen = models[OPENING.index("qwen3")]
        template = qwen.templates["default"]

        def here(conversation: dict[str, object]) -> str:
            return render(template, from_json(conversation), qwen.special_tokens, TODAY)

        def there(conversation: dict[str, object]) -> str:
            return sandbox.render(template, from_json(conversation), qwen.special_tokens, TODAY)

        assert here(conversation) == there(conversation)
        inside, outside = timed([here, there], [edited(number) for number in range(iterations)])
        print(f"\nOne rendering in the sandbox: {outside:.2f} ms, in this process {inside:.2f} ms", end="")
        print(f", {outside - inside:.2f} ms more")


def _by_hand(model, column) -> ByHand:
    """The same template and tokenizer, through transformers alone."""
    from tokenizers import Tokenizer
    from tokenizers import models as empty
    from transformers import PreTrainedTokenizerFast

    from formats.models import CARDS
    from formats.snapshot import vocabulary

    card = CARDS[model.name]
    backend = vocabulary.load(card.tokenizer) if column.tokens else Tokenizer(empty.BPE())
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **model.special_tokens)
    return ByHand(tokenizer, model.templates[column.template_name], column.tokens is not None)


def timed(ways: Sequence[Callable], inputs: Sequence) -> list[float]:
    """Median milliseconds of each way, called in turn on the same inputs."""
    times: list[list[float]] = [[] for _ in ways]
    for number, value in enumerate(inputs):
        for offset in range(len(ways)):
            way = (number + offset) % len(ways)
            start = time.perf_counter()
            ways[way](value)
            times[way].append(time.perf_counter() - start)
    return [statistics.median(values) * 1000 for values in times]


def report(others: dict[str, float], engine: float) -> None:
    for name, median in others.items():
        print(f"  {name:40} {median:8.2f}   the engine takes {engine / median:.2f} x of it")
    print(f"  {'the engine':40} {engine:8.2f}")


def starts(count: int) -> None:
    """Process start to first page, of the app and of a page with one text box."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder, "bare.py")
        bare.write_text(BARE_PAGE, encoding="utf-8")
        seconds = {ROOT / "app.py": [], bare: []}
        for _ in range(count):
            for script, values in seconds.items():
                values.append(_first_page(script))
    app, empty = (statistics.median(values) for values in seconds.values())
    print(f"\nStart to first page: the app {app:.2f} s, an empty page {empty:.2f} s, {app / empty:.2f} x")


def _first_page(script: Path) -> float:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {
        **os.environ,
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_OFFLINE": "1",
    }
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, script], cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
    try:
        while time.perf_counter() - start < START_SECONDS:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).read()
                return time.perf_counter() - start
            if process.poll() is not None:
                break
            time.sleep(0.02)
        raise SystemExit(f"{script} served no page")
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
