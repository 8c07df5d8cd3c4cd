"""The end of a daemon, asked for or not: each call has one ending, and nothing is left behind."""
import collections
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import grpc

import calls
import procfs
from daemon import BIN, Daemon, ROOT, wait_until
from models import placement, synthetic, tensor

CANCELLED = grpc.StatusCode.CANCELLED
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
CONTROL_FD = 3  # a worker's


def wait_for_running(daemon, batches):
    wait_until(lambda: daemon.metric("mpsd_running_batches") == batches, 30,
               f"{batches} running batches")


class Killed(unittest.TestCase):
    def test_kill_leaves_nothing_and_the_next_start_works_at_once(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        state = pathlib.Path(folder) / "state"
        listener = f"unix:{folder}/mpsd.sock"
        model = synthetic("m", parameters={"delay": "5ms"}, placement=placement(processes=2))
        with Daemon([model], state_dir=state, listen=[listener]) as first:
            load = self.enterContext(calls.Load(first.address, "m"))
            wait_until(lambda: load.answered() > 50, 30, "some answers")
            first.wait_all_serving()
            ours = procfs.memory_files(first.pid)
            if os.geteuid() == 0:  # nobody else may look into the daemon
                self.assertGreaterEqual(len(ours), 5, "slabs, and two segments a worker")
            self.assertEqual(len(first.workers()), 2)
            first.kill()
            wait_until(lambda: not first.workers(), 30, "the end of the workers")
            wait_until(lambda: not ours & procfs.all_memory_files(), 30, "the end of their memory")
            load.stop()
            self.assertEqual(len(load.outcomes), load.started)
            self.assertLessEqual({outcome.code for outcome in load.outcomes},
                                 {calls.OK, UNAVAILABLE})
            with Daemon([model], state_dir=state, listen=[listener]) as second:
                self.assertEqual(second.temporary_folders(), ["m-0.1", "m-1.2"])
                for address in (second.address, listener):
                    with calls.stub(address) as stub:
                        calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}))

    def test_a_worker_that_starts_after_its_daemon_has_gone_reads_no_order(self):
        """The order may be in its socket, and a load takes long."""
        ours, its = socket.socketpair()
        self.addCleanup(its.close)
        ours.close()
        its.set_inheritable(True)
        done = subprocess.run([BIN / "mpsd-worker"], close_fds=False, check=False, timeout=60,
                              preexec_fn=lambda: os.dup2(its.fileno(), CONTROL_FD))
        self.assertEqual(done.returncode, 0, "4 would be a wrong order")

    def test_what_a_killed_one_left_goes_though_somebody_still_writes_there(self):
        """Its workers live for a moment longer, and the next daemon starts meanwhile."""
        state = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        folder = state / "workers/m-7.9"
        folder.mkdir(parents=True)
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, place)
        writing = threading.Event()
        writing.set()

        def write():
            number = 0
            while writing.is_set():
                number += 1
                with contextlib.suppress(FileNotFoundError):
                    os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, dir_fd=place))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            with Daemon([synthetic("m")], state_dir=state) as daemon:
                self.assertEqual(daemon.temporary_folders(), ["m-0.1"], "its own")
                writing.clear()
                wait_until(lambda: not daemon.left_folder.exists(), 30, "its removal")
        finally:
            writing.clear()
            writer.join()

    def test_kill_in_the_middle_of_a_batch(self):
        """A worker that is busy in its model ends too."""
        with Daemon([synthetic("m", parameters={"delay": "60s"})]) as daemon, \
                calls.stub(daemon.address) as stub:
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_for_running(daemon, 1)
            daemon.kill()
            wait_until(lambda: not daemon.workers(), 30, "the end of the worker")
            self.assertEqual(calls.outcome_of(future).code, UNAVAILABLE)


class Terminated(unittest.TestCase):
    def check_endings(self, load):
        self.assertEqual(len(load.outcomes), load.started)
        endings = collections.Counter((outcome.code, outcome.text) for outcome in load.outcomes)
        print("  " + ", ".join(f"{code and code.name} {text!r}: {count}"
                               for (code, text), count in endings.items()), flush=True)
        cancelled = sum(count for (code, _), count in endings.items() if code == CANCELLED)
        self.assertLessEqual({code for code, _ in endings}, {calls.OK, UNAVAILABLE, CANCELLED})
        # gRPC itself resets a call that crosses its GOAWAY: at most one a connection.
        self.assertLessEqual(cancelled, self.CALLERS)

    CALLERS = 8

    def test_terminate_under_load(self):
        model = synthetic("m", parameters={"delay": "5ms"}, placement=placement(processes=2))
        with Daemon([model]) as daemon:
            with calls.Load(daemon.address, "m", self.CALLERS) as load:
                wait_until(lambda: load.answered() > 50, 30, "some answers")
                daemon.terminate()
                self.assertEqual(daemon.wait(), 0)
            self.check_endings(load)

    def test_what_is_inside_ends_and_what_comes_is_refused(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "2s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            inside = [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(i)}))
                      for i in range(2)]
            wait_until(lambda: daemon.metric("mpsd_running_batches") +
                       daemon.metric("mpsd_queue_requests") == 2, 30, "both inside")
            daemon.terminate()
            wait_until(lambda: daemon.get("/readyz")[0] == 503, 30, "not ready")
            late = calls.infer(stub, calls.request("m", {"x": calls.row_of(9)}))
            self.assertEqual((late.code, late.text), (UNAVAILABLE, "Server exiting"))
            for future in inside:
                self.assertEqual(calls.outcome_of(future).code, calls.OK)
            self.assertEqual(daemon.wait(), 0)

    def test_lame_duck_still_serves(self):
        with Daemon([synthetic("m")], limits={"lame_duck": "60s"}) as daemon, \
                calls.stub(daemon.address) as stub:
            daemon.terminate()
            wait_until(lambda: daemon.get("/readyz")[0] == 503, 30, "not ready")
            calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}))
            daemon.terminate()  # the second signal: hurry
            self.assertEqual(daemon.wait(), 0)

    def test_drain_timeout_ends_what_is_inside(self):
        with Daemon([synthetic("m", parameters={"delay": "60s"})],
                    limits={"drain_timeout": "500ms"}) as daemon, \
                calls.stub(daemon.address) as stub:
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            wait_for_running(daemon, 1)
            daemon.terminate()
            outcome = calls.outcome_of(future)
            self.assertEqual((outcome.code, outcome.text), (UNAVAILABLE, "Server exiting"))
            self.assertEqual(daemon.wait(), 0)

    def test_a_second_signal_hurries(self):
        with Daemon([synthetic("m", parameters={"delay": "60s"})]) as daemon, \
                calls.stub(daemon.address) as stub:
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}),
                                            timeout=60)
            wait_for_running(daemon, 1)
            daemon.terminate()
            wait_until(lambda: daemon.get("/readyz")[0] == 503, 30, "not ready")
            self.assertFalse(future.done())
            daemon.terminate()
            self.assertEqual(daemon.wait(), 0)
            self.assertEqual(calls.outcome_of(future).code, UNAVAILABLE)

    def test_terminate_while_a_model_loads(self):
        model = synthetic("m", parameters={"load_delay": "60s"})
        daemon = Daemon([model])
        self.addCleanup(daemon.discard)
        starting = threading.Thread(target=self.expect_no_start, args=(daemon,), daemon=True)
        starting.start()
        wait_until(lambda: daemon.running() and daemon.workers(), 30, "the worker")
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)
        daemon.check_nothing_left()
        starting.join(10)

    def expect_no_start(self, daemon):
        with self.assertRaises(AssertionError):
            daemon.start()


class SlowReader(unittest.TestCase):
    ELEMENTS = 1 << 20  # 4 MiB a row
    CALLS = 24
    # A small request with a large answer: its padding is not cut back.
    BIG = synthetic("big", [tensor("x", [-1])], max_batch_size=1, parameters={"delay": "50ms"},
                    outputs=[tensor("OUTPUT0", [-1])],
                    pad=[{"input": "x", "dim": 0, "buckets": [ELEMENTS]}])

    def start_slow_reader(self, daemon, address):
        """A client whose calls are all answered, and who reads next to nothing of it."""
        script = ROOT / "tests/support/slow_reader.py"
        with daemon.stopped_workers():  # the reader stops before there is anything to read
            reader = subprocess.Popen(
                [sys.executable, str(script), address, "big", str(self.CALLS)],
                stdout=subprocess.PIPE, text=True)
            self.addCleanup(reader.stdout.close)
            self.addCleanup(reader.wait)
            self.addCleanup(reader.kill)
            self.assertEqual(reader.stdout.readline(), "sent\n")
            wait_until(lambda: daemon.metric("mpsd_running_batches") +
                       daemon.metric("mpsd_queue_requests") == self.CALLS, 30, "all calls")
            os.kill(reader.pid, signal.SIGSTOP)
        wait_until(lambda: daemon.metric("mpsd_requests_total") == self.CALLS, 30,
                   "all calls answered, though nobody reads")
        self.assertEqual(daemon.metric("mpsd_requests_total", code="OK"), self.CALLS)
        stuck = daemon.metric("mpsd_open_calls")
        self.assertGreater(stuck, 0, "the slow reader is none")
        held = wait_until(lambda: daemon.metric("mpsd_unread_copy_bytes"), 20, "unread answers")
        print(f"  {stuck:.0f} of {self.CALLS} calls are stuck, {held / 2**20:.0f} MiB unread",
              flush=True)
        return reader

    def infer_big(self, stub):
        outcome = calls.answered(stub, calls.request("big", {"x": calls.row_of(1, width=2)}))
        self.assertEqual(calls.arrays(outcome.response)["OUTPUT0"].shape, (1, self.ELEMENTS))

    def test_slow_reader_starves_nobody_and_does_not_hang_the_end(self):
        for listener in range(2):
            with self.subTest(listener=listener):
                self.check_slow_reader(listener)

    def check_slow_reader(self, listener):
        with Daemon([self.BIG], listen=["unix:mpsd.sock"], limits={"drain_timeout": "2s"},
                    gauges_at_rest=()) as daemon, calls.stub(daemon.address) as stub:
            reader = self.start_slow_reader(daemon, daemon.listeners[listener])
            for _ in range(8):
                self.infer_big(stub)
            daemon.terminate()
            self.assertEqual(daemon.wait(), 0)
            self.assertIsNone(reader.poll(), "the reader is still there, and stopped")

    def test_slow_reader_that_is_killed_gives_everything_back(self):
        with Daemon([self.BIG]) as daemon, calls.stub(daemon.address) as stub:
            reader = self.start_slow_reader(daemon, daemon.address)
            reader.kill()
            reader.wait()
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 30, "the end of its calls")
            self.infer_big(stub)


if __name__ == "__main__":
    unittest.main(verbosity=2)
