"""A daemon that cannot serve says why, with the exit code that says what kind of reason it is."""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest

from daemon import BIN, Daemon, ROOT, START_LIMIT_S, mpsd
import memory_cgroup
from models import synthetic, tensor

CANNOT_LISTEN = 69
RUNS_ALREADY = 75
CONFIG = 78
MIB = 1 << 20


class BadStart(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        self.folder = pathlib.Path(folder)
        self.config = {"listen": {"grpc": ["127.0.0.1:0"], "http": "127.0.0.1:0"},
                       "state_dir": str(self.folder / "state"), "models": [synthetic("m")]}

    def serve(self, text=None, before=":"):
        """(exit code, stderr) of a daemon that should not come up; `before` is a shell's."""
        file = self.folder / "config.json"
        file.write_text(json.dumps(self.config, indent=1) if text is None else text)
        done = subprocess.run(["sh", "-c", before + '; exec "$@"', "sh",
                               str(BIN / "mpsd"), "serve", "--config", str(file)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=START_LIMIT_S, check=False)
        workers = self.folder / "state/workers"
        left = list(workers.iterdir()) if workers.exists() else []
        self.assertEqual(left, [], "temporary folders are left")
        return done.returncode, done.stderr

    def check(self, code, *texts, **more):
        got, stderr = self.serve(**more)
        self.assertEqual(got, code, stderr)
        for text in texts:
            self.assertRegex(stderr, text)
        return stderr

    def test_help_names_every_exit_code(self):
        """Those of the daemon and of the verbs."""
        text = "".join((ROOT / header).read_text()
                       for header in ("server/daemon.h", "server/operate/doctor/doctor_verb.h",
                                      "server/operate/upgrade_verb.h", "client/cli/exit_code.h"))
        codes = set(re.findall(r"\bkExit\w+ = (\d+)", text))
        self.assertIn("73", codes)
        done = mpsd("--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stdout.split("Exit codes: ")[1].split("\n\n")[0]
        self.assertEqual(set(re.findall(r"\b\d+\b", said)), codes)

    # Wrong config: exit 78, with file and line.

    def test_missing_model_file(self):
        self.config["models"] = [{"name": "m", "path": str(self.folder / "nothing.pt")}]
        self.check(CONFIG, r"config\.json:\d+: models\[0\]\.path: .*nothing\.pt")

    def test_unknown_key(self):
        self.config["models"][0]["batching"] = {"max_dleay": "1ms"}
        self.check(CONFIG, r"config\.json:\d+: models\[0\]\.batching\.max_dleay: unknown key; "
                   r"did you mean 'max_delay'\?")

    def test_wrong_type(self):
        self.config["limits"] = {"message": 64}
        self.check(CONFIG, r"config\.json:\d+: limits\.message: ")

    def test_value_out_of_bounds(self):
        self.config["models"][0]["max_batch_size"] = 1025
        self.check(CONFIG, r"config\.json:\d+: models\[0\]\.max_batch_size: ")

    def test_all_mistakes_are_told_together(self):
        self.config["models"][0]["nmae"] = "x"
        self.config["log"] = {"level": "loud"}
        stderr = self.check(CONFIG, r"models\[0\]\.nmae", r"log\.level")
        self.assertEqual(len(stderr.strip().splitlines()), 2)

    def test_no_json(self):
        self.check(CONFIG, r"config\.json:3", text='{\n "models": [\n  oops\n ]\n}\n')

    def test_no_config(self):
        done = subprocess.run([str(BIN / "mpsd"), "serve", "--config", str(self.folder / "none")],
                              capture_output=True, text=True, timeout=START_LIMIT_S, check=False)
        self.assertEqual(done.returncode, CONFIG, done.stderr)
        self.assertIn("none", done.stderr)

    # Addresses.

    def test_busy_grpc_port(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.config["listen"]["grpc"] = ["127.0.0.1:0", address]
            stderr = self.check(CANNOT_LISTEN)
            self.assertEqual(stderr, f"mpsd: cannot listen on {address} (listen.grpc): "
                             "Address already in use\n")

    def test_busy_http_port(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.config["listen"]["http"] = address
            stderr = self.check(CANNOT_LISTEN, rf"{re.escape(address)} \(listen\.http\): ")
            self.assertEqual(len(stderr.splitlines()), 1, stderr)

    def test_second_daemon_on_the_port_of_the_first(self):
        with Daemon([synthetic("m")]) as first:
            self.config["listen"]["grpc"] = [first.address]
            self.check(CANNOT_LISTEN, re.escape(first.address))

    # The lock.

    def test_second_instance_names_the_first(self):
        with Daemon([synthetic("m")]) as first:
            self.config["state_dir"] = str(first.state_dir)
            file = self.folder / "config.json"
            file.write_text(json.dumps(self.config))
            done = subprocess.run([str(BIN / "mpsd"), "serve", "--config", str(file)],
                                  capture_output=True, text=True, timeout=START_LIMIT_S,
                                  check=False)
            self.assertEqual(done.returncode, RUNS_ALREADY, done.stderr)
            self.assertRegex(done.stderr, rf"\b{first.pid}\b")
            self.assertTrue(first.workers(), "the first one lost its worker")

    def test_state_dir_that_cannot_be(self):
        (self.folder / "file").write_text("")
        self.config["state_dir"] = str(self.folder / "file/state")
        self.check(CONFIG, r"file/state")

    # Memory.

    def test_state_dir_that_is_not_the_users_alone(self):
        """Any file in it could be somebody else's; nothing there is touched."""
        precious = self.folder / "precious"
        precious.write_text("x")
        state = self.folder / "state"
        state.mkdir()
        state.chmod(0o777)
        self.check(CONFIG, r"state_dir: other users may write to .*/state")
        state.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(state, 65534, 65534)
            self.check(CONFIG, r"state_dir: .*/state belongs to user 65534")
            os.chown(state, 0, 0)
        (state / "mpsd.lock").symlink_to(precious)
        self.check(CONFIG, r"mpsd\.lock is a link")
        state.rename(self.folder / "other")
        state.symlink_to(self.folder / "other")
        self.check(CONFIG, r"state_dir: .*/state is a link")
        self.assertEqual(precious.read_text(), "x")

    def test_fewer_descriptors_than_the_workers_take(self):
        self.check(CONFIG, r"may have 40 descriptors .* 1 workers of 1 models", before="ulimit -n 40")

    def test_more_than_the_limit_of_shared_memory(self):
        self.config["limits"] = {"shared_memory": "16MiB"}
        self.config["models"] = [synthetic("big", [tensor("x", [MIB])], max_batch_size=64)]
        self.check(CONFIG, r"model 'big' needs \S+ ?[KMG]iB of shared memory",
                   r"16 ?MiB that limits.shared_memory allows")

    def test_more_than_the_memory_cgroup(self):
        cgroup = memory_cgroup.make(self, 256 * MIB)
        self.config["models"] = [synthetic("big", [tensor("x", [MIB])], max_batch_size=64)]
        self.check(CONFIG, r"model 'big' needs \S+ ?[KMG]iB of shared memory",
                   r"memory cgroup have only \S+ ?[KMG]iB left",
                   before=f"echo $$ >'{cgroup}/cgroup.procs'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
