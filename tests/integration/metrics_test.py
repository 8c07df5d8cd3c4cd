"""What the daemon counts is what happened."""
import unittest

import numpy as np

import calls
from daemon import Daemon, wait_until
from models import synthetic


class Metrics(unittest.TestCase):
    def test_requests_are_counted_exactly(self):
        model = synthetic("m", parameters={"throw_if": 13, "delay": "1ms"})
        with Daemon([model, synthetic("other")]) as daemon, calls.stub(daemon.address) as stub:
            good = [calls.request("m", {"x": calls.row_of(i + 100, rows=1 + i % 3)})
                    for i in range(30)]
            self.assertEqual({outcome.code for outcome in calls.infer_all(stub, good)}, {calls.OK})
            for _ in range(5):
                calls.infer(stub, calls.request("m", {"x": np.zeros((1, 3), np.float32)}))
            for _ in range(3):
                calls.infer(stub, calls.request("m", {"x": calls.row_of(13)}))
            for _ in range(4):
                calls.infer(stub, calls.request("nobody", {"x": calls.row_of(1)}))
            for code, count in (("OK", 30), ("INVALID_ARGUMENT", 5), ("INTERNAL", 3)):
                self.assertEqual(daemon.metric("mpsd_requests_total", model="m", code=code), count)
            self.assertEqual(daemon.metric("mpsd_requests_total", model="m"), 38)
            self.assertEqual(daemon.metric("mpsd_requests_total", model="other"), 0)
            self.assertEqual(daemon.metric("mpsd_refused_requests_total", code="NOT_FOUND"), 4)
            self.assertEqual(daemon.metric("mpsd_refused_requests_total"), 4)
            rows = sum(1 + i % 3 for i in range(30)) + 3
            self.assertEqual(daemon.metric("mpsd_batch_rows_sum", model="m"), rows)
            self.assertEqual(daemon.metric("mpsd_batch_rows_count", model="m"),
                             daemon.metric("mpsd_batches_total", model="m"))
            for stage in ("queue", "dispatch", "execute", "respond"):
                self.assertEqual(daemon.metric("mpsd_stage_seconds_count", model="m",
                                               stage=stage), 33, stage)
            execute = daemon.metric("mpsd_stage_seconds_sum", model="m", stage="execute")
            self.assertGreaterEqual(execute, 33 * 0.001)

    def test_names_of_models_nobody_serves_do_not_become_series(self):
        with Daemon([synthetic("m")]) as daemon, calls.stub(daemon.address) as stub:
            series = len(daemon.get("/metrics")[1].splitlines())
            calls.infer_all(stub, [calls.request(f"nobody-{i}", {"x": calls.row_of(1)})
                                   for i in range(200)])
            text = daemon.get("/metrics")[1]
            self.assertNotIn("nobody", text)
            self.assertEqual(len(text.splitlines()), series)

    def test_a_host_that_turns_requests_away_is_saturated(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "3s"}, queue={"requests": 4})
        with Daemon([model, synthetic("idle")]) as daemon, calls.stub(daemon.address) as stub:
            self.assertEqual(daemon.metric("mpsd_saturation"), 0)
            futures = [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}), timeout=30)
                       for i in range(5)]
            wait_until(lambda: daemon.metric("mpsd_queued_requests") == 4, 20, "a full queue")
            wait_until(lambda: daemon.metric("mpsd_running_requests") == 1, 20, "a running request")
            refused = calls.infer(stub, calls.request("m", {"x": calls.row_of(9)}))
            self.assertEqual(refused.code.name, "RESOURCE_EXHAUSTED", refused.text)
            wait_until(lambda: daemon.metric("mpsd_saturation") > 0.9, 20, "saturation")
            self.assertGreater(daemon.metric("mpsd_model_saturation", model="m"), 0.5)
            self.assertEqual(daemon.metric("mpsd_model_saturation", model="idle"), 0)
            for future in futures:
                future.cancel()
            wait_until(lambda: daemon.metric("mpsd_saturation") < 0.5, 60, "its end")

    def test_a_promised_latency_tells_the_hosts_that_it_takes(self):
        model = synthetic("m", parameters={"delay": "20ms"}, slo={"p99": "200ms"})
        with Daemon([model, synthetic("n")]) as daemon, calls.stub(daemon.address) as stub:
            self.assertNotIn("mpsd_replicas_needed{", daemon.get("/metrics")[1])
            for i in range(20):
                calls.infer(stub, calls.request("m", {"x": calls.row_of(i)}))
            wait_until(lambda: 0 < daemon.metric("mpsd_replicas_needed", model="m") < 1, 20, "a need")
            self.assertNotIn('mpsd_replicas_needed{model="n"', daemon.get("/metrics")[1])

    def test_workers(self):
        with Daemon([synthetic("m")]) as daemon:
            self.assertEqual(daemon.metric("mpsd_workers_configured", model="m"), 1)
            self.assertEqual(daemon.metric("mpsd_workers_ready", model="m"), 1)
            self.assertGreater(daemon.metric("process_resident_memory_bytes"), 1 << 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
