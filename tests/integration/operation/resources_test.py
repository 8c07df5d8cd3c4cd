"""Models that share a resource, or a device by weight: whose batches run, and nobody keeps it all."""
import os
import signal
import tempfile
import threading
import unittest
from pathlib import Path

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic

NEED = {"resources": [{"name": "R1", "count": 1}]}


def needing(name, limiter=None, delay="5ms", **more):
    return synthetic(name, max_batch_size=1, parameters={"delay": delay},
                     rate_limiter=limiter or NEED, **more)


class Held:
    """As long as the `with` statement lasts it looks at how much of a resource is held."""

    def __init__(self, daemon):
        self._daemon = daemon
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.most = 0
        self.most_batches = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *unused):
        self._ending.set()
        self._thread.join()

    def _look(self):
        while not self._ending.is_set():
            self.most = max(self.most, self._daemon.metric("mpsd_resource_held"))
            self.most_batches = max(self.most_batches, self._daemon.metric("mpsd_running_batches"))


class Resources(unittest.TestCase):
    def answer_all(self, daemon, models, calls_each):
        """Calls all of them at once; how long that took is the daemon's affair."""
        with calls.stub(daemon.address) as stub:
            outcomes = calls.infer_all(stub, [calls.request(model, {"x": calls.row_of(i)})
                                              for i in range(calls_each) for model in models])
        for outcome in outcomes:
            self.assertEqual(outcome.code, calls.OK, outcome.text)

    def test_two_models_that_need_all_of_it_never_run_at_the_same_time(self):
        with Daemon([needing("a"), needing("b")]) as daemon, Held(daemon) as held:
            self.answer_all(daemon, ["a", "b"], 100)
            self.assertEqual(held.most, 1)
            self.assertEqual(held.most_batches, 1)
            self.assertEqual(daemon.metric("mpsd_resource_limit", resource="R1", device="cpu"), 1)
            self.assertGreater(daemon.metric("mpsd_resource_waits_total"), 50, "they took turns")
            self.assertEqual(daemon.metric("mpsd_resource_held"), 0)
            self.assertEqual(daemon.metric("mpsd_resource_waiting"), 0)

    def test_where_there_is_enough_they_do(self):
        with Daemon([needing("a"), needing("b")], resources={"R1": 2}) as daemon, \
                Held(daemon) as held:
            self.answer_all(daemon, ["a", "b"], 100)
            self.assertEqual(held.most, 2)

    def test_a_reload_changes_how_much_there_is(self):
        models = [needing("a"), needing("b")]
        with Daemon(models) as daemon:
            daemon.write_config(models, resources={"R1": 2})
            self.assertTrue(daemon.reload()["ok"])
            self.assertEqual(daemon.metric("mpsd_resource_limit"), 2)
            with Held(daemon) as held:
                self.answer_all(daemon, ["a", "b"], 100)
            self.assertEqual(held.most, 2)

    def test_a_priority_is_a_share_of_the_turns(self):
        often, seldom = needing("often"), needing("seldom", {**NEED, "priority": 3})
        with Daemon([often, seldom]) as daemon, calls.Load(daemon.address, "often"), \
                calls.Load(daemon.address, "seldom"):
            wait_until(lambda: daemon.metric("mpsd_batches_total", model="seldom") > 50, 30,
                       "turns for the one with the larger number")
            ratio = (daemon.metric("mpsd_batches_total", model="often") /
                     daemon.metric("mpsd_batches_total", model="seldom"))
        print(f"  {ratio:.2f} times as many turns", flush=True)
        self.assertAlmostEqual(ratio, 3, delta=0.6)

    def test_a_killed_worker_returns_what_its_batch_held(self):
        models = [needing("a", delay="60s"), needing("b")]
        with Daemon(models) as daemon, calls.stub(daemon.address) as stub:
            doomed = stub.ModelInfer.future(calls.request("a", {"x": calls.row_of(1)}), timeout=30)
            wait_until(lambda: daemon.metric("mpsd_resource_held") == 1, 10, "the first batch")
            waiting = stub.ModelInfer.future(calls.request("b", {"x": calls.row_of(2)}), timeout=30)
            wait_until(lambda: daemon.metric("mpsd_resource_waiting") == 1, 10, "the other waits")
            doomed.cancel()
            self.assertFalse(waiting.done(), "the lane still runs the batch")
            os.kill(daemon.ps()["a"]["workers"][0]["pid"], signal.SIGKILL)
            calls.answer_of(waiting)
            self.answer_all(daemon, ["b"], 10)
            daemon.wait_all_serving()

    def test_lanes_of_one_model_share_it_too(self):
        model = needing("a", placement=placement(processes=2, lanes=2))
        with Daemon([model], resources={"R1": 3}) as daemon, Held(daemon) as held:
            daemon.wait_all_serving()
            self.answer_all(daemon, ["a"], 200)
            self.assertEqual(held.most_batches, 3)

    def test_models_share_a_device_by_weight_in_lane_time(self):
        chat = synthetic("chat", max_batch_size=1, parameters={"delay": "2ms"}, weight=3)
        job = synthetic("job", max_batch_size=1, parameters={"delay": "20ms"}, weight=1)
        with Daemon([chat, job], device_share={"cpu": 1}) as daemon, Held(daemon) as held, \
                calls.Load(daemon.address, "chat"), calls.Load(daemon.address, "job"):
            self.assertEqual(daemon.metric("mpsd_resource_limit", resource="weighted lanes",
                                           device="cpu"), 1)
            wait_until(lambda: daemon.metric("mpsd_batches_total", model="job") > 60, 60,
                       "turns for the one with little weight")
            chats, jobs = (daemon.metric("mpsd_batches_total", model=name)
                           for name in ("chat", "job"))
        print(f"  {chats / jobs:.1f} short batches for a long one", flush=True)
        # 30, if a batch took only its delay; counted turns would make it 3.
        self.assertGreater(chats / jobs, 6)
        self.assertLess(chats / jobs, 36)
        self.assertEqual(held.most_batches, 1)

    def test_one_alone_has_all_lanes_of_the_device(self):
        chat = synthetic("chat", max_batch_size=1, parameters={"delay": "5ms"}, weight=3)
        job = synthetic("job", max_batch_size=1, parameters={"delay": "5ms"}, weight=1,
                        placement=placement(lanes=2))
        with Daemon([chat, job]) as daemon, Held(daemon) as held:
            self.answer_all(daemon, ["job"], 100)
            self.assertEqual(held.most_batches, 2)
            self.assertEqual(daemon.metric("mpsd_resource_waits_total", model="job"), 0)

    def test_a_repository_says_it_as_triton_does(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-resources-") as folder:
            for name in "ab":
                (Path(folder) / name / "1").mkdir(parents=True)
                (Path(folder) / name / "config.pbtxt").write_text(
                    "backend: 'identity' max_batch_size: 1 "
                    "input { name: 'x' data_type: TYPE_FP32 dims: 16 } "
                    "instance_group { count: 1 kind: KIND_CPU rate_limiter { "
                    "resources { name: 'R1' count: 1 global: true } priority: 2 } } "
                    "parameters { key: 'execute_delay_ms' value { string_value: '5' } }")
            with Daemon([], model_repository=folder) as daemon, Held(daemon) as held:
                self.answer_all(daemon, ["a", "b"], 50)
                self.assertEqual(held.most_batches, 1)
                self.assertEqual(daemon.metric("mpsd_resource_limit", resource="R1", device=""), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
