"""`mpsd bench` against a daemon: what it says of a load is what the daemon has counted."""
import json
import unittest

from daemon import Daemon, mpsd
from models import placement, synthetic, tensor


def bench(daemon, model, *options, seconds=0.4, server=None):
    done = mpsd("bench", model, "--server", server or daemon.address, "--json", "--seconds", seconds,
                *options)
    return done, json.loads(done.stdout) if done.stdout else None


class Bench(unittest.TestCase):
    def test_clients_and_rates_are_answered(self):
        model = synthetic("echo", max_batch_size=16, parameters={"delay": "5ms"},
                          placement=placement())
        with Daemon([model]) as daemon:
            for server in (daemon.address, f"http://{daemon.http}"):
                with self.subTest(server=server):
                    self.check_clients_and_rates(daemon, server)

    def check_clients_and_rates(self, daemon, server):
        done, report = bench(daemon, "echo", "--clients", "1,16", "--rate", "50", server=server)
        self.assertEqual(done.returncode, 0, done.stderr)
        one, many, rate = report["points"]
        for point in report["points"]:
            self.assertGreater(point["answered"], 0)
            self.assertEqual(point["errors"], {})
            self.assertGreaterEqual(point["p50_ms"], 5)  # no batch takes less
        self.assertEqual(one["mean_batch"], 1)
        self.assertGreater(many["mean_batch"], 1.5)
        self.assertEqual(rate["rate"], 50)

    def test_the_knee_lies_below_what_a_lane_can_do(self):
        # One row every 20 ms: at most 50 a second, and each takes at least 20 ms.
        model = synthetic("slow", max_batch_size=1, parameters={"delay": "20ms"},
                          placement=placement())
        with Daemon([model]) as daemon:
            done, report = bench(daemon, "slow", "--clients", "1", "--slo", "p50=200ms",
                                 seconds=0.5)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(report["knee"]["answered"], 100)  # including earlier answers
            done, report = bench(daemon, "slow", "--clients", "1", "--slo", "p50=10ms",
                                 seconds=0.1)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no load meets p50 <= 10 ms", done.stderr)
            self.assertIsNone(report["knee"])

    def test_lengths_and_ranges_reach_the_model(self):
        model = synthetic("picky", [tensor("x", [-1])], outputs=[tensor("OUTPUT0", [-1])],
                          parameters={"fail_if": "3"})
        with Daemon([model]) as daemon:
            done, report = bench(daemon, "picky", "--clients", "2", "--lengths", "4,9")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(report["points"][0]["errors"], {})
            done, report = bench(daemon, "picky", "--clients", "2", "--input", "x=3")
            self.assertEqual(done.returncode, 1)
            self.assertIn("no request was answered", done.stderr)
            self.assertEqual(report["points"][0]["answered"], 0)
            self.assertIsNone(report["points"][0]["p50_ms"])
            self.assertEqual(len(report["points"][0]["errors"]), 1)

    def test_a_timeout_is_the_deadline_of_each_request(self):
        model = synthetic("slow", parameters={"delay": "3s"}, placement=placement())
        with Daemon([model]) as daemon:
            for server in (daemon.address, f"http://{daemon.http}"):
                done, report = bench(daemon, "slow", "--clients", "1", "--timeout", "1s",
                                     server=server)
                self.assertEqual(done.returncode, 1, done.stderr)
                errors = set(report["points"][0]["errors"])
                self.assertTrue(errors)
                # The server foresees that later ones would be late, and refuses them.
                self.assertLessEqual(errors, {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"})

    def test_what_a_server_refuses_is_told(self):
        with Daemon([synthetic("echo")]) as daemon:
            for options, code in ((["none"], 1), (["echo", "--slo", "20ms"], 64),
                                  (["echo", "--input", "y"], 64)):
                done, report = bench(daemon, *options)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertTrue(done.stderr.startswith("mpsd: "), done.stderr)
                self.assertIsNone(report)


if __name__ == "__main__":
    unittest.main(verbosity=2)
