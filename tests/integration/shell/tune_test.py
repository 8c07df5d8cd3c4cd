"""`mpsd tune`: it starts daemons of its own, finds the better config, and leaves nothing behind."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import procfs
from daemon import BIN, mpsd, wait_until
from models import placement, synthetic

SECONDS = "0.15"
LIMIT_S = 200


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="mpsd-t-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.temporary = self.folder / "tmp"  # for the verb and all that it starts
        self.temporary.mkdir()
        self.config = self.folder / "mpsd.json"

    def write(self, *models):
        self.config.write_text("// for a test\n" + json.dumps({"models": list(models)}, indent=1))

    def start(self, model, *options):
        return subprocess.Popen(
            [str(BIN / "mpsd"), "tune", model, "--config", str(self.config), "--seconds", SECONDS,
             *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(self.temporary)})

    def tune(self, model, *options):
        """(exit code, stdout, stderr)"""
        with self.start(model, *options) as process:
            out, err = process.communicate(timeout=LIMIT_S)
        self.check_nothing_is_left()
        return process.returncode, out, err

    def check_nothing_is_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual(procfs.with_environment("TMPDIR", str(self.temporary)), [])

    def workers(self):
        return procfs.with_environment("TMPDIR", f"{self.temporary}/mpsd-tune-")

    def test_finds_the_config_that_serves_more(self):
        # A batch takes 5 ms whatever it has: more lanes or rows serve more, on any host.
        self.write(synthetic("slow", max_batch_size=1, parameters={"delay": "5ms"},
                             placement=placement()), synthetic("other"))
        before = self.config.read_text()
        output = self.folder / "tuned.json"
        code, out, err = self.tune("slow", "--slo", "p50=40ms", "--budget", "20s", "--json",
                                   "--output", output)
        report = json.loads(out)
        self.assertIn(code, (0, 1), err)  # 1: the verification failed on this host
        first, best = report["candidates"][0], report["candidates"][report["best"]]
        self.assertEqual(first["workers"], {"processes": 1, "lanes": 1})
        self.assertEqual(best["state"], "met")
        self.assertGreater(best["knee"]["answered"], first["knee"]["answered"])
        self.assertGreater(report["best"], 0)
        self.assertGreater(report["verified"]["answered"], 0)
        self.assertEqual(report["verified"]["meets_slo"], code == 0)
        # The written file is the config with only these changes.
        self.assertEqual(self.config.read_text(), before)
        self.assertEqual(mpsd("check", output).returncode, 0)
        models = json.loads(before.split("\n", 1)[1])["models"]
        changes = report["changes"]
        models[0]["placement"].update(changes.pop("placement", {}))
        models[0].update(changes)
        comment, text = output.read_text().split("\n", 1)
        self.assertEqual(comment, "// for a test")
        self.assertEqual(json.loads(text), {"models": models})
        self.assertGreater(models[0]["placement"]["processes"] * models[0]["placement"]["lanes"] *
                           models[0]["max_batch_size"], 1)

    def test_names_candidates_for_which_there_is_no_time(self):
        self.write(synthetic("echo", max_batch_size=0, placement=placement()))
        code, out, err = self.tune("echo", "--slo", "p50=20ms", "--budget", "1ms")
        self.assertIn(code, (0, 1), err)
        self.assertIn("not tried: --budget is spent", out)
        self.assertIn("best: as configured", out)
        self.assertIn("verified with", out)

    def test_says_that_nothing_meets_the_slo(self):
        self.write(synthetic("slow", max_batch_size=0, parameters={"delay": "50ms"},
                             placement=placement()))
        code, out, err = self.tune("slow", "--slo", "p50=20ms")
        self.assertEqual(code, 1)
        self.assertIn("no candidate meets p50 <= 20 ms", err)
        self.assertIn("not met: one client alone", out)

    def test_a_model_that_does_not_load_is_said_so(self):
        self.write(synthetic("bad", parameters={"fail_at_load": "true"}))
        code, out, err = self.tune("bad", "--slo", "p99=20ms", "--start-timeout", "20s")
        self.assertEqual(code, 1)
        self.assertIn("mpsd: UNAVAILABLE: model 'bad' cannot be measured: ", err)
        self.assertIn("  failed: ", out)

    def test_wrong_use_is_told_before_anything_is_started(self):
        self.write(synthetic("echo"))
        for code, text, options in (
                (78, "no model 'ehco'; did you mean 'echo'?", ["ehco", "--slo", "p99=20ms"]),
                (64, "--slo: '20ms'", ["echo", "--slo", "20ms"]),
                (64, "--slo is required", ["echo"]),
                (64, "is there already", ["echo", "--slo", "p99=20ms", "--output", self.config]),
                (64, "input 'y': model 'echo' has none",
                 ["echo", "--slo", "p99=1s", "--input", "y"])):
            returned, _, err = self.tune(*options)
            self.assertEqual(returned, code, err)
            self.assertIn(text, err)
        self.write(synthetic("echo", max_bath_size=3))
        returned, _, err = self.tune("echo", "--slo", "p99=20ms")
        self.assertEqual(returned, 78)
        self.assertRegex(err, r"mpsd\.json:\d+: models\[0\]\.max_bath_size: unknown key")

    def test_a_signal_ends_it_and_all_that_it_has_started(self):
        self.write(synthetic("echo"))
        with self.start("echo", "--slo", "p99=1s") as process:
            wait_until(self.workers, 60, "a daemon with its worker")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LIMIT_S)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.check_nothing_is_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)
