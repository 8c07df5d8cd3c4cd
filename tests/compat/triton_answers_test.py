"""What a real Triton, 2.51.0, answered over HTTP, and what mpsd answers.

The answers were recorded from the tritonserver of the package nvidia-pytriton 0.7.0. It served the same
models, written for its Python backend, with `--strict-readiness=false`. Where mpsd differs on purpose, a
case says its own answer too; docs/coming-from-triton.md says why.
"""
import http.client
import json
import threading
import unittest

import programs  # noqa: F401 (finds tests/support)
from daemon import Daemon, wait_until
from models import synthetic, tensor

RAW = {"Inference-Header-Content-Length": "0"}
OK = (200, None)
NO_CORRELATION = (400, "inference request to model 'seq' must specify a non-zero or non-empty correlation ID")
TWO_OPEN = (400, "The shape of the raw input 'x' can not be deduced because there are more than one "
                 "variable-sized dimension")
ROW = json.dumps({"inputs": [{"name": "x", "shape": [1, 16], "datatype": "FP32", "data": [0] * 16}]})


def not_begun(sequence):
    return (400, f"inference request for sequence {sequence} to model 'seq' must specify the START flag on "
                 "the first request of the sequence")


def step(**parameters):
    """A request to the model of sequences."""
    return ("POST", "/v2/models/seq/infer", {}, json.dumps({
        "inputs": [{"name": "x", "shape": [1, 1], "datatype": "FP32", "data": [1]}],
        "parameters": parameters}))


def raw(model, size):
    return ("POST", f"/v2/models/{model}/infer", RAW, b"\0" * size)


def get(path):
    return ("GET", path, {}, None)


def unload(model, **parameters):
    return ("POST", f"/v2/repository/models/{model}/unload", {}, json.dumps({"parameters": parameters}))


# (request, Triton's code and error, mpsd's where they differ)
CASES = (
    (get("/v2/health/live"), OK),
    (get("/v2/health/ready"), OK),
    (get("/nothing"), (404, "Not Found"), (404, "there is no such path")),
    (get("/v2/nothing"), (404, "Not Found"), (404, "there is no such path")),
    (get("/v2/models/m/infer"), (405, "Method Not Allowed"), (405, "this path takes POST")),
    (get("/v2/models/none"), (404, "Request for unknown model: 'none' is not found")),
    (get("/v2/models/m/versions/9"), (404, "Request for unknown model: 'm' version 9 is not found")),
    (get("/v2/models/none/ready"), (400, "Model version not ready"), (503, None)),
    (("POST", "/v2/models/none/infer", {}, "{}"), (404, "Request for unknown model: 'none' is not found")),
    (("POST", "/v2/models/m/infer", {}, b"\0" * 64),
     (500, "failed to parse the request JSON buffer"), (400, "failed to parse the request JSON buffer")),
    (get("/v2/cudasharedmemory/status"), OK),
    (get("/v2/systemsharedmemory/status"), OK),
    (get("/v2/cudasharedmemory/region/r/status"), (404, "Unable to find cuda shared memory region: 'r'"),
     (501, "CUDA shared memory regions of clients are not enabled on this server")),
    (raw("m", 64), OK),
    (raw("m", 60), (400, "input byte size mismatch for input 'raw_input' for model 'm'. Expected 64, got 60"),
     (400, "no shape of input 'x' for model 'm' has 60 bytes")),
    (raw("m", 128), (400, "input byte size mismatch for input 'raw_input' for model 'm'. Expected 64, got 128"),
     OK),
    (raw("open", 24), OK),
    (raw("open", 0), OK),
    (raw("open2", 24), TWO_OPEN),
    (raw("open2_rows", 24), TWO_OPEN),
    (raw("words", 3), TWO_OPEN),
    (raw("word", 3), OK),
    (step(), NO_CORRELATION),
    (step(sequence_id=0, sequence_start=True), NO_CORRELATION),
    (step(sequence_id="", sequence_start=True), NO_CORRELATION),
    (step(sequence_id=5), not_begun(5)),
    (step(sequence_id="a"), not_begun("a")),
    (step(sequence_id=5, sequence_start=True), OK),
    (step(sequence_id=5, sequence_end=True), OK),
    (step(sequence_id=5), not_begun(5)),
)
# The same of a server whose models clients load and unload.
CONTROL_CASES = (
    (("POST", "/v2/repository/models/none/load", {}, "{}"),
     (500, "failed to load 'none', failed to poll from model repository"),
     (404, "failed to load 'none', failed to poll from model repository")),
    (unload("m", unload_dependents=True), OK),
    (get("/v2/models/m"), (404, "Request for unknown model: 'm' has no available versions")),
    (("POST", "/v2/models/m/infer", {}, "{}"),
     (404, "Request for unknown model: 'm' has no available versions")),
    (unload("open", unload_dependents="x"), OK,
     (400, "invalid value type for 'unload_dependents' parameter, expected bool_param.")),
    (unload("none"), OK, (404, "Request for unknown model: 'none' is not found")),
)
# What Triton names beside what mpsd has only where the config allows it.
EXTENSIONS = {"classification", "sequence", "model_repository", "schedule_policy", "model_configuration",
              "binary_tensor_data", "parameters", "statistics", "logging"}


class TritonAnswers(unittest.TestCase):
    def serve(self, **config):
        self.daemon = self.enterContext(Daemon([
            synthetic("m"), synthetic("open", [tensor("x", [-1, 2])], max_batch_size=0),
            synthetic("open2", [tensor("x", [-1, -1])], max_batch_size=0),
            synthetic("open2_rows", [tensor("x", [-1, -1])], max_batch_size=4),
            synthetic("words", [tensor("x", [-1, -1], "BYTES")], max_batch_size=0),
            synthetic("word", [tensor("x", [1], "BYTES")], max_batch_size=0),
            synthetic("seq", [tensor("x", [1])], max_batch_size=1, sequences={}),
            synthetic("slow", max_batch_size=1, parameters={"delay": "1s"}, queue={"requests": 1}),
        ], compat="triton", **config))

    def ask(self, method, path, headers, body):
        """(code, the error's text or None, the JSON)"""
        connection = http.client.HTTPConnection(self.daemon.http, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            read = answer.read()
        finally:
            connection.close()
        told = {}
        if read and answer.getheader("Content-Type") == "application/json":
            told = json.loads(read)
        error = told.get("error") if isinstance(told, dict) else None
        return answer.status, error, told

    def check(self, cases):
        for request, *answers in cases:
            with self.subTest(request=request[:2], body=request[3]):
                code, error, _ = self.ask(*request)
                wanted, text = answers[-1]
                self.assertEqual(code, wanted, error)
                self.assertEqual((error or "")[:len(text or "")], text or "")

    def test_requests(self):
        self.serve()
        self.check(CASES)
        self.assertEqual(self.ask(*get("/v2/cudasharedmemory/status"))[2], [])

    def test_loading_and_unloading(self):
        self.serve(model_control="explicit")
        self.check(CONTROL_CASES)

    def test_the_server(self):
        self.serve()
        told = self.ask(*get("/v2"))[2]
        self.assertEqual(told["name"], "triton")
        self.assertLessEqual(EXTENSIONS, set(told["extensions"]))

    def test_a_full_queue(self):
        """503 and this text, as Triton."""
        self.serve()
        request = ("POST", "/v2/models/slow/infer", {}, ROW)
        answers = []
        for waiting in (0, 1):
            caller = threading.Thread(target=lambda: answers.append(self.ask(*request)[0]))
            caller.start()
            self.addCleanup(caller.join)
            wait_until(lambda: self.daemon.metric("nv_inference_pending_request_count", model="slow",
                                                  version="1") == waiting and
                       self.daemon.metric("mpsd_running_batches") == 1, 10, "a request to wait")
        self.assertEqual(self.ask(*request)[:2], (503, "Exceeds maximum queue size"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
