"""Clients of gRPC-Web as they are, for Node: Google's in both forms, and Connect's. They are pages'
clients, so they speak HTTP/1.1 to an address of HTTP."""
import shutil
import subprocess
import tempfile
import unittest

import node_clients
import text_clients
from daemon import Daemon
from models import synthetic, tensor
from text_clients import ROOT

CLIENTS = ("connect", "binary", "text")
NOT_FOUND, DEADLINE_EXCEEDED = 5, 4


class GrpcWeb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        descriptors = f"{folder}/descriptors"
        subprocess.run(["protoc", f"-I{ROOT}", f"--descriptor_set_out={descriptors}",
                        "--include_imports", "proto/inference.proto"], cwd=ROOT, check=True)
        daemon = cls.enterClassContext(Daemon([
            synthetic("m", [tensor("x", [-1])]), synthetic("wide", [tensor("x", [-1])]),
            synthetic("slow", [tensor("x", [-1])], parameters={"delay": "3s"})]))
        cls.got = node_clients.run("grpc_web.mjs", "grpc-web", MPSD_URL=f"http://{daemon.http}",
                                   MPSD_DESCRIPTORS=descriptors)

    def check(self, name, expected):
        for client in CLIENTS:
            got = self.got[client][name]
            self.assertEqual({key: got.get(key) for key in expected}, expected, client)

    def test_methods(self):
        self.check("live", {"live": True})
        self.check("metadata", {"name": "m", "inputs": 1})

    def test_inferences(self):
        self.check("answer", {"id": "q", "values": [1, 2]})
        self.check("large", {"same": True})

    def test_errors(self):
        self.check("unknown", {"code": NOT_FOUND,
                               "text": "Request for unknown model: 'b\u00fc%' is not found"})
        self.check("nothing", {"code": NOT_FOUND,
                               "text": "Request for unknown model: 'nothing' is not found"})

    def test_a_deadline(self):
        self.check("late", {"code": DEADLINE_EXCEEDED})


if __name__ == "__main__":
    node_clients.need("grpc-web")
    if not shutil.which("protoc"):
        text_clients.skip("protoc")
    unittest.main(verbosity=2)
