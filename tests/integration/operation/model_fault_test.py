"""A model that throws, dies or cannot be loaded harms its own requests and no other model."""
import os
import pathlib
import shutil
import signal
import tempfile
import unittest

import grpc
import numpy as np

import calls
from daemon import BIN, Daemon, MODELS, WITH_TORCH, mpsd, wait_until
from models import placement, synthetic, torchscript

INTERNAL = grpc.StatusCode.INTERNAL
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


class ModelFault(unittest.TestCase):
    def check_good(self, stub, model="good"):
        calls.answered(stub, calls.request(model, {"x": calls.row_of(3)}))

    def test_a_model_that_throws(self):
        throws = synthetic("throws", parameters={"throw_if": 13})
        with Daemon([throws, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, calls.request("throws", {"x": calls.row_of(13)}))
            self.assertEqual(outcome.code, INTERNAL)
            self.assertRegex(outcome.text, "^PyTorch execute failure: .*asked to throw")
            self.check_good(stub, "throws")
            self.check_good(stub)
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)

    def test_a_model_that_refuses_the_zeros_of_its_warm_up(self):
        throws = synthetic("throws", warmup="smallest", parameters={"throw_if": 0})
        with Daemon([throws]) as daemon, calls.stub(daemon.address) as stub:
            self.check_good(stub, "throws")
            self.assertRegex(daemon.ps()["throws"]["warning"], "^warm-up: .*asked to throw")
            self.assertIn("\nthrows 1: warning: warm-up: ",
                          mpsd("ps", "--address", daemon.address).stdout)
            daemon.wait_logged('"warm_up_refused","model":"throws"')
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_torch_model_that_throws(self):
        with Daemon([torchscript("throws")]) as daemon, calls.stub(daemon.address) as stub:
            bad = calls.infer(stub, calls.request("throws", {"input": calls.row_of(np.nan)}))
            self.assertEqual(bad.code, INTERNAL)
            self.assertRegex(bad.text, "^PyTorch execute failure: .*the input holds a NaN")
            self.assertNotIn("/", bad.text, "no text to a client holds a path")
            calls.answered(stub, calls.request("throws", {"input": calls.row_of(1)}))

    def test_a_model_that_fails_one_row(self):
        model = synthetic("m", max_batch_size=64,
                          parameters={"fail_if": 13, "delay": "20ms"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            outcomes = calls.infer_all(stub, [calls.request("m", {"x": calls.row_of(i)})
                                              for i in range(40)])
            for i, outcome in enumerate(outcomes):
                self.assertEqual(outcome.code, INTERNAL if i == 13 else calls.OK, (i, outcome))
            self.assertIn("asked to fail", outcomes[13].text)
            self.assertLess(daemon.metric("mpsd_batches_total"), 20, "none had company")

    def test_a_model_that_crashes_at_load(self):
        crashes = synthetic("crashes", parameters={"crash_at_load": True})
        with Daemon([crashes, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, calls.request("crashes", {"x": calls.row_of(1)}))
            self.assertEqual((outcome.code, outcome.text),
                             (UNAVAILABLE, "Request for model 'crashes' is not at ready state"))
            self.check_good(stub)
            model = daemon.ps()["crashes"]
            self.assertFalse(model["ready"])
            self.assertRegex(model["workers"][0]["last_exit"], "SIGSEGV|exit 1")
            self.assertRegex(daemon.table, r"crashes +NOT READY")
            restarts = daemon.metric("mpsd_worker_restarts_total", model="crashes")
            wait_until(lambda: daemon.metric("mpsd_worker_restarts_total", model="crashes")
                       > restarts, 60, "another try")
            self.check_good(stub)

    def test_a_model_that_fails_to_load_says_why(self):
        fails = synthetic("fails", parameters={"fail_at_load": True})
        with Daemon([fails, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
            self.check_good(stub)
            self.assertIn("asked to fail at load", daemon.ps()["fails"]["state"])
            self.assertIn("asked to fail at load", daemon.table)

    def test_a_model_that_crashes_at_inference(self):
        """Alone in two workers: the request is at fault, and is told so."""
        crashes = synthetic("crashes", parameters={"crash_if": 13})
        with Daemon([crashes, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
            with calls.Load(daemon.address, "good", callers=4) as load:
                outcome = calls.infer(stub, calls.request("crashes", {"x": calls.row_of(13)}))
                self.assertEqual((outcome.code, outcome.text),
                                 (INTERNAL, "request crashed its worker"))
                self.check_good(stub, "crashes")
            self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total", model="good"), 0)

    def test_a_signal_from_outside_convicts_no_request(self):
        """It is alone in its worker, and is tried once more; what was answered is never refused."""
        model = synthetic("m", parameters={"delay": "1s"})
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            for kind in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT):
                future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
                wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 30, "the batch")
                os.kill(daemon.workers()[0], kind)
                outcome = calls.answer_of(future)
            future = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
            pid = None
            for _ in range(2):
                pid = wait_until(lambda pid=pid: self.busy_worker(daemon, pid), 30, "a batch")
                os.kill(pid, signal.SIGSEGV)
            outcome = calls.outcome_of(future)
            self.assertEqual((outcome.code, outcome.text),
                             (INTERNAL, "request crashed its worker"))
            daemon.wait_logged("request_crashed_workers")
            self.assertNotIn("request_quarantined", daemon.log())
            self.check_good(stub, "m")

    def busy_worker(self, daemon, last):
        """The pid of the worker if it has a batch and is not the last one."""
        pids = daemon.workers()
        busy = daemon.metric("mpsd_running_batches") == 1
        return pids[0] if busy and pids and pids[0] != last else None

    def test_a_content_that_is_refused_is_tried_again_once_it_is_forgiven(self):
        with Daemon([synthetic("m", parameters={"crash_if": 13})]) as daemon, \
                calls.stub(daemon.address) as stub:
            request = calls.request("m", {"x": calls.row_of(13)})
            for _ in range(2):
                self.assertEqual(calls.infer(stub, request).code, INTERNAL)
            self.assertEqual(len(daemon.ps()["m"]["refused_contents"]), 1)
            daemon.wait_logged('"request_quarantined".*"to_lift":"mpsd forgive m"')
            self.assertEqual(daemon.metric("mpsd_quarantined_requests_total", model="m"), 1)
            daemon.wait_all_serving()
            for server, told in ((f"http://{daemon.http}", "m takes 1 contents again\n"),
                                 (daemon.address, "m takes 0 contents again\n")):
                done = mpsd("forgive", "m", "--server", server, binaries=daemon.binaries)
                self.assertEqual((done.returncode, done.stdout), (0, told), done.stderr)
            self.assertEqual(len(daemon.ps()["m"].get("refused_contents", [])), 0)
            outcome = calls.infer(stub, request)
            self.assertEqual((outcome.code, outcome.text),
                             (INTERNAL, "request crashed its worker"))
            self.assertEqual(daemon.metric("mpsd_quarantined_requests_total", model="m"), 1)
            daemon.wait_all_serving()

    def check_poison(self, where):
        model = synthetic("m", max_batch_size=64, parameters={"crash_if": 666, "delay": "30ms"},
                          placement=where)
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            values = [*range(16), 666, *range(16, 32)]
            outcomes = calls.infer_all(stub, [calls.request("m", {"x": calls.row_of(value)})
                                              for value in values])
            for value, outcome in zip(values, outcomes):
                if value == 666:
                    self.assertEqual((outcome.code, outcome.text),
                                     (INTERNAL, "request crashed its worker"))
                else:
                    self.assertEqual(outcome.code, calls.OK, (value, outcome.text))
                    np.testing.assert_array_equal(calls.arrays(outcome.response)["OUTPUT0"],
                                                  calls.row_of(value))
            daemon.wait_all_serving()

    def test_poison_among_good_requests_one_worker(self):
        self.check_poison(placement(processes=1))

    def test_poison_among_good_requests_two_workers(self):
        self.check_poison(placement(processes=2))

    def test_poison_among_good_requests_two_lanes(self):
        self.check_poison(placement(processes=1, lanes=2))

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_file_that_is_no_model(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-test-") as folder:
            junk = pathlib.Path(folder) / "junk.pt"
            junk.write_bytes(b"no archive at all")
            bad = {**torchscript("junk"), "path": str(junk)}
            with Daemon([bad, synthetic("good")]) as daemon, calls.stub(daemon.address) as stub:
                self.check_good(stub)
                self.assertRegex(daemon.ps()["junk"]["state"], "^unavailable: .*junk")

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_no_libtorch(self):
        """A worker that cannot be linked: the model is not ready, and ps says what is missing."""
        with tempfile.TemporaryDirectory(prefix="mpsd-test-") as folder:
            binaries = pathlib.Path(folder)
            shutil.copy(BIN / "mpsd", binaries)
            worker = (BIN / "mpsd-worker").read_bytes()
            known = str(MODELS.parent / "libtorch/lib").encode()
            self.assertIn(known, worker, "where does this worker find libtorch?")
            (binaries / "mpsd-worker").write_bytes(worker.replace(known, b"?" * len(known)))
            (binaries / "mpsd-worker").chmod(0o755)
            with Daemon([synthetic("m")], binaries=binaries) as daemon:
                model = daemon.ps()["m"]
                self.assertFalse(model["ready"])
                self.assertRegex(model["state"], r"libtorch_cpu\.so")
                table = mpsd("ps", "--address", daemon.address).stdout
                self.assertRegex(table, r"libtorch_cpu\.so")
                self.assertEqual(daemon.get("/readyz")[0], 503)


if __name__ == "__main__":
    unittest.main(verbosity=2)
