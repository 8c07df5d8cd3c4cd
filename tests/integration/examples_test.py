"""The examples of the documentation, run as they stand there."""
import pathlib
import subprocess
import sys
import unittest

from daemon import BIN, Daemon, ROOT, WITH_TORCH, mpsd
from models import synthetic, tensor, torchscript


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Without torch a synthetic model stands in for the demo's.
        model = torchscript("mlp", "mlp_1024x6") if WITH_TORCH else synthetic(
            "mlp", [tensor("input", [1024])], outputs=[tensor("output", [1024])])
        cls.daemon = cls.enterClassContext(Daemon(
            [model], limits={"client_shared_memory": "16MiB"}))

    def run_it(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_python(self):
        said = self.run_it(sys.executable, ROOT / "client/examples/python/infer.py", "--address",
                           self.daemon.address, "mlp")
        self.assertRegex(said, r"^output \[1, 1024\]: \[")

    def test_python_tells_what_is_wrong(self):
        done = subprocess.run([sys.executable, str(ROOT / "client/examples/python/infer.py"),
                               "--address", self.daemon.address, "minilm", "--vocab", "none", "x"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_cpp(self):
        said = self.run_it(BIN / "mpsd-example-infer", self.daemon.address, "mlp")
        self.assertRegex(said, r"^output \[1,1024\]: ")

    def test_cpp_asynchronous(self):
        said = self.run_it(BIN / "mpsd-example-async-infer", self.daemon.address, "mlp", 50)
        self.assertEqual(said, "50 answers\n")

    def test_cpp_stream(self):
        said = self.run_it(BIN / "mpsd-example-stream", self.daemon.address, "mlp")
        self.assertEqual(sorted(said.splitlines()), [
            "for mlp: 1 outputs", "for mlp: 1 outputs",
            "for nobody: Request for unknown model: 'nobody' is not found"])

    def test_cpp_shared_memory(self):
        said = self.run_it(BIN / "mpsd-example-shared-memory", self.daemon.address, "mlp")
        self.assertRegex(said, r"^output \[1,1024\] in 4096 bytes of shared memory: ")
        self.assertEqual(self.daemon.metric("mpsd_client_regions"), 0, "it tidied up")

    def test_cpp_unknown_model(self):
        done = subprocess.run([str(BIN / "mpsd-example-infer"), self.daemon.address, "nobody"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Request for unknown model: 'nobody' is not found", done.stderr)

    def test_verbs(self):
        address = ["--address", self.daemon.address]
        done = mpsd("infer", "mlp", "--input", "input=random", "--batch", 4, *address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"4,\s?1024")
        done = mpsd("ps", *address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"mlp +1 +ready")

    def test_what_the_ready_table_says_to_try(self):
        """Each of its lines works, the program's path aside."""
        lines = [line.split() for line in self.daemon.table.split("Try:\n")[1].splitlines()]
        verbs = [words[1:] for words in lines if pathlib.Path(words[0]).name == "mpsd"]
        self.assertEqual([words[0] for words in verbs], ["infer", "ps"])
        for words in verbs:
            done = mpsd(*words, "--address", self.daemon.address)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_nobody_is_there(self):
        done = mpsd("ps", "--address", f"unix:{self.daemon.folder}/none", "--timeout", "300ms")
        self.assertEqual(done.returncode, 69, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
