"""The servers of text_peers.py: how each is started, asked and measured.

All answer /v1/embeddings with the vectors of one model, except the loop, which has no server.
"""

import contextlib
import http.client
import json
import os
import subprocess
import time
from dataclasses import dataclass
from functools import partial

import text_client
from bench_processes import Daemon, Process, free_port, run_json
from text_loads import LONGEST, Load, Report, mean_tokens

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "INFINITY_ANONYMOUS_USAGE_STATS": "0"}
READY_S = 180
ONE_TEXT = Load("ready", "", ("how far is it",))


def thread_environment(threads):
    """The environment of a process whose inferences may use `threads` threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    return {**os.environ, **QUIET, **{name: str(threads) for name in names}}


class HttpTexts:
    """A server that is asked over HTTP at its address `http`."""

    def measure(self, load, seconds):
        """The report of a load."""
        return text_client.measure(self.http, load, seconds)

    def vectors(self, load):
        """The vectors of the load's texts."""
        return text_client.ask(self.http, load)


class Mpsd(HttpTexts, Daemon):
    """The daemon with the model, like `mpsd serve FOLDER` except for its addresses."""

    def __init__(self, arguments, folder, placement=None):
        model = {"name": text_client.MODEL, "path": os.path.abspath(arguments.model)}
        if placement:
            model["placement"] = placement
        super().__init__(arguments.binaries, folder, [model], f"mpsd-{free_port()}")

    def placed(self):
        """The model's (number of lanes, most rows of a batch)."""
        connection = http.client.HTTPConnection(self.http, timeout=10)
        connection.request("GET", "/mpsd/status")
        model = json.loads(connection.getresponse().read())["models"][0]
        connection.close()
        return sum(worker["lanes"] for worker in model["workers"]), model["max_batch_size"]


class Peer(HttpTexts, Process):
    """Another server, ready to answer."""

    def __init__(self, command, port, folder, threads):
        self.http = f"127.0.0.1:{port}"
        begin = time.monotonic()
        super().__init__(command, f"{folder}/peer-{port}.log", thread_environment(threads))
        try:
            self.wait_for(self._answers, READY_S, "answer", poll_s=0.2)
        except RuntimeError:
            self.stop()
            raise
        self.ready_s = time.monotonic() - begin

    def _answers(self):
        try:
            return self.vectors(ONE_TEXT)
        except (RuntimeError, OSError):
            return None


class Loop:
    """sentence-transformers in a process of its own, which computes on demand."""

    def __init__(self, arguments, folder, threads):
        begin = time.monotonic()
        with open(f"{folder}/loop.log", "w", encoding="utf-8") as log:
            self._popen = subprocess.Popen(
                [f"{arguments.peers}/sentence-transformers/bin/python", f"{HERE}/text_loop.py",
                 arguments.exported, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, text=True, env=thread_environment(threads))
        self._log = log.name
        try:
            self.vectors(ONE_TEXT)
        except RuntimeError:
            self.stop()
            raise
        self.ready_s = time.monotonic() - begin

    def _run(self, load, seconds):
        # A program gives all texts at once, where many clients ask one by one.
        requests = [list(load.texts)] if load.clients > load.texts_a_request else load.requests()
        self._popen.stdin.write(json.dumps({"requests": requests, "seconds": seconds}) + "\n")
        self._popen.stdin.flush()
        line = self._popen.stdout.readline()
        if not line:
            with open(self._log, encoding="utf-8", errors="replace") as log:
                raise RuntimeError(f"the loop ended:\n{log.read()[-1000:]}")
        return json.loads(line), len(requests)

    def measure(self, load, seconds):
        """The report of a load."""
        done, requests = self._run(load, seconds)
        passes = len(done["latencies_s"]) // requests
        return Report(passes * len(load.texts), done["seconds"], done["latencies_s"])

    def vectors(self, load):
        """The vectors of the load's texts."""
        return self._run(load, 0)[0]["vectors"]

    def stop(self):
        """Ends the process."""
        self._popen.kill()
        self._popen.wait()
        with contextlib.suppress(OSError):
            self._popen.stdin.close()
        self._popen.stdout.close()


def bare_loop(arguments, mpsd, load):
    """Texts a second of the model on the daemon's lanes, without a front end. Rows have the load's
    lengths and the daemon's batch size; tokens are converted to texts. None if the program was not
    built."""
    program = f"{arguments.binaries}/mpsd-lane-bench"
    if not os.path.exists(program):
        return None
    lanes, rows = mpsd.placed()
    report, right = run_json([program, arguments.model, "cpu", str(lanes), str(rows),
                              str(arguments.seconds), f"length={LONGEST}", "mixed=on"], 120)
    if not right:
        raise RuntimeError(f"{program}: {report}")
    return {"texts_a_second": report["tokens_per_second"] / mean_tokens(load)}


@dataclass(frozen=True)
class Entry:
    """A server of a run."""

    title: str
    start: object  # makes the server from (arguments, folder, threads)
    threads: tuple = (1, 2)  # numbers of threads that the server can be set to
    program: str = ""  # in the folder of peers; empty: nothing to look for
    needs_onnx: bool = False


def peer(make_command):
    """A function that starts a server with the command line from `make_command`."""
    def start(arguments, folder, threads):
        port = free_port()
        return Peer(make_command(arguments, port, threads), port, folder, threads)
    return start


def onnxruntime_command(arguments, port, threads):
    """The command line of onnxruntime_server.py."""
    return [f"{arguments.peers}/onnxruntime/bin/python", f"{HERE}/onnxruntime_server.py",
            "--folder", arguments.exported, "--port", str(port), "--threads", str(threads)]


def infinity_command(engine, arguments, port, _):
    """infinity with that engine and its defaults, with two exceptions. It does not time itself
    first. And the pooling is named, since its engine for ONNX does not read it from the model."""
    return [f"{arguments.peers}/infinity/bin/infinity_emb", "v2", "--model-id", arguments.exported,
            "--served-model-name", text_client.MODEL, "--engine", engine, "--device", "cpu",
            "--host", "127.0.0.1", "--port", str(port), "--url-prefix", "/v1",
            "--no-model-warmup", "--pooling-method", "mean"]


def tei_command(engine, arguments, port, _):
    """text-embeddings-inference's router with its defaults: ONNX Runtime for a folder with an ONNX
    file, Candle for others."""
    folder = arguments.exported if engine == "onnx" else os.path.abspath(arguments.model)
    return [f"{arguments.peers}/tei/bin/text-embeddings-router", "--model-id", folder,
            "--hostname", "127.0.0.1", "--port", str(port), "--prometheus-port", str(free_port())]


MPSD = "mpsd"
PLACED = "mpsd, one lane with all threads"
LOOP = "sentence-transformers, a loop without a server"
BARE = "bare packed loop, on as many lanes as mpsd has"
INFINITY = ("infinity, torch", "infinity, ONNX Runtime")
ENTRIES = (
    Entry(LOOP, Loop, program="sentence-transformers/bin/python"),
    Entry(MPSD, lambda arguments, folder, _: Mpsd(arguments, folder), (2,)),
    Entry(PLACED, lambda arguments, folder, threads: Mpsd(
        arguments, folder, {"processes": 1, "lanes": 1, "threads": threads})),
    Entry("ONNX Runtime", peer(onnxruntime_command), program="onnxruntime/bin/python",
          needs_onnx=True),
    Entry(INFINITY[0], peer(partial(infinity_command, "torch")),
          program="infinity/bin/infinity_emb"),
    Entry(INFINITY[1], peer(partial(infinity_command, "optimum")), (2,),
          "infinity/bin/infinity_emb", needs_onnx=True),
    Entry("text-embeddings-inference, ONNX Runtime", peer(partial(tei_command, "onnx")), (2,),
          "tei/bin/text-embeddings-router", needs_onnx=True),
    Entry("text-embeddings-inference, Candle", peer(partial(tei_command, "candle")), (2,),
          "tei/bin/text-embeddings-router"))
