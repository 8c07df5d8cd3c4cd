"""A daemon hands its sockets over to a new one, and no call fails."""
import os
import pathlib
import re
import signal
import tempfile
import threading
import unittest
import urllib.request

import calls
from daemon import START_LIMIT_S, STOP_LIMIT_S, Daemon, mpsd, wait_until
from models import synthetic

MODEL = synthetic("m", parameters={"delay": "2ms"})
UPGRADES = int(os.environ.get("MPSD_HANDOVERS", "3"))


def is_over(pid):
    """Whether a process has ended; the one that reaps it may be slow."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


class HttpLoad:
    """A new connection for each call, until the `with` statement ends."""

    def __init__(self, address):
        self._url = f"http://{address}/v2/models/m/ready"
        self._over = threading.Event()
        self.answered, self.faults = 0, []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _run(self):
        while not self._over.is_set():
            try:
                with urllib.request.urlopen(self._url, timeout=30) as answer:
                    self.answered += answer.status == 200
            except OSError as fault:
                self.faults.append(fault)


class Handover(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-"))
        self.control = f"unix:{folder}/control.sock"
        self.daemon = self.enterContext(Daemon([MODEL], listen_more={"control": self.control}))
        self.pids = [self.daemon.pid]

    def holder(self):
        return int((self.daemon.state_dir / "mpsd.lock").read_text() or 0)

    def ask(self):
        os.kill(self.pids[-1], signal.SIGUSR2)

    def upgrade(self):
        """Returns once the old daemon has ended."""
        old = self.pids[-1]
        self.ask()
        wait_until(lambda: self.holder() not in (old, 0), START_LIMIT_S, "a new daemon")
        self.pids.append(self.holder())
        wait_until(lambda: self.is_over(old), STOP_LIMIT_S, "the end of the old daemon")

    def is_over(self, pid):
        return not self.daemon.running() if pid == self.daemon.pid else is_over(pid)

    def end_last(self):
        os.kill(self.pids[-1], signal.SIGTERM)
        wait_until(lambda: self.is_over(self.pids[-1]), STOP_LIMIT_S, "the end of the new daemon")

    def test_no_call_fails(self):
        with calls.Load(self.daemon.address, "m", callers=4) as load, HttpLoad(self.daemon.http) as http:
            wait_until(lambda: load.answered() > 100, 30, "answers")
            for _ in range(UPGRADES):
                self.upgrade()
                before = load.answered(), http.answered
                wait_until(lambda before=before: load.answered() > before[0] + 100 and
                           http.answered > before[1] + 20, 30, "answers of the new daemon")
        self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})
        self.assertEqual(http.faults, [])
        self.assertEqual(self.daemon.wait(), 0)
        self.assertEqual(mpsd("ps", "--address", self.control).returncode, 0, "its path is there")
        print(f"{UPGRADES} handovers: {load.answered()} calls of gRPC, {http.answered} of HTTP, 0 failed")
        self.end_last()

    def test_a_new_daemon_that_is_not_ready_changes_nothing(self):
        self.daemon.write_config([MODEL, synthetic("broken", parameters={"delay": "no time"})])
        self.ask()
        self.daemon.wait_logged('"event":"handover_failed"', START_LIMIT_S)
        self.assertIn("not every model is ready", self.daemon.log())
        self.assertEqual(self.holder(), self.daemon.pid)
        with calls.stub(self.daemon.address) as stub:
            self.assertEqual(calls.infer(stub, calls.request("m", {"x": calls.row_of(1)})).code, calls.OK)
        self.daemon.write_config([MODEL])
        self.upgrade()
        self.assertEqual(self.daemon.wait(), 0)
        self.end_last()

    def test_two_at_once_and_wrong_configs_are_refused(self):
        self.daemon.config_file.write_text("{")
        self.ask()
        self.daemon.wait_logged('"handover_refused".*config.json:1', 10)
        slow = synthetic("m", parameters={"load_delay": "2s"}, warmup="none")
        self.daemon.write_config([slow])
        os.kill(self.daemon.pid, signal.SIGUSR2)
        self.daemon.wait_logged('"event":"handover_begun"', 10)
        os.kill(self.daemon.pid, signal.SIGUSR2)
        self.daemon.wait_logged('"handover_refused".*is to take over already', 10)
        wait_until(lambda: not self.daemon.running() or "handover_failed" in self.daemon.log(),
                   START_LIMIT_S, "the outcome")
        if not self.daemon.running():
            self.pids.append(self.holder())
            self.end_last()

    def test_an_end_of_the_old_daemon_ends_the_new_one(self):
        self.daemon.write_config([synthetic("m", parameters={"load_delay": "60s"})])
        self.ask()
        self.daemon.wait_logged('"event":"handover_begun"', 10)
        pid = int(re.search(r'"handover_begun".*?"pid":(\d+)', self.daemon.log())[1])
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(), 0)
        self.assertTrue(is_over(pid))


if __name__ == "__main__":
    unittest.main(verbosity=2)
