"""A Go client from generated stubs: built from our .proto files as they are now, then run."""
import os
import shutil
import tempfile
import unittest

import programs
from models import synthetic, tensor
from programs import ROOT, run


class GoClient(programs.ProgramTest):
    program = "go_infer"  # its being there says that Go and the modules of go.mod are
    models = (synthetic("four", [tensor("x", [4])]), synthetic("five", [tensor("x", [5])]))

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
