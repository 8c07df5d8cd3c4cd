"""Models are loaded and unloaded by an unmodified tritonclient."""
import json
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException

import calls
from daemon import Daemon, MODELS, WITH_TORCH, mpsd, wait_until
from models import synthetic
from streams import input_of

EXPLICIT = {"model_control": "explicit"}
IDENTITY = """backend: "identity" max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: [ 16 ] }
"""


def client_of(daemon):
    return triton.InferenceServerClient(daemon.address)


def delayed_load(delay):
    """The config of a load that takes so long."""
    return json.dumps({"parameters": {"load_delay": {"string_value": delay}}})


def states(client):
    return {(model.name, model.version): model.state
            for model in client.get_model_repository_index().models}


def reasons(client):
    return {model.name: model.reason for model in client.get_model_repository_index().models}


def infer_once(client, model, version=""):
    x = input_of("x", np.ones((1, 16), np.float32))
    return client.infer(model, [x], model_version=version).get_response().model_version


class Checks(unittest.TestCase):
    def check_fit_for_clients(self, text):
        for word in ("/", "errno", "Permission denied", "No such file", "my models"):
            self.assertNotIn(word, text.replace("load / unload", ""))

    def check_refused(self, code, text, call, *arguments, **named):
        with self.assertRaises(InferenceServerException) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.status(), f"StatusCode.{code}", caught.exception)
        self.assertIn(text, caught.exception.message())
        self.check_fit_for_clients(caught.exception.message())


class ModelControl(Checks):

    def test_unload_and_load(self):
        with Daemon([synthetic("m"), synthetic("other")], **EXPLICIT) as daemon:
            client = client_of(daemon)
            self.assertEqual(states(client), {("m", "1"): "READY", ("other", "1"): "READY"})
            client.unload_model("m")
            wait_until(lambda: states(client)[("m", "1")] == "UNAVAILABLE", 30, "the unload")
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
                for name in ("", " ", "\t\n"):
                    self.check_refused(
                        "INVALID_ARGUMENT",
                        "Model name cannot be empty. Please enter a valid name to deploy.", call,
                        name)
            for name in ("../m", "a/b", "..", " ..", "/etc/passwd"):
                self.check_refused("INVALID_ARGUMENT",
                                   "model name must not contain path traversal characters",
                                   client.load_model, name)
                self.check_refused("NOT_FOUND", "unknown model", client.unload_model, name)
            for name in ("nope", "..nope", "nope..1"):
                self.check_refused("NOT_FOUND",
                                   f"failed to load '{name}', failed to poll from model repository",
                                   client.load_model, name)
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
            for config, fault in (('{"max_batchsize": 4}', "max_batchsize"),
                                  ("{{", "is no model configuration")):
                for text in (fault, "failed to load 'm', failed to poll from model repository"):
                    self.check_refused("INVALID_ARGUMENT", text, client.load_model, "m",
                                       config=config)
            self.check_refused("INVALID_ARGUMENT", "'sequence_batching.direct' is supported with",
                               client.load_model, "m", config='{"sequence_batching": {}}')
            self.check_refused("INTERNAL", "load failed for model 'm'", client.load_model, "m",
                               config='{"parameters": {"crash_at_load": {"string_value": "true"}}}')
            self.assertEqual(infer_once(client, "m"), "1")
            client.load_model("m")
            self.assertEqual(daemon.ps()["m"]["max_batch_size"], 8, "what is configured")

    def test_the_index_says_why_a_model_does_not_serve(self):
        crashes = synthetic("crashes", parameters={"crash_at_load": "true"})
        slow = synthetic("slow", parameters={"load_delay": "2s"})
        with Daemon([slow, crashes], **EXPLICIT) as daemon:
            client = client_of(daemon)
            self.assertEqual(states(client),
                             {("crashes", "1"): "UNAVAILABLE", ("slow", "1"): "READY"})
            self.assertRegex(reasons(client)["crashes"], "it died: (signal|exit) ")
            self.assertEqual(reasons(client)["slow"], "")
            os.kill(daemon.ps()["slow"]["workers"][0]["pid"], signal.SIGKILL)
            wait_until(lambda: states(client)[("slow", "1")] == "UNAVAILABLE", 20, "the death")
            self.assertIn("SIGKILL", reasons(client)["slow"])
            wait_until(lambda: states(client)[("slow", "1")] == "READY", 30, "its restart")
            self.assertEqual(reasons(client)["slow"], "")

    def test_an_unload_under_load_finishes_what_is_inside(self):
        model = synthetic("m", parameters={"delay": "20ms"})
        with Daemon([model], **EXPLICIT) as daemon:
            with calls.Load(daemon.address, "m", callers=16) as load:
                wait_until(lambda: load.answered() > 50, 30, "some answers")
                client_of(daemon).unload_model("m")
                begun = load.started
                wait_until(lambda: load.started > begun + 100, 30, "calls that come too late")
            ends = {(outcome.code, outcome.text) for outcome in load.outcomes}
            self.assertEqual(ends, {(calls.OK, ""), (grpc.StatusCode.NOT_FOUND,
                             "Request for unknown model: 'm' has no available versions")})
            wait_until(lambda: not daemon.workers(), 30, "the end of its worker")

    def test_a_slow_load_keeps_no_other_call_waiting(self):
        with Daemon([synthetic("slow"), synthetic("m")], **EXPLICIT) as daemon:
            client = client_of(daemon)
            client.unload_model("slow")
            loader = threading.Thread(target=client_of(daemon).load_model, args=("slow",),
                                      kwargs={"config": delayed_load("5s")})
            loader.start()
            wait_until(lambda: states(client)[("slow", "1")] == "LOADING", 20, "the load")
            self.assertEqual(infer_once(client, "m"), "1")
            self.assertTrue(client.is_server_live())
            self.assertTrue(loader.is_alive(), "the load is answered when it is done")
            loader.join(30)
            self.assertEqual(states(client)[("slow", "1")], "READY")

    def test_a_client_that_leaves_while_it_loads(self):
        with Daemon([synthetic("m")], **EXPLICIT) as daemon, calls.stub(daemon.address) as stub:
            client = client_of(daemon)
            client.unload_model("m")
            request = service_pb2.RepositoryModelLoadRequest(model_name="m")
            request.parameters["config"].string_param = delayed_load("4s")
            load = stub.RepositoryModelLoad.future(request)
            wait_until(lambda: states(client)[("m", "1")] == "LOADING", 20, "the load")
            load.cancel()
            wait_until(lambda: states(client)[("m", "1")] == "READY", 30, "the end of the load")

    def test_a_stop_while_a_model_is_loaded(self):
        with Daemon([synthetic("m")], **EXPLICIT) as daemon, calls.stub(daemon.address) as stub:
            request = service_pb2.RepositoryModelLoadRequest(model_name="m")
            request.parameters["config"].string_param = delayed_load("1h")
            load = stub.RepositoryModelLoad.future(request)
            wait_until(lambda: len(daemon.workers()) == 2, 30, "the candidate's worker")
            daemon.terminate()
            outcome = calls.outcome_of(load)
            self.assertEqual((outcome.code, outcome.text),
                             (grpc.StatusCode.UNAVAILABLE, "Server exiting"))
            self.assertEqual(daemon.wait(), 0)


class Repository(Checks):
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
                                              ("b", "2"): "READY", ("b", "10"): "READY",
                                              ("broken", ""): "UNAVAILABLE"})
            self.assertIn('"nmae"', reasons(client)["broken"])
            self.assertEqual(infer_once(client, "b"), "10", "the highest")
            self.assertEqual(infer_once(client, "b", "2"), "2")
            self.assertEqual(client.get_model_metadata("b").versions, ["1", "2", "10"])
            policy = client.get_model_config("b", "2").config.version_policy
            self.assertEqual(policy.specific.versions, [1, 2, 10])
            daemon.wait_logged('model_not_servable.*"model":"broken".*nmae')

    def test_a_model_that_is_refused_is_told_to_everybody(self):
        self.write("a", "1")
        self.write("broken", "1", config="nmae: \"x\"")
        with self.serve() as daemon:
            client = client_of(daemon)
            status, text = daemon.get("/readyz")
            self.assertEqual(status, 503)
            self.assertIn("broken", text)
            self.assertFalse(client.is_server_ready())
            self.assertEqual(infer_once(client, "a"), "1")
            self.check_refused("NOT_FOUND", "Request for unknown model: 'broken' has no available "
                               "versions", infer_once, client, "broken")
            self.assertRegex(daemon.ps()["broken"]["state"], "^refused: config.pbtxt: .*nmae")
            self.assertRegex(mpsd("ps", "--address", daemon.address).stdout,
                             "\nbroken +- +refused +-")
            self.assertEqual(daemon.metric("mpsd_model_state", model="broken", state="refused"), 1)
            self.assertEqual(daemon.metric("mpsd_model_state", model="a", state="ready"), 1)
            self.write("broken", "1")
            self.assertTrue(daemon.reload()["ok"])
            self.assertEqual(daemon.get("/readyz")[0], 200)
            self.assertEqual(daemon.metric("mpsd_model_state", model="broken", state="refused"), 0)

    def test_a_config_may_ask_for_any_model(self):
        self.write("a", "1")
        self.write("broken", "1", config="nmae: \"x\"")
        with self.serve(readiness="any") as daemon:
            self.assertEqual(daemon.get("/readyz")[0], 200)
            self.assertTrue(client_of(daemon).is_server_ready())

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

    def test_the_samples_of_a_warm_up(self):
        config = IDENTITY + 'parameters { key: "throw_if" value { string_value: "0" } }\n'
        self.write("zeros", "1", config=config)
        sample = 'data_type: TYPE_FP32 dims: 16 input_data_file: "ones"'
        self.write("ones", "1", config=config + f'''model_warmup {{ name: "s" batch_size: 2
                   inputs {{ key: "x" value {{ {sample} }} }} }}''')
        (self.folder / "ones" / "warmup").mkdir()
        (self.folder / "ones" / "warmup" / "ones").write_bytes(np.ones(16, np.float32).tobytes())
        with self.serve() as daemon:
            self.assertIn("asked to throw", daemon.ps()["zeros"]["warning"])
            self.assertEqual(daemon.ps()["ones"]["warning"], "")
            for model in ("zeros", "ones"):
                self.assertEqual(infer_once(client_of(daemon), model), "1")

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

    def test_a_folder_that_cannot_be_read_changes_nothing(self):
        self.folder.chmod(0o755)
        self.folder = self.folder / "models"
        self.write("m", "1")
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        with self.serve(user=user) as daemon:
            self.folder.chmod(0)
            try:
                report = daemon.reload()
            finally:
                self.folder.chmod(0o755)
            self.assertFalse(report["ok"])
            self.assertIn("cannot be read", report["text"])
            self.assertEqual(states(client_of(daemon)), {("m", "1"): "READY"})

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
            self.check_refused("INVALID_ARGUMENT", "a link that leads out of the repository",
                               client_of(daemon).load_model, "m")

    @unittest.skipUnless(WITH_TORCH, "needs libtorch")
    def test_a_file_that_cannot_be_read(self):
        self.folder.chmod(0o755)
        self.folder = self.folder / "my models"
        (self.folder / "m/1").mkdir(parents=True)
        (self.folder / "m/1/model.pt").write_bytes(b"x")
        (self.folder / "m/1/model.pt").chmod(0)
        (self.folder / "folder/1/model.pt").mkdir(parents=True)
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        with self.serve(synthetic("configured"), user=user, **EXPLICIT) as daemon:
            client = client_of(daemon)
            self.check_refused("INTERNAL", "its file cannot be read", client.load_model, "m")
            self.check_refused("INTERNAL", "there is no file", client.load_model, "folder")
            self.assertIn("its file cannot be read", reasons(client)["m"])
            self.check_fit_for_clients("".join(reasons(client).values()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
