"""What `mpsd doctor` says of this host, with the real worker, and beside a daemon that serves."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from daemon import BIN, Daemon
from models import synthetic

UNFIT = 71
CONFIG = {"listen": {"grpc": ["127.0.0.1:0"], "http": "127.0.0.1:0"}}
# The leak sanitizer cannot inspect a worker in its sandbox.
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
LINE = re.compile(r"(OK|WARN|FAIL) +([a-z_ ]+(?:[0-9.:]+)?): .+|      do: .+|not tried: .+")


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        self.config = dict(CONFIG, state_dir=str(self.folder / "state"), models=[synthetic("m")])

    def doctor(self, *arguments):
        file = self.folder / "config.json"
        file.write_text(json.dumps(self.config))
        return subprocess.run([str(BIN / "mpsd"), "doctor", "--config", str(file), *arguments],
                              capture_output=True, text=True, timeout=120, check=False,
                              env=ENVIRONMENT)

    def test_each_line_has_a_verdict_and_a_host_of_tests_has_no_failure(self):
        done = self.doctor()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in done.stdout.splitlines():
            self.assertRegex(line, LINE)
        for topic in ("host", "descriptors", "shared memory", "sockets", "worker", "sandbox"):
            self.assertRegex(done.stdout, rf"(?m)^(OK|WARN) +{topic}: ")
        self.assertRegex(done.stdout, r"(?m)^(OK|WARN) +devices: .*cpu")

    def test_a_config_that_asks_for_too_much_fails(self):
        self.config["state_dir"] = str(self.folder / "config.json" / "state")
        done = self.doctor()
        self.assertEqual(done.returncode, UNFIT, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^FAIL +state_dir: ")

    def test_a_report_has_what_the_worker_said(self):
        file = self.folder / "report.txt"
        done = self.doctor("--report", str(file))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = file.read_text()
        self.assertRegex(report, r"\Ampsd [0-9.]+\S*\ncommit \S+\nlibtorch \S+\nbuild ")
        self.assertIn("mpsd-worker --devices: {", report)
        self.assertRegex(report, r'mpsd-worker --sandbox: \{.*(strict|error)')

    def test_the_address_of_a_daemon_that_serves_is_a_warning(self):
        with Daemon([synthetic("m")]) as daemon:
            self.config["listen"] = {"grpc": [daemon.address], "http": "127.0.0.1:0"}
            done = self.doctor()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"WARN  address {daemon.address}: ", done.stdout)

    def test_the_checklist_for_a_mac_is_numbered(self):
        done = self.doctor("--mac-checklist")
        self.assertEqual(done.returncode, 0, done.stderr)
        numbers = re.findall(r"(?m)^(\d+)\. ", done.stdout)
        self.assertEqual(numbers, [str(i + 1) for i in range(len(numbers))])
        self.assertEqual(len(numbers), 10)

    def test_the_report_of_a_mac_has_the_workers_of_the_daemon(self):
        file = self.folder / "mac.txt"
        done = self.doctor("--mac-report", str(file))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = file.read_text()
        self.assertRegex(report, r"\Ampsd [0-9.]+\S*\ncommit \S+\nlibtorch \S+\nbuild ")
        self.assertRegex(report, r"(?m)^== \S+/mpsd ps --json$")
        self.assertIn("\n== build/lane-bars.json\n", report)


if __name__ == "__main__":
    unittest.main()
