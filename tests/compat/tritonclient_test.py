"""tritonclient, unmodified: synchronous, asynchronous, asyncio and streams, every fixed-size datatype."""
import asyncio
import json
import pathlib
import queue
import sys
import unittest
import zipfile

import ml_dtypes
import numpy as np
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from daemon import Daemon, MODELS, WITH_TORCH  # noqa: E402
from models import huggingface, synthetic, tensor, torchscript  # noqa: E402

NUMPY_TYPES = (np.bool_, np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32,
               np.int64, np.float16, np.float32, np.float64)
LIMIT_S = 30
MLP, MLP_LAYERS, MLP_WIDTH = "mlp_1024x6", 6, 1024


def inputs(array, name="x", module=triton):
    tensor_input = module.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
    tensor_input.set_data_from_numpy(array)
    return [tensor_input]


def sample(numpy_type, rows=2):
    return np.arange(rows * 4).reshape(rows, 4).astype(numpy_type)


class TritonClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = {numpy_type: np_to_triton_dtype(np.dtype(numpy_type)) for numpy_type in NUMPY_TYPES}
        cls.names = names
        cls.daemon = cls.enterClassContext(Daemon([
            *(synthetic(name, [tensor("x", [4], name)]) for name in names.values()),
            synthetic("bf16", [tensor("x", [4], "BF16")]),
            synthetic("m", [tensor("x", [4])]),
            synthetic("slow", [tensor("x", [4])], parameters={"delay": "300ms"})]))
        cls.client = triton.InferenceServerClient(cls.daemon.address)
        cls.addClassCleanup(cls.client.close)

    def test_every_datatype(self):
        for numpy_type, name in self.names.items():
            array = sample(numpy_type)
            result = self.client.infer(name, inputs(array))
            self.assertEqual(result.as_numpy("OUTPUT0").tobytes(), array.tobytes(), name)
            self.assertEqual(result.get_output("OUTPUT0").datatype, name)

    def test_bf16(self):
        array = np.array([[1.5, -2.0, 0.25, 3e8]], ml_dtypes.bfloat16)
        tensor_input = triton.InferInput("x", [1, 4], "BF16")
        tensor_input.set_data_from_numpy(array)
        result = self.client.infer("bf16", [tensor_input]).as_numpy("OUTPUT0")
        self.assertEqual(result.astype(np.float32).tolist(), array.astype(np.float32).tolist())

    def test_options_of_infer(self):
        result = self.client.infer(
            "m", inputs(sample(np.float32)), request_id="17", model_version="1",
            outputs=[triton.InferRequestedOutput("OUTPUT0")], priority=1, timeout=5_000_000,
            client_timeout=10, sequence_id=3, sequence_start=True, sequence_end=True,
            parameters={"mine": "x", "number": 3})
        self.assertEqual(result.get_response().id, "17")

    def test_asynchronous(self):
        answers = queue.Queue()
        for i in range(50):
            self.client.async_infer("m", inputs(sample(np.float32) + i),
                                    callback=lambda result, error: answers.put((result, error)))
        firsts = set()
        for _ in range(50):
            result, error = answers.get(timeout=LIMIT_S)
            self.assertIsNone(error)
            firsts.add(float(result.as_numpy("OUTPUT0")[0, 0]))
        self.assertEqual(firsts, set(range(50)))

    def test_cancel(self):
        answers = queue.Queue()
        call = self.client.async_infer("slow", inputs(sample(np.float32)),
                                       callback=lambda result, error: answers.put(error))
        call.cancel()
        self.assertIn("cancelled", str(answers.get(timeout=LIMIT_S)).lower())

    def test_stream(self):
        answers = queue.Queue()
        with triton.InferenceServerClient(self.daemon.address) as client:
            client.start_stream(callback=lambda result, error: answers.put((result, error)))
            for i in range(100):
                client.async_stream_infer("m", inputs(sample(np.float32) + i), request_id=str(i))
            client.async_stream_infer("nobody", inputs(sample(np.float32)))
            client.async_stream_infer("m", inputs(sample(np.float32)), request_id="last",
                                      enable_empty_final_response=True)
            outcomes = [answers.get(timeout=LIMIT_S) for _ in range(102)]
            # The error has no model to keep the order of.
            errors = [error for _, error in outcomes if error is not None]
            self.assertEqual(len(errors), 1)
            self.assertIn("unknown model: 'nobody'", str(errors[0]))
            results = [result for result, error in outcomes if error is None]
            last = results.pop().get_response()
            for i, result in enumerate(results):
                self.assertEqual(result.get_response().id, str(i))
                self.assertEqual(float(result.as_numpy("OUTPUT0")[0, 0]), i)
            self.assertEqual(last.id, "last")
            self.assertTrue(last.parameters["triton_final_response"].bool_param)
            client.stop_stream()

    def test_asyncio(self):
        async def main():
            async with triton_aio.InferenceServerClient(self.daemon.address) as client:
                self.assertTrue(await client.is_server_ready())
                results = await asyncio.gather(*(
                    client.infer("m", inputs(sample(np.float32) + i, module=triton_aio))
                    for i in range(20)))
                self.assertEqual([float(result.as_numpy("OUTPUT0")[0, 0]) for result in results],
                                 list(range(20)))

                async def requests():
                    for i in range(20):
                        yield {"model_name": "m", "request_id": str(i),
                               "inputs": inputs(sample(np.float32) + i, module=triton_aio)}
                ids = [result.get_response().id
                       async for result, error in client.stream_infer(requests())
                       if error is None]
                self.assertEqual(ids, [str(i) for i in range(20)])
        asyncio.run(main())

    def test_error(self):
        with self.assertRaises(InferenceServerException) as raised:
            self.client.infer("m", inputs(np.zeros((1, 5), np.float32)))
        self.assertEqual(raised.exception.status(), "StatusCode.INVALID_ARGUMENT")
        self.assertIn("unexpected shape for input 'x' for model 'm'", raised.exception.message())

    def test_what_the_server_says_of_itself(self):
        client = self.client
        self.assertTrue(client.is_server_live())
        self.assertTrue(client.is_server_ready())
        self.assertTrue(client.is_model_ready("m"))
        self.assertTrue(client.is_model_ready("m", "1"))
        self.assertFalse(client.is_model_ready("nobody"))
        self.assertEqual(client.get_server_metadata(as_json=True)["name"], "mpsd")
        metadata = client.get_model_metadata("m", as_json=True)
        self.assertEqual(metadata["inputs"][0]["shape"], ["-1", "4"])
        config = client.get_model_config("m", as_json=True)["config"]
        self.assertEqual(config["max_batch_size"], 8)
        statistics = client.get_inference_statistics("m", as_json=True)
        self.assertEqual(statistics["model_stats"][0]["name"], "m")
        self.assertIn("trace_level", client.get_trace_settings(as_json=True)["settings"])
        self.assertIn("log_info", client.get_log_settings(as_json=True)["settings"])

    def test_shared_memory_is_refused_with_a_reason(self):
        for status in (self.client.get_system_shared_memory_status(),
                       self.client.get_cuda_shared_memory_status()):
            self.assertEqual(dict(status.regions), {})
        for register in (lambda: self.client.register_system_shared_memory("r", "/r", 8),
                         lambda: self.client.register_cuda_shared_memory("r", b"x" * 64, 0, 8)):
            with self.assertRaises(InferenceServerException) as raised:
                register()
            self.assertEqual(raised.exception.status(), "StatusCode.UNIMPLEMENTED")


@unittest.skipUnless(WITH_TORCH, "built without torch")
class TorchScript(unittest.TestCase):
    """The demo's models, against what they are made of and not against the server's own answers."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([torchscript(MLP), huggingface("minilm")]))
        cls.client = triton.InferenceServerClient(cls.daemon.address)
        cls.addClassCleanup(cls.client.close)

    def test_mlp(self):
        rows = np.random.default_rng(5).random((3, MLP_WIDTH), dtype=np.float32)
        expected = rows
        with zipfile.ZipFile(MODELS / f"{MLP}.pt") as archive:
            for layer in range(MLP_LAYERS):
                weight, bias = (np.frombuffer(archive.read(f"{MLP}/data/{2 * layer + i}"), np.float32)
                                for i in range(2))
                expected = expected @ weight.reshape(MLP_WIDTH, MLP_WIDTH).T + bias
                expected = np.maximum(expected, 0)
        self.assertGreater(float(np.ptp(expected)), 0)
        for first, last in ((0, 3), (1, 2)):
            answer = self.client.infer(MLP, inputs(rows[first:last], "input")).as_numpy("output")
            np.testing.assert_allclose(answer, expected[first:last], rtol=1e-3, atol=1e-4)

    def test_minilm(self):
        reference = json.loads((ROOT / "tests/compat/minilm/reference.json").read_text())
        for entry in reference[:12]:
            ids = np.array([entry["input_ids"]], np.int64)
            answer = self.client.infer("minilm", inputs(ids, "input_ids") + inputs(
                np.ones_like(ids), "attention_mask"))
            (name,) = (output.name for output in answer.get_response().outputs)
            found, wanted = answer.as_numpy(name)[0], np.array(entry["embedding"])
            cosine = found @ wanted / np.linalg.norm(found) / np.linalg.norm(wanted)
            self.assertGreaterEqual(cosine, 0.9999, entry["text"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
