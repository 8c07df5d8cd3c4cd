"""What workers write is kept for whoever asks why, and neither it nor a log that nobody reads nor a
full disk holds anything up."""
import json
import os
import pathlib
import signal
import tempfile
import unittest

import grpc
import numpy as np

import calls
import hostile
import memory_cgroup
from daemon import BIN, Daemon, mpsd, wait_until
from models import placement, synthetic, tensor


def starting(test, command):
    """A folder with a mpsd that begins with a command of the shell."""
    folder = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
    (folder / "mpsd").write_text(f'#!/bin/sh\n{command}\nexec "{BIN}/mpsd" "$@"\n')
    (folder / "mpsd").chmod(0o755)
    return folder


class Output(unittest.TestCase):
    def folder(self):
        return self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))

    def run_hostile(self, how, **config):
        bad = synthetic("bad", parameters={"hostile": how})
        return self.enterContext(Daemon([bad, synthetic("good")],
                                        binaries=hostile.binaries(self.folder()),
                                        environment=hostile.ENVIRONMENT, **config))

    def check_good(self, daemon, count=50):
        with calls.stub(daemon.address) as stub:
            for i in range(count):
                calls.answered(stub, calls.request("good", {"x": calls.row_of(i)}))

    def test_why(self):
        daemon = self.run_hostile("talk_and_die")
        wait_until(lambda: daemon.ps()["bad"]["workers"][0]["last_exit"], 30, "a death")
        worker = daemon.ps()["bad"]["workers"][0]
        self.assertEqual((worker["last_exit"], worker["exit_reason"]), ("exit 7", "exit"))
        self.assertEqual(len(worker["last_lines"]), 20)
        self.assertEqual(worker["last_lines"][-2], "complaint 29")
        self.assertEqual(worker["last_lines"][-1], "\\033[31mno UTF-8: \\377")
        text = mpsd("ps", "--why", "bad", "--address", daemon.address).stdout
        self.assertRegex(text, r"^bad 1: unavailable: .*, circuit \w+\n  worker 0: ")
        self.assertRegex(text, r"last exit: exit 7 \[exit\]\n    last lines:\n      complaint 11\n")
        self.assertNotIn("good", text)
        everything = mpsd("ps", "--why", "--address", daemon.address).stdout
        self.assertRegex(everything, r"good 1: ready, circuit closed\n  worker 0: runs as \d+")
        nobody = mpsd("ps", "--why", "nobody", "--address", daemon.address)
        self.assertEqual(nobody.returncode, 1)
        self.assertIn("there is no model 'nobody'", nobody.stderr)

    def test_a_flood_of_lines(self):
        daemon = self.run_hostile("flood_output")
        wait_until(lambda: daemon.metric("mpsd_worker_lines_dropped_total", model="bad") > 10_000,
                   20, "dropped lines")
        self.check_good(daemon)
        wait_until(lambda: daemon.ps()["bad"]["workers"][0]["last_lines"][-1] == "line 19999", 20,
                   "the last line")
        daemon.wait_logged('"worker_output_dropped"')
        self.assertLess(daemon.log().count('"worker_output"'), 2000)

    def test_a_folder_full_of_files(self):
        daemon = self.run_hostile("leave_much_behind")
        self.check_good(daemon)
        wait_until(lambda: daemon.metric("mpsd_worker_exits_total", model="bad") >= 2, 20, "deaths")
        self.check_good(daemon)
        # The daemon's end leaves no folder, however many there were.


class Log(unittest.TestCase):
    def check_serves(self, daemon):
        with calls.stub(daemon.address) as stub:
            for i in range(20):
                calls.answered(stub, calls.request("m", {"x": calls.row_of(i)}))

    def test_rotation(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-test-") as folder:
            log = pathlib.Path(folder) / "mpsd.log"
            rotated = pathlib.Path(folder) / "mpsd.log.1"
            with Daemon([synthetic("m")], log={"file": str(log)}) as daemon:
                wait_until(lambda: "worker_ready" in log.read_text(), 30, "a first line")
                log.rename(rotated)
                os.kill(daemon.pid, signal.SIGUSR1)
                wait_until(lambda: log.exists() and "log_reopened" in log.read_text(), 30,
                           "a new file")
                self.assertNotIn("log_reopened", rotated.read_text())
                self.check_serves(daemon)

    def test_a_full_disk(self):
        with Daemon([synthetic("m")], log={"file": "/dev/full"}) as daemon:
            wait_until(lambda: daemon.metric("mpsd_log_lines_dropped_total") > 0, 30, "lost lines")
            self.check_serves(daemon)
            os.kill(daemon.workers()[0], signal.SIGKILL)
            wait_until(lambda: daemon.metric("mpsd_worker_restarts_total") == 1, 30,
                       "another worker")
            daemon.wait_all_serving()
            self.check_serves(daemon)

    def test_a_file_size_limit(self):
        """The signal for a file that is too large ends neither the front end nor a worker."""
        limit = 64 << 20
        folder = starting(self, f"ulimit -f {limit // 512}")
        log = folder / "log"
        with open(log, "wb") as file:
            file.truncate(limit - 100)  # the limit cuts one of the first added lines
        with Daemon([synthetic("m")], log={"file": str(log)}, binaries=folder) as daemon:
            wait_until(lambda: daemon.metric("mpsd_log_lines_dropped_total") > 0, 30, "lost lines")
            self.assertEqual(log.stat().st_size, limit)
            self.check_serves(daemon)
            warnings = json.loads(daemon.get("/mpsd/status")[1])["warnings"]
            self.assertRegex(warnings[0], r"a file of this process may have 64 ?MiB \(ulimit -f\)")
            os.kill(daemon.workers()[0], signal.SIGXFSZ)
            os.kill(daemon.pid, signal.SIGXFSZ)
            self.check_serves(daemon)
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)

    def test_a_log_pipe_that_nobody_reads(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-test-") as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            bad = synthetic("bad", parameters={"hostile": "flood_output"})
            with Daemon([bad, synthetic("m")], log={"file": pipe},
                        binaries=hostile.binaries(folder),
                        environment=hostile.ENVIRONMENT) as daemon:
                wait_until(lambda: daemon.metric("mpsd_worker_lines_dropped_total") > 1000, 20,
                           "a flood")
                self.check_serves(daemon)


class Memory(unittest.TestCase):
    def test_a_small_cgroup_refuses_what_it_cannot_hold(self):
        """The kernel ends nobody, however much clients send at once."""
        cgroup = memory_cgroup.make(self, 360 << 20)
        folder = starting(self, f'echo $$ >"{cgroup}/cgroup.procs"')
        model = synthetic("m", [tensor("x", [-1])], max_batch_size=0,
                          parameters={"delay": "200ms"}, placement=placement(processes=1))
        sent = np.zeros(4 << 20, np.float32)
        with Daemon([model], binaries=folder) as daemon, calls.stub(daemon.address) as stub:
            pid = daemon.pid
            warnings = json.loads(daemon.get("/mpsd/status")[1])["warnings"]
            self.assertIn("has little memory: limits.buffered is", warnings[0])
            codes = set()
            for _ in range(3):
                outcomes = calls.infer_all(stub, [calls.request("m", {"x": sent})] * 24)
                codes |= {outcome.code for outcome in outcomes}
            self.assertLessEqual(codes, {calls.OK, grpc.StatusCode.RESOURCE_EXHAUSTED})
            self.assertEqual(memory_cgroup.kills(cgroup), 0)
            calls.answered(stub, calls.request("m", {"x": sent[:4]}))
            self.assertEqual(daemon.pid, pid)

    def test_the_kernel_takes_a_worker_before_the_front_end(self):
        with Daemon([synthetic("m")]) as daemon:
            def score(pid):
                return int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())
            self.assertGreaterEqual(score(daemon.workers()[0]), score(daemon.pid) + 100)

    def test_one_of_the_kernels_kills_is_told_from_others(self):
        """Nobody killed for want of memory here: a SIGKILL is somebody's."""
        with Daemon([synthetic("m")]) as daemon:
            os.kill(daemon.workers()[0], signal.SIGKILL)
            wait_until(lambda: daemon.metric("mpsd_worker_exits_total", reason="killed") == 1, 30,
                       "the death")
            self.assertEqual(daemon.metric("mpsd_worker_exits_total", reason="oom"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
