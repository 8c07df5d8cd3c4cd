"""The servers of peers_bench.py: the ways into each, and how it is started with one model."""

import http.client
import os
import tempfile
import time
from dataclasses import dataclass

from bench_processes import ONE_THREAD, Daemon, Process, free_port
from peer_requests import answer_of, request_of

HERE = os.path.dirname(os.path.abspath(__file__))
READY_S = 120
WAYS = {"own": "HTTP, its own JSON", "json": "HTTP, the protocol's JSON",
        "binary": "HTTP, the protocol's binary tensors", "grpc": "gRPC"}


@dataclass(frozen=True)
class Peer:
    """A server, and the measured ways into it."""

    title: str
    script: str  # in this folder; also its environment's name; empty: the daemon
    ways: tuple
    own_path: str = "/predict"

    def request(self, way, model):
        """An inference of one row as an HTTP request."""
        return request_of(way, self.own_path, model)

    def ask(self, server, way, model):
        """The numbers in the server's answer to this inference."""
        return answer_of(way, self.request(way, model).ask(server.http), model)


OURS = Peer("mpsd", "", ("json", "binary", "grpc"))
OTHERS = (Peer("Triton, a model in Python (PyTriton)", "pytriton", ("json", "binary", "grpc")),
          Peer("MLServer", "mlserver", ("json", "grpc")),
          Peer("LitServe", "litserve", ("own",)),
          Peer("Ray Serve", "ray", ("own",)),
          Peer("TorchServe", "torchserve", ("own",), "/predictions/{}"))


class PeerProcess(Process):
    """Another server with one model, ready to answer."""

    def __init__(self, arguments, folder, peer, model):
        self.http, self.grpc = (f"127.0.0.1:{free_port()}" for _ in range(2))
        command = [f"{arguments.peers}/{peer.script}/bin/python", f"{HERE}/{peer.script}_server.py",
                   "--name", model.name, "--input", model.input, "--output", model.output,
                   "--datatype", model.datatype, "--width", str(model.width),
                   "--http", self.http.rpartition(":")[2], "--grpc",
                   self.grpc.rpartition(":")[2], "--folder", tempfile.mkdtemp(dir=folder)]
        if model.file:
            command += ["--path", arguments.files[model.name]]
        begin = time.monotonic()
        super().__init__(command, f"{folder}/{peer.script}.log", {**os.environ, **ONE_THREAD})
        try:
            self.wait_for(lambda: answers(self, peer, model), READY_S, "answer", poll_s=0.2)
        except RuntimeError:
            self.stop()
            raise
        self.ready_s = time.monotonic() - begin


def answers(server, peer, model):
    """Whether a server answers already."""
    try:
        return bool(peer.ask(server, peer.ways[0], model))
    except (RuntimeError, OSError, ValueError, http.client.HTTPException):
        return False


def start(arguments, folder, peer, model):
    """The server with the model, ready."""
    if peer.script:
        return PeerProcess(arguments, folder, peer, model)
    config = {"name": model.name, "max_batch_size": 64,
              "placement": {"processes": 1, "lanes": 1, "threads": 1},
              "inputs": [{"name": model.input, "datatype": model.datatype,
                          "shape": [model.width]}]}
    if model.file:
        config |= {"path": arguments.files[model.name], "device": "cpu"}
    else:
        config["format"] = "synthetic"
    return Daemon(arguments.binaries, folder, [config])
