"""tritonclient.http as it is: both of its clients, JSON and binary tensors."""
import asyncio
import os
import tempfile
import unittest

import numpy as np

try:
    import tritonclient.http as http
    import tritonclient.http.aio as aio
    import tritonclient.utils.shared_memory as shm
except (ImportError, RuntimeError):
    http = None

import programs  # noqa: F401 (finds tests/support)
from daemon import Daemon, wait_until
from models import synthetic, tensor

VALUES = np.arange(32, dtype=np.float32).reshape(2, 16)


def inputs_of(module, values, binary):
    given = module.InferInput("x", values.shape, "FP32")
    given.set_data_from_numpy(values, binary_data=binary)
    return [given]


@unittest.skipIf(http is None, "there is no tritonclient.http")
class TritonHttp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([
            synthetic("m"), synthetic("words", [tensor("x", [-1], "BYTES")])]))

    def setUp(self):
        self.client = http.InferenceServerClient(self.daemon.http, concurrency=4)
        self.addCleanup(self.client.close)

    def test_every_form_of_inputs_and_outputs(self):
        for binary_in in (True, False):
            for binary_out in (True, False):
                with self.subTest(binary_in=binary_in, binary_out=binary_out):
                    result = self.client.infer(
                        "m", inputs_of(http, VALUES, binary_in), request_id="7",
                        outputs=[http.InferRequestedOutput("OUTPUT0", binary_data=binary_out)])
                    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), VALUES)
                    self.assertEqual(result.get_response()["id"], "7")

    def test_strings(self):
        values = np.array([["ä", "", "x" * 1000]], dtype=np.object_)
        for binary in (True, False):
            given = http.InferInput("x", values.shape, "BYTES")
            given.set_data_from_numpy(values, binary_data=binary)
            answer = self.client.infer("words", [given]).as_numpy("OUTPUT0")
            self.assertEqual([word.decode() for word in answer[0]], list(values[0]))

    def test_compressed_requests(self):
        for algorithm in ("gzip", "deflate"):
            for binary in (True, False):
                answer = self.client.infer("m", inputs_of(http, VALUES, binary),
                                           request_compression_algorithm=algorithm,
                                           response_compression_algorithm=algorithm)
                np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), VALUES)

    def test_classes(self):
        output = http.InferRequestedOutput("OUTPUT0", class_count=2)
        answer = self.client.infer("m", inputs_of(http, VALUES, True), outputs=[output])
        self.assertEqual(answer.as_numpy("OUTPUT0")[0][0], b"15.000000:15")

    def test_requests_beside_each_other(self):
        requests = [self.client.async_infer("m", inputs_of(http, VALUES + i, True))
                    for i in range(32)]
        for i, request in enumerate(requests):
            np.testing.assert_array_equal(request.get_result().as_numpy("OUTPUT0"), VALUES + i)

    def test_everything_that_does_not_infer(self):
        client = self.client
        self.assertTrue(client.is_server_live())
        self.assertTrue(client.is_server_ready())
        self.assertTrue(client.is_model_ready("m"))
        self.assertFalse(client.is_model_ready("x"))
        self.assertEqual(client.get_server_metadata()["name"], "mpsd")
        self.assertEqual(client.get_model_metadata("m")["platform"], "synthetic")
        self.assertEqual(client.get_model_config("m", "1")["max_batch_size"], 8)
        before = client.get_inference_statistics("m")["model_stats"][0]["inference_count"]
        client.infer("m", inputs_of(http, VALUES, True))
        after = client.get_inference_statistics("m")["model_stats"][0]["inference_count"]
        self.assertEqual(after - before, 2)
        self.assertEqual(sorted(model["name"] for model in client.get_model_repository_index()),
                         ["m", "words"])
        with self.assertRaisesRegex(Exception, "explicit model load / unload is not allowed"):
            client.load_model("m")

    def test_an_error_has_the_servers_text_and_code(self):
        with self.assertRaises(http.InferenceServerException) as caught:
            self.client.infer("x", inputs_of(http, VALUES, True))
        self.assertIn("Request for unknown model: 'x' is not found", caught.exception.message())
        self.assertEqual(caught.exception.status(), "404")

    def test_the_client_for_asyncio(self):
        async def infer():
            async with aio.InferenceServerClient(self.daemon.http) as client:
                self.assertTrue(await client.is_server_ready())
                for binary in (True, False):
                    result = await client.infer("m", inputs_of(aio, VALUES, binary))
                    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), VALUES)
        asyncio.run(infer())

    def test_the_client_for_asyncio_compresses(self):
        async def infer():
            async with aio.InferenceServerClient(self.daemon.http) as client:
                for algorithm in ("gzip", "deflate"):
                    result = await client.infer("m", inputs_of(aio, VALUES, True),
                                                request_compression_algorithm=algorithm)
                    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), VALUES)
        asyncio.run(infer())

    def test_settings_of_the_log(self):
        client = self.client
        was = client.get_log_settings()["log_verbose_level"]
        self.addCleanup(client.update_log_settings, {"log_verbose_level": was})
        self.assertEqual(client.update_log_settings({"log_verbose_level": 1})["log_verbose_level"], 1)
        self.assertEqual(client.get_log_settings()["log_verbose_level"], 1)

    def test_settings_of_traces(self):
        with tempfile.TemporaryDirectory() as folder, \
                Daemon([synthetic("m")], trace={"file": f"{folder}/traces"}) as daemon, \
                http.InferenceServerClient(daemon.http) as client:
            self.assertEqual(client.get_trace_settings()["trace_level"], ["TIMESTAMPS"])
            changed = client.update_trace_settings(settings={"trace_level": ["OFF"],
                                                             "trace_rate": "500"})
            self.assertEqual(changed["trace_level"], ["OFF"])
            self.assertEqual(client.get_trace_settings("m")["trace_rate"], "500")

    def test_models_are_loaded_and_unloaded(self):
        with Daemon([synthetic("m"), synthetic("other")], model_control="explicit") as daemon, \
                http.InferenceServerClient(daemon.http) as client:
            client.unload_model("m")
            wait_until(lambda: not client.is_model_ready("m"), 30, "the unload")
            self.assertTrue(client.is_model_ready("other"))
            client.load_model("m")
            answer = client.infer("m", inputs_of(http, VALUES, True))
            np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), VALUES)


@unittest.skipIf(http is None, "there is no tritonclient.http")
class SharedMemory(unittest.TestCase):
    """Tensors in memory of the client's host. It belongs to the connection that registered it: both
    clients have one."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([synthetic("m")],
                                                  limits={"client_shared_memory": "1MiB"}))

    def setUp(self):
        self.client = http.InferenceServerClient(self.daemon.http)
        self.addCleanup(self.client.close)
        self.key = f"/mpsd-http-{os.getpid()}"
        self.region = shm.create_shared_memory_region("region", self.key, 4096)
        self.addCleanup(shm.destroy_shared_memory_region, self.region)

    def infer(self, module):
        given = module.InferInput("x", VALUES.shape, "FP32")
        given.set_shared_memory("region", VALUES.nbytes)
        output = module.InferRequestedOutput("OUTPUT0")
        output.set_shared_memory("region", VALUES.nbytes, offset=2048)
        return {"inputs": [given], "outputs": [output]}

    def answer(self):
        return shm.get_contents_as_numpy(self.region, np.float32, VALUES.shape, 2048)

    def test_inputs_and_outputs(self):
        self.client.register_system_shared_memory("region", self.key, 4096)
        status = self.client.get_system_shared_memory_status()
        self.assertEqual([(region["name"], region["byte_size"]) for region in status],
                         [("region", 4096)])
        shm.set_shared_memory_region(self.region, [VALUES])
        output = self.client.infer("m", **self.infer(http)).get_output("OUTPUT0")
        self.assertNotIn("data", output, "the answer lies in the region")
        np.testing.assert_array_equal(self.answer(), VALUES)
        self.client.unregister_system_shared_memory("region")
        self.assertEqual(self.client.get_system_shared_memory_status(), [])

    def test_the_client_for_asyncio(self):
        async def infer():
            async with aio.InferenceServerClient(self.daemon.http, conn_limit=1) as client:
                await client.register_system_shared_memory("region", self.key, 4096)
                await client.infer("m", **self.infer(aio))
        shm.set_shared_memory_region(self.region, [VALUES + 1])
        asyncio.run(infer())
        np.testing.assert_array_equal(self.answer(), VALUES + 1)

    def test_another_connection_does_not_find_it(self):
        self.client.register_system_shared_memory("region", self.key, 4096)
        with http.InferenceServerClient(self.daemon.http) as other, \
                self.assertRaisesRegex(http.InferenceServerException,
                                       "Unable to find shared memory region: 'region'"):
            other.infer("m", **self.infer(http))


if __name__ == "__main__":
    unittest.main(verbosity=2)
