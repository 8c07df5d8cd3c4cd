#!/usr/bin/env python3
"""Workers killed under load, again and again: how soon a death is seen, and whether anything leaks.

kill_cycles.py [--cycles 1000] [--binaries build/release/bin] [--json FILE]
Exit status 0 means that every figure meets its target.
"""
import argparse
import datetime
import json
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "load_tests/bench"))
from bench_processes import Daemon, children, metric  # noqa: E402

SEEN_MS_MAX = 50
MOVED_MS_MAX = 5
# After a thousand deaths, memory kept by the allocator is no leak; a worker's records are.
RSS_GROWTH_MAX = 8 << 20
WARM_UP_CYCLES = 40
# A worker that has served ten seconds no longer counts its last death, and is started again at
# once. Only such workers are killed, and there are enough that one is always there.
WORKERS = 32
GOOD_SERVICE_S = 10.5


class Watched(Daemon):
    """A daemon, with the figures counted about it."""

    def __init__(self, binaries, folder, models):
        self.offset = 0
        self.ready_at = {}  # by pid
        self.died_at = {}  # wall clock, by pid
        self.moved_ms = []  # for each death: from its log line until others have its requests
        super().__init__(binaries, folder, models)

    def worker_pids(self):
        return children(self.pid)

    def state(self):
        """The quantities that must be the same after the last cycle as before the first."""
        page = self.metrics()
        fds = [self._target(fd) for fd in os.listdir(f"/proc/{self.pid}/fd")]
        return {
            "descriptors": sum(not target.startswith("socket:") for target in fds),
            "memfds": sum(target.startswith("/memfd:") for target in fds),
            "output leases": metric(page, "mpsd_output_leases"),
            "running batches": metric(page, "mpsd_running_batches"),
            "queued requests": metric(page, "mpsd_queue_requests"),
            "temporary folders": len(list(self._folders().iterdir())),
            "worker processes": len(self.worker_pids()),
        }

    def _target(self, fd):
        try:
            return os.readlink(f"/proc/{self.pid}/fd/{fd}")
        except OSError:
            return ""

    def _folders(self):
        return pathlib.Path(self.command[-1]).with_suffix(".state") / "workers"

    def resident(self):
        with open(f"/proc/{self.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def read_log(self):
        """Notes the workers that became ready, and those that died, since the last call."""
        with open(self.log.name, "rb") as file:
            file.seek(self.offset)
            text = file.read()
        whole = text.rfind(b"\n") + 1
        self.offset += whole
        for line in text[:whole].decode(errors="replace").splitlines():
            if '"event":"worker_ready"' in line:
                self.ready_at[json.loads(line)["pid"]] = time.monotonic()
            elif '"event":"worker_died"' in line:
                death = json.loads(line)
                stamp = datetime.datetime.fromisoformat(death["time"])
                self.died_at[death["pid"]] = stamp.timestamp()
                self.moved_ms.append(death["requests_moved_us"] / 1e3)
                self.ready_at.pop(death["pid"], None)

    def has_died(self, pid):
        self.read_log()
        return pid in self.died_at

    def serving(self):
        """True when all workers serve."""
        self.read_log()
        return len(self.ready_at) == WORKERS

    def seasoned(self):
        """The workers that have served long enough to be killed."""
        self.read_log()
        before = time.monotonic() - GOOD_SERVICE_S
        return sorted(pid for pid, at in self.ready_at.items() if at < before)


def wait(condition, seconds, what, poll_s=0.001):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(poll_s)
    raise RuntimeError(f"{what}: not within {seconds} s")


def bare_death():
    """The milliseconds until the kernel reports the death of an idle process."""
    with subprocess.Popen(["sleep", "60"]) as process:
        fd = os.pidfd_open(process.pid)
        try:
            begin = time.time()
            process.kill()
            select.select([fd], [], [], 10)
            return (time.time() - begin) * 1e3
        finally:
            os.close(fd)


def cycle(daemon, draw, bare):
    """Kills one of the workers; returns the milliseconds until the daemon logged it, by its own
    stamp."""
    bare.append(bare_death())
    # Not right after the previous death: a request could otherwise meet three in a row.
    time.sleep(0.05 + 0.2 * draw.random())
    victim = draw.choice(wait(daemon.seasoned, 60, "a worker that has served", poll_s=0.02))
    begin = time.time()
    os.kill(victim, signal.SIGKILL)
    wait(lambda: daemon.has_died(victim), 10, "the log line")
    return max(0.0, daemon.died_at[victim] - begin) * 1e3


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def start_load(options, daemon, seconds):
    """Runs the checked load in the background."""
    return subprocess.Popen(
        [f"{options.tests}/mpsd-crash-caller", "--address", daemon.grpc, "--model", "m",
         "--concurrency", "16", "--seconds", str(seconds)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def measure(options, folder):
    """All figures of one run."""
    model = {"name": "m", "format": "synthetic", "device": "cpu", "max_batch_size": 8,
             "warmup": "none", "inputs": [{"name": "x", "datatype": "FP32", "shape": [16]}],
             "parameters": {"delay": "1ms"},
             "placement": {"processes": WORKERS, "lanes": 1, "threads": 1}}
    draw = random.Random(options.seed)
    with Watched(options.binaries, folder, [model]) as daemon:
        load = start_load(options, daemon, 3600)
        try:
            for _ in range(WARM_UP_CYCLES):
                cycle(daemon, draw, [])
            wait(daemon.serving, 30, "all workers")
            before, resident = daemon.state(), daemon.resident()
            begin, bare = time.monotonic(), []
            daemon.moved_ms.clear()
            seen = [cycle(daemon, draw, bare) for _ in range(options.cycles)]
            seconds = time.monotonic() - begin
            wait(daemon.serving, 30, "all workers")
            growth = daemon.resident() - resident
        finally:
            report = json.loads(load.communicate(timeout=120)[0])
        for quantity in ("output leases", "running batches", "queued requests"):
            before[quantity] = 0  # counted under load
        time.sleep(1)
        after, page = daemon.state(), daemon.metrics()
    return {"cycles": options.cycles, "seconds": seconds, "seen_ms_p50": percentile(seen, 50),
            "seen_ms_p99": percentile(seen, 99), "seen_ms_max": max(seen),
            "bare_ms_p50": percentile(bare, 50), "bare_ms_p99": percentile(bare, 99),
            "moved_ms_p50": percentile(daemon.moved_ms, 50),
            "moved_ms_max": max(daemon.moved_ms), "before": before,
            "after": after, "resident_growth": growth, "report": report,
            "dispatched_again": metric(page, "mpsd_dispatched_again_total"),
            "timeout_wakeups": metric(page, "mpsd_timeout_wakeups_total")}


def rows(figures):
    """The rows of the table: (quantity, measured, target, met)."""
    report = figures["report"]
    lost = sum(count for ending, count in report["endings"].items() if ending != "OK")
    texts = "".join(f"; {count} × {ending}" for ending, count in report["endings"].items()
                    if ending != "OK")
    yield ("a bare process: the kernel tells of its death, p50, p99",
           f"{figures['bare_ms_p50']:.1f}, {figures['bare_ms_p99']:.1f} ms", "–", True)
    yield ("death seen, p50, p99 (from the kill to the stamp of the log line)",
           f"{figures['seen_ms_p50']:.1f}, {figures['seen_ms_p99']:.1f} ms",
           f"≤ {SEEN_MS_MAX} ms", figures["seen_ms_p99"] <= SEEN_MS_MAX)
    yield ("its requests in other hands after it was seen, p50, longest",
           f"{figures['moved_ms_p50']:.2f}, {figures['moved_ms_max']:.2f} ms",
           f"≤ {MOVED_MS_MAX} ms", figures["moved_ms_max"] <= MOVED_MS_MAX)
    for quantity, before in figures["before"].items():
        after = figures["after"][quantity]
        yield quantity, f"{before:.0f} → {after:.0f}", "as before", before == after
    yield ("front end's resident memory", f"{figures['resident_growth'] / 2**20:+.1f} MiB",
           f"≤ {RSS_GROWTH_MAX >> 20} MiB", figures["resident_growth"] <= RSS_GROWTH_MAX)
    yield ("requests that ended, lost, wrong",
           f"{report['ended']}, {lost}, {report['wrong']}{texts}", "0 lost, 0 wrong",
           lost == 0 and report["wrong"] == 0)
    yield "requests dispatched again", f"{figures['dispatched_again']:.0f}", "–", True
    yield ("wake-ups that came by time-out", f"{figures['timeout_wakeups']:.0f}", "0",
           figures["timeout_wakeups"] == 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binaries", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--tests", help="the folder with mpsd-crash-caller")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    options.tests = options.tests or str(pathlib.Path(options.binaries).parent / "tests")
    with tempfile.TemporaryDirectory(prefix="mpsd-kill-") as folder:
        figures = measure(options, folder)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(f"{figures['cycles']} workers killed under load in {figures['seconds']:.0f} s\n")
    print("| quantity | measured | target | verdict |\n|---|---|---|---|")
    met = True
    for quantity, measured, target, good in rows(figures):
        met = met and good
        verdict = "–" if target == "–" else "met" if good else "NOT MET"
        print(f"| {quantity} | {measured} | {target} | {verdict} |")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
