"""What a person sees who starts the daemon by hand: the config, the progress, lines to try."""
import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from daemon import BIN, Daemon, START_LIMIT_S, mpsd, wait_until
from models import synthetic, tensor

USAGE = 64
NOT_REACHABLE = 69
CANNOT_WRITE = 73
CONFIG = 78


class Start(unittest.TestCase):
    def test_the_lines_to_try_work(self):
        two = synthetic("two", [tensor("a", [4]), tensor("b", [-1], "INT64")])
        with Daemon([two, synthetic("m")]) as daemon:
            wait_until(lambda: " ps " in daemon.table, START_LIMIT_S, "the last line to try")
            lines = [line.strip() for line in daemon.table.split("Try:\n")[1].splitlines()]
            self.assertEqual(len(lines), 3, lines)
            if shutil.which("curl") is None:
                lines = [line for line in lines if not line.startswith("curl")]
            for line in lines:
                own = daemon.http if line.startswith("curl") else f"--server {daemon.address}"
                self.assertIn(own, line)
                done = subprocess.run(["sh", "-c", line], capture_output=True, text=True,
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, 0, f"{line}: {done.stderr}")

    def test_a_slow_start_says_what_loads(self):
        slow = synthetic("slow", parameters={"load_delay": "3s"})
        with Daemon([slow, synthetic("m")]) as daemon:
            before = daemon.table.split("takes gRPC calls")[0]
            self.assertRegex(before, r"^loading slow \(1 of 2 done\), \d+ s\n")

    def test_a_model_that_cannot_be_loaded_is_told_of_once_and_tried_by_a_reload(self):
        bad = synthetic("bad", parameters={"delay": "soon"})
        with Daemon([bad, synthetic("good")]) as daemon:
            self.check_tried(daemon, 1)
            self.assertEqual(daemon.ps()["bad"]["circuit"], "closed")
            self.assertTrue(daemon.ps()["good"]["ready"])
            self.assertFalse(daemon.reload()["ok"])
            self.check_tried(daemon, 2)
            daemon.write_config([synthetic("bad"), synthetic("good")])
            self.assertTrue(daemon.reload()["ok"])
            self.assertTrue(daemon.ps()["bad"]["ready"])

    def check_tried(self, daemon, times):
        """And never again by itself: no start is planned."""
        def deaths():
            return [line for line in daemon.log().splitlines() if '"worker_died"' in line]
        wait_until(lambda: len(deaths()) == times, 20, "the end of the worker")
        (worker,) = daemon.ps()["bad"]["workers"]
        self.assertEqual((worker["state"], worker["starts_in_ms"]), ("failed", -1))
        self.assertIn("'soon'", daemon.ps()["bad"]["state"])
        self.assertIn('"starts_again":"after a reload"', deaths()[0])
        self.assertNotIn('"worker_output"', daemon.log())

    def test_list_names_every_model_with_its_state(self):
        bad = synthetic("bad", parameters={"delay": "soon"})
        with Daemon([bad, synthetic("good")]) as daemon:
            wait_until(lambda: daemon.ps()["bad"]["workers"][0]["state"] == "failed", 20, "its end")
            done = mpsd("list", "--address", daemon.address)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\nbad +1 +UNAVAILABLE +.*'soon'")
            self.assertRegex(done.stdout, r"\ngood +1 +READY +-\n")

    @unittest.skipUnless(sys.platform == "linux", "/proc tells what a descriptor is")
    def test_a_closed_output_is_no_other_file(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        (folder / "mpsd.json").write_text(json.dumps({
            "listen": {"grpc": ["unix:sock"], "http": ""}, "state_dir": "state",
            "log": {"file": "log"}, "models": [synthetic("m")]}))
        with subprocess.Popen(["sh", "-c", 'exec "$0" serve --config "$1" <&- >&- 2>&-', BIN / "mpsd",
                               folder / "mpsd.json"]) as process:
            try:
                wait_until(lambda: mpsd("ps", "--server", f"unix:{folder}/sock").returncode == 0,
                           START_LIMIT_S, "the daemon")
                # A library takes the number of a closed stdin before main; nobody writes there.
                self.assertEqual([os.readlink(f"/proc/{process.pid}/fd/{i}") for i in (1, 2)],
                                 2 * ["/dev/null"])
            finally:
                process.terminate()


class Colours(unittest.TestCase):
    def on_a_terminal(self, *words, **environment):
        """What a verb writes to a terminal."""
        terminal, inside = pty.openpty()
        try:
            subprocess.run([str(BIN / "mpsd"), *words], stdout=inside, timeout=60, check=False,
                           env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment})
            return os.read(terminal, 1 << 16).decode()
        finally:
            os.close(terminal)
            os.close(inside)

    def test_a_terminal_has_them_unless_a_person_says_no(self):
        with Daemon([synthetic("m")]) as daemon:
            for words in (["list", "--server", daemon.address], ["ps", "--server", daemon.address],
                          ["doctor", "--config", str(daemon.config_file)]):
                self.assertIn("\033[32m", self.on_a_terminal(*words), words)
                self.assertNotIn("\033", self.on_a_terminal(*words, NO_COLOR="1"), words)
                self.assertNotIn("\033", self.on_a_terminal(*words, TERM="dumb"), words)
                self.assertNotIn("\033", mpsd(*words).stdout, words)


class ConfigPlace(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        self.folder = pathlib.Path(folder)

    def serve(self):
        process = subprocess.Popen([str(BIN / "mpsd"), "serve"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def test_the_config_of_the_folder_is_taken(self):
        config = {"listen": {"grpc": ["127.0.0.1:0"], "http": ""},
                  "state_dir": str(self.folder / "state"), "models": [synthetic("m")]}
        (self.folder / "mpsd.json").write_text(json.dumps(config))
        process = self.serve()
        self.assertEqual(process.stdout.readline(), f"config: {self.folder}/mpsd.json\n")
        self.assertTrue(any(line.startswith("Try:") for line in process.stdout))
        process.terminate()
        self.assertEqual(process.wait(START_LIMIT_S), 0)

    def test_check_takes_the_config_of_the_folder_too(self):
        for text, code, said in (('{"models": 7}', CONFIG, r"^mpsd: \S+/mpsd\.json:1: models: "),
                                 (json.dumps({"models": [synthetic("m")]}), 0, "^$")):
            (self.folder / "mpsd.json").write_text(text)
            done = subprocess.run([str(BIN / "mpsd"), "check"], cwd=self.folder, text=True,
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stderr, said)
            for name in (("mpsd.json",), ("--config", "mpsd.json")):
                named = subprocess.run([str(BIN / "mpsd"), "check", *name], cwd=self.folder, text=True,
                                       capture_output=True, timeout=60, check=False)
                self.assertEqual(named.returncode, code, named.stderr)
            told = subprocess.run([str(BIN / "mpsd"), "check", "--json"], cwd=self.folder, text=True,
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual((told.returncode, told.stderr), (code, done.stderr))
            report = json.loads(told.stdout)
            self.assertEqual(report["ok"], code == 0)
            self.assertEqual("".join(f"mpsd: {line}\n" for line in report["mistakes"]), done.stderr)
            self.assertEqual(report.get("models"), 1 if code == 0 else None)

    @unittest.skipIf(os.path.exists("/etc/mpsd/mpsd.json"), "this host has a config")
    def test_without_any_config_the_places_are_named(self):
        process = self.serve()
        _, stderr = process.communicate(timeout=START_LIMIT_S)
        self.assertEqual(process.returncode, CONFIG)
        self.assertRegex(stderr, rf"neither {self.folder}/mpsd\.json nor /etc/mpsd/mpsd\.json; "
                         r"`mpsd init MODEL\.pt` writes one")


class CommandLine(unittest.TestCase):
    def test_version_and_help(self):
        for arguments in (("--version",), ("version",)):
            done = mpsd(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"^mpsd \d+\.\d+\.\d+.*\ncommit \S+\nlibtorch \S+\nbuild .+\n$")
        report = json.loads(mpsd("version", "--json").stdout)
        self.assertEqual(list(report), ["version", "commit", "libtorch", "build"])
        self.assertIn(f"mpsd {report['version']}\n", done.stdout)
        self.assertEqual(mpsd("help", "serve").stdout, mpsd("serve", "--help").stdout)

    @unittest.skipUnless(os.path.exists("/dev/full"), "this system has no file that is always full")
    def test_output_that_is_not_taken_is_an_error(self):
        for words in (("version",), ("--help",), ("help", "serve"), ("doctor",), ("man", "serve")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([str(BIN / "mpsd"), *words], stdout=full, text=True,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(done.returncode, CANNOT_WRITE, words)
            self.assertIn("mpsd: the output cannot be written\n", done.stderr)

    def test_a_folder_that_is_no_model_ends_the_start(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        done = mpsd("serve", folder, "--port", "0", "--http-port", "0")
        self.assertEqual(done.returncode, CONFIG)
        self.assertIn("there is no config.json in it", done.stderr)

    def test_a_verb_that_is_written_wrongly(self):
        done = mpsd("srve", "m.pt")
        self.assertEqual(done.returncode, USAGE)
        self.assertEqual(done.stderr, "mpsd: there is no verb 'srve'; did you mean 'serve'?\n")

    def test_a_tensor_that_is_written_wrongly(self):
        done = mpsd("inspect", __file__, "--input", "x:FP31[1]")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("'FP31'", done.stderr)

    def test_a_server_that_does_not_answer(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as mute:
            address = f"127.0.0.1:{mute.getsockname()[1]}"
            done = mpsd("ps", "--address", address, "--timeout", "300ms")
        self.assertEqual(done.returncode, NOT_REACHABLE)
        self.assertEqual(done.stderr, f"mpsd: the server at {address} did not answer before the "
                         "deadline\n")

    def test_an_answer_that_comes_too_late(self):
        with Daemon([synthetic("m", parameters={"delay": "2s"})]) as daemon:
            done = mpsd("infer", "m", "--input", "x=random", "--address", daemon.address,
                        "--timeout", "500ms")
            self.assertEqual(done.returncode, 1)
            self.assertTrue(re.search("^mpsd: DEADLINE_EXCEEDED: ", done.stderr), done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
