"""The load generator over streams, against the daemon: every answer is looked at."""
import json
import subprocess
import unittest

from daemon import BIN, Daemon
from models import synthetic


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
