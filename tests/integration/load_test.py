"""The load generator over streams and by frames of HTTP/2 of its own: every answer is looked at."""
import json
import re
import subprocess
import unittest

from daemon import BIN, Daemon
from models import synthetic

BUILT_WITHOUT = "built without nghttp2"


class LoadOfFrames(unittest.TestCase):
    def load(self, target, *flags, model="m"):
        done = subprocess.run(
            [BIN / "mpsd-bench", "--frames", "--target", target, "--model", model, "--input",
             "x:FP32[1,16]", "--duration", "1s", "--warmup", "0", "--json", "--allow-errors",
             *flags], capture_output=True, text=True, timeout=60, check=False)
        if BUILT_WITHOUT in done.stderr:
            self.skipTest(BUILT_WITHOUT)
        return done

    def report(self, target, *flags, **options):
        done = self.load(target, *flags, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_more_calls_than_streams_wait_for_one(self):
        with Daemon([synthetic("m")], limits={"streams": 4}) as daemon:
            report = self.report(daemon.address, "--rate", "2000", "--burst", "64",
                                 "--verify-identity")
            self.assertGreater(report["answered"], 64)
            self.assertEqual((report["errors"], report["wrong"]), ({}, 0))
            rows = daemon.metric("mpsd_batch_rows_sum", model="m")
            self.assertGreaterEqual(rows, report["answered"])

    def test_the_daemon_knows_how_much_of_the_deadline_is_left(self):
        slow = synthetic("m", parameters={"delay": "50ms"})
        with Daemon([slow]) as daemon:
            report = self.report(daemon.address, "--rate", "200", "--deadline", "20ms",
                                 "--slo", "20ms")
            self.assertEqual(report["answered"], 0)
            self.assertTrue(set(report["errors"]) <= {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"},
                            report["errors"])
            # Once it knows the model's time, it refuses calls at once.
            self.assertGreater(daemon.metric("mpsd_refused_in_advance_total", model="m"), 0)
            report = self.report(daemon.address, "--rate", "10", "--deadline", "5s")
            self.assertGreater(report["answered"], 0)
            self.assertEqual(report["errors"], {})

    def test_errors_are_told_by_their_code(self):
        with Daemon([synthetic("m")]) as daemon:
            report = self.report(daemon.address, "--rate", "200", model="nobody")
            self.assertEqual(set(report["errors"]), {"NOT_FOUND"})
            self.assertEqual(report["answered"], 0)

    def test_what_it_cannot_do_is_said(self):
        for flags, why in ((("--concurrency", "4"), "--frames: needs --rate or --trace"),
                           (("--rate", "5", "--token-file", __file__), "neither --tls-ca nor")):
            done = self.load("127.0.0.1:1", *flags)
            self.assertEqual(done.returncode, 105)
            self.assertTrue(re.search(why, done.stderr), done.stderr)


class LoadOverStreams(unittest.TestCase):
    def load(self, daemon, model, duration, *flags):
        return subprocess.run(
            [BIN / "mpsd-bench", "--target", daemon.address, "--model", model, "--input",
             "x:FP32[1,16]", "--concurrency", "40", "--duration", duration, "--warmup", "0",
             "--json", *flags], capture_output=True, text=True, timeout=60, check=False)

    def test_every_answer_is_counted_and_right(self):
        with Daemon([synthetic("m")]) as daemon:
            done = self.load(daemon, "m", "2s", "--streams", "3", "--threads", "2",
                             "--verify-identity")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            report = json.loads(done.stdout)
            self.assertGreater(report["answered"], 40)
            self.assertEqual(report["wrong"], 0)
            rows = daemon.metric("mpsd_batch_rows_sum", model="m")
            self.assertGreaterEqual(rows, report["answered"])

    def test_errors_in_a_stream_are_no_answers(self):
        with Daemon([synthetic("m")]) as daemon:
            done = self.load(daemon, "nobody", "500ms", "--streams", "2", "--verify-identity")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["answered"], 0)
            self.assertGreater(report["wrong"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
