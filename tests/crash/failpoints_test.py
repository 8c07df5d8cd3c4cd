"""Every failpoint of the sources, with every action, under a load whose every call is checked.

failpoints_test.py [--all] [--seed N] [--sample N]: all pairs, or as many as said, drawn by the seed.
"""
import argparse
import itertools
import os
import random
import signal
import sys
import time
import unittest

from harness import (BIN, CRASHED_IT, NOT_READY, QUEUE_FULL, SUPERVISION, TIMED_OUT,
                     WITH_FAILPOINTS, WORKER_LOST, Caller, CrashDaemon, failpoints, procfs, wait_until)
from models import placement, synthetic

SAMPLE = 24
# Passed while a worker starts, with the percentage of passes that act. A start that fails is tried
# again later and later: nine in a row outlast every wait below, and must be next to impossible.
# Each of the two lanes passes the warm-up.
AT_START = {"worker.at_load": 25, "worker.before_report": 25, "worker.at_weights": 25,
            "worker.after_attach": 25,
            "worker.in_warmup": 13, "worker.before_ready": 25}
# Passed at each start of a daemon: it dies of one that comes later.
KILLED_AT = {"segment.create": 8}
# What can be spoiled there.
WITH_DATA = {"worker.after_forward", "worker.before_publish", "worker.after_publish"}
WITH_ERRNO = {"segment.create", "supervise.spawn", "dispatch.reserve"}
FRONT_PREFIXES = ("dispatch.", "complete.", "supervise.", "segment.")

MODEL = synthetic("m", parameters={"delay": "1ms", "weights": "65536"},
                  placement=placement(processes=2, lanes=2), warmup="smallest", **SUPERVISION)
ALLOWED = (WORKER_LOST, CRASHED_IT, NOT_READY.format("m"), QUEUE_FULL)


def worker_pairs():
    for point in failpoints("worker."):
        for action in ("kill", "exit", "sleep:20", "stop"):
            yield point, action
        if point in WITH_DATA:
            yield point, "corrupt"


def front_pairs():
    for point in itertools.chain(*(failpoints(prefix) for prefix in FRONT_PREFIXES)):
        yield point, "kill"
        yield point, "sleep:5"
        if point in WITH_ERRNO:
            yield point, "errno:EMFILE"


class Pairs(unittest.TestCase):
    seed = 1
    pairs = ()

    def test_pairs(self):
        self.assertGreater(len(self.pairs), 0)
        for number, (point, action) in enumerate(self.pairs):
            begin = time.monotonic()
            with self.subTest(point=point, action=action, seed=self.seed + number):
                if point.startswith("worker."):
                    ended = self.check_worker(point, action, self.seed + number)
                elif action == "kill":
                    ended = self.check_front_killed(point)
                else:
                    ended = self.check_front(point, action, self.seed + number)
                print(f"  {point}={action}: {ended}, {time.monotonic() - begin:.1f} s", flush=True)

    def check_worker(self, point, action, seed):
        when = f"%{AT_START[point]}" if point in AT_START else "@25"
        if action.startswith("sleep"):
            when = "" if point in AT_START else "%20"
        with CrashDaemon([MODEL], arm=f"{point}={action}{when}", seed=seed) as daemon:
            before = daemon.descriptors_when_serving()
            with Caller(daemon.address, "m", seed=seed, patience_ms=20000) as caller:
                self.drive(daemon, point, action, begin=time.monotonic())
                # Both workers may rest between two starts for longer than a call is patient.
                caller.check((*ALLOWED, TIMED_OUT) if point in AT_START else ALLOWED)
            self.assertGreater(caller.report["endings"].get("OK", 0), 20, caller.report)
            # The load was stopped in the middle of it all: what is armed may act once more.
            daemon.check_same_as(before)
            return caller.report["endings"]

    def drive(self, daemon, point, action, begin):
        """Until the failpoint has acted twice under the load, and calls have ended after that.

        A process tells its first sleep only, which may be over when the load begins: such a sleep
        counts, and the later ones of the same process fall into the load."""
        killed = 0
        # Workers that start again wait longer and longer, so that twice may take its time.
        limit_s = 120 if point in AT_START else 60
        told_once = action.startswith("sleep") and point not in AT_START
        before = 0 if told_once else sum(daemon.acts(point).values())
        while sum(daemon.acts(point).values()) < before + 2:
            self.assertLess(time.monotonic() - begin, limit_s, f"{point} does not act")
            if point in AT_START and killed < time.monotonic() - begin:
                killed += 1
                for pid in daemon.workers()[:1]:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        ended = daemon.requests("m")
        wait_until(lambda: daemon.requests("m") > ended + 50, 60, "calls after the fault")

    def check_front(self, point, action, seed):
        """The front end is slow there, or is refused what it asks for."""
        when = "%20" if action.startswith("sleep") or point == "dispatch.reserve" else "@2"
        if action.startswith("sleep") and point.startswith(("supervise.", "segment.")):
            when = ""
        with CrashDaemon([MODEL], arm=f"{point}={action}{when}", seed=seed) as daemon:
            before = daemon.descriptors_when_serving()
            with Caller(daemon.address, "m", seed=seed) as caller:
                os.kill(daemon.workers()[0], signal.SIGKILL)
                wait_until(lambda: daemon.acts(point) and daemon.requests("m") > 200, 60, "calls")
                daemon.wait_all_serving()
                caller.check(ALLOWED)
            daemon.check_same_as(before)
            return caller.report["endings"]

    def check_front_killed(self, point):
        """Nothing of it is left, and the next one starts where it stood."""
        with CrashDaemon([MODEL], arm=f"{point}=kill@{KILLED_AT.get(point, 4)}") as first:
            ours = procfs.memory_files(first.pid)
            with Caller(first.address, "m", patience_ms=3000) as caller:
                # Passed when a worker dies, or by then at the latest.
                while first.running():
                    if "dispatch" not in point and "complete" not in point:
                        for pid in first.workers()[:1]:
                            os.kill(pid, signal.SIGKILL)
                    time.sleep(0.05)
                first.kill()
                wait_until(lambda: not first.workers(), 20, "the end of the workers")
                wait_until(lambda: not ours & procfs.all_memory_files(), 20,
                           "the end of the memory")
                caller.check((*ALLOWED, "UNAVAILABLE: "))
            self.assertEqual(sum(first.acts(point).values()), 1)
            with CrashDaemon([MODEL], state_dir=first.state_dir) as second:
                with Caller(second.address, "m") as caller:
                    wait_until(lambda: second.requests("m") > 50, 20, "calls")
                    caller.check()
            return "the next one serves"


class NoFailpoints(unittest.TestCase):
    def test_a_release_has_no_failpoints(self):
        """Not the names, not the code, not the environment variable."""
        names = [*failpoints("worker."), *failpoints("dispatch."), *failpoints("segment.")]
        self.assertGreater(len(names), 12)
        for program in ("mpsd", "mpsd-worker"):
            content = (BIN / program).read_bytes()
            found = [name for name in names if name.encode() + b"\0" in content]
            if WITH_FAILPOINTS:
                self.assertTrue(found, program)
                continue
            self.assertEqual(found, [], program)
            self.assertNotIn(b"MPSD_FAILPOINTS", content, program)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--only", default="", help="pairs whose 'point=action' holds this")
    options, rest = parser.parse_known_args()
    print(f"seed {options.seed}", flush=True)
    if WITH_FAILPOINTS:
        pairs = [*worker_pairs(), *front_pairs()]
        if options.only:
            pairs = [pair for pair in pairs if options.only in "=".join(pair)]
        elif not options.all:
            pairs = random.Random(options.seed).sample(pairs, options.sample)
        Pairs.pairs, Pairs.seed = pairs, options.seed
    else:
        del Pairs.test_pairs
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
