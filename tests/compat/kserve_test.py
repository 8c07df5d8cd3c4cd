"""kserve's clients as they are, over HTTP and over gRPC.

The package imports what its own servers need, Kubernetes' client and pandas among it. Its clients use
nothing of that, so those modules are stood in for and not installed.
"""
import importlib.machinery
import sys
import types
import unittest
import unittest.mock

import numpy as np

import text_clients

text_clients.need("kserve")
package = types.ModuleType("kserve")
package.__path__ = importlib.machinery.PathFinder.find_spec("kserve").submodule_search_locations
sys.modules["kserve"] = package
for server_part in ("cloudevents", "cloudevents.conversion", "cloudevents.http", "fastapi",
                    "fastapi.responses", "pandas", "psutil"):
    sys.modules[server_part] = unittest.mock.MagicMock()
from kserve.inference_client import (  # noqa: E402
    InferenceGRPCClient, InferenceRESTClient, RESTConfig)
from kserve.protocol.infer_type import InferInput, InferRequest, RequestedOutput  # noqa: E402
import grpc  # noqa: E402
import httpx  # noqa: E402

from daemon import Daemon  # noqa: E402
from models import synthetic, tensor  # noqa: E402

VALUES = np.arange(32, dtype=np.float32).reshape(2, 16)


class KServe(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon([
            synthetic("m"), synthetic("words", [tensor("x", [-1], "BYTES")])]))
        cls.url = f"http://{cls.daemon.http}"

    async def asyncSetUp(self):
        self.http = InferenceRESTClient(RESTConfig(protocol="v2"))
        self.addAsyncCleanup(self.http.close)
        self.grpc = InferenceGRPCClient(self.daemon.address)
        self.addAsyncCleanup(self.grpc.close)

    async def both(self, request):
        """The arrays OUTPUT0 of the answers over HTTP and over gRPC."""
        answers = [await self.http.infer(self.url, request, model_name=request.model_name),
                   await self.grpc.infer(request)]
        for answer in answers:
            self.assertEqual((answer.model_name, answer.id), (request.model_name, "7"))
        return [answer.outputs[0].as_numpy() for answer in answers]

    async def test_probes(self):
        self.assertIs(await self.http.is_server_live(self.url), True)
        self.assertIs(await self.http.is_server_ready(self.url), True)
        self.assertIs(await self.http.is_model_ready(self.url, "m"), True)
        self.assertIs(await self.http.is_model_ready(self.url, "none"), False)
        self.assertIs(await self.grpc.is_server_live(), True)
        self.assertIs(await self.grpc.is_server_ready(), True)
        self.assertIs(await self.grpc.is_model_ready("m"), True)

    async def test_numbers_as_bytes_and_as_json(self):
        for binary_in in (True, False):
            for binary_out in (True, False):
                with self.subTest(binary_in=binary_in, binary_out=binary_out):
                    given = InferInput("x", list(VALUES.shape), "FP32")
                    given.set_data_from_numpy(VALUES, binary_data=binary_in)
                    wanted = [RequestedOutput("OUTPUT0", {"binary_data": binary_out})]
                    for array in await self.both(InferRequest("m", [given], "7",
                                                              request_outputs=wanted)):
                        np.testing.assert_array_equal(array, VALUES)

    async def test_strings(self):
        values = np.array([["a", "", "x" * 1000]], dtype=np.object_)
        for binary in (True, False):
            given = InferInput("x", list(values.shape), "BYTES")
            given.set_data_from_numpy(values, binary_data=binary)
            for array in await self.both(InferRequest("words", [given], "7")):
                self.assertEqual([text if isinstance(text, str) else text.decode()
                                  for text in array[0]], list(values[0]))

    async def test_an_error_has_the_servers_text(self):
        given = InferInput("x", [1, 15], "FP32", VALUES[0, :15].tolist())
        request = InferRequest("m", [given], "7")
        with self.assertRaisesRegex(httpx.HTTPStatusError, "unexpected shape.*'400 Bad Request'"):
            await self.http.infer(self.url, request, model_name="m")
        with self.assertRaises(grpc.RpcError) as caught:
            await self.grpc.infer(request)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


if __name__ == "__main__":
    unittest.main(verbosity=2)
