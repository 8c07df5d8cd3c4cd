"""`"compat": "triton"`: the codes, and the metrics, that clients and dashboards of Triton know."""
import os
import re
import signal
import unittest

import grpc
from tritonclient.grpc import service_pb2

import calls
import rich_status
from daemon import Daemon, ROOT, wait_until
from models import synthetic

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
FULL = "Exceeds maximum queue size"
LATE = "Request timeout expired"
FAILURES = "nv_inference_request_failure"
PENDING = "nv_inference_pending_request_count"
QUEUE = 4
# The field of ModelStatistics for each counter.
COUNTERS = {
    "nv_inference_request_success": lambda stats: stats.inference_stats.success.count,
    "nv_inference_count": lambda stats: stats.inference_count,
    "nv_inference_exec_count": lambda stats: stats.execution_count,
    "nv_inference_request_duration_us": lambda stats: stats.inference_stats.success.ns // 1000,
    "nv_inference_queue_duration_us": lambda stats: stats.inference_stats.queue.ns // 1000,
    "nv_inference_compute_input_duration_us":
        lambda stats: stats.inference_stats.compute_input.ns // 1000,
    "nv_inference_compute_infer_duration_us":
        lambda stats: stats.inference_stats.compute_infer.ns // 1000,
    "nv_inference_compute_output_duration_us":
        lambda stats: stats.inference_stats.compute_output.ns // 1000,
    "nv_cache_num_hits_per_model": lambda stats: stats.inference_stats.cache_hit.count,
    "nv_cache_num_misses_per_model": lambda stats: stats.inference_stats.cache_miss.count,
    "nv_cache_hit_duration_per_model": lambda stats: stats.inference_stats.cache_hit.ns // 1000,
    "nv_cache_miss_duration_per_model": lambda stats: stats.inference_stats.cache_miss.ns // 1000,
}


def family_names(text):
    """The names of Triton's in a page of metrics, or of documentation."""
    return set(re.findall(r"\bnv_\w+", text))


class CompatTriton(unittest.TestCase):
    def serve(self, *models, **config):
        daemon = self.enterContext(Daemon(list(models), **config))
        return daemon, self.enterContext(calls.stub(daemon.address))

    def check_counters(self, daemon, stub, model):
        """Each is what ModelStatistics says; what it says."""
        stats, = stub.ModelStatistics(
            service_pb2.ModelStatisticsRequest(name=model)).model_stats
        for name, of in COUNTERS.items():
            self.assertEqual(daemon.metric(name, model=model, version="1"), of(stats), name)
        return stats

    def check_failures(self, daemon, **counts):
        for reason in ("REJECTED", "CANCELED", "BACKEND", "OTHER"):
            self.assertEqual(daemon.metric(FAILURES, model="m", version="1", reason=reason),
                             counts.get(reason, 0), reason)

    def wait_held(self, daemon, calls_held):
        """Returns when each of so many calls is in a batch, of one row each, or in the queue."""
        wait_until(lambda: daemon.metric("mpsd_running_batches") +
                   daemon.metric("mpsd_queue_requests") == calls_held, 30, f"{calls_held} calls")

    def fill(self, daemon, stub, waiting, queued):
        """More calls wait, until so many are in the queue; the lane may take one beforehand."""
        while daemon.metric("mpsd_queue_requests") < queued:
            waiting.append(stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)})))
            self.wait_held(daemon, 1 + len(waiting))

    def occupied(self, **config):
        """A daemon whose only lane hangs and whose queue has room left, the lane's call and those
        that wait."""
        daemon, stub = self.serve(
            synthetic("m", max_batch_size=1, parameters={"hang_if": 13}, queue={"requests": QUEUE}),
            **config)
        running = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(13)}))
        self.wait_held(daemon, 1)
        waiting = []
        self.fill(daemon, stub, waiting, 1)
        return daemon, stub, running, waiting

    def free(self, daemon, running, waiting):
        """What waits is answered after all."""
        running.cancel()
        wait_until(lambda: daemon.metric("mpsd_requests_total", code="CANCELLED") == 1, 30,
                   "the end of the first")
        os.kill(daemon.workers()[0], signal.SIGKILL)
        self.assertEqual({calls.outcome_of(future).code for future in waiting}, {calls.OK})

    def check_codes(self, full, late, **config):
        """The codes of a full queue, and of a request whose time has passed in it."""
        daemon, stub, running, waiting = self.occupied(**config)
        message = calls.request("m", {"x": calls.row_of(1)}, parameters={"timeout": 100_000})
        outcome = calls.infer(stub, message)
        self.assertEqual((outcome.code, outcome.text), (late, LATE))
        self.wait_held(daemon, 1 + len(waiting))
        self.fill(daemon, stub, waiting, QUEUE)
        refused = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
        outcome = calls.outcome_of(refused)
        self.assertEqual((outcome.code, outcome.text), (full, FULL))
        status = rich_status.status_of(refused)
        self.assertEqual(status.code, full.value[0])
        self.assertGreater(rich_status.retry_delay_s(status), 0)
        return daemon, stub, running, waiting

    def test_codes_and_what_is_pending(self):
        daemon, stub, running, waiting = self.check_codes(UNAVAILABLE, UNAVAILABLE,
                                                          compat="triton")
        self.assertEqual(daemon.metric(PENDING, model="m", version="1"), QUEUE)
        self.free(daemon, running, waiting)
        self.assertEqual(daemon.metric(PENDING), 0)
        self.check_failures(daemon, REJECTED=2, CANCELED=1)
        stats = self.check_counters(daemon, stub, "m")
        self.assertEqual(stats.inference_stats.success.count, len(waiting))

    def test_a_time_out_in_the_lane(self):
        """Triton's own only waits; the text is the queue's, and so is the code."""
        daemon, stub = self.serve(synthetic("m", parameters={"delay": "3s"}), compat="triton")
        message = calls.request("m", {"x": calls.row_of(1)}, parameters={"timeout": 500_000})
        outcome = calls.infer(stub, message)
        self.assertEqual((outcome.code, outcome.text), (UNAVAILABLE, LATE))
        self.assertEqual(daemon.metric("mpsd_running_batches"), 1, "not when the batch ended")

    def test_other_codes_are_as_ever(self):
        _, stub = self.serve(synthetic("m", parameters={"throw_if": 13}), compat="triton")
        for message, code in (
                (calls.request("nobody", {"x": calls.row_of(1)}), grpc.StatusCode.NOT_FOUND),
                (calls.request("m", {"y": calls.row_of(1)}), grpc.StatusCode.INVALID_ARGUMENT),
                (calls.request("m", {"x": calls.row_of(13)}), grpc.StatusCode.INTERNAL)):
            self.assertEqual(calls.infer(stub, message).code, code)

    def test_metrics_are_those_of_the_statistics(self):
        daemon, stub = self.serve(
            synthetic("m", parameters={"throw_if": 13, "delay": "2ms"}), synthetic("other"),
            compat="triton")
        for rows in (1, 2, 3, 8):
            message = calls.request("m", {"x": calls.row_of(1, rows=rows)})
            self.assertEqual(calls.infer(stub, message).code, calls.OK)
        for _ in range(2):
            message = calls.request("m", {"x": calls.row_of(13)})
            self.assertEqual(calls.infer(stub, message).code, grpc.StatusCode.INTERNAL)
        stats = self.check_counters(daemon, stub, "m")
        self.check_failures(daemon, BACKEND=2)
        infer = stats.inference_stats
        self.assertEqual((infer.success.count, infer.fail.count), (4, 2))
        self.assertEqual((stats.inference_count, stats.execution_count), (1 + 2 + 3 + 8, 4 + 2))
        self.assertGreaterEqual(infer.compute_infer.ns, 4 * 2_000_000)
        self.assertEqual(self.check_counters(daemon, stub, "other").execution_count, 0)

    def test_the_names_are_those_that_are_promised(self):
        daemon, _ = self.serve(synthetic("m"), compat="triton")
        text = daemon.get("/metrics")[1]
        self.assertEqual(family_names(text), {*COUNTERS, FAILURES, PENDING})
        self.assertEqual(family_names((ROOT / "docs/coming-from-triton.md").read_text()),
                         {*COUNTERS, FAILURES, PENDING})
        for name in COUNTERS:
            self.assertIn(f"# TYPE {name} counter\n", text)
        self.assertIn(f"# TYPE {PENDING} gauge\n", text)

    def test_without_the_switch_there_is_nothing_of_it(self):
        daemon, _, running, waiting = self.check_codes(grpc.StatusCode.RESOURCE_EXHAUSTED,
                                                       grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertEqual(family_names(daemon.get("/metrics")[1]), set())
        self.free(daemon, running, waiting)


if __name__ == "__main__":
    unittest.main(verbosity=2)
