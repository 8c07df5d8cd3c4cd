"""grpcurl as it is: descriptors and calls by reflection; without it, by our .proto files."""
import hashlib
import json
import pathlib
import tempfile
import unittest

import programs
from programs import ROOT, SERVICE, SMALL_ANSWER, run, small_request
from models import synthetic, tensor

IDENTITY = synthetic("identity", [tensor("INPUT0", [256])], max_batch_size=64)
OWN_FILES = ("-import-path", str(ROOT), "-proto", "proto/inference.proto")
RPC_ERROR = 64  # grpcurl's exit code is this and the status code


class Grpcurl(programs.ProgramTest):
    program = "grpcurl"
    models = (*programs.ProgramTest.models, IDENTITY)

    def ask(self, *arguments, **more):
        return run(self.client, "-plaintext", *arguments, **more)

    def call(self, method, request=None, **more):
        body = () if request is None else ("-d", json.dumps(request))
        return json.loads(self.ask(*body, self.address, f"{SERVICE}/{method}", **more))

    def test_list(self):
        services = self.ask(self.address, "list").split()
        self.assertEqual(services, [
            "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection", SERVICE, "mpsd.control.v1.Control",
            "xds.service.orca.v3.OpenRcaService"])
        methods = self.ask(self.address, "list", SERVICE).split()
        self.assertEqual(len(methods), 20)
        self.assertIn(f"{SERVICE}.ModelStreamInfer", methods)

    def test_describe(self):
        text = self.ask(self.address, "describe", "inference.ModelInferRequest")
        self.assertIn("repeated bytes raw_input_contents = 7;", text)
        text = self.ask(self.address, "describe", f"{SERVICE}.ModelStreamInfer")
        self.assertIn("rpc ModelStreamInfer ( stream .inference.ModelInferRequest ) returns "
                      "( stream .inference.ModelStreamInferResponse )", text)

    def test_live_and_ready(self):
        self.assertEqual(self.call("ServerLive"), {"live": True})
        self.assertEqual(self.call("ServerReady"), {"ready": True})
        self.assertEqual(self.call("ModelReady", {"name": "small"}), {"ready": True})
        self.assertEqual(self.call("ModelReady", {"name": "nobody"}), {})  # ready is false

    def test_metadata(self):
        self.assertEqual(self.call("ServerMetadata")["name"], "mpsd")
        answer = self.call("ModelMetadata", {"name": "identity"})
        self.assertEqual(answer["inputs"],
                         [{"name": "INPUT0", "datatype": "FP32", "shape": ["-1", "256"]}])

    def test_infer(self):
        answer = self.call("ModelInfer", small_request(id="7"))
        # The descriptors of a C++ server carry no names for JSON: those of the .proto file hold.
        self.assertEqual((answer["model_name"], answer["id"]), ("small", "7"))
        self.assertEqual(answer["raw_output_contents"], [SMALL_ANSWER])

    def test_infer_of_identity(self):
        numbers = list(range(256))
        answer = self.call("ModelInfer", {"model_name": "identity", "inputs": [
            {"name": "INPUT0", "datatype": "FP32", "shape": [1, 256],
             "contents": {"fp32_contents": numbers}}]})
        self.assertEqual(answer["outputs"],
                         [{"name": "OUTPUT0", "datatype": "FP32", "shape": ["1", "256"]}])

    def test_stream(self):
        """Two requests, of which one is wrong: both are answered in band."""
        two = json.dumps(small_request()) + json.dumps(small_request("nobody"))
        text = self.ask("-d", two, self.address, f"{SERVICE}/ModelStreamInfer")
        self.assertIn(SMALL_ANSWER, text)
        self.assertIn("Request for unknown model: 'nobody' is not found", text)

    def test_an_error(self):
        text = self.ask("-d", json.dumps(small_request("nobody")), self.address,
                        f"{SERVICE}/ModelInfer", code=RPC_ERROR + 5)
        self.assertIn("Code: NotFound", text)
        self.assertIn("Request for unknown model: 'nobody' is not found", text)


class GrpcurlWithoutReflection(programs.ProgramTest):
    program = "grpcurl"
    more = {"listen_more": {"reflection": "off"}}

    def test_is_refused_and_calls_go_on(self):
        text = run(self.client, "-plaintext", self.address, "list", code=1)
        self.assertIn("Failed to list services", text)
        run(self.client, "-plaintext", self.address, f"{SERVICE}/ServerLive", code=1)
        answer = run(self.client, "-plaintext", *OWN_FILES, "-d", json.dumps(small_request()),
                     self.address, f"{SERVICE}/ModelInfer")
        self.assertEqual(json.loads(answer)["rawOutputContents"], [SMALL_ANSWER])


class GrpcurlWithTokens(programs.ProgramTest):
    """Reflection and calls are held to what a token's rule allows."""

    program = "grpcurl"

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        tokens = pathlib.Path(folder) / "tokens"
        tokens.write_text("".join(
            f"{name} {hashlib.sha256(f'{name}-secret'.encode()).hexdigest()}\n"
            for name in ("all", "app")))
        tokens.chmod(0o600)
        cls.more = {"access": {"tokens": str(tokens), "open": ["metrics"], "rules": [
            {"token": "all", "roles": ["infer", "health", "reflection"]},
            {"token": "app", "roles": ["infer"]}]}, "listen_more": {"reflection": "on"}}
        super().setUpClass()

    def ask(self, token, *arguments, **more):
        header = ("-H", f"authorization: Bearer {token}-secret") if token else ()
        return run(self.client, "-plaintext", *header, *arguments, **more)

    def infer(self, token, *flags, **more):
        return self.ask(token, *flags, "-d", json.dumps(small_request()), self.address,
                        f"{SERVICE}/ModelInfer", **more)

    def test_without_one(self):
        for more in ((self.address, "list"), (self.address, f"{SERVICE}/ServerLive")):
            self.assertIn("Unauthenticated", self.ask(None, *more, code=1))
        self.assertIn("Unauthenticated", self.infer(None, *OWN_FILES, code=RPC_ERROR + 16))

    def test_with_one_that_may(self):
        self.assertIn(SERVICE, self.ask("all", self.address, "list").split())
        live = self.ask("all", self.address, f"{SERVICE}/ServerLive")
        self.assertEqual(json.loads(live), {"live": True})
        self.assertEqual(json.loads(self.infer("all"))["raw_output_contents"], [SMALL_ANSWER])

    def test_with_one_that_may_not_reflect(self):
        self.assertIn("PermissionDenied", self.ask("app", self.address, "list", code=1))
        answer = self.infer("app", *OWN_FILES)
        self.assertEqual(json.loads(answer)["rawOutputContents"], [SMALL_ANSWER])


if __name__ == "__main__":
    unittest.main(verbosity=2)
