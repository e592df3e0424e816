"""Generation in this process, with transformers: one copy of a small model, on the processor, in bf16.

The prompt goes in as the ids that the model's own tokenizer makes of it, nothing added. A run is stopped between two
layers, so that even the reading of a long prompt ends at once.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Literal

from formats.generate.base import POLL, Chunk, End, GenerationError, Sampling, Stop

THREADS = "LIVE_THREADS"  # how many threads compute; one processor is left to the page unless it says otherwise
CLOSE_SECONDS = 5.0  # that the end of the process waits for a run to end


class _Ended(Exception):
    """The run has been told to end."""


class LocalModel:
    """A model of a folder in transformers' shape. Runs wait for each other: one thread generates, one run at a time."""

    where: Literal["process", "server"] = "process"

    def __init__(self, folder: Path, name: str) -> None:
        torch, transformers = _libraries()
        torch.set_num_threads(_threads())
        self.name = name
        self.folder = folder
        try:
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            self.model = transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=torch.bfloat16, use_safetensors=True
            )
            self.model.eval()
            self.window: int | None = getattr(self.model.config, "max_position_embeddings", None)
            self._ends = _end_ids(self.model, self._tokenizer)
            self._over: Callable[[], bool] | None = None  # whether the run that generates now has to end
            for layer in _layers(self.model):
                layer.register_forward_pre_hook(self._check)
            self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
            self._closing = threading.Event()
            self._worker = threading.Thread(target=self._work, daemon=True)
            self._worker.start()
            atexit.register(self.close)
            self._warm_up()
        except Exception as error:
            raise worded(error, name) from error

    def ids(self, prompt: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(prompt, add_special_tokens=False)
        return ids

    def stream(self, prompt: str, sampling: Sampling, stop: Stop) -> Iterator[Chunk | End]:
        ids = self.ids(prompt)
        room = sampling.max_tokens if self.window is None else self.window - len(ids)
        if room < 1:
            raise GenerationError(
                f"the prompt has {len(ids):,} tokens, and {self.name} has a window of {self.window:,}: "
                "shorten the conversation",
                "prompt_too_long",
            )
        if not ids:
            raise GenerationError("the prompt is empty: there is nothing to continue", "empty_prompt")
        said: SimpleQueue[int | BaseException] = SimpleQueue()
        limit = min(room, sampling.max_tokens)
        left = threading.Event()  # nobody listens any more

        def over() -> bool:
            return left.is_set() or stop.reason is not None

        self._jobs.put(lambda: self._generate(ids, limit, sampling, over, said))
        try:
            yield from self._chunks(said, len(ids), stop)
        finally:
            left.set()

    def _chunks(self, said: SimpleQueue[int | BaseException], prompt_tokens: int, stop: Stop) -> Iterator[Chunk | End]:
        """Text out of the ids that come from the thread; several that have come meanwhile make one chunk."""
        text, ended_by, count = _Decoder(self._tokenizer), None, 0
        while True:
            new, last = _waiting(said)
            count += len(new)
            ended_by = next((token for token in new if token in self._ends), ended_by)
            yield Chunk("".join(text.add(token) for token in new if token != ended_by), len(new))
            if isinstance(last, BaseException) and not isinstance(last, _Ended):
                raise worded(last, self.name) from last
            if last is not None or stop.reason:
                break
        if rest := text.rest():
            yield Chunk(rest)
        if ended_by is not None:
            yield End("end", self._tokenizer.decode([ended_by]), prompt_tokens, count)
        else:
            yield End(stop.reason or "length", "", prompt_tokens, count)

    def _work(self) -> None:
        """One thread generates for all: what it has allocated and looked up once is there for the next run."""
        while (job := self._jobs.get()) is not None:
            job()

    def close(self) -> None:
        """End what is generated before the interpreter ends: one that stops a thread inside torch aborts."""
        self._closing.set()
        self._jobs.put(None)
        self._worker.join(CLOSE_SECONDS)

    def _warm_up(self) -> None:
        """Everything that a first run would wait for."""
        said: SimpleQueue[int | BaseException] = SimpleQueue()
        ids = self.ids("Hi") or [0]
        self._jobs.put(lambda: self._generate(ids, 2, Sampling(), lambda: False, said))
        while not isinstance(last := said.get(), BaseException):
            continue
        if not isinstance(last, _Ended):
            raise last

    def _generate(
        self,
        ids: list[int],
        limit: int,
        sampling: Sampling,
        over: Callable[[], bool],
        said: SimpleQueue[int | BaseException],
    ) -> None:
        torch, transformers = _libraries()
        try:
            with torch.inference_mode():
                self._over = over
                torch.manual_seed(sampling.seed)
                prompt = torch.tensor([ids])
                try:
                    self.model.generate(
                        prompt,
                        attention_mask=torch.ones_like(prompt),
                        generation_config=transformers.GenerationConfig(**self._options(limit, sampling)),
                        streamer=_Streamer(said.put),
                    )
                finally:
                    self._over = None
            said.put(_Ended())
        except BaseException as error:
            said.put(error)

    def _options(self, limit: int, sampling: Sampling) -> dict[str, Any]:
        """All that has a say, so that a checkpoint's own generation_config has none but for the end tokens."""
        chosen: dict[str, Any] = {"do_sample": False}
        if sampling.temperature > 0:
            chosen = {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        ends = sorted(self._ends)
        return {
            **chosen,
            "max_new_tokens": limit,
            "repetition_penalty": 1.0,
            "eos_token_id": ends or None,
            "pad_token_id": ends[0] if ends else 0,
        }

    def _check(self, *_: Any) -> None:
        if self._closing.is_set() or (self._over is not None and self._over()):
            raise _Ended


class _Streamer:
    """What `generate` hands its tokens to: the prompt first, then one at a time."""

    def __init__(self, put: Callable[[int], None]) -> None:
        self._put = put
        self._prompt = True

    def put(self, value: Any) -> None:
        if self._prompt:
            self._prompt = False
            return
        for token in value.reshape(-1).tolist():
            self._put(token)

    def end(self) -> None:
        """Called by `generate`; the end is told by the thread itself."""


class _Decoder:
    """Text of ids that come one by one; a character is given when all its bytes are there."""

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers.decoders import DecodeStream

        self._tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=False)
        self._ids: list[int] = []
        self._given = ""

    def add(self, token: int) -> str:
        self._ids.append(token)
        piece: str = self._stream.step(self._tokenizer.backend_tokenizer, token) or ""
        self._given += piece
        return piece

    def rest(self) -> str:
        """What is still held back: bytes that make no whole character."""
        whole: str = self._tokenizer.backend_tokenizer.decode(self._ids, skip_special_tokens=False)
        return whole.removeprefix(self._given) if whole.startswith(self._given) else ""


def _waiting(
    said: SimpleQueue[int | BaseException],
) -> tuple[list[int], BaseException | None]:
    """The tokens that have come by now, after waiting a little for the first, and what ended them."""
    tokens: list[int] = []
    deadline = time.monotonic() + POLL
    while True:
        try:
            item = said.get(timeout=max(0.0, deadline - time.monotonic())) if not tokens else said.get_nowait()
        except Empty:
            return tokens, None
        if isinstance(item, BaseException):
            return tokens, item
        tokens.append(item)


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise GenerationError(
            f"{error.name} is not installed: pip install -r requirements-live.txt", "not_installed"
        ) from error
    transformers.logging.disable_progress_bar()
    return torch, transformers


def _threads() -> int:
    asked = os.environ.get(THREADS, "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - 1)


def _end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a turn: those of the generation_config, and the tokenizer's own."""
    stated = model.generation_config.eos_token_id
    ids = stated if isinstance(stated, list) else [stated]
    return frozenset(token for token in (*ids, tokenizer.eos_token_id) if token is not None)


def _layers(model: Any) -> list[Any]:
    """The blocks that a forward pass goes through one after the other."""
    kinds = set(model._no_split_modules or ())
    return [module for module in model.modules() if type(module).__name__ in kinds] or [model]


def worded(error: BaseException, name: str) -> GenerationError:
    """Any error of torch or transformers, for the person who sees it."""
    if isinstance(error, GenerationError):
        return error
    text = str(error)
    if isinstance(error, MemoryError) or "memory" in text.lower():
        return GenerationError(
            f"there is not enough memory for {name}: shorten the prompt, or set LIVE_MODEL to a smaller model",
            "out_of_memory",
        )
    return GenerationError(f"{name} cannot be used: {type(error).__name__}: {text[:500]}", "bad_model")
