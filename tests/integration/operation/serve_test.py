"""`mpsd serve` with models on its command line, and no config file."""
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import calls
from daemon import (BIN, MODELS, START_LIMIT_S, STOP_LIMIT_S, WITH_TORCH, knows_localhost,
                    wait_until)

# Another name of loopback than the default one.
HOST = "localhost" if knows_localhost() else "127.0.0.2"
USAGE = 64
CANNOT_LISTEN = 69
RUNS_ALREADY = 75
CONFIG = 78
ANY_PORTS = ("--port", "0", "--http-port", "0")


class Serving:
    """A daemon of a command line, until the `with` statement ends."""

    def __init__(self, process):
        self.process = process
        self.table = ""
        self.ready = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.table += line
            if line.startswith("Try:"):
                self.ready.set()
        self.process.stdout.close()

    def wait(self):
        wait_until(lambda: self.ready.is_set() or self.process.poll() is not None, START_LIMIT_S,
                   "the start")
        return self

    @property
    def address(self):
        return re.search(r"takes gRPC calls on ([^,]*)", self.table)[1]


@unittest.skipUnless(WITH_TORCH, "a command line names files of torch")
class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-serve-"))
        cls.models = pathlib.Path(folder)
        subprocess.run([str(BIN / "mpsd-make-models"), folder, "--faulty"], check=True)
        subprocess.run([str(BIN / "mpsd-make-models"), folder, "--examples"], check=True)
        cls.good = str(cls.models / "throws_for_a_row.pt")
        cls.bad = str(cls.models / "training.pt")

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": folder}

    def command(self, words):
        return {"args": [str(BIN / "mpsd"), "serve", *words], "env": self.environment,
                "cwd": self.folder, "text": True, "stdout": subprocess.PIPE}

    def refused(self, code, *words):
        """What a daemon says that should not come up."""
        done = subprocess.run(**self.command(words), stderr=subprocess.PIPE, check=False,
                              timeout=START_LIMIT_S)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    @contextlib.contextmanager
    def serving(self, *words):
        with open(self.folder / "log", "w+") as log:
            process = subprocess.Popen(**self.command(words), stderr=log)
            try:
                serving = Serving(process).wait()
                log.seek(0)
                self.assertTrue(serving.ready.is_set(), log.read())
                yield serving
                process.terminate()
                self.assertEqual(process.wait(STOP_LIMIT_S), 0)
            finally:
                process.kill()
                process.wait()

    def log(self):
        return (self.folder / "log").read_text()

    def test_the_flags_say_where_and_how(self):
        with self.serving(self.good, "--device", "cpu", "--name", "mine", "--host", HOST,
                          *ANY_PORTS) as server:
            self.assertRegex(server.table, rf"calls on {HOST}:\d+, unix:\S+, http on {HOST}:")
            self.assertRegex(server.table, r"\n  mine +ready +cpu ")
            with calls.stub(server.address) as stub:
                self.assertTrue(stub.ModelReady(calls.service_pb2.ModelReadyRequest(name="mine")).ready)

    def test_the_environment_says_what_no_flag_says(self):
        self.environment.update(PORT="0", MPSD_PORT="0", MPSD_HOST=HOST, MPSD_DEVICE="cpu")
        with self.serving(self.good) as server:
            self.assertRegex(server.table, rf"calls on {HOST}:\d+, unix:\S+, http on {HOST}:")
        self.environment["PORT"] = "tcp"
        self.assertEqual(self.refused(USAGE, self.good), "mpsd: PORT='tcp' is no port\n")

    def test_two_serve_beside_each_other(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with self.serving(self.good, *ANY_PORTS):
            done = self.refused(RUNS_ALREADY, self.good, *ANY_PORTS)
            self.assertIn("mpsd runs already", done)
            self.assertTrue(done.endswith("mpsd: --port N and --http-port N choose other ports\n"))
            with self.serving(self.good, "--port", str(port), "--http-port", "0") as second:
                self.assertEqual(second.address, f"127.0.0.1:{port}")

    def test_a_taken_port_names_the_flags(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = str(taken.getsockname()[1])
            for words in (["--port", port, "--http-port", "0"], ["--port", "0", "--http-port", port]):
                done = self.refused(CANNOT_LISTEN, self.good, *words)
                self.assertRegex(done, rf"mpsd: cannot listen on 127\.0\.0\.1:{port} .*\n"
                                 r"mpsd: --port N and --http-port N choose other ports\n$")

    def test_other_hosts_need_plaintext(self):
        done = self.refused(CONFIG, self.good, "--host", "0.0.0.0", *ANY_PORTS)
        self.assertRegex(done, r"^mpsd: --host: '0\.0\.0\.0:0' can be reached from other hosts, .*"
                         r"add --plaintext where .*, or say listen\.tls and access in a config")
        with self.serving(self.good, "--host", "0.0.0.0", "--plaintext", *ANY_PORTS) as server:
            self.assertRegex(server.table, r"calls on 0\.0\.0\.0:\d+")

    def test_a_config_file_says_itself_where_to_listen(self):
        (self.folder / "mpsd.json").write_text("{}")
        done = self.refused(USAGE, "--port", "9000")
        self.assertRegex(done, r"^mpsd: --host, --port, .* in \S+/mpsd\.json the key 'listen'")

    def test_a_model_that_can_never_load_ends_the_start(self):
        done = self.refused(CONFIG, self.good, self.bad, "--device", "cpu", *ANY_PORTS)
        self.assertRegex(done, r"(^|\n)mpsd: model 'training': .*it was saved in training mode.*\n"
                         r"mpsd: --keep-going serves without it\n")

    @unittest.skipUnless(sys.platform == "linux", "a Mac has an mps")
    def test_so_does_one_with_several_workers(self):
        """The first one has failed while the others still load."""
        done = self.refused(CONFIG, self.good, "--device", "mps", *ANY_PORTS)
        self.assertRegex(done, r"(^|\n)mpsd: model '\w+': .*built without mps\n")

    def test_a_model_whose_warm_up_can_never_end_well_ends_the_start(self):
        """The file says that its output has 256 numbers a row, and it gives what it gets."""
        done = self.refused(CONFIG, str(MODELS / "identity.pt"), "--device", "cpu", *ANY_PORTS,
                            "--input", "input:FP32[-1,16]")
        self.assertRegex(done, r"(^|\n)mpsd: model 'identity': .*has rows of the shape \[16\], "
                         r"not \[256\]\nmpsd: --keep-going serves without it\n")

    def test_an_input_has_the_name_of_an_argument(self):
        words = (str(self.models / "simple.pt"), "--device", "cpu", *ANY_PORTS, "--input",
                 "b:INT32[-1,16]", "--input")
        done = self.refused(CONFIG, *words, "c:INT32[-1,16]")
        self.assertRegex(done, r"(^|\n)mpsd: model 'simple': .*forward has no input 'c'; its inputs are a, b")
        with self.serving(*words, "a:INT32[-1,16]"):
            pass

    def test_it_is_served_without_where_that_is_said(self):
        with self.serving(self.good, self.bad, "--device", "cpu", "--keep-going",
                          *ANY_PORTS) as server:
            self.assertRegex(server.table, r"\n  throws_for_a_row +ready ")
            self.assertRegex(server.table, r"\n  training +NOT READY ")

    def test_an_ordinary_stop_says_one_line(self):
        with self.serving(self.good, *ANY_PORTS):
            # The log is written a moment later than the table.
            wait_until(lambda: "worker_ready" in self.log(), START_LIMIT_S, "the start in the log")
            before = self.log()
        said = self.log()[len(before):].splitlines()
        self.assertEqual(len(said), 1, said)
        self.assertIn("stopped", said[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
