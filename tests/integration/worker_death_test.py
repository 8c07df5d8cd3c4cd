"""Workers that are killed under load: each call has one ending, and service goes on."""
import collections
import os
import signal
import time
import unittest

import grpc
import numpy as np

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def worker_of(daemon, model, index):
    return daemon.ps()[model]["workers"][index]


class WorkerDeath(unittest.TestCase):
    def check_endings(self, load):
        """As many endings as calls, each of them one that a lost worker may have."""
        self.assertEqual(len(load.outcomes), load.started)
        endings = collections.Counter((outcome.code, outcome.text) for outcome in load.outcomes)
        print("  " + ", ".join(f"{code and code.name} {text!r}: {count}"
                               for (code, text), count in endings.items()), flush=True)
        self.assertLessEqual(set(endings), {(calls.OK, ""), (UNAVAILABLE, "worker lost")})

    def test_one_of_two_workers_is_killed(self):
        model = synthetic("m", parameters={"delay": "5ms"}, placement=placement(processes=2))
        with Daemon([model]) as daemon:
            victim = worker_of(daemon, "m", 0)
            with calls.Load(daemon.address, "m") as load:
                wait_until(lambda: load.answered() > 50, 10, "some answers")
                begin = time.monotonic()
                os.kill(victim["pid"], signal.SIGKILL)
                wait_until(lambda: worker_of(daemon, "m", 0)["epoch"] == 2 and
                           daemon.metric("mpsd_workers_ready") == 2, 10, "the second incarnation")
                answered = load.answered()
                wait_until(lambda: load.answered() > answered + 50, 10, "more answers")
                end = time.monotonic()
            self.check_endings(load)
            self.assertLess(load.gap_s(begin, end), 1)
            successor = worker_of(daemon, "m", 0)
            self.assertEqual((successor["epoch"], successor["restarts"], successor["state"]),
                             (2, 1, "serving"))
            self.assertRegex(successor["last_exit"], "SIGKILL")
            self.assertEqual(worker_of(daemon, "m", 1)["epoch"], 1)
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 1)
            self.assertIn("worker_died", daemon.log())

    def test_the_running_batch_of_a_killed_worker_runs_elsewhere(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "700ms"},
                          placement=placement(processes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            futures = [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}))
                       for i in range(2)]
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 2, 5, "two batches")
            os.kill(worker_of(daemon, "m", 1)["pid"], signal.SIGKILL)
            for i, future in enumerate(futures):
                outcome = calls.outcome_of(future)
                self.assertEqual(outcome.code, calls.OK, outcome.text)
                np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                              calls.row_of(i))
            self.assertEqual(daemon.metric("mpsd_dispatched_again_total"), 1)
            wait_until(lambda: daemon.metric("mpsd_workers_ready") == 2, 10, "both workers")

    def test_the_only_worker_is_killed(self):
        """Calls wait for the next one, and succeed."""
        with Daemon([synthetic("m", parameters={"delay": "5ms"})]) as daemon:
            with calls.Load(daemon.address, "m") as load:
                wait_until(lambda: load.answered() > 50, 10, "some answers")
                os.kill(worker_of(daemon, "m", 0)["pid"], signal.SIGKILL)
                wait_until(lambda: worker_of(daemon, "m", 0)["epoch"] == 2 and
                           daemon.metric("mpsd_workers_ready") == 1, 10, "the second incarnation")
                answered = load.answered()
                wait_until(lambda: load.answered() > answered + 50, 10, "more answers")
            self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})
            self.assertEqual(len(load.outcomes), load.started)

    def test_a_request_is_dispatched_three_times_at_most(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "60s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}),
                                            timeout=30)
            for epoch in (1, 2, 3):
                # In this order: an incarnation that serves has none of its forebear's batches.
                wait_until(lambda: worker_of(daemon, "m", 0)["epoch"] == epoch and
                           worker_of(daemon, "m", 0)["state"] == "serving" and
                           daemon.metric("mpsd_running_batches") == 1, 10, f"epoch {epoch}")
                os.kill(worker_of(daemon, "m", 0)["pid"], signal.SIGKILL)
            outcome = calls.outcome_of(future)
            self.assertEqual((outcome.code, outcome.text), (UNAVAILABLE, "worker lost"))

    def test_killed_again_and_again(self):
        """Five deaths under load: nothing leaks, and no call is lost."""
        model = synthetic("m", parameters={"delay": "2ms"},
                          placement=placement(processes=2, lanes=2))
        with Daemon([model]) as daemon:
            with calls.Load(daemon.address, "m", callers=16) as load:
                for death in range(5):
                    answered = load.answered()
                    wait_until(lambda: load.answered() > answered + 50, 20, "some answers")
                    pid = wait_until(lambda: worker_of(daemon, "m", death % 2)["pid"], 20, "a pid")
                    os.kill(pid, signal.SIGKILL)
            self.check_endings(load)
            wait_until(lambda: daemon.metric("mpsd_workers_ready") == 2, 20, "both workers")
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 5)

    def test_all_workers_are_killed_at_once(self):
        model = synthetic("m", parameters={"delay": "5ms"}, placement=placement(processes=3))
        with Daemon([model]) as daemon:
            with calls.Load(daemon.address, "m") as load:
                wait_until(lambda: load.answered() > 50, 10, "some answers")
                for pid in daemon.workers():
                    os.kill(pid, signal.SIGKILL)
                wait_until(lambda: daemon.metric("mpsd_worker_restarts_total") == 3 and
                           daemon.metric("mpsd_workers_ready") == 3, 10, "three new workers")
            self.check_endings(load)


if __name__ == "__main__":
    unittest.main(verbosity=2)
