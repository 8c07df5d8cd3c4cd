"""The package `mpsd` for Python: a daemon in a `with` statement, and both clients of it."""
import asyncio
import hashlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

from daemon import BIN, MODELS, ROOT, WITH_TORCH
from models import synthetic, tensor

sys.path.insert(0, str(ROOT / "python"))
os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
import mpsd  # noqa: E402
from mpsd import _programs  # noqa: E402
from mpsd._server import _from  # noqa: E402

REFERENCE = ROOT / "tests/compat/minilm/reference.json"
DATATYPES = ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64",
             "FP16", "FP32", "FP64")


INTERRUPTED = """
import os, signal, mpsd
with mpsd.serve({"models": []}) as server:
    try:
        os.killpg(0, signal.SIGINT)
        signal.pause()
    except KeyboardInterrupt:
        print("interrupted")
    signal.sigtimedwait([], 1)
    print(server.client.ready())
"""


def running(pid):
    return os.path.exists(f"/proc/{pid}")


class Tensors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        models = [synthetic(name.lower(), [tensor("x", [3], name)]) for name in DATATYPES]
        models += [synthetic("texts", [tensor("x", [3], "BYTES")]),
                   synthetic("two", [tensor("a", [2]), tensor("b", [1], "INT32")])]
        cls.server = cls.enterClassContext(mpsd.serve({"models": models}))
        cls.client = cls.server.client

    def test_each_datatype_goes_there_and_back(self):
        for name in DATATYPES:
            datatype = name.lower().replace("fp", "float")
            sent = np.array([[0, 1, 1], [1, 0, 1]], dtype=datatype)
            got = self.client.infer(name.lower(), {"x": sent})["OUTPUT0"]
            self.assertEqual(got.dtype, sent.dtype, name)
            np.testing.assert_array_equal(got, sent)

    def test_texts_come_back_as_bytes(self):
        sent = np.array([["a", "", "sea \u00e9"]])
        got = self.client.infer("texts", {"x": sent})["OUTPUT0"]
        self.assertEqual(got.tolist(), [[b"a", b"", "sea \u00e9".encode()]])

    def test_bytes_keep_the_zeros_at_their_end(self):
        sent = [[b"a\0", b"\0\0", "c\0"]]
        self.assertEqual(self.client.infer("texts", {"x": sent})["OUTPUT0"].tolist(),
                         [[b"a\0", b"\0\0", b"c\0"]])
        sent = np.empty((1, 3), object)
        sent[0] = [bytearray(b"a"), memoryview(b"b"), b"c"]
        self.assertEqual(self.client.infer("texts", {"x": sent})["OUTPUT0"].tolist(),
                         [[b"a", b"b", b"c"]])

    def test_arrays_that_are_views_are_sent_as_they_look(self):
        sent = np.arange(12, dtype=">f4").reshape(4, 3)[::2]
        np.testing.assert_array_equal(self.client.infer("fp32", {"x": sent})["OUTPUT0"], sent)

    def test_only_the_outputs_that_are_named(self):
        inputs = {"a": np.ones((1, 2), np.float32), "b": np.ones((1, 1), np.int32)}
        self.assertEqual(sorted(self.client.infer("two", inputs)), ["OUTPUT0", "OUTPUT1"])
        self.assertEqual(list(self.client.infer("two", inputs, outputs=["OUTPUT1"])), ["OUTPUT1"])

    def test_a_type_that_the_protocol_has_not_is_named(self):
        with self.assertRaisesRegex(TypeError, "complex64"):
            self.client.infer("fp32", {"x": np.zeros((1, 3), np.complex64)})

    def test_an_error_of_the_server_has_its_code_and_text(self):
        with self.assertRaisesRegex(mpsd.CallError, "absent") as raised:
            self.client.infer("absent", {"x": np.zeros((1, 3), np.float32)})
        self.assertEqual(raised.exception.status, 404)

    def test_models_and_readiness(self):
        known = {model.name: model.state for model in self.client.models()}
        self.assertEqual(known["texts"], "READY")
        self.assertTrue(self.client.ready())
        self.assertTrue(self.client.ready("texts"))
        self.assertFalse(self.client.ready("absent"))
        self.assertFalse(mpsd.Client("http://127.0.0.1:1").ready())

    def test_coroutines_run_at_the_same_time(self):
        async def calls():
            async with mpsd.AsyncClient(self.server.url) as client:
                rows = [np.full((1, 3), i, np.float32) for i in range(20)]
                got = await asyncio.gather(*(client.infer("fp32", {"x": row}) for row in rows))
                again = await client.infer("fp32", {"x": rows[7]})
                with self.assertRaises(mpsd.CallError):
                    await client.infer("absent", {"x": rows[0]})
                return [one["OUTPUT0"][0, 0] for one in [*got, again]], await client.ready()
        self.assertEqual(asyncio.run(calls()), ([*map(float, range(20)), 7.0], True))

    def test_a_connection_that_the_server_closed_is_opened_again(self):
        short = {"listen": {}, "limits": {"http_idle": "50ms"}, "models": [synthetic("m")]}
        with mpsd.serve(short) as server:
            row = np.zeros((1, 16), np.float32)
            server.client.infer("m", {"x": row})
            connection, = server.client._idle
            connection.sock.settimeout(20)
            self.assertEqual(connection.sock.recv(1, 2), b"")  # MSG_PEEK: the server's end of it
            server.client.infer("m", {"x": row})

            async def calls():
                async with mpsd.AsyncClient(server.url) as client:
                    for _ in range(2):
                        await client.infer("m", {"x": row})
                        (reader, _), = client._idle
                        await asyncio.wait_for(reader.read(), 20)  # the server's end of it
            asyncio.run(calls())


LIST = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


class LastAnswer:
    """A server whose connections get a good answer each, then `last` and the end."""

    def __init__(self, test, last):
        self.requests, self._last = [], last
        self._listener = test.enterContext(socket.create_server(("127.0.0.1", 0)))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                for answer in (LIST, self._last):
                    head = list(iter(lines.readline, b"\r\n"))
                    lines.read(2 if head[0].startswith(b"POST") else 0)
                    self.requests.append(head[0])
                    connection.sendall(answer)
                connection.shutdown(socket.SHUT_RDWR)


class Connections(unittest.TestCase):
    def last(self, last, call):
        """What the second call on a connection ends with in each client, and how many came."""
        for client in (mpsd.Client, mpsd.AsyncClient):
            server = LastAnswer(self, last)

            def plain():
                with client(server.url) as one:
                    return [call(one) for _ in range(2)][-1]

            async def coroutine():
                async with client(server.url) as one:
                    return [await call(one) for _ in range(2)][-1]
            try:
                got = plain() if client is mpsd.Client else asyncio.run(coroutine())
                yield got, len(server.requests)
            except Exception as error:
                yield error, len(server.requests)

    def test_what_may_have_run_is_not_sent_again(self):
        half = LIST.replace(b": 2", b": 20")
        for last in (b"", half, b"garbage\r\n\r\n"):
            for error, sent in self.last(last, lambda client: client.models()):
                self.assertIsInstance(error, OSError, last)
                self.assertEqual(sent, 2, last)

    def test_a_get_has_a_second_try(self):
        for result, sent in self.last(b"", lambda client: client.ready()):
            self.assertEqual((result, sent), (True, 3))

    def test_bodies_of_each_form(self):
        head = b"HTTP/1.1 200 OK\r\n"
        for last in (head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1;a=b\r\n]\r\n0\r\n\r\n",
                     head + b"\r\n[]"):
            for result, _ in self.last(last, lambda client: client.models()):
                self.assertEqual(result, [], last)


class Starts(unittest.TestCase):
    def test_the_process_and_its_folder_end_with_the_statement(self):
        with mpsd.serve({"models": [synthetic("m")]}) as server:
            pid, folder = server.pid, pathlib.Path(server._folder.name)
            self.assertTrue(running(pid))
        self.assertFalse(running(pid))
        self.assertFalse(folder.exists())

    def test_two_daemons_at_once(self):
        models = {"models": [synthetic("m")]}
        with mpsd.serve(models) as one, mpsd.serve(models) as other:
            self.assertNotEqual(one.http, other.http)
            self.assertTrue(one.client.ready("m") and other.client.ready("m"))

    def test_a_failed_start_says_why_and_leaves_nothing(self):
        with self.assertRaisesRegex(mpsd.StartError, r"ended with 78.*(\n.*)*no such key|unknown"):
            mpsd.serve({"modles": []})
        with self.assertRaisesRegex(mpsd.StartError, "there is no file"):
            mpsd.serve("./absent.pt", input="x:FP32[-1,2]")

    def test_paths_of_a_file_count_from_it(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        config = json.dumps({"models": [{**synthetic("m"), "max_batch_size": 4}]}, indent=1)
        (folder / "mpsd.json").write_text(f"// a comment\n{config}  /* another, with \"*/")
        with mpsd.serve(folder / "mpsd.json") as server:
            self.assertTrue(server.client.ready("m"))


    def test_all_paths_of_a_file_count_from_it(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nsea\n")
        inputs = [tensor(name, [-1], "INT64") for name in ("input_ids", "attention_mask")]
        model = synthetic("m", inputs, outputs=[tensor("embedding", [4])],
                          text={"tokenizer": "vocab.txt"}, parameters={"encode": "true"})
        (folder / "mpsd.json").write_text(json.dumps({"models": [model], "log": {"file": "log"}}))
        with mpsd.serve(folder / "mpsd.json") as server:
            self.assertEqual(server.client.embed("sea").shape, (1, 4))
        self.assertIn("stopped", (folder / "log").read_text())

    def test_rules_of_access_are_no_failed_start(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        digest = hashlib.sha256(b"secret").hexdigest()
        (folder / "tokens").write_text(f"app {digest}\n")
        (folder / "tokens").chmod(0o600)
        access = {"tokens": str(folder / "tokens"), "rules": [{"token": "app", "roles": ["infer"]}]}
        self.assertEqual(_from(str(folder), "access", {"rules": [{"certificate": "tokens"}]}),
                         {"rules": [{"certificate": "tokens"}]}, "a name, and no file")
        with mpsd.serve({"models": [synthetic("m")], "access": access}) as server:
            self.assertFalse(server.client.ready())
            with mpsd.Client(server.url, token="secret") as client:
                self.assertTrue(client.ready("m"))

    def test_an_interrupt_of_a_cell_leaves_the_daemon(self):
        """As a notebook sends it: to the group of the process."""
        done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True,
                              timeout=120, start_new_session=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual((done.returncode, done.stdout), (0, "interrupted\nTrue\n"), done.stderr)


class Choice(unittest.TestCase):
    """Which worker is started, without any torch: folders stand in for it."""

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.site = folder / "site"
        self.package = folder / "package"
        for minor in ("2.9", "2.11"):
            (self.package / f"torch{minor}").mkdir(parents=True)
            (self.package / f"torch{minor}/mpsd-worker").touch()
        self.addCleanup(setattr, _programs, "PACKAGE", _programs.PACKAGE)
        _programs.PACKAGE = self.package
        self.addCleanup(sys.path.remove, str(self.site))
        sys.path.insert(0, str(self.site))

    def torch(self, version):
        (self.site / "torch/lib").mkdir(parents=True)
        (self.site / "torch/__init__.py").write_text("raise AssertionError('imported')\n")
        (self.site / "torch/version.py").write_text(f"__version__ = '{version}'\n")

    def test_the_worker_and_the_libraries_are_those_of_torch_here(self):
        self.torch("2.11.0+cu130")
        (self.site / "nvidia/cu13/lib").mkdir(parents=True)
        self.assertEqual(_programs.objection(), "")
        variables = _programs.environment()
        self.assertEqual(variables["MPSD_WORKER"], str(self.package / "torch2.11/mpsd-worker"))
        self.assertEqual(variables["LD_LIBRARY_PATH"].split(":")[:2],
                         [str(self.site / "torch/lib"), str(self.site / "nvidia/cu13/lib")])

    def test_a_torch_without_a_worker_is_named(self):
        self.torch("2.1.2")
        self.assertEqual(_programs.objection(),
                         "torch here is 2.1; this mpsd has workers for torch 2.9, 2.11")
        self.assertNotIn("MPSD_WORKER", _programs.environment())


@unittest.skipUnless(WITH_TORCH, "built without torch")
class Models(unittest.TestCase):
    def test_a_file_with_options(self):
        with mpsd.serve(MODELS / "identity.pt", input="x:FP32[-1,256]", name="same",
                        device="cpu", port=0) as server:
            row = np.arange(256, dtype=np.float32)[None]
            (output,) = server.client.infer("same", {"x": row}).values()
            np.testing.assert_array_equal(output, row)

    def test_a_model_that_fails_is_no_start(self):
        with self.assertRaisesRegex(mpsd.StartError, r"(?s)ended with 78 .*\[256\]"):
            mpsd.serve(MODELS / "identity.pt", input="x:FP32[-1,4]", device="cpu")

    def test_embeddings_are_those_of_sentence_transformers(self):
        entries = json.loads(REFERENCE.read_text())[:5]
        with mpsd.serve(MODELS / "minilm", device="cpu") as server:
            got = server.client.embed([entry["text"] for entry in entries])
            one = server.client.embed(entries[0]["text"], model="minilm", dimensions=8)
        wanted = np.array([entry["embedding"] for entry in entries])
        wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
        self.assertLess(np.abs(got - wanted).max(), 1e-5)
        self.assertEqual((got.dtype, one.shape), (np.float32, (1, 8)))


if __name__ == "__main__":
    unittest.main()
