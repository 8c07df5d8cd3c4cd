"""T14: a model that is changed every second while it serves.

ReloadLoads is a part of bench.py's Bench. reload_bench.py runs the same loads for longer.
"""

import json
import os
import signal
import threading

from bench_processes import Daemon, run_json

RATE = 500  # calls a second, Poisson arrivals
INTERVAL_S = 1


def model(name, **parameters):
    """A model whose batches take a millisecond."""
    return {"name": name, "format": "synthetic", "device": "cpu", "max_batch_size": 8,
            "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [256]}],
            "parameters": {"delay": "1ms", **parameters}}


class Reloads:
    """Changes the parameters of the daemon's model again and again, until the `with` block ends."""

    def __init__(self, daemon, config, interval_s):
        self._daemon, self._config, self._interval_s = daemon, config, interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.count = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        with open(self._config, encoding="utf-8") as file:
            config = json.load(file)
        while not self._stop.wait(self._interval_s):
            self.count += 1
            config["models"] = [model("m", load_delay=f"{self.count}us")]
            with open(self._config, "w", encoding="utf-8") as file:
                json.dump(config, file)
            os.kill(self._daemon.pid, signal.SIGHUP)


def load(binaries, daemon, seconds, rate):
    """Calls to the model at random times: answers, failures by code, and the p99."""
    command = [f"{binaries}/mpsd-bench", "--target", daemon.grpc, "--model", "m", "--input",
               "INPUT0:FP32[1,256]", "--rate", str(rate), "--duration", f"{seconds * 1000:.0f}ms",
               "--verify-identity", "--allow-errors", "--json"]
    figures, _ = run_json(command, seconds + 60)
    # An unsent call is the client's fault: the server would have to stand still for 16 s.
    failed = {**figures["errors"], "wrong": figures["wrong"]}
    return {"failed": {fault: count for fault, count in failed.items() if count},
            "answered": figures["answered"], "p99_us": figures["latency_us"]["p99"]}


def outcomes(daemon):
    """How many generations were swapped in since the daemon's start, and how many reloads were
    refused."""
    log = daemon.output()
    return log.count('"event":"model_loaded"') - 1, log.count('"event":"config_not_reloaded"')


class ReloadLoads:
    """The same load without reloads and with them. Needs these members of Bench: arguments,
    folder."""

    def reload(self):
        """A round of T14."""
        binaries, seconds = self.arguments.binaries, self.arguments.seconds
        with Daemon(binaries, self.folder, [model("m")], name="reload") as daemon:
            before = load(binaries, daemon, seconds, RATE)
            with Reloads(daemon, f"{self.folder}/reload.json", INTERVAL_S):
                during = load(binaries, daemon, seconds, RATE)
            swapped, refused = outcomes(daemon)
        return {"before_us": before["p99_us"], "during_us": during["p99_us"],
                "failed": [before["failed"], during["failed"]], "swapped": swapped,
                "refused": refused}
