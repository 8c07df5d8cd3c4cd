"""Calls that end early: cancelled, out of time, refused. What they held comes back."""
import collections
import os
import random
import signal
import time
import unittest

import grpc
import numpy as np
from tritonclient.grpc import service_pb2

import calls
import rich_status
from daemon import Daemon, wait_until
from models import placement, repeating, synthetic

CANCELLED = grpc.StatusCode.CANCELLED
DEADLINE_EXCEEDED = grpc.StatusCode.DEADLINE_EXCEEDED
RESOURCE_EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


class CallEnding(unittest.TestCase):
    def check_serves(self, stub, model="m"):
        calls.answered(stub, calls.request(model, {"x": calls.row_of(4)}))

    def connect(self, stub):
        """So that a short deadline passes in the server, and not on the way to it."""
        self.assertTrue(stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=30).live)

    def test_ten_thousand_calls_are_cancelled(self):
        model = synthetic("m", parameters={"delay": "50ms"}, placement=placement(processes=2),
                          queue={"requests": 64})
        seed = random.randrange(1 << 30)
        print(f"  seed {seed}", flush=True)
        dice = random.Random(seed)
        endings = collections.Counter()
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            for _ in range(200):
                futures = [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}),
                                                  timeout=30) for i in range(50)]
                dice.shuffle(futures)
                for future in futures:
                    if dice.random() < 0.1:
                        time.sleep(0.001)
                    future.cancel()
                endings.update(calls.outcome_of(future).code for future in futures)
            self.check_serves(stub)
            # An ending counts once gRPC has told the server.
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 30, "the end of all calls")
            # The client ended the call, or the server was done before.
            counted = {code: daemon.metric("mpsd_requests_total", code=code)
                       for code in ("OK", "CANCELLED", "RESOURCE_EXHAUSTED")}
            print(f"  the client saw {dict(endings)}, the server counted {counted}", flush=True)
            self.assertEqual(endings.total(), 10_000)
            self.assertLessEqual(set(endings), {calls.OK, CANCELLED, RESOURCE_EXHAUSTED})
            self.assertGreater(counted["CANCELLED"], 0)
            self.assertEqual(daemon.metric("mpsd_requests_total"), sum(counted.values()))
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)

    def test_a_cancelled_call_that_waits_never_runs(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "3s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            running = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 30, "the first")
            waiting = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(2)}))
            wait_until(lambda: daemon.metric("mpsd_queue_requests") == 1, 30, "the second")
            waiting.cancel()
            wait_until(lambda: daemon.metric("mpsd_queue_requests") == 0, 30, "its removal")
            self.assertEqual(calls.outcome_of(running).code, calls.OK)
            self.assertEqual(daemon.metric("mpsd_batches_total"), 1)
            self.assertEqual(daemon.metric("mpsd_requests_total", code="CANCELLED"), 1)

    def test_client_that_vanishes(self):
        """A closed connection cancels what was on it."""
        with Daemon([synthetic("m", max_batch_size=1, parameters={"delay": "200ms"})]) as daemon:
            with calls.stub(daemon.address) as gone:
                futures = [gone.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}))
                           for i in range(20)]
                wait_until(lambda: daemon.metric("mpsd_queue_requests") > 10, 30, "a queue")
            for future in futures:
                calls.outcome_of(future)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 30, "the end of its calls")
            with calls.stub(daemon.address) as stub:
                self.check_serves(stub)

    def test_the_clients_deadline_while_running(self):
        with Daemon([synthetic("m", parameters={"delay": "4s"})]) as daemon, \
                calls.stub(daemon.address) as stub:
            self.connect(stub)
            outcomes = calls.infer_all(stub, [calls.request("m", {"x": calls.row_of(i)})
                                              for i in range(8)], limit_s=1)
            self.assertEqual({outcome.code for outcome in outcomes}, {DEADLINE_EXCEEDED})
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 30, "the server's end")
            self.assertGreater(daemon.metric("mpsd_running_batches"), 0, "not when it ended")
            self.check_serves(stub)

    def check_timeout(self, daemon, outcome):
        """REQUIRES: a batch runs, and for so long that only a late answer could see its end."""
        self.assertEqual((outcome.code, outcome.text),
                         (DEADLINE_EXCEEDED, "Request timeout expired"))
        self.assertEqual(daemon.metric("mpsd_running_batches"), 1, "not when the batch ended")

    def test_the_timeout_parameter_while_running(self):
        """The server's own clock: the client would wait for long."""
        with Daemon([synthetic("m", parameters={"delay": "3s"})]) as daemon, \
                calls.stub(daemon.address) as stub:
            message = calls.request("m", {"x": calls.row_of(1)}, parameters={"timeout": 500_000})
            self.check_timeout(daemon, calls.infer(stub, message))
            self.assertEqual(daemon.metric("mpsd_requests_total", code="DEADLINE_EXCEEDED"), 1)
            self.check_serves(stub)

    def test_the_timeout_parameter_while_waiting(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "3s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            running = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 30, "the first")
            message = calls.request("m", {"x": calls.row_of(2)}, parameters={"timeout": 100_000})
            self.check_timeout(daemon, calls.infer(stub, message))
            self.assertEqual(calls.outcome_of(running).code, calls.OK)
            self.assertEqual(daemon.metric("mpsd_batches_total"), 1, "the late one never ran")

    def test_the_timeout_parameter_never_lengthens(self):
        with Daemon([synthetic("m", parameters={"delay": "4s"})]) as daemon, \
                calls.stub(daemon.address) as stub:
            self.connect(stub)
            message = calls.request("m", {"x": calls.row_of(1)}, parameters={"timeout": 60_000_000})
            self.assertEqual(calls.infer(stub, message, limit_s=1).code, DEADLINE_EXCEEDED)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 30, "the server's end")
            self.assertEqual(daemon.metric("mpsd_running_batches"), 1, "not when the batch ended")

    def test_the_default_deadline(self):
        """Of calls that bring none; one of their own may be longer."""
        with Daemon([synthetic("m", parameters={"delay": "3s"})],
                    limits={"default_deadline": "1s"}) as daemon, \
                calls.stub(daemon.address) as stub:
            call = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            self.check_timeout(daemon, calls.outcome_of(call))
            self.check_serves(stub)

    def test_no_default_deadline(self):
        with Daemon([synthetic("m", parameters={"delay": "2s"})],
                    limits={"default_deadline": "0"}) as daemon, \
                calls.stub(daemon.address) as stub:
            call = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            self.assertEqual(calls.outcome_of(call).code, calls.OK)

    def test_the_default_deadline_is_between_answers(self):
        """Each comes in time, all of them together do not; the last one never does."""
        delays_ms = np.array([800, 800, 800, 800, 5000], np.uint32)
        message = calls.request("m", {"IN": np.arange(5, dtype=np.int32), "DELAY": delays_ms,
                                      "WAIT": np.zeros(1, np.uint32)})
        with Daemon([repeating("m")], limits={"default_deadline": "2s"}) as daemon, \
                calls.stub(daemon.address) as stub:
            *answers, last = stub.ModelStreamInfer(iter([message]))
            self.assertEqual([answer.error_message for answer in answers], [""] * 4)
            self.assertIn("Request timeout expired", last.error_message)

    def test_deadlines_in_a_mix(self):
        """Those with time are answered, those without are told; nobody waits for the others."""
        model = synthetic("m", max_batch_size=4, parameters={"delay": "100ms"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            hurried = [calls.request("m", {"x": calls.row_of(i)}, parameters={"timeout": 150_000})
                       for i in range(20)]
            patient = [calls.request("m", {"x": calls.row_of(i)}) for i in range(20)]
            mixed = [message for pair in zip(hurried, patient) for message in pair]
            outcomes = calls.infer_all(stub, mixed)
            self.assertEqual({outcome.code for outcome in outcomes[1::2]}, {calls.OK})
            late = [outcome for outcome in outcomes[::2] if outcome.code != calls.OK]
            self.assertEqual({(outcome.code, outcome.text) for outcome in late},
                             {(DEADLINE_EXCEEDED, "Request timeout expired")})
            self.check_serves(stub)

    def test_queue_full(self):
        """The first one hangs: nothing leaves the queue until the worker is killed."""
        model = synthetic("m", max_batch_size=1, parameters={"hang_if": 13},
                          queue={"requests": 4})
        refused = 20 - 4 - 2  # the lane may have taken one or two
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            running = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(13)}))
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 30, "the first")
            futures = [stub.ModelInfer.future(
                calls.request("m", {"x": calls.row_of(1)}, request_id=f"q{i}"))
                       for i in range(20)]
            wait_until(lambda: sum(future.done() for future in futures) >= refused, 30,
                       "the refusals")
            running.cancel()
            wait_until(lambda: daemon.metric("mpsd_requests_total", code="CANCELLED") == 1, 30,
                       "the end of the first")
            os.kill(daemon.workers()[0], signal.SIGKILL)
            outcomes = [calls.outcome_of(future) for future in futures]
            full = 0
            for i, (future, outcome) in enumerate(zip(futures, outcomes)):
                if outcome.code != calls.OK:
                    self.check_full(future, outcome, f"q{i}")
                    full += 1
            self.assertGreaterEqual(full, refused)
            self.check_serves(stub)

    def test_a_burst_of_ten_queues_adds_up(self):
        """Calls whose time is a millisecond, or thirty, or as good as any: each has one ending, and
        the counters have the same endings."""
        model = synthetic("m", max_batch_size=4, parameters={"delay": "5ms"},
                          queue={"requests": 16})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            messages = [calls.request("m", {"x": calls.row_of(i)},
                                      parameters=timeout_us and {"timeout": timeout_us})
                        for i, timeout_us in enumerate((1000, 30_000, None, None) * 40)]
            endings = collections.Counter()
            for _ in range(4):
                for i, outcome in enumerate(calls.infer_all(stub, messages)):
                    endings[outcome.code.name] += 1
                    if outcome.code == calls.OK:
                        self.assertTrue((calls.arrays(outcome.response)["OUTPUT0"] == i).all(), i)
            self.assertGreater(endings["RESOURCE_EXHAUSTED"], 0)
            for code, count in endings.items():
                self.assertEqual(daemon.metric("mpsd_requests_total", code=code), count, endings)
            self.assertEqual(daemon.metric("mpsd_requests_total"), 4 * len(messages))
            for gauge in ("mpsd_queue_requests", "mpsd_queue_bytes", "mpsd_running_batches"):
                self.assertEqual(daemon.metric(gauge), 0, gauge)
            self.check_serves(stub)

    def check_full(self, future, outcome, request_id):
        """Says whose request it was, and when it may come again."""
        text = f"[request id: {request_id}] Exceeds maximum queue size"
        self.assertEqual((outcome.code, outcome.text), (RESOURCE_EXHAUSTED, text))
        status = rich_status.status_of(future)
        self.assertEqual((status.code, status.message), (RESOURCE_EXHAUSTED.value[0], text))
        self.assertEqual([detail.type_url for detail in status.details], [rich_status.RETRY_INFO])
        # While the lane hangs, nobody knows when there will be room.
        delay_s = rich_status.retry_delay_s(status)
        self.assertGreater(delay_s, 0)
        self.assertLessEqual(delay_s, 60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
