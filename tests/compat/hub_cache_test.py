"""Python's huggingface_hub and mpsd share one cache: what either has fetched counts for the other."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from fake_hub import COMMIT, FakeHub  # noqa: E402

BIN = pathlib.Path(os.environ.get("MPSD_BIN") or ROOT / "build/release/bin")
PYTHON = ROOT / ".deps/clients-venv/bin/python"
FETCH = ("import huggingface_hub, sys\n"
         "print(huggingface_hub.snapshot_download('ORG/NAME', allow_patterns=sys.argv[1:]))")
FILES = {"config.json": b"{}", "tokenizer.json": b"{ }", "1_Pooling/config.json": b"{  }",
         "model.safetensors": bytes(range(256)) * 64}


@unittest.skipUnless(PYTHON.exists(), "there is no environment of applications' clients")
class HubCache(unittest.TestCase):
    def setUp(self):
        home = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-hub-"))
        self.hub = self.enterContext(FakeHub(FILES))
        self.environment = {"PATH": os.environ["PATH"], "HOME": home, "HF_HOME": home,
                            "HF_ENDPOINT": self.hub.url, "HF_HUB_DISABLE_XET": "1"}
        self.snapshot = f"{home}/hub/models--ORG--NAME/snapshots/{COMMIT}"

    def run_program(self, *words, **environment):
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120,
                              check=False, env={**self.environment, **environment})
        self.assertEqual((done.returncode, done.stdout.strip()), (0, self.snapshot), done.stderr)

    def test_what_mpsd_has_fetched_counts_in_python(self):
        self.run_program(BIN / "mpsd", "pull", "ORG/NAME")
        fetched = len(self.hub.fetched())
        self.run_program(PYTHON, "-c", FETCH, *FILES)
        self.run_program(PYTHON, "-c", FETCH, *FILES, HF_HUB_OFFLINE="1")
        self.assertEqual(len(self.hub.fetched()), fetched)

    def test_what_python_has_fetched_counts_in_mpsd(self):
        self.run_program(PYTHON, "-c", FETCH, *FILES)
        fetched = len(self.hub.fetched())
        self.assertGreater(fetched, 0)
        self.run_program(BIN / "mpsd", "pull", "ORG/NAME")
        self.run_program(BIN / "mpsd", "pull", "ORG/NAME", HF_HUB_OFFLINE="1")
        self.assertEqual(len(self.hub.fetched()), fetched)


if __name__ == "__main__":
    unittest.main(verbosity=2)
