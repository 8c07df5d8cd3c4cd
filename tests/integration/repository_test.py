"""Models are loaded and unloaded by an unmodified tritonclient."""
import json
import pathlib
import shutil
import tempfile
import threading
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException

import calls
from daemon import Daemon, MODELS, WITH_TORCH, wait_until
from models import synthetic

EXPLICIT = {"model_control": "explicit"}
IDENTITY = """backend: "identity" max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: [ 16 ] }
"""


def client_of(daemon):
    return triton.InferenceServerClient(daemon.address)


def states(client):
    return {(model.name, model.version): model.state
            for model in client.get_model_repository_index().models}


def infer_once(client, model, version=""):
    x = triton.InferInput("x", [1, 16], "FP32")
    x.set_data_from_numpy(np.ones((1, 16), np.float32))
    return client.infer(model, [x], model_version=version).get_response().model_version


class ModelControl(unittest.TestCase):
    def check_refused(self, code, text, call, *arguments, **named):
        with self.assertRaises(InferenceServerException) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.status(), f"StatusCode.{code}", caught.exception)
        self.assertIn(text, caught.exception.message())
        self.assertNotIn("/", caught.exception.message().replace("load / unload", ""))

    def test_unload_and_load(self):
        with Daemon([synthetic("m"), synthetic("other")], **EXPLICIT) as daemon:
            client = client_of(daemon)
            self.assertEqual(states(client), {("m", "1"): "READY", ("other", "1"): "READY"})
            client.unload_model("m")
            wait_until(lambda: states(client)[("m", "1")] == "UNAVAILABLE", 5, "the unload")
            self.assertEqual([model.name for model in
                              client.get_model_repository_index().models if model.state == "READY"],
                             ["other"])
            self.assertFalse(client.is_model_ready("m"))
            self.assertTrue(client.is_server_ready(), "it follows the models that are to be served")
            self.check_refused("NOT_FOUND", "'m' has no available versions", infer_once, client, "m")
            self.check_refused("UNAVAILABLE", "'m' version 1 is not at ready state", infer_once,
                               client, "m", "1")
            self.assertEqual(infer_once(client, "other"), "1")
            client.unload_model("m")
            client.load_model("m")
            self.assertTrue(client.is_model_ready("m"))
            self.assertEqual(infer_once(client, "m"), "1")

    def test_what_is_refused(self):
        with Daemon([synthetic("m")], **EXPLICIT) as daemon:
            client = client_of(daemon)
            for call in (client.load_model, client.unload_model):
                self.check_refused("INVALID_ARGUMENT", "Model name cannot be empty", call, "")
                for name in ("../m", "a/b", "..", "/etc/passwd"):
                    self.check_refused("INVALID_ARGUMENT",
                                       "must not contain path traversal characters", call, name)
            self.check_refused("NOT_FOUND", "failed to load 'nope'", client.load_model, "nope")
            self.check_refused("NOT_FOUND", "unknown model: 'nope'", client.unload_model, "nope")
            self.check_refused("INVALID_ARGUMENT", "configured places only", client.load_model, "m",
                               config="{}", files={"file:1/model.pt": b"x"})
            self.assertEqual(infer_once(client, "m"), "1")

    def test_without_explicit_control(self):
        with Daemon([synthetic("m")]) as daemon:
            client = client_of(daemon)
            for call in (client.load_model, client.unload_model):
                self.check_refused("UNAVAILABLE", "explicit model load / unload is not allowed",
                                   call, "m")
            self.assertEqual(states(client), {("m", "1"): "READY"})

    def test_a_config_of_the_clients(self):
        with Daemon([synthetic("m", max_batch_size=8)], **EXPLICIT) as daemon:
            client = client_of(daemon)
            client.load_model("m", config=json.dumps({"max_batch_size": 2, "parameters": {
                "delay": {"string_value": "1ms"}}}))
            self.assertEqual(daemon.ps()["m"]["max_batch_size"], 2)
            self.assertEqual(daemon.ps()["m"]["parameters"], {"delay": "1ms"})
            self.assertTrue(daemon.reload()["ok"])
            self.assertEqual(daemon.ps()["m"]["max_batch_size"], 2, "the stanza did not change")
            self.check_refused("INVALID_ARGUMENT", "max_batchsize", client.load_model, "m",
                               config='{"max_batchsize": 4}')
            self.check_refused("INVALID_ARGUMENT", "'sequence_batching' is not supported",
                               client.load_model, "m", config='{"sequence_batching": {}}')
            self.check_refused("INTERNAL", "failed to load 'm'", client.load_model, "m",
                               config='{"parameters": {"crash_at_load": {"string_value": "true"}}}')
            self.assertEqual(infer_once(client, "m"), "1")
            client.load_model("m")
            self.assertEqual(daemon.ps()["m"]["max_batch_size"], 8, "what is configured")

    def test_an_unload_under_load_finishes_what_is_inside(self):
        model = synthetic("m", parameters={"delay": "20ms"})
        with Daemon([model], **EXPLICIT) as daemon:
            with calls.Load(daemon.address, "m", callers=16) as load:
                wait_until(lambda: load.answered() > 50, 10, "some answers")
                client_of(daemon).unload_model("m")
                begun = load.started
                wait_until(lambda: load.started > begun + 100, 10, "calls that come too late")
            ends = {(outcome.code, outcome.text) for outcome in load.outcomes}
            self.assertEqual(ends, {(calls.OK, ""), (grpc.StatusCode.NOT_FOUND,
                             "Request for unknown model: 'm' has no available versions")})
            wait_until(lambda: not daemon.workers(), 5, "the end of its worker")

    def test_a_slow_load_keeps_no_other_call_waiting(self):
        models = [synthetic("slow", parameters={"load_delay": "2s"}), synthetic("m")]
        with Daemon(models, **EXPLICIT) as daemon:
            client = client_of(daemon)
            client.unload_model("slow")
            loader = threading.Thread(target=client_of(daemon).load_model, args=("slow",))
            loader.start()
            wait_until(lambda: states(client)[("slow", "1")] == "LOADING", 5, "the load")
            self.assertEqual(infer_once(client, "m"), "1")
            self.assertTrue(client.is_server_live())
            self.assertTrue(loader.is_alive(), "the load is answered when it is done")
            loader.join(20)
            self.assertEqual(states(client)[("slow", "1")], "READY")

    def test_a_client_that_leaves_while_it_loads(self):
        models = [synthetic("m", parameters={"load_delay": "1s"})]
        with Daemon(models, **EXPLICIT) as daemon, calls.stub(daemon.address) as stub:
            client = client_of(daemon)
            client.unload_model("m")
            load = stub.RepositoryModelLoad.future(
                service_pb2.RepositoryModelLoadRequest(model_name="m"))
            wait_until(lambda: states(client)[("m", "1")] == "LOADING", 10, "the load")
            load.cancel()
            wait_until(lambda: states(client)[("m", "1")] == "READY", 10, "the end of the load")

    def test_a_stop_while_a_model_is_loaded(self):
        with Daemon([synthetic("m")], **EXPLICIT) as daemon, calls.stub(daemon.address) as stub:
            request = service_pb2.RepositoryModelLoadRequest(model_name="m")
            request.parameters["config"].string_param = json.dumps(
                {"parameters": {"load_delay": {"string_value": "1h"}}})
            load = stub.RepositoryModelLoad.future(request)
            wait_until(lambda: len(daemon.workers()) == 2, 10, "the candidate's worker")
            daemon.terminate()
            outcome = calls.outcome_of(load)
            self.assertEqual((outcome.code, outcome.text),
                             (grpc.StatusCode.UNAVAILABLE, "Server exiting"))
            self.assertEqual(daemon.wait(), 0)


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="mpsd-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, model, *versions, config=IDENTITY):
        for version in versions:
            (self.folder / model / version).mkdir(parents=True, exist_ok=True)
        (self.folder / model / "config.pbtxt").write_text(config)

    def serve(self, *models, **config):
        return Daemon(list(models), model_repository=str(self.folder), **config)

    def test_all_models_of_a_repository_are_served(self):
        self.write("a", "1")
        self.write("b", "1", "2", "10", config=IDENTITY + "version_policy { all {} }")
        self.write("broken", "1", config="nmae: \"x\"")
        with self.serve() as daemon:
            client = client_of(daemon)
            self.assertEqual(states(client), {("a", "1"): "READY", ("b", "1"): "READY",
                                              ("b", "2"): "READY", ("b", "10"): "READY"})
            self.assertEqual(infer_once(client, "b"), "10", "the highest")
            self.assertEqual(infer_once(client, "b", "2"), "2")
            self.assertEqual(client.get_model_metadata("b").versions, ["10", "2", "1"])
            self.assertRegex(daemon.log(), 'model_not_servable.*"model":"broken".*nmae')

    def test_the_delays_of_the_identity_backend(self):
        parameters = {"execute_delay_ms": "1", "instance_wise_delay_multiplier": "4"}
        self.write("m", "1", config=IDENTITY + "".join(
            f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}\n'
            for key, value in parameters.items()))
        with self.serve() as daemon:
            self.assertEqual(infer_once(client_of(daemon), "m"), "1")
            self.assertEqual(daemon.ps()["m"]["parameters"],
                             {"delay": "1ms", "lane_delay_factor": "4"})
            self.assertNotIn("model_key_ignored", daemon.log())

    def test_a_reload_finds_versions_that_came_and_went(self):
        self.write("m", "1")
        with self.serve() as daemon:
            client = client_of(daemon)
            self.write("m", "2")
            self.write("new", "1")
            self.assertTrue(daemon.reload()["ok"])
            self.assertEqual(states(client), {("m", "2"): "READY", ("new", "1"): "READY"})
            shutil.rmtree(self.folder / "new")
            self.write("m", "2", config="broken")
            self.assertFalse(daemon.reload()["ok"])
            self.assertEqual(states(client), {("m", "2"): "READY"}, "it serves as it did")

    def test_models_are_loaded_when_a_client_says_so(self):
        self.write("m", "1", "3", config=IDENTITY + "version_policy { latest { num_versions: 2 } }")
        with self.serve(synthetic("configured"), **EXPLICIT) as daemon:
            client = client_of(daemon)
            self.assertEqual(states(client), {("configured", "1"): "READY",
                                              ("m", "1"): "UNAVAILABLE", ("m", "3"): "UNAVAILABLE"})
            self.assertTrue(client.is_server_ready())
            client.load_model("m")
            self.assertEqual(infer_once(client, "m"), "3")
            self.write("m", "4")
            client.load_model("m")
            self.assertEqual(infer_once(client, "m"), "4", "the policy says: the latest one")
            self.assertEqual(set(states(client)), {("configured", "1"), ("m", "4")})
            client.unload_model("m")
            self.assertFalse(client.is_model_ready("m"))

    @unittest.skipUnless(WITH_TORCH and (MODELS / "mlp.pt").exists(), "needs the demo models")
    def test_row_18_a_link_out_of_the_repository(self):
        (self.folder / "m/1").mkdir(parents=True)
        (self.folder / "m/1/model.pt").symlink_to(MODELS / "mlp.pt")
        with self.serve(synthetic("configured"), **EXPLICIT) as daemon:
            with self.assertRaises(InferenceServerException) as caught:
                client_of(daemon).load_model("m")
            self.assertIn("a link that leads out of the repository", caught.exception.message())


if __name__ == "__main__":
    unittest.main(verbosity=2)
