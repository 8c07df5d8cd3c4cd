"""HAProxy as it is, between clients as they are and the server: gRPC by HTTP/2, HTTP/1.1 by either.

tests/deploy/proxies_test.py holds the config of deploy/haproxy. This one looks at what a proxy passes on.
"""
import pathlib
import queue
import shutil
import socket
import subprocess
import tempfile
import unittest

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

import programs
from certificates import Authority
from daemon import Daemon
from interop_cases import CASES, SERVER, InteropServer, go_command
from models import repeating, synthetic, tensor

LIMIT_S = 60
WIDE = np.arange(300_000, dtype=np.float32).reshape(1, -1)
CONFIG = """
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
"""
# A client's side and the server's, for each frontend. h1 stands for HTTP/1.1, h2 for HTTP/2.
SIDES = {"h2_h2": ("proto h2", "proto h2"), "tls_h2": ("ssl crt {} alpn h2,http/1.1", "proto h2"),
         "h1_h1": ("", ""), "h1_h2": ("", "proto h2")}


def program():
    return shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")


class HAProxy:
    """`with HAProxy(address) as proxy:` has `ports`, one for each of SIDES."""

    def __init__(self, address):
        self._address = address

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="mpsd-test-")
        folder = pathlib.Path(self._folder.name)
        authority = Authority(folder, "authority")
        self.authority = str(authority.pem)
        pair = folder / "pair.pem"
        pair.write_text("".join(path.read_text() for path in authority.issue("proxy")))
        # HAProxy takes listening sockets that it inherits, so no port is free in between.
        sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in SIDES}
        self.ports = {name: str(one.getsockname()[1]) for name, one in sockets.items()}
        config = folder / "haproxy.cfg"
        config.write_text(CONFIG + "".join(
            f"listen {name}\n  bind fd@{sockets[name].fileno()} {client.format(pair)}\n"
            f"  server one {self._address} {server}\n"
            for name, (client, server) in SIDES.items()))
        self._process = subprocess.Popen([program(), "-db", "-f", str(config)],
                                         pass_fds=[one.fileno() for one in sockets.values()])
        for one in sockets.values():
            one.close()
        return self

    def __exit__(self, *unused):
        self._process.terminate()
        self._process.wait(LIMIT_S)
        self._folder.cleanup()


@unittest.skipUnless(program(), "there is no haproxy")
class BehindHAProxy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        daemon = cls.enterClassContext(Daemon([
            synthetic("m"), synthetic("wide", [tensor("x", [-1])]), repeating("many")]))
        cls.ports = cls.enterClassContext(HAProxy(daemon.http)).ports

    def given(self, module, values=WIDE):
        tensor_input = module.InferInput("x", values.shape, "FP32")
        tensor_input.set_data_from_numpy(values)
        return [tensor_input]

    def check(self, module, client):
        answer = client.infer("wide", self.given(module))
        np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), WIDE)
        with self.assertRaisesRegex(InferenceServerException, "unknown model: 'nobody'"):
            client.infer("nobody", self.given(module))
        self.assertTrue(client.is_model_ready("m"))

    def test_grpc(self):
        with grpc.InferenceServerClient(f"127.0.0.1:{self.ports['h2_h2']}") as client:
            self.check(grpc, client)

    def test_a_stream(self):
        answers = queue.Queue()
        values = np.array([7, 8, 9], np.int32)
        inputs = [grpc.InferInput("IN", [3], "INT32"), grpc.InferInput("DELAY", [3], "UINT32"),
                  grpc.InferInput("WAIT", [1], "UINT32")]
        for one, array in zip(inputs, (values, np.zeros(3, np.uint32), np.zeros(1, np.uint32))):
            one.set_data_from_numpy(array)
        with grpc.InferenceServerClient(f"127.0.0.1:{self.ports['h2_h2']}") as client:
            client.start_stream(lambda result, error: answers.put((result, error)))
            client.async_stream_infer("many", inputs)
            got = [answers.get(timeout=LIMIT_S) for _ in values]
            client.stop_stream()
        self.assertEqual([error for _, error in got], [None] * 3)
        self.assertEqual([result.as_numpy("OUT")[0] for result, _ in got], list(values))

    def test_http(self):
        for sides in ("h1_h1", "h1_h2"):
            with self.subTest(sides):
                with http.InferenceServerClient(f"127.0.0.1:{self.ports[sides]}") as client:
                    self.check(http, client)


@unittest.skipUnless(program(), "there is no haproxy")
@unittest.skipUnless(SERVER.exists(), "there is no server of the interop cases")
class InteropBehindHAProxy(unittest.TestCase):
    def test_cases(self):
        client = programs.client("grpc_interop")
        with InteropServer() as server, HAProxy(f"127.0.0.1:{server.plain}") as proxy:
            for case in CASES:
                with self.subTest(case):
                    programs.run(*go_command(client, proxy.ports["tls_h2"], case,
                                             proxy.authority), limit_s=LIMIT_S)


if __name__ == "__main__":
    unittest.main(verbosity=2)
