"""Workers that are killed under load: each call has one ending, and service goes on."""
import collections
import os
import signal
import stat
import unittest

import grpc
import numpy as np

import calls
import procfs
from daemon import Daemon, wait_until
from models import placement, synthetic
from stalls import StallWatch, longest_gap_s

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
LIMIT_S = 30
GAP_LIMIT_S = 1


def worker_of(daemon, model, index):
    return daemon.ps()[model]["workers"][index]


def own_threads(daemon):
    """Their names. Those of gRPC's threads, which come and go, are left out, or are one of ours."""
    return {name for name in procfs.threads(daemon.pid)
            if not name.startswith(("default-exec", "resolver-exec", "grpc_", "event_engine",
                                    "timer_manager"))}


def more_answers(load):
    answered = load.answered()
    wait_until(lambda: load.answered() > answered + 50, LIMIT_S, "more answers")


class WorkerDeath(unittest.TestCase):
    def check_endings(self, load):
        """As many endings as calls, each of them one that a lost worker may have."""
        self.assertEqual(len(load.outcomes), load.started)
        endings = collections.Counter((outcome.code, outcome.text) for outcome in load.outcomes)
        print("  " + ", ".join(f"{code and code.name} {text!r}: {count}"
                               for (code, text), count in endings.items()), flush=True)
        self.assertLessEqual(set(endings), {(calls.OK, ""), (UNAVAILABLE, "worker lost")})

    def test_one_of_two_workers_is_killed(self):
        """The other one answers while the next incarnation loads, without a gap."""
        model = synthetic("m", parameters={"delay": "5ms", "load_delay": "3s"},
                          placement=placement(processes=2))
        with Daemon([model]) as daemon:
            daemon.wait_all_serving()
            victim = worker_of(daemon, "m", 0)
            with StallWatch() as watch, calls.Load(daemon.address, "m") as load:
                more_answers(load)
                os.kill(victim["pid"], signal.SIGKILL)
                wait_until(lambda: daemon.metric("mpsd_workers_ready") == 1, LIMIT_S, "the death")
                more_answers(load)
                self.assertEqual(daemon.metric("mpsd_workers_ready"), 1, "answers meanwhile")
                wait_until(lambda: worker_of(daemon, "m", 0)["epoch"] == 2 and
                           daemon.metric("mpsd_workers_ready") == 2, LIMIT_S,
                           "the second incarnation")
                more_answers(load)
            self.check_endings(load)
            gap_s = longest_gap_s(load.answered_at, watch.stalls)
            print(f"  longest gap {1000 * gap_s:.0f} ms, {len(watch.stalls)} stalls", flush=True)
            self.assertLess(gap_s, GAP_LIMIT_S)
            successor = worker_of(daemon, "m", 0)
            self.assertEqual((successor["epoch"], successor["restarts"], successor["state"]),
                             (2, 1, "serving"))
            self.assertRegex(successor["last_exit"], "SIGKILL")
            self.assertEqual(worker_of(daemon, "m", 1)["epoch"], 1)
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 1)
            daemon.wait_logged("worker_died")

    def test_a_death_starts_no_thread_and_the_next_folder_is_private(self):
        """All of the daemon's threads are there from its start; gRPC has others, and may add some."""
        with Daemon([synthetic("m")]) as daemon:
            before = own_threads(daemon)
            os.kill(worker_of(daemon, "m", 0)["pid"], signal.SIGKILL)
            wait_until(lambda: worker_of(daemon, "m", 0)["epoch"] == 2, LIMIT_S, "its successor")
            daemon.wait_all_serving()
            self.assertEqual(own_threads(daemon), before)
            self.assertIn("folders", before)
            folders = list((daemon.state_dir / "workers").iterdir())
            self.assertTrue(folders)
            for folder in folders:
                self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700, folder)

    def test_what_a_gap_is(self):
        """Time in which this process did not run is none of the daemon's."""
        self.assertEqual(longest_gap_s([1, 2, 5, 6], []), 3)
        self.assertEqual(longest_gap_s([1, 2, 5, 6], [(0, 1.5), (3, 4.5), (4.5, 10)]), 1)
        self.assertEqual(longest_gap_s([1, 2, 5, 6], [(3, 3.5), (6, 7)]), 2.5)

    def test_the_running_batch_of_a_killed_worker_runs_elsewhere(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "3s"},
                          placement=placement(processes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            daemon.wait_all_serving()
            victim = worker_of(daemon, "m", 1)
            futures = [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}))
                       for i in range(2)]
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 2, LIMIT_S, "two batches")
            os.kill(victim["pid"], signal.SIGKILL)
            for i, future in enumerate(futures):
                outcome = calls.answer_of(future)
                np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                              calls.row_of(i))
            self.assertEqual(daemon.metric("mpsd_dispatched_again_total"), 1)
            daemon.wait_all_serving()

    def test_the_only_worker_is_killed(self):
        """Calls wait for the next one, and succeed."""
        with Daemon([synthetic("m", parameters={"delay": "5ms"})]) as daemon:
            with calls.Load(daemon.address, "m") as load:
                more_answers(load)
                os.kill(worker_of(daemon, "m", 0)["pid"], signal.SIGKILL)
                wait_until(lambda: worker_of(daemon, "m", 0)["epoch"] == 2 and
                           daemon.metric("mpsd_workers_ready") == 1, LIMIT_S,
                           "the second incarnation")
                more_answers(load)
            self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})
            self.assertEqual(len(load.outcomes), load.started)

    def test_a_request_is_dispatched_three_times_at_most(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "60s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}),
                                            timeout=2 * LIMIT_S)
            for epoch in (1, 2, 3):
                # In this order: a serving incarnation has no batch of the one before.
                wait_until(lambda: worker_of(daemon, "m", 0)["epoch"] == epoch and
                           worker_of(daemon, "m", 0)["state"] == "serving" and
                           daemon.metric("mpsd_running_batches") == 1, LIMIT_S, f"epoch {epoch}")
                os.kill(worker_of(daemon, "m", 0)["pid"], signal.SIGKILL)
            outcome = calls.outcome_of(future)
            self.assertEqual((outcome.code, outcome.text), (UNAVAILABLE, "worker lost"))

    def test_killed_again_and_again(self):
        """Five deaths under load: nothing leaks, and no call is lost."""
        model = synthetic("m", parameters={"delay": "2ms"},
                          placement=placement(processes=2, lanes=2))
        with Daemon([model]) as daemon:
            daemon.wait_all_serving()
            with calls.Load(daemon.address, "m", callers=16) as load:
                for death in range(5):
                    more_answers(load)
                    pid = wait_until(lambda: worker_of(daemon, "m", death % 2)["pid"], LIMIT_S,
                                     "a pid")
                    os.kill(pid, signal.SIGKILL)
                    # After the restart, the last death is known.
                    wait_until(lambda: daemon.metric("mpsd_worker_restarts_total") == death + 1,
                               LIMIT_S, "its next incarnation")
            self.check_endings(load)
            daemon.wait_all_serving()
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 5)

    def test_all_workers_are_killed_at_once(self):
        model = synthetic("m", parameters={"delay": "5ms"}, placement=placement(processes=3))
        with Daemon([model]) as daemon:
            daemon.wait_all_serving()
            with calls.Load(daemon.address, "m") as load:
                more_answers(load)
                for pid in daemon.workers():
                    os.kill(pid, signal.SIGKILL)
                wait_until(lambda: daemon.metric("mpsd_worker_restarts_total") == 3, LIMIT_S,
                           "three new workers")
                daemon.wait_all_serving()
            self.check_endings(load)


if __name__ == "__main__":
    unittest.main(verbosity=2)
