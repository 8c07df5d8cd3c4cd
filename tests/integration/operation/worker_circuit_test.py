"""A model whose workers keep dying rests, says so, and comes back."""
import os
import signal
import unittest

import grpc

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic

INTERNAL = grpc.StatusCode.INTERNAL
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def strike_down(daemon, model, deaths, kind=signal.SIGSEGV):
    """Ends one incarnation after the other."""
    ended = set()
    for death in range(deaths):
        def next_pid():
            pids = {worker["pid"] for worker in daemon.ps()[model]["workers"]
                    if worker["state"] == "serving"}
            return min(pids - ended, default=None)
        pid = wait_until(next_pid, 20, f"an incarnation for death {death + 1}")
        os.kill(pid, kind)
        ended.add(pid)
        wait_until(lambda: sum(daemon.metric("mpsd_worker_exits_total", model=model, reason=reason)
                               for reason in ("signal", "killed")) > death, 20, "the death")


def bad_row(number):
    """Crashes its worker; each is another's, since who did it once is not tried again."""
    row = calls.row_of(13)
    row[0, -1] = number
    return row


class Circuit(unittest.TestCase):
    def test_a_model_that_dies_at_load_rests(self):
        bad = synthetic("bad", parameters={"crash_at_load": True},
                        circuit={"deaths": 3, "period": "60s"})
        with Daemon([bad, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
            wait_until(lambda: daemon.metric("mpsd_circuit_open", model="bad") == 1, 20, "a rest")
            self.assertGreaterEqual(
                daemon.metric("mpsd_worker_exits_total", model="bad", reason="signal"), 3)
            status = daemon.ps()["bad"]
            self.assertIn(status["circuit"], ("open", "probing"))
            self.assertFalse(status["ready"])
            self.assertEqual(daemon.get("/readyz")[0], 503)
            self.assertEqual(daemon.metric("mpsd_circuit_open", model="good"), 0)
            calls.answered(stub, calls.request("good", {"x": calls.row_of(1)}))
            exits = daemon.metric("mpsd_worker_exits_total", model="bad", reason="signal")
            wait_until(lambda: daemon.metric("mpsd_worker_exits_total", model="bad",
                                             reason="signal") > exits, 60, "a probe")

    def test_who_cannot_wait_for_the_end_of_a_rest_is_told_at_once(self):
        model = synthetic("m", circuit={"deaths": 1, "period": "60s"},
                          placement=placement(processes=1))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            strike_down(daemon, "m", 3)
            # Each rest is twice as long as the one before: this one lasts at least three seconds.
            wait_until(lambda: daemon.metric("mpsd_circuit_open") == 1, 20, "a rest")
            self.assertFalse(daemon.ps()["m"]["ready"])
            patient = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}),
                                             timeout=30)
            hasty = calls.infer(stub, calls.request("m", {"x": calls.row_of(2)}), limit_s=1)
            self.assertEqual(hasty.code, UNAVAILABLE)
            self.assertIn("no worker can serve it before the deadline", hasty.text)
            calls.answer_of(patient)
            wait_until(lambda: daemon.metric("mpsd_circuit_open") == 0, 20, "the end of the rest")
            self.assertEqual(daemon.ps()["m"]["circuit"], "closed")
            self.assertTrue(daemon.ps()["m"]["ready"])
            for state in ("open", "probing", "closed"):
                daemon.wait_logged(rf'"event":"circuit".*"state":"{state}"')

    def test_all_workers_come_back_when_the_probe_serves(self):
        model = synthetic("m", circuit={"deaths": 3, "period": "60s"},
                          placement=placement(processes=3))
        with Daemon([model]) as daemon:
            strike_down(daemon, "m", 3)
            daemon.wait_all_serving()
            self.assertEqual(daemon.ps()["m"]["circuit"], "closed")

    def test_deaths_from_outside_say_nothing_about_the_model(self):
        model = synthetic("m", circuit={"deaths": 1, "period": "60s"})
        with Daemon([model]) as daemon:
            strike_down(daemon, "m", 4, signal.SIGKILL)
            self.assertEqual(daemon.ps()["m"]["circuit"], "closed")
            daemon.wait_all_serving()

    def test_one_clients_bad_requests_do_not_take_the_model_from_all(self):
        model = synthetic("m", parameters={"crash_if": 13}, max_batch_size=1,
                          circuit={"deaths": 1, "period": "60s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            for number in range(3):
                outcome = calls.infer(stub, calls.request("m", {"x": bad_row(number)}))
                self.assertEqual(outcome.code, INTERNAL, outcome.text)
            self.assertEqual(daemon.metric("mpsd_worker_exits_total", reason="signal"), 6)
            self.assertEqual(daemon.ps()["m"]["circuit"], "closed")

    def test_nor_do_those_whose_first_death_had_neighbours(self):
        model = synthetic("m", parameters={"crash_if": 13, "delay": "500ms"}, max_batch_size=1,
                          circuit={"deaths": 2, "period": "60s"}, placement=placement(lanes=2))
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            requests = with_neighbours = 0
            while with_neighbours < 2:
                self.assertLess(requests, 20, "a neighbour in time")
                bad = stub.ModelInfer.future(calls.request("m", {"x": bad_row(requests)}))
                wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 20, "the bad one")
                calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}))
                self.assertEqual(calls.outcome_of(bad).code, INTERNAL)
                requests += 1
                # Each bad request dies alone in the end; before, once, if its neighbour was there.
                with_neighbours = daemon.metric("mpsd_worker_exits_total",
                                                reason="signal") - requests
            self.assertEqual(with_neighbours, 2)
            self.assertEqual(daemon.ps()["m"]["circuit"], "closed")
            self.assertNotIn('"event":"circuit"', daemon.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
