"""Faults that the other suites have no test of; README.md says which row is tested where."""
import contextlib
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from harness import (BIN, CRASHED_IT, QUEUE_FULL, TESTS, TIMED_OUT, WORKER_LOST, Caller,
                     CrashDaemon, wait_until)
import calls
import memory_cgroup
from models import placement, synthetic, tensor

SLOW_READER = pathlib.Path(__file__).parents[1] / "support/slow_reader.py"


def epochs(daemon, model="m"):
    return [worker["epoch"] for worker in daemon.ps()[model]["workers"]]


def signal_all(pids, number):
    for pid in pids:
        os.kill(pid, number)


class Poison(unittest.TestCase):
    def test_row_2_poison_in_a_worker_of_four_lanes_spares_its_neighbours(self):
        """The only process of the model: whoever is on the other lanes dies with it, and lives."""
        model = synthetic("m", parameters={"delay": "3ms", "crash_if": 666},
                          placement=placement(processes=1, lanes=4))
        with CrashDaemon([model, synthetic("good")]) as daemon:
            before = daemon.descriptors_when_serving()
            with Caller(daemon.address, "m", concurrency=16) as innocent, \
                    Caller(daemon.address, "good", concurrency=2) as good:
                with calls.stub(daemon.address) as stub:
                    one_row = calls.request("m", {"x": calls.row_of(666)})
                    for _ in range(20):
                        self.check_crashed(calls.infer(stub, one_row))
                    self.check_deaths(daemon, most=2, quarantined=19)
                    two_rows = calls.request("m", {"x": calls.row_of(666, rows=2)})
                    for outcome in calls.infer_all(stub, [two_rows] * 20):
                        self.check_crashed(outcome)
                    self.check_deaths(daemon, most=4, quarantined=38)
                ended = daemon.requests("m")
                wait_until(lambda: daemon.requests("m") > ended + 200, 30, "calls afterwards")
                innocent.check((WORKER_LOST,))
                good.check()
            lost = innocent.report["endings"].get(WORKER_LOST, 0)
            print(f"  {innocent.report['endings']}", flush=True)
            self.assertLess(lost, innocent.report["sent"] / 20, "dispatched again, not given up")
            daemon.check_same_as(before)

    def check_crashed(self, outcome):
        self.assertEqual(f"{outcome.code.name}: {outcome.text}", CRASHED_IT)

    def check_deaths(self, daemon, most, quarantined):
        """One among others and one alone, and everybody else who brought the same is spared both."""
        daemon.wait_all_serving()
        self.assertLessEqual(epochs(daemon)[0] - 1, most)
        self.assertEqual(daemon.metric("mpsd_quarantined_requests_total", model="m"), quarantined)
        wait_until(lambda: daemon.log().count('"request_quarantined"') == most // 2, 20,
                   "its line")


class Stops(unittest.TestCase):
    MODEL = synthetic("m", parameters={"delay": "2ms"}, placement=placement(processes=3))

    def test_row_3_a_front_end_that_was_stopped_kills_nobody(self):
        with CrashDaemon([self.MODEL]) as daemon:
            before = daemon.descriptors_when_serving()
            with Caller(daemon.address, "m") as caller:
                wait_until(lambda: daemon.requests("m") > 50, 30, "calls")
                os.kill(daemon.pid, signal.SIGSTOP)
                time.sleep(10)
                os.kill(daemon.pid, signal.SIGCONT)
                ended = daemon.requests("m")
                wait_until(lambda: daemon.requests("m") > ended + 200, 30, "calls afterwards")
                caller.check()
            self.assertEqual(epochs(daemon), [1, 1, 1])
            self.assertNotIn("worker_killed", daemon.log())
            daemon.check_same_as(before)

    def test_row_28_a_host_that_slept_answers_what_expired_and_kills_nobody(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "2s"})
        with CrashDaemon([model]) as daemon, calls.stub(daemon.address) as stub:
            futures = [stub.ModelInfer.future(
                calls.request("m", {"x": calls.row_of(i)}, parameters={"timeout": 4_000_000}),
                timeout=30) for i in range(8)]
            wait_until(lambda: daemon.metric("mpsd_queue_requests") == 7, 20, "seven wait")
            everybody = [daemon.pid, *daemon.workers()]
            signal_all(everybody, signal.SIGSTOP)
            time.sleep(6)
            signal_all(everybody, signal.SIGCONT)
            outcomes = [calls.outcome_of(future) for future in futures]
            late = [outcome for outcome in outcomes if outcome.code != calls.OK]
            self.assertGreaterEqual(len(late), 6)
            for outcome in late:
                self.assertEqual(f"{outcome.code.name}: {outcome.text}", TIMED_OUT)
            self.assertEqual(epochs(daemon), [1])

    def test_row_33_workers_stopped_one_by_one_and_continued_in_random_order(self):
        seed = random.SystemRandom().randrange(1 << 30)
        print(f"  seed {seed}", flush=True)
        order = random.Random(seed)
        with CrashDaemon([self.MODEL]) as daemon:
            before = daemon.descriptors_when_serving()
            with Caller(daemon.address, "m", concurrency=24) as caller:
                for _ in range(6):
                    stopped = daemon.workers()
                    for pid in stopped:
                        os.kill(pid, signal.SIGSTOP)
                        time.sleep(order.random() * 0.1)
                    order.shuffle(stopped)
                    for pid in stopped:
                        time.sleep(order.random() * 0.2)
                        os.kill(pid, signal.SIGCONT)
                    ended = daemon.requests("m")
                    wait_until(lambda ended=ended: daemon.requests("m") > ended + 50, 20, "calls")
                caller.check()
            self.assertEqual(epochs(daemon), [1, 1, 1])
            daemon.check_same_as(before)

    def test_row_3_a_long_warm_up_is_no_hang(self):
        """As long as all buckets of a small encoder take on one core."""
        model = synthetic("m", parameters={"delay": "26s"}, warmup="smallest")
        with CrashDaemon([model]) as daemon:
            self.assertEqual(daemon.metric("mpsd_workers_ready"), 1)
            self.assertEqual(epochs(daemon), [1])


class Slow(unittest.TestCase):
    def test_row_4_a_slow_worker_leads_to_refusals_and_no_kill(self):
        model = synthetic("m", max_batch_size=1, parameters={"delay": "50ms"},
                          queue={"requests": 8})
        with CrashDaemon([model]) as daemon:
            with Caller(daemon.address, "m", concurrency=32, rows_max=1,
                        patience_ms=5000) as caller:
                wait_until(lambda: daemon.metric("mpsd_requests_total", code="OK") > 40, 20, "OK")
                endings = caller.check((QUEUE_FULL,))["endings"]
            self.assertGreater(endings[QUEUE_FULL], 40, endings)
            self.assertEqual(epochs(daemon), [1])

    def start_reader(self, daemon, count):
        """A client that has made so many calls, and reads their answers until it is stopped."""
        reader = self.enterContext(subprocess.Popen(
            [sys.executable, str(SLOW_READER), daemon.address, "big", str(count)],
            stdout=subprocess.PIPE, text=True))
        self.addCleanup(reader.kill)
        self.assertEqual(reader.stdout.readline(), "sent\n")
        return reader

    def test_row_12_slow_readers_until_the_cap(self):
        """The unread answers stay below the cap, and nobody starves."""
        elements = 1 << 20
        model = synthetic("big", [tensor("x", [-1])], max_batch_size=1,
                          parameters={"delay": "50ms"}, outputs=[tensor("OUTPUT0", [-1])],
                          pad=[{"input": "x", "dim": 0, "buckets": [elements]}])
        with CrashDaemon([model]) as daemon, calls.stub(daemon.address) as stub:
            with daemon.stopped_workers():  # there is nothing to read before all have stopped
                readers = [self.start_reader(daemon, 24) for _ in range(3)]
                wait_until(lambda: daemon.metric("mpsd_running_batches") +
                           daemon.metric("mpsd_queue_requests") == 3 * 24, 30, "all calls")
                signal_all([reader.pid for reader in readers], signal.SIGSTOP)
            wait_until(lambda: daemon.metric("mpsd_unread_copy_bytes") > 0, 30, "unread answers")
            # The batch that a stopped worker held up may have taught that batches take long.
            message = calls.request("big", {"x": calls.row_of(1, width=2)})
            wait_until(lambda: calls.infer(stub, message).code == calls.OK, 30, "another's answer")
            for reader in readers:
                reader.kill()
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 20, "the end of the readers")

    def test_row_12_an_unread_answer_in_each_batch_starves_nobody(self):
        """Each reader shares its batch with others, and never reads. Its answer keeps a part of the
        worker's output area, or is copied where too much of that is kept."""
        rows, row_bytes = 8, 1 << 20
        model = synthetic("big", [tensor("x", [-1])], max_batch_size=rows,
                          batching={"max_delay": "10s"}, outputs=[tensor("OUTPUT0", [-1])],
                          pad=[{"input": "x", "dim": 0, "buckets": [row_bytes // 4]}])
        others = [calls.request("big", {"x": calls.row_of(1, width=2)}) for _ in range(rows)]
        limits = {"keepalive": "300s"}  # nobody is cut off, however long it takes
        with CrashDaemon([model], limits=limits) as daemon, calls.stub(daemon.address) as stub:
            before = daemon.descriptors_when_serving()
            readers = []
            for _ in range(5):
                reader = self.start_reader(daemon, 1)
                readers.append(reader)
                wait_until(lambda: daemon.metric("mpsd_queue_requests") == 1, 30, "its call")
                os.kill(reader.pid, signal.SIGSTOP)
                for outcome in calls.infer_all(stub, others[1:]):
                    self.assertEqual(outcome.code, calls.OK, outcome.text)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == len(readers), 30,
                       "the end of the others alone: no reader has read")
            for _ in range(10):
                for outcome in calls.infer_all(stub, others):
                    self.assertEqual(outcome.code, calls.OK, outcome.text)
            unread = daemon.metric("mpsd_unread_copy_bytes") + \
                daemon.metric("mpsd_pinned_output_bytes")
            self.assertGreater(unread, len(readers) * row_bytes / 2)
            for reader in readers:
                reader.kill()
            wait_until(lambda: daemon.metric("mpsd_output_leases") == 0, 30, "no output is kept")
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 20, "the end of the readers")
            daemon.check_same_as(before)


class Memory(unittest.TestCase):
    def test_row_5_workers_that_the_kernel_kills_for_memory(self):
        """They alone have too little of it: the front end and the other model notice nothing."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        cgroup = memory_cgroup.make(self, 512 << 10)
        (folder / "mpsd").write_bytes((BIN / "mpsd").read_bytes())
        (folder / "mpsd-worker").write_text(
            f'#!/bin/sh\ncase "$TMPDIR" in\n*/m-*) echo $$ >"{cgroup}/cgroup.procs" ;;\nesac\n'
            f'exec "{BIN}/mpsd-worker" "$@"\n')
        for program in ("mpsd", "mpsd-worker"):
            (folder / program).chmod(0o755)
        with CrashDaemon([synthetic("m"), synthetic("good")], binaries=folder) as daemon:
            with Caller(daemon.address, "good", concurrency=2) as good:
                wait_until(lambda: memory_cgroup.kills(cgroup) >= 3, 20, "three deaths")
                ended = daemon.requests("good")
                wait_until(lambda: daemon.requests("good") > ended + 50, 20, "calls")
                good.check()
            self.assertEqual(epochs(daemon, "good"), [1])
            # Whether the kernel was it is known where front end and workers share a cgroup.
            self.assertIn(daemon.ps()["m"]["workers"][0]["exit_reason"], ("oom", "killed"))


class Clock(unittest.TestCase):
    def test_row_27_a_wall_clock_that_jumps_changes_nothing(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        shift = pathlib.Path(folder) / "shift"
        shift.write_bytes(struct.pack("<q", 0))
        environment = {"LD_PRELOAD": str(TESTS / "mpsd-clock-shift.so"),
                       "MPSD_CLOCK_SHIFT": str(shift)}
        with CrashDaemon([Stops.MODEL], environment=environment) as daemon:
            self.assertFalse(self.shifted(daemon))
            with Caller(daemon.address, "m", timeout_percent=50, timeout_low_ms=5000,
                        timeout_high_ms=6000) as caller:
                for seconds in (86400, -86400, 10, 0):
                    with open(shift, "r+b") as file:
                        file.write(struct.pack("<q", seconds))
                    ended = daemon.requests("m")
                    wait_until(lambda ended=ended: daemon.requests("m") > ended + 100, 20, "calls")
                    if seconds == 86400:
                        os.kill(daemon.workers()[0], signal.SIGKILL)
                        wait_until(lambda: self.shifted(daemon), 30, "a log line of tomorrow")
                caller.check()
            daemon.wait_all_serving()
            self.assertEqual(sum(epochs(daemon)), 4)
            self.assertNotIn("worker_killed", daemon.log())

    def shifted(self, daemon):
        """True when the daemon did believe the wrong clock, where it may."""
        tomorrow = time.strftime("%Y-%m-%dT", time.gmtime(time.time() + 86400))
        return f'"time":"{tomorrow}' in daemon.log()


class Starved(unittest.TestCase):
    MODEL = synthetic("m", placement=placement(processes=2))

    def limited(self, count):
        """A folder whose mpsd starts with at most that many descriptors."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        script = folder / "mpsd"
        script.write_text(f'#!/bin/sh\nulimit -n {count}\nexec "{BIN}/mpsd" "$@"\n')
        script.chmod(0o755)
        return folder

    def test_row_9_sixty_four_descriptors(self):
        """They do for a small daemon: clients beyond them wait, nobody spins, workers stay."""
        with CrashDaemon([self.MODEL], binaries=self.limited(64)) as daemon:
            self.assertEqual(daemon.metric("process_max_fds"), 64)
            before = daemon.metric("process_cpu_seconds_total")
            with contextlib.ExitStack() as stack:
                crowd = [stack.enter_context(calls.stub(daemon.address)) for _ in range(60)]
                futures = [stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}),
                                                  timeout=6) for stub in crowd]
                outcomes = [calls.outcome_of(future) for future in futures]
                self.assertEqual(len(daemon.workers()), 2)
            answered = sum(outcome.code == calls.OK for outcome in outcomes)
            spent = daemon.metric("process_cpu_seconds_total") - before
            print(f"  {answered} of {len(crowd)} clients were answered in {spent:.2f} s of the "
                  "processor", flush=True)
            self.assertGreater(answered, 0)
            self.assertLess(spent, 4, "no spinning while there is no descriptor")
            with calls.stub(daemon.address) as stub:
                calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}))


class Logs(unittest.TestCase):
    MODEL = synthetic("m", parameters={"delay": "1ms"}, placement=placement(processes=2))

    def check_serves_through_deaths(self, daemon):
        with Caller(daemon.address, "m") as caller:
            for death in range(1, 4):
                signal_all(daemon.workers()[:1], signal.SIGKILL)
                wait_until(lambda death=death:
                           daemon.metric("mpsd_worker_restarts_total") == death, 30, "a restart")
            daemon.wait_all_serving()
            caller.check((WORKER_LOST,))

    def test_row_23_a_full_disk(self):
        with CrashDaemon([self.MODEL], log={"file": "/dev/full"}) as daemon:
            self.check_serves_through_deaths(daemon)
            self.assertGreater(daemon.metric("mpsd_log_lines_dropped_total"), 0)

    def test_row_23_a_log_pipe_that_nobody_reads(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        pipe = os.path.join(folder, "log")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, writer)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, b"x" * 4096)
        with CrashDaemon([self.MODEL], log={"file": pipe}) as daemon:
            self.check_serves_through_deaths(daemon)


if __name__ == "__main__":
    unittest.main(verbosity=2)
