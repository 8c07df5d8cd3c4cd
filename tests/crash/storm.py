#!/usr/bin/env python3
"""A storm: kills, stops, corruptions, cancellations, deadlines, poison and slow readers, all at once.

storm.py [--minutes N] [--seed S]
At its end the invariants are checked and a table is printed; exit status 0 means that all hold.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

from harness import (CANCELLED, CRASHED_IT, GAUGES_AT_REST, NOT_READY, OVERDUE_MS, QUEUE_FULL,
                     SUPERVISION, TIMED_OUT, WITH_FAILPOINTS, WITH_WATCHDOG, WORKER_LOST, Caller,
                     CrashDaemon, failpoints, procfs, wait_until)
from models import placement, synthetic, tensor

ELEMENTS = 1 << 18  # 1 MiB an answer
MODELS = [
    synthetic("m", parameters={"delay": "1ms", "crash_if": 666},
              placement=placement(processes=2, lanes=2), **SUPERVISION),
    synthetic("lanes", parameters={"delay": "2ms"}, placement=placement(processes=1, lanes=4), **SUPERVISION),
    synthetic("big", [tensor("x", [-1])], max_batch_size=1, outputs=[tensor("OUTPUT0", [-1])],
              pad=[{"input": "x", "dim": 0, "buckets": [ELEMENTS]}], **SUPERVISION),
    # Nobody attacks its workers: it must not notice anything (I3).
    synthetic("calm", parameters={"delay": "1ms"}, placement=placement(processes=1, lanes=2)),
]
CALM = "calm"
ATTACKED = ("m", "lanes", "big")
SLOW_READER = pathlib.Path(__file__).parents[1] / "integration/slow_reader.py"
READY_LAG_S = 1.5  # I8's second, and what asking takes

AT_START = ("worker.at_load", "worker.before_report", "worker.after_attach", "worker.in_warmup",
            "worker.before_ready")
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
        if WITH_WATCHDOG:
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
        self._seed = seed
        self._stopping = threading.Event()
        self._threads = []

    def __enter__(self):
        for number, act in enumerate((self._strike, self._read_slowly, self._watch_readiness,
                                      self._pause_front)):
            thread = threading.Thread(target=self._keep, daemon=True,
                                      args=(act, random.Random(self._seed + number)))
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *unused):
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)
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

    def _pause_front(self, draw):
        if self._stopping.wait(20 + draw.random() * 40):
            return
        self.faults["front end paused"] += 1
        os.kill(self.daemon.pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(self.daemon.pid, signal.SIGCONT)

    def _watch_readiness(self, _):
        """I8: what is said of readiness differs from what is so for a second at most."""
        wrong_since = None
        while not self._stopping.wait(0.2):
            ready = self.daemon.get("/readyz")[0] == 200
            page = self.daemon.get("/metrics")[1]
            counts = re.findall(r"^mpsd_workers_ready\{.*\} (\d+)$", page, re.MULTILINE)
            serve = len(counts) == len(MODELS) and "0" not in counts
            if ready == serve:
                wrong_since = None
                continue
            wrong_since = wrong_since or time.monotonic()
            if time.monotonic() - wrong_since > READY_LAG_S:
                self.complaints.append(f"I8: /readyz says {ready}, but {serve} is so")
                wrong_since = time.monotonic()


def load(daemon, seed):
    """The callers: {model: those of it}."""
    return [
        Caller(daemon.address, "m", seed=seed + 1, concurrency=12, cancel_percent=4,
               timeout_percent=8, poison_percent=0.05),
        Caller(daemon.address, "m", seed=seed + 2, concurrency=4),
        Caller(daemon.address, "lanes", seed=seed + 3, concurrency=12, cancel_percent=2,
               timeout_percent=4, rows_max=8),
        Caller(daemon.address, CALM, seed=seed + 4, concurrency=2),
    ]


def allowed(model):
    if model == CALM:
        return ()
    return (WORKER_LOST, CRASHED_IT, NOT_READY.format(model), CANCELLED, TIMED_OUT, QUEUE_FULL,
            "INTERNAL: ")


class Verdicts:
    """The table's lines."""

    def __init__(self):
        self.rows = []

    def check(self, name, step):
        try:
            said = step()
            self.rows.append((name, "holds", said or ""))
        except AssertionError as error:
            self.rows.append((name, "BROKEN", str(error)))

    def print(self):
        width = max(len(name) for name, _, _ in self.rows)
        for name, verdict, said in self.rows:
            print(f"{name:<{width}}  {verdict:<7} {said}", flush=True)

    def good(self):
        return all(verdict == "holds" for _, verdict, _ in self.rows)


def expect(condition, text):
    assert condition, text


def judge(verdicts, daemon, storm, callers, before):
    """Everything that can be asked while the daemon still runs."""
    reports = [caller.stop() for caller in callers]
    sent = sum(report["sent"] for report in reports)
    overdue = max(report["overdue_ms"] for report in reports)
    complaints = [line for report in reports for line in report["complaints"]]

    def endings():
        for caller in callers:
            if caller.model != CALM:
                caller.check(allowed(caller.model), overdue_ms=float("inf"))
        return f"{sent} calls"

    verdicts.check("I1 one ending a call", endings)
    verdicts.check("I2 at rest as before", lambda: daemon.check_same_as(before))
    verdicts.check("I3 the calm model saw nothing",
                   lambda: callers[-1].check((), overdue_ms=float("inf")) and
                   str(callers[-1].report["endings"]))
    verdicts.check("I4 no call late", lambda: expect(overdue < OVERDUE_MS, f"{overdue:.0f} ms") or
                   f"at most {overdue:.0f} ms")
    verdicts.check("I5 the right bytes", lambda: expect(not complaints, complaints))
    verdicts.check("I6 the front end stands", lambda: expect(
        daemon.running() and not [c for c in storm.complaints if c.startswith("I6")], "it fell"))
    verdicts.check("I8 readiness is told truly", lambda: expect(
        not [c for c in storm.complaints if c.startswith("I8")], storm.complaints))
    verdicts.check("wake-ups by time-out", lambda: expect(
        daemon.metric("mpsd_timeout_wakeups_total") == 0,
        f"{daemon.metric('mpsd_timeout_wakeups_total'):.0f}") or "0")
    return reports


def nothing_left(daemon):
    """I7, of a daemon that is killed."""
    ours = procfs.memory_files(daemon.pid)
    daemon.kill()
    wait_until(lambda: not daemon.workers(), 1, "the end of the workers")
    wait_until(lambda: not ours & procfs.all_memory_files(), 1, "the end of the memory")


def print_counts(daemon, storm, reports):
    acts = daemon.acts()
    for (point, action), count in sorted(acts.items()):
        storm.faults[f"failpoint {action}"] += count
    print(", ".join(f"{count} × {name}" for name, count in sorted(storm.faults.items())))
    places = {point for point, _ in acts if point.startswith("worker.")}
    print(f"{len(places)} of {len(failpoints('worker.'))} places in workers "
          f"acted; {daemon.metric('mpsd_worker_restarts_total'):.0f} workers were started again, "
          f"{daemon.metric('mpsd_dispatched_again_total'):.0f} requests dispatched again")
    endings = collections.Counter()
    for report in reports:
        endings.update(report["endings"])
    for ending, count in endings.most_common():
        print(f"  {count:>8}  {ending[:90]}")


def run(minutes, seed):
    verdicts = Verdicts()
    environment = {"MPSD_FAILPOINTS_SPARE": CALM}
    daemon = CrashDaemon(MODELS, arm=armed() if WITH_FAILPOINTS else "", seed=seed,
                         environment=environment, gauges_at_rest=GAUGES_AT_REST)
    try:
        daemon.start()
        wait_until(daemon.serving, 60, "all workers serve")
        before = daemon.descriptors()
        callers = load(daemon, seed)
        with contextlib.ExitStack() as stack:
            for caller in callers:
                stack.enter_context(caller)
            with Storm(daemon, seed) as storm:
                until = time.monotonic() + minutes * 60
                while time.monotonic() < until and daemon.running():
                    time.sleep(0.2)
            reports = judge(verdicts, daemon, storm, callers, before)
        print_counts(daemon, storm, reports)
        verdicts.check("I7 nothing left", lambda: nothing_left(daemon))
        verdicts.print()
        if not verdicts.good():
            keep = pathlib.Path("/tmp") / f"mpsd-storm-{seed}.log"
            keep.write_text(daemon.log())
            print(f"the log is kept in {keep}")
        return verdicts.good()
    finally:
        daemon.discard()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    print(f"storm of {options.minutes} minutes, --seed {options.seed}", flush=True)
    return 0 if run(options.minutes, options.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
