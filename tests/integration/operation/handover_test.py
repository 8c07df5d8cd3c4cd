"""A daemon hands its sockets over to a new one, and no call fails."""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import unittest
import urllib.request

import calls
from daemon import BIN, START_LIMIT_S, STOP_LIMIT_S, Daemon, mpsd, wait_until
from models import synthetic

MODEL = synthetic("m", parameters={"delay": "2ms"})
FAILED = 1  # exit codes of the verb
NO_DAEMON = 69
RUNS_ALREADY = 75
WRONG_CONFIG = 78
PR_SET_CHILD_SUBREAPER = 36
UPGRADES = int(os.environ.get("MPSD_HANDOVERS", "3"))


def is_over(pid):
    """Whether a process has ended; the one that reaps it may be slow."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


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
        return int(((self.daemon.state_dir / "mpsd.lock").read_text() or "0").split()[0])

    def ask(self):
        os.kill(self.pids[-1], signal.SIGUSR2)

    def upgrade(self):
        """Returns once the old daemon has ended."""
        old = self.pids[-1]
        self.ask()
        wait_until(lambda: self.holder() not in (old, 0), START_LIMIT_S, "a new daemon")
        self.pids.append(self.holder())
        wait_until(lambda: self.is_over(old), STOP_LIMIT_S, "the end of the old daemon")

    def begun(self):
        """The process of the daemon that is to take over."""
        return int(re.search(r'"handover_begun".*?"pid":(\d+)', self.daemon.log())[1])

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
        pid = self.begun()
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(), 0)
        self.assertTrue(is_over(pid))


    def verb(self):
        return mpsd("upgrade", "--config", self.daemon.config_file)

    def test_the_verb_tells_both_daemons(self):
        done = self.verb()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.pids.append(self.holder())
        self.assertRegex(done.stdout, rf"^mpsd \S+ \(process {self.daemon.pid}\) has handed over to "
                         rf"mpsd \S+ \(process {self.pids[-1]}\)\n$")
        self.assertNotEqual(*self.pids)
        self.assertEqual(self.daemon.wait(), 0)
        self.end_last()
        done = self.verb()
        self.assertEqual(done.returncode, NO_DAEMON)
        self.assertIn("no daemon runs here", done.stderr)

    def test_the_verb_says_why_the_old_daemon_serves_on(self):
        serves_on = rf"\nmpsd: mpsd \S+ \(process {self.daemon.pid}\) serves on\n$"
        self.daemon.config_file.write_text(json.dumps({**self.daemon.config, "modles": []}))
        done = self.verb()
        self.assertEqual(done.returncode, WRONG_CONFIG)
        self.assertRegex(done.stderr, r"modles: unknown key.*" + serves_on)
        self.daemon.write_config([MODEL, synthetic("broken", parameters={"delay": "no time"})])
        done = self.verb()
        self.assertEqual(done.returncode, FAILED)
        self.assertRegex(done.stderr, r"not every model is ready.*broken" + serves_on)
        self.assertEqual(self.holder(), self.daemon.pid)

    def test_the_verb_while_the_new_daemon_dies_or_another_verb_waits(self):
        self.daemon.write_config([synthetic("m", parameters={"load_delay": "60s"})])
        with subprocess.Popen([BIN / "mpsd", "upgrade", "--config", self.daemon.config_file],
                              stderr=subprocess.PIPE, text=True) as first:
            self.daemon.wait_logged('"event":"handover_begun"', START_LIMIT_S)
            second = self.verb()
            self.assertEqual(second.returncode, RUNS_ALREADY)
            self.assertIn("another `mpsd upgrade`", second.stderr)
            os.kill(self.begun(), signal.SIGKILL)
            self.assertIn("ended before it was ready", first.communicate(timeout=START_LIMIT_S)[1])
        self.assertEqual(first.returncode, FAILED)
        self.assertEqual(self.holder(), self.daemon.pid)

    def test_none_begins_before_the_last_one_has_drained(self):
        slow = synthetic("m", parameters={"delay": "60s"}, warmup="none")
        self.daemon.write_config([slow], limits={"drain_timeout": "60s"})
        self.daemon.reload()
        with calls.stub(self.daemon.address) as stub:
            call = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: self.daemon.metric("mpsd_running_requests") == 1, 30, "the call")
            self.assertEqual(self.verb().returncode, 0)
            self.pids.append(self.holder())
            done = self.verb()
            self.assertEqual(done.returncode, RUNS_ALREADY)
            self.assertIn("has not answered its last requests yet", done.stderr)
            call.cancel()
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(), 0)
        self.end_last()


class Manager:
    """A service manager's socket: what a daemon tells systemd."""

    def __init__(self, folder):
        self.path = f"{folder}/notify.sock"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.settimeout(START_LIMIT_S)

    def close(self):
        self._socket.close()

    def next(self):
        """(pid of the sender, its assignments), as systemd with NotifyAccess=main has them."""
        text, ancillary, _flags, _address = self._socket.recvmsg(4096, socket.CMSG_SPACE(12))
        pid, _user, _group = struct.unpack("3i", ancillary[0][2])
        return pid, dict(line.split("=", 1) for line in text.decode().splitlines())


class UnderAServiceManager(unittest.TestCase):
    def test_the_new_daemon_is_the_managers_child_before_it_is_the_main_process(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-"))
        manager = Manager(folder)
        self.addCleanup(manager.close)
        # Orphans become this process's children, as a unit's become systemd's.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.addCleanup(ctypes.CDLL(None).prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        daemon = self.enterContext(Daemon([MODEL], environment={"NOTIFY_SOCKET": manager.path}))
        self.assertEqual(manager.next(), (daemon.pid, {"READY": "1", "STATUS": "serving"}))
        done = mpsd("upgrade", "--config", daemon.config_file)
        self.assertEqual(done.returncode, 0, done.stderr)
        sender, told = manager.next()
        self.assertEqual(sender, daemon.pid, "only the main process may speak")
        new = int(told["MAINPID"])
        self.addCleanup(kill, new)
        self.assertEqual(told, {"READY": "1", "MAINPID": str(new), "STATUS": "serving"})
        self.assertEqual(parent_of(new), os.getpid())
        self.assertEqual(daemon.wait(), 0)
        os.kill(new, signal.SIGTERM)
        self.assertEqual(manager.next(), (new, {"STOPPING": "1", "STATUS": "draining"}))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(new, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
