#!/usr/bin/env python3
"""Texts of random lengths, asked over HTTP and gRPC while workers are killed. Checks that every
answer is right, that only kills make calls fail, and that no process grows.

A worker's heap keeps the memory of its largest batch. So the longest texts come first, alone, while
the other workers are killed and leave everything to the measured one. Any growth after that is a
leak.

text_soak.py [--minutes 60] [--seed 1] [--tokens 10000] [--binaries build/release/bin] Needs
tritonclient: run it with .deps/venv/bin/python. It ends by itself and prints one JSON object. Exit
status 0: every rule was kept; 1: "broken" names the broken rules; 2: the run failed.
"""
import argparse
import collections
import contextlib
import functools
import http.client
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "load_tests/bench"))
sys.path.insert(0, str(ROOT / "tests/support"))
import family_folders  # noqa: E402
from bench_processes import Daemon, children, own_mb, resident_mb  # noqa: E402
from threads import Threads  # noqa: E402
import tritonclient.grpc as triton  # noqa: E402

GROWTH_MAX = 0.05
# Sums are added in another order in batches of other sizes.
FARTHEST = 1e-5
PROCESSES = 2
CALLERS = 4  # callers over HTTP, and as many over gRPC
TEXTS = 200
LONGEST_TEXTS = 20
MOST_TOKENS = 2048
KILL_EVERY_S = 20
KILLED_S = 10  # so long after a kill an error may come from it
WORDS = "how far is it to the next town and then over there".split()


def model(name, folder, long_input):
    return {"name": name, "path": folder, "device": "cpu", "text": {"long_input": long_input},
            "placement": {"processes": PROCESSES, "lanes": 1, "threads": 1}}


class Tally:
    """Counts the answers; thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self._first = {}
        self.killed_at = -KILLED_S
        self.counts = collections.Counter()
        self.faults = []

    def answered(self, key, vector):
        """Compares the answer with the first one to the same text and model."""
        with self._lock:
            first = self._first.setdefault(key, vector)
            self.counts["answered"] += 1
            if vector.shape != first.shape or not np.abs(vector - first).max() <= FARTHEST:
                self._fault(f"wrong answer to {key}")

    def refused(self, is_due, what):
        """Counts a refusal, which is right if the text is too long for its model."""
        is_due = is_due and f"but at most {MOST_TOKENS} are served" in what
        with self._lock:
            self.counts["refused" if is_due else "refused wrongly"] += 1
            if not is_due:
                self._fault(what)

    def failed(self, begin, what):
        with self._lock:
            is_killed = self.killed_at + KILLED_S > begin
            self.counts["killed" if is_killed else "failed"] += 1
            if not is_killed:
                self._fault(what)

    def _fault(self, what):
        if len(self.faults) < 20:
            self.faults.append(what[:300])


class HttpCaller:
    """Asks /v1/embeddings on a connection of its own."""

    def __init__(self, daemon):
        self._address = daemon.http
        self._connection = None

    def ask(self, name, text):
        """(the status, the vector or the reply's text)"""
        self._connection = self._connection or http.client.HTTPConnection(self._address, timeout=60)
        body = json.dumps({"model": name, "input": text})
        try:
            self._connection.request("POST", "/v1/embeddings", body,
                                     {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            read = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self._connection = None
            return 0, f"HTTP: {error!r}"
        if answer.status != 200:
            return answer.status, read
        return 200, np.array(json.loads(read)["data"][0]["embedding"])


class GrpcCaller:
    """Asks ModelInfer on a connection of its own; returns HTTP's statuses."""

    STATUSES = {"StatusCode.INVALID_ARGUMENT": 413}

    def __init__(self, daemon):
        self._client = triton.InferenceServerClient(daemon.grpc)

    def ask(self, name, text):
        """(the status, the vector or the error's text)"""
        given = triton.InferInput("text", [1, 1], "BYTES")
        given.set_data_from_numpy(np.array([[text.encode()]], dtype=object))
        try:
            answer = self._client.infer(name, [given], client_timeout=60)
        except triton.InferenceServerException as error:
            return self.STATUSES.get(error.status(), 500), f"gRPC: {error}"
        vector = answer.as_numpy("sentence_embedding")[0]
        return 200, vector / np.linalg.norm(vector)


class Load(Threads):
    """Callers that ask for texts until the `with` block ends."""

    def __init__(self, daemon, texts, tally, seed):
        self._texts, self._tally = texts, tally
        self._longest = sorted(range(len(texts)), key=texts.__getitem__)[-LONGEST_TEXTS:]
        self._asks_longest = threading.Event()
        makers = [HttpCaller, GrpcCaller] * CALLERS
        super().__init__(*(functools.partial(self._run, make(daemon), seed + place)
                           for place, make in enumerate(makers)))

    @contextlib.contextmanager
    def asking_longest(self):
        """Inside the block the callers ask only for the longest texts, which `cut` serves in
        part."""
        self._asks_longest.set()
        yield
        self._asks_longest.clear()

    def _next(self, draw):
        """The model and the index of the text that a caller asks for next."""
        if self._asks_longest.is_set():
            return "cut", draw.choice(self._longest)
        return draw.choice(("cut", "error")), draw.randrange(len(self._texts))

    def _run(self, caller, seed):
        draw = random.Random(seed)
        while not self.over.is_set():
            name, place = self._next(draw)
            count, text = self._texts[place]
            begin = time.monotonic()
            status, got = caller.ask(name, text)
            is_long = name == "error" and count > MOST_TOKENS
            if status == 200 and not is_long:
                self._tally.answered((name, place), got)
            elif status == 413:
                self._tally.refused(is_long, got)
            elif status == 200:
                self._tally.refused(False, f"{count} tokens were served by '{name}'")
            else:
                self._tally.failed(begin, f"{status}: {got}")


def write_folder(folder):
    """Writes a tiny BERT with rows of MOST_TOKENS tokens and its family's words."""
    content = family_folders.read_text_family("bert")
    content["files"]["config.json"]["max_position_embeddings"] = MOST_TOKENS
    content["files"]["tokenizer_config.json"]["model_max_length"] = MOST_TOKENS
    content["files"]["tokenizer.json"] = content["tokenizer.json"]
    for tensor in content["weights"]["model.safetensors"]:
        if tensor[0].endswith("position_embeddings.weight"):
            tensor[2][0] = MOST_TOKENS
    family_folders.write_content(content, folder)


def tokens_of(daemon, text):
    connection = http.client.HTTPConnection(daemon.http, timeout=60)
    connection.request("POST", "/tokenize", json.dumps({"model": "cut", "inputs": text}))
    (row,) = json.loads(connection.getresponse().read())
    return len(row)


def make_texts(draw, daemon, tokens):
    """Texts as (tokens, text), with 1 to `tokens` tokens, as many short ones as long ones."""
    each = {word: tokens_of(daemon, word) - 2 for word in WORDS}
    texts = []
    for _ in range(TEXTS):
        wanted, words, count = round(tokens ** draw.random()), [], 2
        while not words or count < wanted:
            words.append(draw.choice(WORDS))
            count += each[words[-1]]
        texts.append((count, " ".join(words)))
    return texts


def footprints(daemon, spared):
    """Megabytes of the daemon, of the spared worker, and of the segments that the two share. The
    segments are populated in the worker."""
    own = own_mb(spared)
    return {"daemon_mb": round(own_mb(daemon.pid), 1), "worker_mb": round(own, 1),
            "segments_mb": round(resident_mb(spared) - own, 1)}


def watch(daemon, spared, seconds, draw, tally):
    """Kills a worker now and then, but never the spared one; returns the footprints before each."""
    seen, end = [], time.monotonic() + seconds
    while time.monotonic() + KILL_EVERY_S < end:
        time.sleep(KILL_EVERY_S * (0.75 + 0.5 * draw.random()))
        seen.append(footprints(daemon, spared))
        os.kill(draw.choice([pid for pid in children(daemon.pid) if pid != spared]),
                signal.SIGKILL)
        tally.killed_at = time.monotonic()
    time.sleep(max(0.0, end - time.monotonic()))
    return seen


def measure(options, folder):
    draw, tally = random.Random(options.seed), Tally()
    place = pathlib.Path(folder, "model")
    write_folder(place)
    models = [model("cut", str(place), "truncate"), model("error", str(place), "error")]
    with Daemon(options.binaries, folder, models) as daemon:
        texts = make_texts(draw, daemon, options.tokens)
        spared = min(children(daemon.pid))
        tenth_s = options.minutes * 60 / 10
        with Load(daemon, texts, tally, options.seed) as load:
            with load.asking_longest():
                seen = watch(daemon, spared, tenth_s, draw, tally)
            seen += watch(daemon, spared, tenth_s, draw, tally)
            before = footprints(daemon, spared)
            seen += watch(daemon, spared, 8 * tenth_s, draw, tally)
            after = footprints(daemon, spared)
    growth = {key: round(after[key] / before[key] - 1, 4) for key in before}
    return {"minutes": options.minutes, "seed": options.seed, "kills": len(seen),
            "counts": dict(tally.counts), "warm": before, "end": after, "growth": growth,
            "on_the_way": seen[::max(1, len(seen) // 20)],
            "longest_text_tokens": max(count for count, _ in texts), "faults": tally.faults}


def broken_rules(figures):
    """The broken rules, for people."""
    rules = [f"{key} grew by {growth:.1%}" for key, growth in figures["growth"].items()
             if growth > GROWTH_MAX]
    if figures["faults"]:
        rules.append("wrong answers, or errors that no kill explains")
    for wanted in ("answered", "refused"):
        if not figures["counts"].get(wanted):
            rules.append(f"nothing was {wanted}")
    return rules


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=10000, help="of the longest texts, about")
    parser.add_argument("--binaries", default=str(ROOT / "build/release/bin"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mpsd-soak-") as folder:
        figures = measure(options, folder)
    figures["broken"] = broken_rules(figures)
    print(json.dumps(figures, indent=1))
    return 1 if figures["broken"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        print(f"text_soak: {error}", file=sys.stderr)
        sys.exit(2)
