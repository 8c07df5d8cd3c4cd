"""A storm on all CUDA devices: workers are killed and stopped, models loaded anew, all under load.

cuda_storm.py [--minutes 5] [--seed 1], in the environment that cuda_figures.sh makes:
  PARTS="models storm" SECONDS_IN_ALL=590 cuda_figures.sh FOLDER
Calls to a model that gives back its input, recorded on the device, are compared byte by byte. Calls
to a text model are counted. Exit status 0: each call ended once, with its own bytes or with an
error that a fault explains, all workers serve again, and the device's memory is as before.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

from bench_processes import children, metric
from cuda_all import as_one, devices_of_host
from cuda_figures import BIN, MODELS, device_mib, figure, programs, serving

# Beginnings of the errors that a call may end with while workers die and models are loaded anew.
ENDINGS = ("OK", "UNAVAILABLE: worker lost", "UNAVAILABLE: Request for model '",
           "INTERNAL: request crashed its worker", "CANCELLED", "DEADLINE_EXCEEDED",
           "RESOURCE_EXHAUSTED")
SUPERVISION = {"run_timeout": "2s", "load_timeout": "60s", "warmup_timeout": "60s",
               "circuit": {"deaths": 0}}
SETTLE_S = 90
MEMORY_GROWTH_MIB_MAX = 256


def stanzas(devices):
    """The model whose bytes are compared, and a packed text model of MiniLM's size."""
    where = as_one(devices)

    def placement(processes):
        return {"processes": max(processes, len(devices)), "lanes": 2, "threads": 1}

    return [{"name": "same", "path": str(MODELS / "same.pt"), "device": where,
             "precision": "fp32", "max_batch_size": 8, "placement": placement(3), **SUPERVISION},
            {"name": "texts", "path": str(MODELS / "encoder"), "device": where,
             "precision": "bf16", "max_batch_size": 32, "placement": placement(2), **SUPERVISION}]


class Faults:
    """One thread that harms a daemon's workers until it is told to stop."""

    def __init__(self, daemon, seed):
        self.counts = {"killed": 0, "stopped": 0, "loaded anew": 0}
        self._daemon = daemon
        self._draw = random.Random(seed)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self):
        self._end.set()
        self._thread.join()

    def _run(self):
        while not self._end.wait(self._draw.uniform(0.2, 2.5)):
            self._draw.choices((self._kill, self._pause, self._load_anew), (6, 2, 1))[0]()

    def _signal(self, pid, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def _kill(self):
        """Kills a worker in any state: loading, recording, running, copying."""
        workers = children(self._daemon.pid)
        if workers:
            self._signal(self._draw.choice(workers), signal.SIGKILL)
            self.counts["killed"] += 1

    def _pause(self):
        """Stops a worker for less or for more than the watchdog's patience."""
        workers = children(self._daemon.pid)
        if workers:
            worker = self._draw.choice(workers)
            self._signal(worker, signal.SIGSTOP)
            self._end.wait(self._draw.choice((0.5, 4)))
            self._signal(worker, signal.SIGCONT)
            self.counts["stopped"] += 1

    def _load_anew(self):
        """Replaces the serving generation of the model by another one."""
        path = pathlib.Path(self._daemon.command[-1])
        config = json.loads(path.read_text(encoding="utf-8"))
        config["models"][0]["placement"]["lanes"] ^= 1  # 2 and 3 in turns
        path.write_text(json.dumps(config), encoding="utf-8")
        os.kill(self._daemon.pid, signal.SIGHUP)
        self.counts["loaded anew"] += 1


@contextlib.contextmanager
def checked_calls(daemon, seconds):
    """A list that gets the reports of mpsd-crash-caller, at both doors, when the block ends."""
    reports = []
    with programs():
        callers = [subprocess.Popen(
            [str(BIN / "mpsd-crash-caller"), "--address", address, "--door", door, "--model",
             "same", "--concurrency", "24", "--rows-max", "8", "--width", "1024",
             "--cancel-percent", cancel, "--timeout-percent", "4", "--seconds", str(seconds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for address, door, cancel in ((daemon.grpc, "grpc", "3"), (daemon.http, "http", "0"))]
    try:
        yield reports
    finally:
        reports += [json.loads(caller.communicate(timeout=120)[0]) for caller in callers]


@contextlib.contextmanager
def text_calls(daemon, seconds):
    """Adds a load of texts of all lengths; not a check."""
    with programs(), subprocess.Popen(
            [str(BIN / "mpsd"), "bench", "texts", "--address", daemon.grpc, "--clients", "16",
             "--rows", "8", "--input", "text=3..110", "--seconds", str(seconds), "--json"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield
        process.kill()


def settled(daemon):
    """Whether the daemon runs the config's models within SETTLE_S, with no old worker left."""
    until = time.monotonic() + SETTLE_S
    while time.monotonic() < until:
        page = daemon.metrics()
        reloaded, ready, wanted = (metric(page, name) for name in (
            "mpsd_config_reload_ok", "mpsd_workers_ready", "mpsd_workers_configured"))
        if reloaded and ready == wanted == len(children(daemon.pid)):
            return True
        if not reloaded:  # the last generation failed because its first worker was killed
            os.kill(daemon.pid, signal.SIGHUP)
        time.sleep(5)
    return False


def broken_rules(reports, all_serve, grown_mib):
    """The broken rules, one sentence each."""
    for report in reports:
        if report["ended"] != report["sent"] or report["open"]:
            yield f"calls without an ending: {report['sent'] - report['ended']}"
        if report["wrong"]:
            yield f"{report['wrong']} wrong answers: {report['complaints'][:3]}"
        strange = [ending for ending in report["endings"] if not ending.startswith(ENDINGS)]
        if strange:
            yield f"endings that no fault explains: {strange[:5]}"
        if not report["endings"].get("OK"):
            yield "no call was answered"
    if not all_serve:
        yield f"not all that the config says served again within {SETTLE_S} s"
    if grown_mib > MEMORY_GROWTH_MIB_MAX:
        yield f"{grown_mib} MiB of device memory are still taken"


def storm(minutes=5.0, seed=1):
    """The part of cuda_figures.py; exits with 1 if a rule is broken."""
    idle = device_mib()
    devices = devices_of_host()
    with serving(stanzas(devices)) as daemon:
        before = device_mib()
        with checked_calls(daemon, minutes * 60 + SETTLE_S) as reports, \
                text_calls(daemon, minutes * 60 + SETTLE_S):
            faults = Faults(daemon, seed)
            time.sleep(minutes * 60)
            faults.stop()
            all_serve = settled(daemon)
        grown = device_mib() - before
    broken = [*broken_rules(reports, all_serve, grown)]
    left = device_mib() - idle
    if left > MEMORY_GROWTH_MIB_MAX:
        broken.append(f"{left} MiB of device memory outlive the daemon")
    figure("storm", minutes=minutes, devices=len(devices), **faults.counts, calls=sum(r["ended"] for r in reports),
           answered=sum(r["endings"].get("OK", 0) for r in reports),
           wrong=sum(r["wrong"] for r in reports), grown_mib=grown, left_mib=left, broken=broken,
           endings=[r["endings"] for r in reports])
    return 1 if broken else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return storm(options.minutes, options.seed)


if __name__ == "__main__":
    sys.exit(main())
