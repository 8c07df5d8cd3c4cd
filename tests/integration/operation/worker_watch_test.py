"""Workers that make no progress are killed, and none that does; a front end that was not there has
seen nothing."""
import json
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
        calls.answered(stub, calls.request(model, {"x": calls.row_of(3)}))

    def ended(self, daemon, model, reason):
        """What `ps` says of a model whose worker has died so. The death is counted before that."""
        wait_until(lambda: exits(daemon, model, reason) >= 1, 30, f"a death by {reason}")

        def told():
            said = daemon.ps()[model]
            return said if said["workers"][0]["exit_reason"] == reason else None
        return wait_until(told, 20, f"a ps that tells of a death by {reason}")

    def check_killed(self, daemon, model, reason, text):
        said = self.ended(daemon, model, reason)
        self.assertRegex(said["workers"][0]["last_exit"], text)
        self.assertFalse(said["ready"])


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
        """Alone in two workers: the request is at fault, and no third worker hangs for it."""
        model = synthetic("m", parameters={"hang_if": 13}, run_timeout="1s")
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, calls.request("m", {"x": calls.row_of(13)}))
            self.assertEqual((outcome.code, outcome.text),
                             (INTERNAL, "request crashed its worker"))
            self.check_good(stub, "m")
            self.assertEqual(exits(daemon, "m", "hang"), 2)
            self.assertEqual(daemon.ps()["m"]["workers"][0]["exit_reason"], "hang")
            daemon.wait_logged("lane 0 made no progress for 1s")

    def test_neighbours_of_a_request_that_hangs(self):
        model = synthetic("m", parameters={"hang_if": 13, "delay": "20ms"}, run_timeout="3s",
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
        model = synthetic("m", parameters={"delay": "1ms"}, run_timeout="3s",
                          placement=placement(processes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            daemon.wait_all_serving()
            for pid in daemon.workers():
                os.kill(pid, signal.SIGSTOP)
            futures = []
            for held in (1, 2):  # requests that come together make one batch
                futures += [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}))
                            for i in range(2)]
                wait_until(lambda: daemon.metric("mpsd_running_batches") >= held, 30, "a batch")
            for future in futures:
                calls.answer_of(future)
            self.assertEqual(exits(daemon, "m", "hang"), 2)
            daemon.wait_all_serving()

    def test_a_worker_that_was_stopped_for_less_than_its_budget(self):
        model = synthetic("m", run_timeout="5s")
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            pid = daemon.ps()["m"]["workers"][0]["pid"]
            os.kill(pid, signal.SIGSTOP)
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 30, "a running batch")
            time.sleep(1.5)  # the test is that nothing happens meanwhile
            os.kill(pid, signal.SIGCONT)
            self.assertEqual(calls.outcome_of(future).code, calls.OK)
            self.assertEqual(daemon.ps()["m"]["workers"][0]["pid"], pid)

    def test_another_worker_stands_in_for_the_only_one_that_was_stopped(self):
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            pid = daemon.ps()["m"]["workers"][0]["pid"]
            os.kill(pid, signal.SIGSTOP)
            wait_until(lambda: daemon.metric("mpsd_workers_ready") == 2, 30, "a second worker")
            outcome = calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}))
            self.assertIn(pid, daemon.workers())
            os.kill(pid, signal.SIGCONT)
            wait_until(lambda: daemon.workers() == [pid], 30, "the first worker alone")
            calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}))
            self.assertEqual(exits(daemon, "m", "hang"), 0)

    def test_a_request_in_the_only_worker_that_was_stopped(self):
        """It runs in the worker that stands in, long before the stopped one has used up its
        budget."""
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            pid = daemon.ps()["m"]["workers"][0]["pid"]
            os.kill(pid, signal.SIGSTOP)
            calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}), limit_s=20)
            daemon.wait_logged("another worker can run the requests in it")
            wait_until(lambda: pid not in daemon.workers(), 30, "the stopped worker's end")
            self.assertEqual(exits(daemon, "m", "hang"), 1)
            self.assertEqual(daemon.metric("mpsd_dispatched_again_total"), 1)

    def test_a_front_end_that_was_stopped_kills_nobody(self):
        """Its absence is several times the budget, and the batch ended in the middle of it."""
        model = synthetic("m", parameters={"delay": "3s"}, run_timeout="4s",
                          placement=placement(processes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            daemon.wait_all_serving()
            before = daemon.workers()
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 30, "a running batch")
            os.kill(daemon.pid, signal.SIGSTOP)
            time.sleep(10)
            os.kill(daemon.pid, signal.SIGCONT)
            calls.answer_of(future)
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

    def test_one_that_fails_at_length(self):
        daemon = self.run_hostile("fail_at_length")
        self.check_short(self.ended(daemon, "m", "load")["state"])

    def test_one_that_names_its_device_at_length(self):
        daemon = self.run_hostile("name_its_device_at_length")
        def name():
            device = daemon.ps()["m"]["device"]
            return device if "x" in device else None
        self.check_short(wait_until(name, 20, "the device's name"))

    def test_one_that_says_at_length_why_it_runs_fewer_lanes(self):
        daemon = self.run_hostile("run_fewer_lanes_at_length", placement=placement(lanes=2))
        line = wait_until(lambda: next((line for line in daemon.log().splitlines()
                                        if '"event":"lanes_demoted"' in line), None), 20, "a line")
        reason = json.loads(line)["reason"]
        self.assertTrue(reason.startswith("\\033[31mxxx"), reason[:100])
        self.check_short(reason)

    def check_short(self, text):
        self.assertIn("x" * 100, text)
        self.assertLess(len(text), 4096)
        self.assertTrue(text.isprintable(), text)

    def test_one_that_has_lost_its_device(self):
        self.check("lose_the_device", "device", "device lost")

    def test_a_device_that_is_lost_again_and_again(self):
        """It rests, and all that would start on it; one worker finds out that it is back."""
        with tempfile.TemporaryDirectory() as folder:
            binaries = hostile.binaries(folder)
            healed = {name: binaries / f"{name}-healed" for name in ("loses", "serves")}
            models = [self.on_device(name, binaries, file) for name, file in healed.items()]
            healed["serves"].touch()
            with Daemon([*models, synthetic("good")], binaries=binaries,
                        environment=hostile.ENVIRONMENT) as daemon, \
                    calls.stub(daemon.address) as stub:
                daemon.wait_logged('"event":"device_bad"')
                wait_until(lambda: daemon.ps()["serves"]["ready"], 20, "what serves goes on")
                healed["serves"].unlink()
                os.kill(daemon.ps()["serves"]["workers"][0]["pid"], signal.SIGKILL)
                for name in healed:
                    # Now and then one of its workers is tried; it then does not wait.
                    wait_until(lambda name=name: self.waits_for_device(daemon.ps()[name]), 30,
                               f"{name} waits")
                    wait_until(lambda name=name: daemon.metric("mpsd_circuit_open", model=name),
                               30, f"a metric that says that {name} waits")
                self.check_good(stub)
                for file in healed.values():
                    file.touch()
                for name in healed:
                    wait_until(lambda name=name: self.is_back(daemon.ps()[name]), 60,
                               f"{name} is back")
                daemon.wait_logged('"event":"device_back"')

    @staticmethod
    def waits_for_device(said):
        return ("device cuda:0 was lost" in said["state"] and not said["ready"] and
                said["circuit"] == "open")

    @staticmethod
    def is_back(said):
        return said["ready"] and said["circuit"] == "closed"

    @staticmethod
    def on_device(name, folder, healed):
        file = folder / f"{name}.pt"
        file.touch()
        return {"name": name, "path": str(file), "device": "cuda:0", "circuit": {"deaths": 0},
                "placement": placement(),
                "parameters": {"hostile": "lose_the_device_until_healed", "healed": str(healed)}}


if __name__ == "__main__":
    unittest.main(verbosity=2)
