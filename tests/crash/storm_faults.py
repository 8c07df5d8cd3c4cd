"""What a storm does to a daemon, and to which models."""
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import grpc

from harness import SUPERVISION, failpoints, procfs
from models import placement, synthetic, tensor
from storm_reloads import Reloads
import calls

ELEMENTS = 1 << 18  # 1 MiB an answer
MODELS = [
    synthetic("m", parameters={"delay": "1ms", "crash_if": 666, "weights": 65536},
              max_request_rows=64, placement=placement(processes=2, lanes=2), **SUPERVISION),
    synthetic("lanes", parameters={"delay": "2ms"}, max_request_rows=64,
              placement=placement(processes=1, lanes=4), **SUPERVISION),
    synthetic("big", [tensor("x", [-1])], max_batch_size=1, outputs=[tensor("OUTPUT0", [-1])],
              pad=[{"input": "x", "dim": 0, "buckets": [ELEMENTS]}], **SUPERVISION),
    # Two of its steps are open at once: a fault of one cancels the other, and calm stays calm.
    {"name": "steps", "max_batch_size": 8, "inputs": [tensor("x", [16])],
     "outputs": [tensor("y", [16]), tensor("z", [16])], "parameters": {},
     "steps": [{"model": "m", "inputs": {"x": "x"}, "outputs": {"OUTPUT0": "t"}},
               {"model": "lanes", "inputs": {"x": "t"}, "outputs": {"OUTPUT0": "y"}},
               {"model": "calm", "inputs": {"x": "t"}, "outputs": {"OUTPUT0": "z"}}]},
    # Nobody attacks its workers: it must not notice anything (I3), not even that it is replaced.
    synthetic("calm", parameters={"delay": "1ms"}, placement=placement(processes=1, lanes=2)),
]
CALM = "calm"
ATTACKED = ("m", "lanes", "big")
STEPS = {model["name"]: [step["model"] for step in model["steps"]]
         for model in MODELS if "steps" in model}
UNLOADABLE = ("lanes",)
BIG_INPUT = json.dumps({"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32",
                                    "data": [1, 2]}], "parameters": {"binary_data_output": True}})
BIG_OVER_HTTP = (f"POST /v2/models/big/infer HTTP/1.1\r\nHost: localhost\r\n"
                 f"Content-Length: {len(BIG_INPUT)}\r\n\r\n{BIG_INPUT}").encode()
SLOW_READER = pathlib.Path(__file__).parents[1] / "support/slow_reader.py"
# I8's second, and what asking takes on a machine that is busy. What is said and what is so are
# asked for one after the other, and may differ for that alone: now and then, not thrice in a row.
READY_LAG_S = 4
READY_LAG_SAMPLES = 3

AT_START = ("worker.at_load", "worker.before_report", "worker.at_weights",
            "worker.after_attach", "worker.in_warmup", "worker.before_ready")
WITH_DATA = ("worker.after_forward", "worker.before_publish", "worker.after_publish")
# Between an answer and its bell a delay would look like a bell that was forgotten.
NO_DELAY = ("worker.after_publish", "worker.before_bell")


def armed():
    """Every failpoint of a worker, seldom; some of the front end, where it must not die of them."""
    entries = []
    for point in failpoints("worker."):
        often = 2 if point in AT_START else 0.02
        entries += [f"{point}=kill%{often}", f"{point}=exit%{often / 2}"]
        if point not in NO_DELAY:
            entries.append(f"{point}=sleep:5%{often * 5}")
        entries.append(f"{point}=stop%{often / 4}")
        if point in WITH_DATA:
            entries.append(f"{point}=corrupt%{often * 5}")
    entries += ["segment.create=errno:ENOMEM%2", "supervise.spawn=errno:EMFILE%2",
                "dispatch.before_ring=sleep:2%0.02", "complete.before_reply=sleep:2%0.02",
                "supervise.reap=sleep:5%10", "supervise.attach=sleep:5%10"]
    return ",".join(entries)


class Storm:
    """The daemon in the middle, and the threads that do things to it until they are told to stop."""

    def __init__(self, daemon, seed):
        self.daemon = daemon
        self.faults = collections.Counter()
        self.complaints = []
        self.reloads = Reloads(daemon, MODELS, UNLOADABLE, self.faults)
        self._seed = seed
        self._stopping = threading.Event()
        self._threads = []

    def __enter__(self):
        for number, act in enumerate((self._strike, self._read_slowly, self._leave_answers,
                                      self._watch_readiness, self._pause_front, self._reload)):
            thread = threading.Thread(target=self._keep, daemon=True,
                                      args=(act, random.Random(self._seed + number)))
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *unused):
        self._stopping.set()
        for thread in self._threads:
            thread.join(180)
            assert not thread.is_alive(), "a thread of the storm does not end"

    def _keep(self, act, draw):
        while not self._stopping.is_set():
            try:
                act(draw)
            except (OSError, AssertionError, subprocess.SubprocessError) as error:
                if not self.daemon.running():
                    self.complaints.append(f"I6: the front end has ended: {error}")
                    return

    def _workers(self):
        """The pids of workers that may be struck."""
        marks = tuple(f"TMPDIR={self.daemon.state_dir}/workers/{model}-".encode()
                      for model in ATTACKED)
        found = []
        for pid in procfs.pids():
            with contextlib.suppress(OSError):
                environment = (procfs.PROC / str(pid) / "environ").read_bytes().split(b"\0")
                if any(variable.startswith(marks) for variable in environment):
                    found.append(pid)
        return found

    def _strike(self, draw):
        self._stopping.wait(draw.expovariate(1.2))
        workers = self._workers()
        if not workers:
            return
        pid = draw.choice(workers)
        kind = draw.choice(("kill", "kill", "segv", "term", "stop", "stop all"))
        self.faults[kind] += 1
        if kind == "stop all":
            self._stop_all(draw, workers)
        elif kind == "stop":
            self._stop_all(draw, [pid])
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, {"kill": signal.SIGKILL, "segv": signal.SIGSEGV,
                              "term": signal.SIGTERM}[kind])

    def _stop_all(self, draw, pids):
        """One by one, and on again in another order."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            self._stopping.wait(draw.random() * 0.05)
        draw.shuffle(pids)
        for pid in pids:
            self._stopping.wait(draw.random() * 0.2)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _read_slowly(self, draw):
        with subprocess.Popen([sys.executable, str(SLOW_READER), self.daemon.address, "big", "8"],
                              stdout=subprocess.PIPE, text=True) as reader:
            try:
                reader.stdout.readline()
                os.kill(reader.pid, signal.SIGSTOP)
                self.faults["slow reader"] += 1
                self._stopping.wait(1 + draw.random() * 4)
            finally:
                reader.kill()
        self._stopping.wait(draw.random() * 5)

    def _leave_answers(self, draw):
        """Reads the beginning of an answer over HTTP, later nothing more, and leaves."""
        host, port = self.daemon.http.split(":")
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
            reader.settimeout(10)
            reader.connect((host, int(port)))
            reader.sendall(BIG_OVER_HTTP * 3)
            reader.recv(1000)
            self.faults["answer cut"] += 1
            self._stopping.wait(draw.random() * 4)
        self._stopping.wait(draw.random() * 3)

    def _pause_front(self, draw):
        if self._stopping.wait(20 + draw.random() * 40):
            return
        self.faults["front end paused"] += 1
        os.kill(self.daemon.pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(self.daemon.pid, signal.SIGCONT)

    def _reload(self, draw):
        if self._stopping.wait(draw.expovariate(0.4)):
            return
        try:
            self.reloads.act(draw)
        except AssertionError as error:
            self.complaints.append(f"reload: {error}")

    def _watch_readiness(self, _):
        """I8: what is said of readiness differs from what is so for a second at most."""
        wrong_at = {}
        with calls.stub(self.daemon.address) as stub:
            while not self._stopping.wait(0.3):
                serve, said = self._serving(), self._said(stub)
                for name, ready in said.items():
                    so = all(serve.values()) if name == "/readyz" else serve.get(name, False)
                    if ready == so:
                        wrong_at.pop(name, None)
                        continue
                    times = wrong_at.setdefault(name, [])
                    times.append(time.monotonic())
                    if len(times) >= READY_LAG_SAMPLES and times[-1] - times[0] > READY_LAG_S:
                        self.complaints.append(f"I8: {name} says {ready}, but {so} is so")
                        del wrong_at[name]

    def _serving(self):
        """{model: whether a worker of the generation that is served does, or one of each step's}."""
        loaded = self.daemon.ps()
        serve = {name: any(worker["state"] == "serving" and not worker["generation"]
                           for worker in model["workers"]) for name, model in loaded.items()}
        for name in STEPS.keys() & loaded.keys():
            serve[name] = all(serve.get(member, False) for member in STEPS[name])
        return serve

    def _said(self, stub):
        """{"/readyz" or model: whether it is said to be ready}."""
        said = {"/readyz": self.daemon.get("/readyz")[0] == 200}
        for model in MODELS:
            name = model["name"]
            with contextlib.suppress(grpc.RpcError):
                request = calls.service_pb2.ModelReadyRequest(name=name)
                said[name] = stub.ModelReady(request, timeout=5).ready
        return said
