"""A daemon hands its sockets over to a new one, and no call fails."""
import ctypes
import fcntl
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import tempfile
import unittest
import urllib.request

import calls
import memory_cgroup
import procfs
from daemon import BIN, SERVERS, START_LIMIT_S, Daemon, free_ports, link_or_copy, mpsd, wait_until
from models import synthetic
from threads import Threads

MODEL = synthetic("m", parameters={"delay": "2ms"})
FAILED = 1  # exit codes of the verb
NO_DAEMON = 69
NEEDS_RESTART = 70
RUNS_ALREADY = 75
WRONG_CONFIG = 78
PR_SET_CHILD_SUBREAPER = 36
UPGRADES = int(os.environ.get("MPSD_HANDOVERS", "3"))


class HttpLoad(Threads):
    """A new connection for each call, until the `with` statement ends."""

    def __init__(self, address):
        super().__init__(self._run)
        self._url = f"http://{address}/v2/models/m/ready"
        self.answered, self.faults = 0, []

    def _run(self):
        while not self.over.is_set():
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

    def ask(self):
        os.kill(self.daemon.pid, signal.SIGUSR2)

    def begun(self):
        """The process of the daemon that is to take over."""
        return int(re.search(r'"handover_begun".*?"pid":(\d+)', self.daemon.log())[1])

    def test_no_call_fails(self):
        with calls.Load(self.daemon.address, "m", callers=4) as load, HttpLoad(self.daemon.http) as http:
            wait_until(lambda: load.answered() > 100, 30, "answers")
            for _ in range(UPGRADES):
                self.ask()
                self.daemon.follow()
                before = load.answered(), http.answered
                wait_until(lambda before=before: load.answered() > before[0] + 100 and
                           http.answered > before[1] + 20, 30, "answers of the new daemon")
        self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})
        self.assertEqual(http.faults, [])
        self.assertEqual(mpsd("ps", "--address", self.control).returncode, 0, "its path is there")
        print(f"{UPGRADES} handovers: {load.answered()} calls of gRPC, {http.answered} of HTTP, 0 failed")

    def test_an_address_that_the_new_config_lacks_is_closed(self):
        first, second = free_ports(2)
        with Daemon([MODEL], listen_more={"http": [f"127.0.0.1:{first}", f"127.0.0.1:{second}"]}) as daemon:
            daemon.write_config([MODEL], listen={**daemon.config["listen"], "http": f"127.0.0.1:{first}"})
            daemon.upgrade()
            self.assertEqual(daemon.get("/v2/health/ready")[0], 200)
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", second), timeout=10)

    def test_a_new_daemon_that_is_not_ready_changes_nothing(self):
        self.daemon.write_config([MODEL, synthetic("broken", parameters={"delay": "no time"})])
        self.ask()
        self.daemon.wait_logged('"event":"handover_failed"', START_LIMIT_S)
        self.assertIn("not every model is ready", self.daemon.log())
        self.assertEqual(self.daemon.holder(), self.daemon.pid)
        with calls.stub(self.daemon.address) as stub:
            self.assertEqual(calls.infer(stub, calls.request("m", {"x": calls.row_of(1)})).code, calls.OK)
        self.daemon.write_config([MODEL])
        self.ask()
        self.daemon.follow()

    def test_a_model_that_neither_daemon_can_serve_is_no_reason_to_stay(self):
        broken = synthetic("broken", parameters={"delay": "no time"})
        with Daemon([MODEL, broken]) as daemon:
            daemon.upgrade()
            daemon.write_config([MODEL, broken, {**broken, "name": "second"}])
            done = mpsd("upgrade", "--config", daemon.config_file)
            self.assertEqual(done.returncode, FAILED)
            self.assertIn("not every model is ready, so the old daemon serves on: second\n", done.stderr)

    def test_two_at_once_and_wrong_configs_are_refused(self):
        self.daemon.config_file.write_text("{")
        self.ask()
        self.daemon.wait_logged('"handover_refused".*config.json:1', 10)
        slow = synthetic("m", parameters={"load_delay": "2s"}, warmup="none")
        self.daemon.write_config([slow])
        self.ask()
        self.daemon.wait_logged('"event":"handover_begun"', 10)
        self.ask()
        self.daemon.wait_logged('"handover_refused".*is to take over already', 10)
        self.daemon.follow()

    def test_an_end_of_the_old_daemon_ends_the_new_one(self):
        self.daemon.write_config([synthetic("m", parameters={"load_delay": "60s"})])
        self.ask()
        self.daemon.wait_logged('"event":"handover_begun"', 10)
        pid = self.begun()
        self.daemon.terminate()
        self.assertEqual(self.daemon.wait(), 0)
        self.assertFalse(procfs.runs(pid))

    def test_a_death_of_the_old_daemon_ends_the_new_one(self):
        self.daemon.write_config([synthetic("m", parameters={"load_delay": "60s"})])
        self.ask()
        self.daemon.wait_logged('"event":"handover_begun"', 10)
        pid = self.begun()
        self.daemon.kill()
        wait_until(lambda: not procfs.runs(pid), 10, "the end of the new daemon")

    def verb(self):
        return mpsd("upgrade", "--config", self.daemon.config_file)

    def test_the_verb_tells_both_daemons(self):
        old = self.daemon.pid
        done = self.verb()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.daemon.follow()
        self.assertRegex(done.stdout, rf"^mpsd \S+ \(process {old}\) has handed over to mpsd \S+ "
                         rf"\(process {self.daemon.pid}\)\n$")
        self.daemon.terminate()
        self.daemon.wait()
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
        self.assertEqual(self.daemon.holder(), self.daemon.pid)

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
        self.assertEqual(self.daemon.holder(), self.daemon.pid)

    def test_no_second_copy_of_the_weights_where_there_is_no_room(self):
        cgroup = memory_cgroup.make(self, 256 << 20)
        with Daemon([synthetic("m", parameters={"weights": 300 << 20})]) as daemon:
            (cgroup / "cgroup.procs").write_text(str(daemon.pid))  # its workers stay outside
            done = mpsd("upgrade", "--config", daemon.config_file)
            self.assertEqual(done.returncode, NEEDS_RESTART, done.stderr)
            self.assertRegex(done.stderr, r"a second daemon needs about \S+ [MG]iB, and only \S+ MiB are available")
            self.assertEqual(daemon.holder(), daemon.pid)

    def test_none_begins_before_the_last_one_has_drained(self):
        slow = synthetic("m", parameters={"delay": "60s"}, warmup="none")
        self.daemon.write_config([slow], limits={"drain_timeout": "60s"})
        self.daemon.reload()
        with calls.stub(self.daemon.address) as stub:
            call = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_until(lambda: self.daemon.metric("mpsd_running_requests") == 1, 30, "the call")
            self.assertEqual(self.verb().returncode, 0)
            done = self.verb()
            self.assertEqual(done.returncode, RUNS_ALREADY)
            self.assertIn("has not answered its last requests yet", done.stderr)
            call.cancel()
            self.daemon.terminate()
        self.daemon.follow()


class OlderProgram(unittest.TestCase):
    def test_a_program_that_knows_no_handover_changes_nothing(self):
        """Somebody has installed an older version."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-")))
        for name in SERVERS:
            if (BIN / name).exists():
                link_or_copy(BIN / name, folder / name)
        with Daemon([MODEL], binaries=folder) as daemon:
            (folder / "mpsd").unlink()
            (folder / "mpsd").write_text(f'#!/bin/sh\nexec env -u MPSD_HANDOVER {BIN}/mpsd "$@"\n')
            (folder / "mpsd").chmod(0o755)
            done = mpsd("upgrade", "--config", daemon.config_file)
            self.assertEqual(done.returncode, FAILED, done.stderr)
            self.assertIn("ended before it was ready", done.stderr)
            self.assertIn("mpsd runs already", daemon.log())
            self.assertEqual(daemon.holder(), daemon.pid)
            with calls.stub(daemon.address) as stub:
                self.assertEqual(calls.infer(stub, calls.request("m", {"x": calls.row_of(1)})).code, calls.OK)


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


class OtherHolders(unittest.TestCase):
    """Locks that the verb finds, without a daemon behind them."""

    def refused(self, text):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-")))
        (folder / "mpsd.json").write_text(json.dumps({"state_dir": "state"}))
        (folder / "state").mkdir()
        with open(folder / "state/mpsd.lock", "w", encoding="utf-8") as lock:
            lock.write(text)
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = mpsd("upgrade", "--config", folder / "mpsd.json")
        self.assertEqual(done.returncode, NEEDS_RESTART, done.stderr)
        return done.stderr

    def test_a_daemon_that_is_too_old(self):
        self.assertIn("does not hand over", self.refused(f"{os.getpid()}\n"))

    def test_the_first_process_of_a_container(self):
        self.assertIn("of a container", self.refused("1\n0.2.0\n"))


class UnderAServiceManager(unittest.TestCase):
    def test_the_new_daemon_is_the_managers_child_before_it_is_the_main_process(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-"))
        manager = Manager(folder)
        self.addCleanup(manager.close)
        # Orphans become this process's children, as a unit's become systemd's.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.addCleanup(ctypes.CDLL(None).prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        daemon = self.enterContext(Daemon([MODEL], environment={"NOTIFY_SOCKET": manager.path}))
        old = daemon.pid
        self.assertEqual(manager.next(), (old, {"READY": "1", "STATUS": "serving"}))
        daemon.upgrade()
        new = daemon.pid
        # Only the main process may speak.
        self.assertEqual(manager.next(),
                         (old, {"READY": "1", "MAINPID": str(new), "STATUS": "serving"}))
        self.assertEqual(procfs.stat(new)[2], os.getpid())
        daemon.terminate()
        self.assertEqual(manager.next(), (new, {"STOPPING": "1", "STATUS": "draining"}))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(new, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
