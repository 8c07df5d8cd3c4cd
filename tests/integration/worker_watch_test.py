"""Workers that make no progress are killed, and none that does; a front end that was not there has
seen nothing."""
import os
import signal
import tempfile
import time
import unittest

import grpc

import calls
import hostile
from daemon import Daemon, wait_until
from models import placement, synthetic

INTERNAL = grpc.StatusCode.INTERNAL
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def exits(daemon, model, reason):
    return daemon.metric("mpsd_worker_exits_total", model=model, reason=reason)


class Watched(unittest.TestCase):
    def check_good(self, stub, model="good"):
        outcome = calls.infer(stub, calls.request(model, {"x": calls.row_of(3)}))
        self.assertEqual(outcome.code, calls.OK, outcome.text)

    def check_killed(self, daemon, model, reason, text):
        wait_until(lambda: exits(daemon, model, reason) >= 1, 20, f"a death by {reason}")
        worker = daemon.ps()[model]["workers"][0]
        self.assertEqual(worker["exit_reason"], reason)
        self.assertRegex(worker["last_exit"], text)
        self.assertFalse(daemon.ps()[model]["ready"])


class Budgets(Watched):
    def test_a_load_that_never_ends(self):
        stuck = synthetic("stuck", parameters={"load_delay": "1h"}, load_timeout="1s")
        with Daemon([stuck, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
            self.check_killed(daemon, "stuck", "hang", "not loaded within 1s")
            self.check_good(stub)
            self.assertEqual(daemon.get("/readyz")[0], 503)

    def test_a_warm_up_that_never_ends(self):
        stuck = synthetic("stuck", parameters={"delay": "1h"}, warmup="smallest",
                          warmup_timeout="1s")
        with Daemon([stuck, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
            self.check_killed(daemon, "stuck", "hang", "not warm within 1s")
            self.check_good(stub)

    def test_a_long_load_and_a_long_warm_up_are_no_hang(self):
        """Longer than any budget but their own."""
        slow = synthetic("slow", parameters={"load_delay": "2s", "delay": "2s"}, warmup="smallest",
                         run_timeout="1s")
        with Daemon([slow]) as daemon:
            self.assertTrue(daemon.ps()["slow"]["ready"])
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)


class Hangs(Watched):
    def test_a_request_that_hangs_its_worker(self):
        """Alone in its worker: the request is at fault, and no second worker hangs for it."""
        model = synthetic("m", parameters={"hang_if": 13}, run_timeout="1s")
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, calls.request("m", {"x": calls.row_of(13)}))
            self.assertEqual((outcome.code, outcome.text),
                             (INTERNAL, "request crashed its worker"))
            self.check_good(stub, "m")
            self.assertEqual(exits(daemon, "m", "hang"), 1)
            self.assertEqual(daemon.ps()["m"]["workers"][0]["exit_reason"], "hang")
            self.assertIn("lane 0 made no progress for 1s", daemon.log())

    def test_neighbours_of_a_request_that_hangs(self):
        model = synthetic("m", parameters={"hang_if": 13, "delay": "20ms"}, run_timeout="1s",
                          placement=placement(processes=1, lanes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            values = [*range(6), 13, *range(20, 26)]
            outcomes = calls.infer_all(stub, [calls.request("m", {"x": calls.row_of(value)})
                                              for value in values])
            for value, outcome in zip(values, outcomes):
                self.assertEqual(outcome.code, INTERNAL if value == 13 else calls.OK,
                                 (value, outcome.text))

    def test_a_worker_that_was_stopped(self):
        """It never began the batch: another incarnation does it."""
        model = synthetic("m", parameters={"delay": "1ms"}, run_timeout="1s",
                          placement=placement(processes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            wait_until(lambda: daemon.metric("mpsd_workers_ready") == 2, 10, "both workers")
            for pid in daemon.workers():
                os.kill(pid, signal.SIGSTOP)
            futures = [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}))
                       for i in range(4)]
            for future in futures:
                outcome = calls.outcome_of(future)
                self.assertEqual(outcome.code, calls.OK, outcome.text)
            self.assertEqual(exits(daemon, "m", "hang"), 2)
            wait_until(lambda: daemon.metric("mpsd_workers_ready") == 2, 10, "both workers")

    def test_a_worker_that_was_stopped_for_less_than_its_budget(self):
        model = synthetic("m", run_timeout="5s")
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            pid = daemon.ps()["m"]["workers"][0]["pid"]
            os.kill(pid, signal.SIGSTOP)
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 5, "a running batch")
            time.sleep(1.5)  # what is tested is that nothing happens meanwhile
            os.kill(pid, signal.SIGCONT)
            self.assertEqual(calls.outcome_of(future).code, calls.OK)
            self.assertEqual(daemon.ps()["m"]["workers"][0]["pid"], pid)

    def test_a_front_end_that_was_stopped_kills_nobody(self):
        """Its absence is several times the budget, and the batch ended in the middle of it."""
        model = synthetic("m", parameters={"delay": "3s"}, run_timeout="4s",
                          placement=placement(processes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            wait_until(lambda: daemon.metric("mpsd_workers_ready") == 2, 10, "both workers")
            before = daemon.workers()
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 5, "a running batch")
            os.kill(daemon.pid, signal.SIGSTOP)
            time.sleep(10)
            os.kill(daemon.pid, signal.SIGCONT)
            outcome = calls.outcome_of(future)
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            self.assertEqual(sorted(daemon.workers()), sorted(before))
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)


class Protocol(Watched):
    """Workers that lie on the control socket, beside one that does not."""

    def run_hostile(self, how, **more):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        model = synthetic("m", parameters={"hostile": how, **more.pop("parameters", {})}, **more)
        return self.enterContext(Daemon([model, synthetic("good")],
                                        binaries=hostile.binaries(folder),
                                        environment=hostile.ENVIRONMENT))

    def check(self, how, reason, text, **more):
        daemon = self.run_hostile(how, **more)
        self.check_killed(daemon, "m", reason, text)
        with calls.stub(daemon.address) as stub:
            self.check_good(stub)

    def test_one_that_floods_the_control_socket(self):
        self.check("flood_control", "protocol", "floods its control socket")

    def test_one_that_speaks_out_of_turn(self):
        self.check("speak_out_of_turn", "protocol", "out of turn")

    def test_one_that_hangs_up_and_stays(self):
        self.check("hang_up", "protocol", "did not leave")

    def test_one_that_does_not_read(self):
        """The order is more than its socket holds, and the front end waits for nobody."""
        large = {f"p{i}": "x" * 4096 for i in range(63)}
        self.check("sleep_for_ever", "hang", "not loaded", parameters=large, load_timeout="2s")

    def test_one_that_has_lost_its_device(self):
        self.check("lose_the_device", "device", "device lost")


if __name__ == "__main__":
    unittest.main(verbosity=2)
