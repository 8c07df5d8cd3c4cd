"""The examples of the documentation, run as they stand there."""
import hashlib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from certificates import Authority
from daemon import BIN, Daemon, MODELS, ROOT, WITH_TORCH, mpsd
from models import huggingface, synthetic, tensor, torchscript

EXAMPLES = ROOT / "client/examples"
PYTHON = EXAMPLES / "python/infer.py"
TOKEN = "a-token"


def demo_models():
    """Those of the demo that examples ask; without torch a synthetic model stands in for one."""
    if WITH_TORCH:
        return [torchscript("mlp", "mlp_1024x6"),
                huggingface("minilm")]
    return [synthetic("mlp", [tensor("input", [1024])], outputs=[tensor("output", [1024])])]


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(
            demo_models()[:1], limits={"client_shared_memory": "16MiB"}))

    def run_it(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_python(self):
        said = self.run_it(sys.executable, PYTHON, "--address", self.daemon.address, "mlp")
        self.assertRegex(said, r"^output \[1, 1024\]: \[")

    def test_python_tells_what_is_wrong(self):
        for arguments, wanted in (
                (["--token-file", "none", "mlp"],
                 "[Errno 2] No such file or directory: 'none'"),
                (["minilm", "x"],
                 "StatusCode.NOT_FOUND: Request for unknown model: 'minilm' is not found")):
            done = subprocess.run([sys.executable, str(PYTHON), "--address", self.daemon.address,
                                   *arguments],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertEqual(done.stderr.splitlines()[-1:], [wanted])
            self.assertNotIn("Traceback", done.stderr)

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

    def test_nobody_is_there(self):
        done = mpsd("ps", "--address", f"unix:{self.daemon.folder}/none", "--timeout", "300ms")
        self.assertEqual(done.returncode, 69, done.stderr)


class Page(unittest.TestCase):
    """The lines of client/examples/README.md, with this test's addresses, programs and files."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(
            tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        authority = Authority(cls.folder, "authority")
        certificate, key = authority.issue("server")
        (cls.folder / "token").write_text(f"{TOKEN}\n")
        tokens = cls.folder / "tokens"
        tokens.write_text(f"reader {hashlib.sha256(TOKEN.encode()).hexdigest()}\n")
        tokens.chmod(0o600)
        cls.open = cls.enterClassContext(Daemon(demo_models()))
        cls.closed = cls.enterClassContext(Daemon(
            demo_models()[:1],
            listen_more={"tls": {"grpc": ["127.0.0.1:0"], "certificate": str(certificate),
                                 "key": str(key)}},
            access={"tokens": str(tokens), "open": ["metrics"],
                    "rules": [{"token": "reader", "roles": ["infer"]}]}))
        cls.replacements = {
            "HOST:8443": cls.closed.listeners[1], "127.0.0.1:8001": cls.open.address,
            "http://127.0.0.1:8000": f"http://{cls.open.http}",
            "ca.pem": str(authority.pem), "token": str(cls.folder / "token"),
            "venv/bin/python": sys.executable,
            "mpsd": str(BIN / "mpsd"), "mpsd-example-infer": str(BIN / "mpsd-example-infer"),
            "build/release/bin/mpsd-example-infer": str(BIN / "mpsd-example-infer")}

    def lines(self):
        """The page's commands, each a list of words."""
        page = (EXAMPLES / "README.md").read_text().replace("\\\n", " ")
        return [shlex.split(line, comments=True)
                for line in re.findall(r"^    (\S.*)$", page, re.M)]

    def address_of(self, words):
        if words[0].endswith("mpsd-example-infer"):
            return [self.open.address]
        if words[1] in ("embed", "tokenize"):
            return ["--server", f"http://{self.open.http}"]
        return ["--address", self.open.address]

    def command(self, words):
        """What is run in place of the line: an address goes in where the line has none."""
        made = [self.replacements.get(word, word) for word in words]
        if not {"HOST:8443", "127.0.0.1:8001", "http://127.0.0.1:8000"} & set(words):
            # After the script and after the verb.
            made[2:2] = self.address_of(words)
        return made

    def test_every_line_works(self):
        ran = 0
        for words in self.lines():
            if words[:3] == ["python3", "-m", "venv"] or words[0] == "venv/bin/pip":
                continue  # this test's own environment, see below
            if "minilm" in words and not WITH_TORCH:
                continue
            with self.subTest(line=" ".join(words)):
                done = subprocess.run(self.command(words), cwd=ROOT, capture_output=True,
                                      text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout)
                ran += 1
        self.assertGreaterEqual(ran, 6)

    def test_the_token_is_needed(self):
        """Else the lines with one would show nothing."""
        for file, wanted in (("token", 0), ("tokens", 1)):
            done = subprocess.run(
                [str(BIN / "mpsd-example-infer"), self.closed.listeners[1], "mlp",
                 self.replacements["ca.pem"], str(self.folder / file)],
                capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, wanted, done.stderr)

    def test_the_tests_use_what_the_page_installs(self):
        ours = (ROOT / "tests/requirements.txt").read_text().splitlines()
        theirs = [line for line in (EXAMPLES / "python/requirements.txt").read_text().splitlines()
                  if not line.startswith("#")]
        self.assertTrue(theirs)
        self.assertLessEqual(set(theirs), set(ours))


@unittest.skipUnless(WITH_TORCH, "the demo's embedder needs it")
class Readme(unittest.TestCase):
    """What README.md says of the demo's embedder, as it stands there but for the port."""

    def test_openais_client_gets_the_numbers_of_the_page(self):
        page = (ROOT / "README.md").read_text()
        (snippet,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
        (told,) = re.findall(r"^ +1  How far is it to the sea\? .* 1\.0000  (.*) …$", page, re.M)
        daemon = self.enterContext(Daemon(demo_models()))
        self.assertEqual(snippet.count("localhost:8000"), 1)
        done = subprocess.run(
            [sys.executable, "-c", snippet.replace("localhost:8000", daemon.http)],
            capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [float(number) for number in done.stdout.strip("[]\n").split(", ")]
        wanted = [float(number) for number in told.split()]
        self.assertEqual(len(said), len(wanted))
        for number, expected in zip(said, wanted):
            self.assertAlmostEqual(number, expected, delta=0.0005)


if __name__ == "__main__":
    unittest.main(verbosity=2)
