"""The config changes while the daemon serves: what differs is swapped, the rest is left alone."""
import json
import os
import pathlib
import shutil
import signal
import tempfile
import unittest
import urllib.request

import grpc

import calls
import family_folders
from daemon import Daemon, MODELS, WITH_TORCH, mpsd, wait_until
from models import huggingface, placement, synthetic, torchscript

GAUGES = ("mpsd_queue_requests", "mpsd_workers_ready", "mpsd_workers_configured")


def replace_weights(folder):
    (folder / "new").write_bytes(b"no weights")
    os.replace(folder / "new", folder / "model.safetensors")


# Successive changes of a served folder.
FOLDER_CHANGES = {
    "touched": lambda folder: os.utime(folder / "tokenizer.json"),
    "tokenizer": lambda folder: (folder / "tokenizer.json").write_text("{}"),
    "config": lambda folder: (folder / "config.json").write_text("{}"),
    "pooling": lambda folder: shutil.rmtree(folder / "1_Pooling"),
    "weights": replace_weights,
    "gone": lambda folder: folder.rename(folder.with_name("elsewhere")),
}


def fast(**parameters):
    return synthetic("m", parameters={"delay": "2ms", **parameters})


def pids(daemon, model):
    """Of the workers of the generation that is served."""
    return [worker["pid"] for worker in daemon.ps()[model]["workers"] if not worker["generation"]]


def settle(daemon, workers):
    """Waits until the old generations' workers are gone."""
    def count():
        return sum(len(model["workers"]) for model in daemon.ps().values())
    wait_until(lambda: count() == workers, 30, f"{workers} workers")


class Reload(unittest.TestCase):
    def check_all_answered(self, load):
        self.assertEqual(len(load.outcomes), load.started)
        wrong = [outcome for outcome in load.outcomes if outcome.code != calls.OK]
        self.assertEqual(wrong, [])

    def test_row_21_a_loop_of_reloads_under_load_fails_no_call(self):
        configs = [[fast(), synthetic("kept")], [fast(delay_per_row="1us"), synthetic("kept")]]
        with Daemon(configs[0]) as daemon:
            kept = pids(daemon, "kept")
            with calls.Load(daemon.address, "m", callers=16) as load:
                for turn in range(1, 9):
                    answered = load.answered()
                    wait_until(lambda: load.answered() > answered + 50, 20, "some answers")
                    daemon.write_config(configs[turn % 2])
                    report = daemon.reload()
                    self.assertTrue(report["ok"], report)
                    self.assertEqual(report["text"], "1 replaced, 0 added, 0 removed, 1 kept")
                answered = load.answered()
                wait_until(lambda: load.answered() > answered + 50, 20, "more answers")
            self.check_all_answered(load)
            self.assertEqual(pids(daemon, "kept"), kept, "it did not change: it is not touched")
            settle(daemon, 2)
            # One series, whose counters continued through all generations.
            self.assertEqual(daemon.metric("mpsd_requests_total", model="m"), len(load.outcomes))
            wait_until(lambda: [daemon.metric(gauge, model="m") for gauge in GAUGES] == [0, 1, 1],
                       30, "one generation's gauges")

    def test_what_is_inside_the_old_generation_is_finished_by_it(self):
        with Daemon([synthetic("m", parameters={"delay": "6s"})]) as daemon:
            with calls.stub(daemon.address) as stub:
                slow = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}))
                wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, 30, "a batch")
                daemon.write_config([fast()])
                os.kill(daemon.pid, signal.SIGHUP)
                daemon.wait_logged("config_reloaded")
                calls.answered(stub, calls.request("m", {"x": calls.row_of(2)}))
                self.assertFalse(slow.done(), "the route was switched before the old one was done")
                self.assertEqual(daemon.metric("mpsd_workers_ready"), 2)
                calls.answer_of(slow)
            settle(daemon, 1)

    def serve_file(self, **keys):
        """A daemon with two workers of a model, and the model's file."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        file = folder / "m.pt"
        shutil.copy(MODELS / "two_outputs.pt", file)
        model = torchscript("m", placement=placement(processes=2), **keys) | {"path": str(file)}
        daemon = self.enterContext(Daemon([model]))
        daemon.wait_all_serving()
        return daemon, file

    def check_loaded_by_a_reload(self, daemon):
        self.assertTrue(daemon.reload()["ok"])
        settle(daemon, 2)
        wait_until(lambda: daemon.metric("mpsd_workers_ready", model="m") == 2, 30, "two of it")
        self.check_serves(daemon, width=256, outputs={"output"})

    def check_serves(self, daemon, width, outputs):
        with calls.stub(daemon.address) as stub:
            for _ in range(8):  # very likely on both workers
                outcome = calls.answered(stub, calls.request("m", {"input": calls.row_of(1, width)}))
                self.assertEqual(set(calls.arrays(outcome.response)), outputs)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_file_that_was_replaced_is_served_on_until_a_reload(self):
        """A worker that comes later answers with the same weights as those beside it."""
        for sandbox in ("basic", "strict"):
            with self.subTest(sandbox=sandbox):
                daemon, file = self.serve_file(sandbox=sandbox)
                shutil.copy(MODELS / "mlp_256x512x4.pt", file.with_name("other.pt"))
                os.replace(file.with_name("other.pt"), file)
                for pid in pids(daemon, "m"):
                    os.kill(pid, signal.SIGKILL)
                wait_until(lambda: daemon.metric("mpsd_worker_restarts_total", model="m") == 2, 30,
                           "two new workers")
                wait_until(lambda: daemon.metric("mpsd_workers_ready", model="m") == 2, 30, "both")
                self.check_serves(daemon, width=16, outputs={"double", "sum"})
                self.check_loaded_by_a_reload(daemon)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_file_that_was_written_anew_waits_for_a_reload(self):
        """Its old contents are gone: a worker that comes later is refused."""
        daemon, file = self.serve_file()
        shutil.copyfile(MODELS / "mlp_256x512x4.pt", file)
        first, second = pids(daemon, "m")
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: "it was replaced since" in str(daemon.ps()["m"]), 30, "the reason")
        self.assertIn(second, pids(daemon, "m"), "the other one serves on")
        self.assertEqual(daemon.metric("mpsd_workers_ready", model="m"), 1)
        self.check_loaded_by_a_reload(daemon)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_folder_that_was_changed_is_served_on_until_a_reload(self):
        """Whatever becomes of its files, a worker that comes later answers as the one before."""
        for sandbox in ("basic", "strict"):
            folder = pathlib.Path(self.enterContext(
                tempfile.TemporaryDirectory(prefix="mpsd-test-"))) / "m"
            family_folders.write_text_family("bert", folder)
            daemon = self.enterContext(Daemon([huggingface("m", folder, sandbox=sandbox,
                                                           circuit={"deaths": 0})]))
            wanted = self.embed(daemon)
            for name, change in FOLDER_CHANGES.items():
                with self.subTest(name, sandbox=sandbox):
                    change(folder)
                    self.end_worker(daemon)
                    self.assertEqual(self.embed(daemon), wanted)
            shutil.rmtree(folder, ignore_errors=True)
            family_folders.write_text_family("bert", folder)
            self.assertTrue(daemon.reload()["ok"])
            self.assertEqual(self.embed(daemon), wanted)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_weights_of_a_folder_that_were_written_anew_wait_for_a_reload(self):
        folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory(prefix="mpsd-test-"))) / "m"
        family_folders.write_text_family("bert", folder)
        daemon = self.enterContext(Daemon([huggingface("m", folder)]))
        weights = folder / "model.safetensors"
        weights.write_bytes(weights.read_bytes())
        (pid,) = pids(daemon, "m")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: "it was replaced since" in str(daemon.ps()["m"]), 30, "the reason")
        self.assertTrue(daemon.reload()["ok"])
        self.embed(daemon)

    def embed(self, daemon):
        request = urllib.request.Request(
            f"http://{daemon.http}/v1/embeddings", b'{"model": "m", "input": "a b"}',
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"][0]["embedding"]

    def end_worker(self, daemon):
        """Returns when the next one serves."""
        before = daemon.metric("mpsd_worker_restarts_total", model="m") or 0
        (pid,) = pids(daemon, "m")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: daemon.metric("mpsd_worker_restarts_total", model="m") == before + 1 and
                   daemon.metric("mpsd_workers_ready", model="m") == 1, 60, "the next worker")

    def test_models_are_added_and_removed(self):
        with Daemon([synthetic("a"), synthetic("b")]) as daemon, calls.stub(daemon.address) as stub:
            b = pids(daemon, "b")
            daemon.write_config([synthetic("b"), synthetic("c")])
            self.assertEqual(daemon.reload()["text"], "0 replaced, 1 added, 1 removed, 1 kept")
            self.assertEqual(sorted(daemon.ps()), ["b", "c"])
            self.assertEqual(pids(daemon, "b"), b)
            calls.answered(stub, calls.request("c", {"x": calls.row_of(1)}))
            removed = calls.infer(stub, calls.request("a", {"x": calls.row_of(1)}))
            self.assertEqual((removed.code, removed.text),
                             (grpc.StatusCode.NOT_FOUND,
                              "Request for unknown model: 'a' is not found"))
            settle(daemon, 2)
            wait_until(lambda: 'model="a"' not in daemon.get("/metrics")[1], 30,
                       "the end of the removed model's series")
            self.assertEqual(daemon.get("/readyz")[0], 200)

    def test_limits_of_the_daemon_and_keys_that_need_a_restart(self):
        with Daemon([synthetic("m")]) as daemon:
            daemon.write_config([synthetic("m")], server_name="other", log={"level": "debug"},
                                limits={"drain_timeout": "2s"})
            self.assertTrue(daemon.reload()["ok"])
            daemon.wait_logged("config_reloaded")  # the last line of the reload
            self.assertRegex(daemon.log(), 'config_needs_restart.*"key":"server_name"')
            self.assertNotRegex(daemon.log(), 'config_needs_restart.*limits')

    def test_many_hangups_at_once(self):
        with Daemon([fast()]) as daemon:
            with calls.Load(daemon.address, "m") as load:
                for turn in range(40):
                    daemon.write_config([fast(load_delay=f"{turn % 2}ms")])
                    os.kill(daemon.pid, signal.SIGHUP)
                self.assertTrue(daemon.reload()["ok"])
                answered = load.answered()
                wait_until(lambda: load.answered() > answered + 20, 20, "more answers")
            self.check_all_answered(load)
            settle(daemon, 1)


class FailedReload(unittest.TestCase):
    """The old generation serves on, and everybody is told."""

    def check_refused(self, daemon, pattern, models=None, text=None, ready=200):
        before = pids(daemon, "m")
        if text is None:
            daemon.write_config(models)
        else:
            daemon.config_file.write_text(text)
        with calls.Load(daemon.address, "m", callers=4) as load:
            report = daemon.reload()
            answered = load.answered()
            wait_until(lambda: load.answered() > answered + 20, 20, "more answers")
        self.assertFalse(report["ok"], report)
        self.assertRegex(report["text"], pattern)
        self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})
        self.assertEqual(pids(daemon, "m"), before)
        self.assertEqual(daemon.metric("mpsd_config_reload_ok"), 0)
        self.assertGreater(daemon.metric("mpsd_config_reload_time_seconds"), 0)
        daemon.wait_logged("config_not_reloaded")
        self.assertEqual(daemon.get("/readyz")[0], ready)
        told = mpsd("ps", "--address", daemon.address)
        self.assertIn("NOT RELOADED", told.stdout)

    def test_row_22_a_typo(self):
        with Daemon([fast()]) as daemon:
            self.check_refused(daemon, r"config\.json:\d+: models\[0\]\.max_batchsize: unknown key; "
                               "did you mean 'max_batch_size'", [{**fast(), "max_batchsize": 4}])
            daemon.write_config([fast(load_delay="1ms")])
            self.assertTrue(daemon.reload()["ok"])
            self.assertEqual(daemon.metric("mpsd_config_reload_ok"), 1)

    def test_row_22_half_a_file(self):
        with Daemon([fast()]) as daemon:
            self.check_refused(daemon, r"config\.json:1: is not JSON", text='{"models": [')

    def test_row_22_no_config_file(self):
        with Daemon([fast()]) as daemon:
            daemon.config_file.unlink()
            report = daemon.reload()
            self.assertFalse(report["ok"])
            self.assertRegex(report["text"], "there is no file")

    def test_row_22_a_missing_model_file(self):
        with Daemon([fast()]) as daemon:
            self.check_refused(daemon, r"models\[1\]\.path: there is no file",
                               [fast(), {"name": "new", "path": "nothing.pt"}])
            self.assertEqual(sorted(daemon.ps()), ["m"])

    def test_row_19_the_model_dies_while_loading(self):
        with Daemon([fast(), synthetic("other")]) as daemon:
            other = pids(daemon, "other")
            self.check_refused(daemon, "load failed for model 'm'",
                               [fast(crash_at_load="true"), synthetic("other")])
            self.assertEqual(pids(daemon, "other"), other)
            settle(daemon, 2)
            self.assertEqual(daemon.metric("mpsd_model_load_failures_total"), 1)
            daemon.wait_logged('model_not_loaded.*"model":"m"')

    def test_row_19_the_model_cannot_be_loaded(self):
        with Daemon([fast()]) as daemon:
            self.check_refused(daemon, "load failed for model 'm'", [fast(fail_at_load="true")])
            settle(daemon, 1)

    def test_row_19_a_new_model_that_dies_is_not_served_and_tried_again_when_asked(self):
        with Daemon([fast()]) as daemon:
            broken = synthetic("new", parameters={"crash_at_load": "true"})
            self.check_refused(daemon, "load failed for model 'new'", [fast(), broken],
                               ready=503)
            self.assertRegex(daemon.ps()["new"]["state"], "^refused: ")
            daemon.write_config([fast(), synthetic("new")])
            self.assertEqual(daemon.reload()["text"], "0 replaced, 1 added, 0 removed, 1 kept")
            settle(daemon, 2)

    def test_row_20_a_load_that_hangs_lets_the_old_one_serve_and_the_daemon_stop(self):
        with Daemon([fast(), synthetic("other")]) as daemon:
            daemon.write_config([fast(load_delay="1h"), synthetic("other")])
            with calls.Load(daemon.address, "m", callers=4) as load:
                os.kill(daemon.pid, signal.SIGHUP)
                wait_until(lambda: len(daemon.workers()) == 3, 30, "the candidate's worker")
                answered = load.answered()
                wait_until(lambda: load.answered() > answered + 50, 20, "more answers")
            self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})
            self.assertEqual(daemon.get("/readyz")[0], 200)

    def test_why_a_worker_ended_is_heard_though_its_end_is_seen_first(self):
        with Daemon([fast()]) as daemon:
            served = set(daemon.workers())
            daemon.write_config([fast(fail_at_load="true", load_delay="1s")])
            os.kill(daemon.pid, signal.SIGHUP)
            fresh = wait_until(lambda: set(daemon.workers()) - served, 20, "the candidate's worker")
            os.kill(daemon.pid, signal.SIGSTOP)
            try:
                wait_until(lambda: not set(daemon.workers()) & fresh, 20, "its end")
            finally:
                os.kill(daemon.pid, signal.SIGCONT)
            report = wait_until(lambda: daemon.status().get("last_reload"), 20, "a report")
            self.assertIn("asked to fail at load", report["text"])

    def test_row_8_more_memory_than_there_is(self):
        limits = {"shared_memory": "128MiB", "message": "1MiB"}
        small = {"queue": {"requests": 16, "bytes": "1MiB"}}
        large = {"queue": {"requests": 60000, "bytes": "1GiB"}}
        wide = [{"name": "x", "datatype": "FP32", "shape": [16]}]
        with Daemon([synthetic("m", wide, **small)], limits=limits) as daemon:
            self.check_refused(daemon, r"(?i)shared memory|does not fit|MiB",
                               [synthetic("m", wide, max_batch_size=1024, **large)])
            settle(daemon, 1)

    @unittest.skipUnless(WITH_TORCH and (MODELS / "mlp.pt").exists(), "needs the demo models")
    def test_a_model_file_that_is_written_anew_is_loaded_anew(self):
        with Daemon([torchscript("mlp")]) as daemon:
            before = pids(daemon, "mlp")
            self.assertEqual(daemon.reload()["text"], "0 replaced, 0 added, 0 removed, 1 kept")
            os.utime(MODELS / "mlp.pt")
            self.assertEqual(daemon.reload()["text"], "1 replaced, 0 added, 0 removed, 0 kept")
            self.assertNotEqual(pids(daemon, "mlp"), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
