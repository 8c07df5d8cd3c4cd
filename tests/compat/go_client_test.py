"""A Go client from generated stubs: built from our .proto files as they are now, then run."""
import json
import os
import shutil
import tempfile
import unittest

import programs
from daemon import Daemon
from models import synthetic, tensor
from programs import ROOT, run


def model(delay):
    """A batch takes the longer, the more rows it has, so that a host has a most that it answers."""
    return synthetic("four", [tensor("x", [4])], max_batch_size=4,
                     parameters={"delay": "1ms", "delay_per_row": delay})


class GoClient(programs.ProgramTest):
    program = "go_infer"  # its being there says that Go and the modules of go.mod are
    models = (model("2ms"), synthetic("five", [tensor("x", [5])]))

    @classmethod
    def setUpClass(cls):
        if not shutil.which("go"):
            raise unittest.SkipTest("there is no Go")
        super().setUpClass()
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        run(str(ROOT / "tests/compat/go/build.sh"), folder, limit_s=250,
            env={**os.environ, "GOPROXY": "off"})
        cls.client = f"{folder}/go_infer"

    def test_infers(self):
        self.assertEqual(run(self.client, self.address, "four"), "all answers are right\n")

    def test_would_say_what_is_wrong(self):
        text = run(self.client, self.address, "five", code=1)
        self.assertIn("unexpected shape for input 'x' for model 'five'", text)

    def check_shares(self, reports):
        """gRPC's own weighted_round_robin gives a host that is four times as slow fewer calls."""
        with Daemon([model("8ms")]) as slow:
            text = run(self.client, f"{self.address},{slow.address}", "four", reports)
        answered = json.loads(text)
        print(f"{reports}: the fast host answered {answered[self.address]}, the slow one "
              f"{answered[slow.address]}")
        self.assertLess(answered[slow.address], 0.6 * answered[self.address])

    def test_shares_calls_by_reports_beside_answers(self):
        self.check_shares("beside-answers")

    def test_shares_calls_by_reports_out_of_band(self):
        self.check_shares("out-of-band")


if __name__ == "__main__":
    unittest.main(verbosity=2)
