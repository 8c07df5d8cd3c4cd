#!/usr/bin/env python3
"""A storm: kills, stops, lies, cancellations, deadlines, poison, slow readers, reloads, all at once.

storm.py [--minutes N] [--seed S]
At its end the invariants are checked and a table is printed; exit status 0 means that all hold.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import pathlib
import random
import sys
import time

from harness import (CANCELLED, CRASHED_IT, GAUGES_AT_REST, NOT_READY, OVERDUE_MS, QUEUE_FULL,
                     TIMED_OUT, TOO_LATE, UNLOADED, WITH_FAILPOINTS, WORKER_LOST, Caller,
                     CrashDaemon, failpoints, in_step, procfs, wait_until)
from storm_faults import CALM, MODELS, STEPS, UNLOADABLE, Storm, armed


def load(daemon, seed):
    """The callers of each model, at both doors."""
    over_http = {"door": "http", "json_percent": 30, "slow_percent": 1}
    rude = {"cancel_percent": 4, "cut_percent": 2}
    return [
        Caller(daemon.address, "m", seed=seed + 1, concurrency=12, cancel_percent=4,
               timeout_percent=8, poison_percent=0.05),
        Caller(daemon.address, "m", seed=seed + 2, concurrency=4),
        Caller(daemon.address, "lanes", seed=seed + 3, concurrency=12, cancel_percent=2,
               timeout_percent=4, rows_max=8),
        Caller(daemon.address, "steps", seed=seed + 5, concurrency=8, cancel_percent=4,
               timeout_percent=8, poison_percent=0.02, outputs=2),
        Caller(daemon.http, "m", seed=seed + 6, concurrency=8, timeout_percent=8,
               poison_percent=0.05, **over_http, **rude),
        Caller(daemon.http, "lanes", seed=seed + 7, concurrency=4, timeout_percent=4, rows_max=8,
               **over_http, **rude),
        # In up to eight parts.
        Caller(daemon.address, "m", seed=seed + 10, concurrency=2, cancel_percent=4,
               timeout_percent=8, poison_percent=0.05, rows_max=64),
        Caller(daemon.http, "lanes", seed=seed + 11, concurrency=2, timeout_percent=4, rows_max=64,
               **over_http, **rude),
        Caller(daemon.http, "steps", seed=seed + 8, concurrency=4, timeout_percent=8, outputs=2,
               **over_http, **rude),
        Caller(daemon.address, CALM, seed=seed + 4, concurrency=2),
        Caller(daemon.http, CALM, seed=seed + 9, concurrency=1, **over_http),
    ]


def allowed(model):
    if model == CALM:
        return ()
    unloaded = [UNLOADED.format(model)] if model in UNLOADABLE else []
    of_steps = [in_step(model, i, member, ending) for i, member in enumerate(STEPS.get(model, ()))
                for ending in (*allowed(member), TIMED_OUT, TOO_LATE)]
    return (WORKER_LOST, CRASHED_IT, NOT_READY.format(model), CANCELLED, TIMED_OUT, QUEUE_FULL,
            TOO_LATE, "INTERNAL: ", *unloaded, *of_steps)


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


def rests(daemon, storm, before):
    """Also: no generation is left but those of the beginning."""
    storm.reloads.settle()
    wait_until(lambda: daemon.metric("mpsd_http_connections") == 1, 20, "no connection but ours")
    daemon.check_same_as(before)
    configured = sum(model.get("placement", {}).get("processes", 1) for model in MODELS
                     if model["name"] not in STEPS)
    expect(daemon.metric("mpsd_workers_configured") == configured, "a generation that never ended")


def judge(verdicts, daemon, storm, callers, before):
    """Everything that can be asked while the daemon still runs."""
    with concurrent.futures.ThreadPoolExecutor(len(callers)) as at_once:
        reports = list(at_once.map(Caller.stop, callers))
    sent = sum(report["sent"] for report in reports)
    overdue = max(report["overdue_ms"] for report in reports)
    complaints = [line for report in reports for line in report["complaints"]]

    def endings():
        for caller in callers:
            if caller.model != CALM:
                caller.check(allowed(caller.model), overdue_ms=float("inf"))
        return f"{sent} calls"

    verdicts.check("I1 one ending a call", endings)
    verdicts.check("I2 at rest as before", lambda: rests(daemon, storm, before))
    verdicts.check("I3 the calm model saw nothing", lambda: ", ".join(
        f"{caller.check((), overdue_ms=float('inf'))['endings']} by {caller.door}"
        for caller in callers if caller.model == CALM))
    verdicts.check("I4 no call late", lambda: expect(overdue < OVERDUE_MS, f"{overdue:.0f} ms") or
                   f"at most {overdue:.0f} ms")
    verdicts.check("I5 the right bytes", lambda: expect(not complaints, complaints))
    verdicts.check("I6 the front end stands", lambda: expect(
        daemon.running() and not [c for c in storm.complaints if c.startswith("I6")], "it fell"))
    verdicts.check("I8 readiness is told truly", lambda: expect(
        not [c for c in storm.complaints if c.startswith("I8")], storm.complaints))
    verdicts.check("reloads end", lambda: expect(
        not [c for c in storm.complaints if c.startswith("reload")], storm.complaints) or
        "{} swaps, {} that could not be".format(*storm.reloads.swapped()))
    verdicts.check("wake-ups by time-out", lambda: expect(
        daemon.metric("mpsd_timeout_wakeups_total") == 0,
        f"{daemon.metric('mpsd_timeout_wakeups_total'):.0f}") or "0")


def nothing_left(daemon):
    """I7, of a daemon that is killed."""
    ours = procfs.memory_files(daemon.pid)
    daemon.kill()
    wait_until(lambda: not daemon.workers(), 20, "the end of the workers")
    wait_until(lambda: not ours & procfs.all_memory_files(), 20, "the end of the memory")


def print_calls(callers):
    """What became of the calls of each model at each door, then of all."""
    endings = collections.Counter()
    for caller in callers:
        report = caller.report
        print(f"{report['sent']:>8} calls of {caller.model} by {caller.door}, of which "
              f"{report['endings'].get('OK', 0)} were answered")
        endings.update(report["endings"])
    for ending, count in endings.most_common():
        print(f"  {count:>8}  {ending[:90]}")


def print_counts(daemon, storm):
    acts = daemon.acts()
    for (point, action), count in sorted(acts.items()):
        storm.faults[f"failpoint {action}"] += count
    print(", ".join(f"{count} × {name}" for name, count in sorted(storm.faults.items())))
    places = {point for point, _ in acts if point.startswith("worker.")}
    print(f"{len(places)} of {len(failpoints('worker.'))} places in workers "
          f"acted; {daemon.metric('mpsd_worker_restarts_total'):.0f} workers were started again, "
          f"{daemon.metric('mpsd_dispatched_again_total'):.0f} requests dispatched again")


def run(minutes, seed):
    verdicts = Verdicts()
    environment = {"MPSD_FAILPOINTS_SPARE": CALM}
    daemon = CrashDaemon(MODELS, arm=armed() if WITH_FAILPOINTS else "", seed=seed,
                         environment=environment, gauges_at_rest=GAUGES_AT_REST,
                         model_control="explicit")
    try:
        daemon.start()
        before = daemon.descriptors_when_serving()
        callers = load(daemon, seed)
        with contextlib.ExitStack() as stack:
            for caller in callers:
                stack.enter_context(caller)
            with Storm(daemon, seed) as storm:
                until = time.monotonic() + minutes * 60
                while time.monotonic() < until and daemon.running():
                    time.sleep(0.2)
            judge(verdicts, daemon, storm, callers, before)
        print_counts(daemon, storm)
        print_calls(callers)
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
