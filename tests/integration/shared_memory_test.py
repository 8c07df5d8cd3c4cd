"""Tensors in shared memory of clients, by tritonclient's own utilities, and their misuse."""
import os
import pathlib
import sys
import threading
import unittest

import numpy as np
import tritonclient.grpc as triton
import tritonclient.utils.shared_memory as shm
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException, serialize_byte_tensor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import calls  # noqa: E402
from daemon import Daemon, wait_until  # noqa: E402
from models import synthetic, tensor  # noqa: E402
from region_clients import (REGION_BYTES, ROW_BYTES, RegionCase, RegionClient,  # noqa: E402
                            RegionsAsTheyAreMeant, rows)
from streams import input_of  # noqa: E402

OWN = [("grpc.use_local_subchannel_pool", 1)]
LIMIT_S = 30


class Client(RegionClient):
    """A client on a connection of its own, with one region that holds inputs and outputs."""

    def __init__(self, address, name, byte_size=REGION_BYTES):
        self.client = triton.InferenceServerClient(address, channel_args=OWN)
        self.key = f"/mpsd-test-{os.getpid()}-{name}-{threading.get_ident()}"
        self.name = name
        self.handle = shm.create_shared_memory_region(name, self.key, byte_size)

    def register(self, byte_size=REGION_BYTES, offset=0, key=None, name=None):
        self.client.register_system_shared_memory(name or self.name, key or self.key, byte_size,
                                                  offset)

    def close(self):
        self.client.close()
        shm.destroy_shared_memory_region(self.handle)

    def put(self, array, offset=0):
        shm.set_shared_memory_region(self.handle, [array], offset)

    def get(self, shape, offset, datatype=np.float32):
        return shm.get_contents_as_numpy(self.handle, datatype, shape, offset).copy()


class SharedMemory(RegionsAsTheyAreMeant, RegionCase):
    SECRETS = ("mpsd-test", "/dev", "errno", "No such file")

    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic("m", [tensor("x", [16])], max_batch_size=256),
             synthetic("two", [tensor("a", [4]), tensor("b", [4])]),
             synthetic("words", [tensor("x", [-1], "BYTES")]),
             synthetic("slow", [tensor("x", [16])], parameters={"delay": "2s"})],
            listen=["unix:s"], limits={"client_shared_memory": "1MiB"}))

    def client(self, name="region", register=True, **more):
        client = Client(self.daemon.address, name, **more)
        self.addCleanup(client.close)
        if register:
            client.register(**more)
        return client

    # Intended use.

    def test_a_large_batch(self):
        client = self.client(byte_size=1 << 15)
        array = np.arange(256 * 16, dtype=np.float32).reshape(256, 16)
        client.put(array)
        client.infer(shape=(256, 16), out=1 << 14)
        self.assertEqual(client.get((256, 16), 1 << 14).tobytes(), array.tobytes())

    def test_bytes(self):
        client = self.client()
        words = serialize_byte_tensor(np.array([[b"one", b"", b"three"]], np.object_)).item()
        client.put(np.array(words, dtype=np.object_))
        client.infer("words", (1, 3), byte_size=len(words), out=1024, datatype="BYTES")
        found = client.get((1, 3), 1024, np.bytes_)
        self.assertEqual(found.tolist(), [[b"one", b"", b"three"]])

    def test_a_stream(self):
        client = self.client()
        answers = []
        done = threading.Event()
        def take(result, error):
            answers.append((result, error))
            if len(answers) == 3:
                done.set()
        client.client.start_stream(take)
        for i in range(3):
            client.put(rows(i), i * ROW_BYTES)
            tensor_input = triton.InferInput("x", [1, 16], "FP32")
            tensor_input.set_shared_memory("region" if i < 2 else "nothing", ROW_BYTES,
                                           i * ROW_BYTES)
            output = triton.InferRequestedOutput("OUTPUT0")
            output.set_shared_memory("region", ROW_BYTES, 4096 + i * ROW_BYTES)
            client.client.async_stream_infer("m", [tensor_input], outputs=[output])
        self.assertTrue(done.wait(LIMIT_S))
        client.client.stop_stream()
        self.assertEqual([error is None for _, error in answers], [True, True, False])
        self.assertIn("Unable to find shared memory region: 'nothing'", str(answers[2][1]))
        for i in range(2):
            self.assertTrue((client.get((1, 16), 4096 + i * ROW_BYTES) == i).all())

    def test_status_and_unregister(self):
        client = self.client(register=False)
        client.register(4096, 8192)
        client.register(4096, 0, name="other")
        regions = client.client.get_system_shared_memory_status().regions
        self.assertEqual(sorted(regions), ["other", "region"])
        region = client.client.get_system_shared_memory_status("region").regions["region"]
        self.assertEqual((region.name, region.key, region.offset, region.byte_size),
                         ("region", client.key, 8192, 4096))
        client.put(rows(9), 8192)
        self.assertTrue((client.infer().as_numpy("OUTPUT0") == 9).all())
        client.client.unregister_system_shared_memory("region")
        self.refused("NOT_FOUND", "Unable to find system shared memory region: 'region'",
                     client.client.get_system_shared_memory_status, "region")
        self.refused("NOT_FOUND", "Unable to find shared memory region: 'region'", client.infer)
        client.client.unregister_system_shared_memory("region")
        client.client.unregister_system_shared_memory()
        self.assertEqual(len(client.client.get_system_shared_memory_status().regions), 0)
        client.register(4096)

    def test_the_extension_is_announced(self):
        client = self.client(register=False)
        self.assertIn("system_shared_memory", client.client.get_server_metadata().extensions)

    def test_it_goes_with_its_connection(self):
        leaving = self.client("leaving")
        another = self.client("another", register=False)
        self.refused("ALREADY_EXISTS", "overlaps", another.register, key=leaving.key)
        leaving.client.close()
        def registered():
            try:
                another.register(key=leaving.key)
            except InferenceServerException as error:
                self.assertIn("overlaps", error.message())
                return False
            return True
        wait_until(registered, LIMIT_S, "the end of the region")

    # Misuse.

    def test_a_region_of_another_connection(self):
        owner = self.client()
        stranger = self.client("mine", register=False)
        self.refused("NOT_FOUND", "Unable to find shared memory region: 'region'",
                     stranger.infer, region="region")
        self.assertEqual(len(stranger.client.get_system_shared_memory_status().regions), 0)
        stranger.client.unregister_system_shared_memory()
        self.refused("ALREADY_EXISTS", "'theft' overlaps another one", stranger.register,
                     key=owner.key, name="theft")
        owner.put(rows(1))
        self.assertTrue((owner.infer().as_numpy("OUTPUT0") == 1).all())

    def test_ranges_beyond_the_region(self):
        client = self.client(register=False)
        client.register(4096)
        self.refused("INVALID_ARGUMENT", "Invalid offset for shared memory region: 'region'",
                     client.infer, at=4097)
        for at in (4096, 4033, 4095):
            self.refused("INVALID_ARGUMENT",
                         "Invalid offset + byte size for shared memory region: 'region'",
                         client.infer, at=at)
        self.refused("INVALID_ARGUMENT", "Invalid offset", client.infer, at=2**63 - 1)
        self.refused("INVALID_ARGUMENT", "Invalid offset + byte size", client.infer, out=4090)
        client.infer(at=4032)

    def test_sizes_that_do_not_fit_the_tensor(self):
        client = self.client()
        self.refused("INVALID_ARGUMENT", "input byte size mismatch for input 'x' for model 'm'. "
                     "Expected 64, got 60", client.infer, byte_size=60)
        self.refused("INVALID_ARGUMENT", "shared memory size specified with the request for output "
                     "'OUTPUT0' (60 bytes) should be at least 64 bytes to hold the results",
                     client.infer, out=1024, out_bytes=60)
        self.refused("RESOURCE_EXHAUSTED", "in shared memory have at most", client.infer,
                     byte_size=1 << 40)

    def test_bad_registrations(self):
        client = self.client(register=False)
        for key in ("input_data", "/a/b", "/../x", "/", "", "//"):
            self.refused("INVALID_ARGUMENT", "a key begins with '/' and holds no other '/'",
                         client.client.register_system_shared_memory, "region", key, 64)
        self.refused("INVALID_ARGUMENT", "Unable to open shared memory region: 'region'",
                     client.register, key="/mpsd-test-that-is-not-there")
        self.refused("INVALID_ARGUMENT", "invalid args: its object is smaller", client.register,
                     REGION_BYTES + 1)
        self.refused("INVALID_ARGUMENT", "invalid args: its object is smaller", client.register, 1,
                     REGION_BYTES)
        self.refused("INVALID_ARGUMENT", "invalid args: its object is smaller", client.register,
                     2**63, 2**63)
        self.refused("INVALID_ARGUMENT", "its byte size is 0", client.register, 0)
        self.refused("INVALID_ARGUMENT", "from 1 to 128 bytes", client.register, 64, name="n" * 129)
        client.register(4096)
        self.refused("ALREADY_EXISTS", "shared memory region 'region' already in manager",
                     client.register, 64, 8192)
        self.refused("ALREADY_EXISTS", "overlaps another one of the same object", client.register,
                     64, 4095, name="second")
        client.register(64, 4096, name="third")
        self.assertEqual(len(client.client.get_system_shared_memory_status().regions), 2)

    def test_what_is_no_memory_is_not_opened(self):
        client = self.client(register=False)
        pipe = pathlib.Path(f"/dev/shm/mpsd-test-pipe-{os.getpid()}")
        link = pipe.with_name(f"mpsd-test-link-{os.getpid()}")
        os.mkfifo(pipe)
        self.addCleanup(pipe.unlink)
        link.symlink_to("/etc/passwd")
        self.addCleanup(link.unlink)
        for path in (pipe, link):
            self.refused("INVALID_ARGUMENT", "Unable to open shared memory region: 'region'",
                         client.register, 64, key=f"/{path.name}")

    def test_more_than_may_be_registered(self):
        client = self.client(register=False, byte_size=1 << 21)
        self.refused("RESOURCE_EXHAUSTED", "all shared memory regions together may have",
                     client.register, (1 << 20) + 1)
        for i in range(64):
            client.register(64, 64 * i, name=f"n{i}")
        self.refused("RESOURCE_EXHAUSTED", "there are too many shared memory regions",
                     client.register, 64, 1 << 16)
        client.client.unregister_system_shared_memory()

    def test_an_object_that_shrinks(self):
        client = self.client()
        client.put(rows(1))
        pid = self.daemon.pid
        os.truncate(f"/dev/shm{client.key}", 32)
        text = "shared memory region 'region' is smaller than when it was registered"
        self.refused("INVALID_ARGUMENT", text, client.infer)
        tensor_input = input_of("x", rows(8))
        output = triton.InferRequestedOutput("OUTPUT0")
        output.set_shared_memory("region", ROW_BYTES, 4096)
        self.refused("INVALID_ARGUMENT", text, client.client.infer, "m", [tensor_input],
                     outputs=[output])
        self.assertEqual(os.stat(f"/dev/shm{client.key}").st_size, 32)
        self.assertEqual(self.daemon.pid, pid)
        self.assertTrue(self.daemon.running())

    def test_an_object_that_shrinks_while_it_is_used(self):
        client = self.client()
        path = f"/dev/shm{client.key}"
        stop = threading.Event()
        def shake():
            while not stop.is_set():
                os.truncate(path, 0)
                os.truncate(path, REGION_BYTES)
        shaker = threading.Thread(target=shake)
        shaker.start()
        outcomes = set()
        try:
            for _ in range(300):
                try:
                    client.infer(shape=(200, 16), out=1 << 15)
                    outcomes.add("answered")
                except InferenceServerException as error:
                    outcomes.add(error.status())
        finally:
            stop.set()
            shaker.join()
        self.assertLessEqual(outcomes, {"answered", "StatusCode.INVALID_ARGUMENT"})
        self.assertTrue(self.daemon.running())

    def test_a_client_that_writes_while_it_waits(self):
        client = self.client()
        client.put(rows(1))
        answer = {}
        call = threading.Thread(target=lambda: answer.update(result=client.infer("slow")))
        call.start()
        wait_until(lambda: self.daemon.metric("mpsd_running_batches") > 0, LIMIT_S, "the batch")
        client.put(rows(2))
        call.join(LIMIT_S)
        self.assertTrue((answer["result"].as_numpy("OUTPUT0") == 1).all())

    def test_parameters_of_other_kinds(self):
        with calls.stub(self.daemon.address) as stub:
            def refused(fill, text):
                message = service_pb2.ModelInferRequest(model_name="m")
                message.inputs.add(name="x", datatype="FP32", shape=[1, 16])
                fill(message.inputs[0].parameters)
                outcome = calls.infer(stub, message)
                self.assertEqual(outcome.code.name, "INVALID_ARGUMENT")
                self.assertIn(text, outcome.text)
            def a_number(parameters):
                parameters["shared_memory_region"].int64_param = 1
            def no_size(parameters):
                parameters["shared_memory_region"].string_param = "region"
            def no_region(parameters):
                parameters["shared_memory_offset"].int64_param = 1
            def negative(parameters):
                no_size(parameters)
                parameters["shared_memory_byte_size"].int64_param = -1
            refused(a_number, "invalid value type for 'shared_memory_region' parameter for tensor "
                    "'x', expected string_param.")
            refused(no_size, "'shared_memory_byte_size' must be specified along with "
                    "'shared_memory_region' parameter for tensor 'x'")
            refused(no_region, "'shared_memory_offset' can not be specified without "
                    "'shared_memory_region' parameter for tensor 'x'")
            refused(negative, "invalid value for 'shared_memory_byte_size' parameter")

    def test_content_besides(self):
        client = self.client()
        message = service_pb2.ModelInferRequest(model_name="m")
        x = message.inputs.add(name="x", datatype="FP32", shape=[1, 16])
        x.parameters["shared_memory_region"].string_param = "region"
        x.parameters["shared_memory_byte_size"].int64_param = ROW_BYTES
        x.contents.fp32_contents.extend([1.0] * 16)
        outcome = calls.outcome_of(client.client._client_stub.ModelInfer.future(message))
        self.assertIn("unexpected 'content' provided when using shared memory for input tensor 'x' "
                      "for model 'm'", outcome.text)
        x.ClearField("contents")
        message.raw_input_contents.append(rows(1).tobytes())
        outcome = calls.outcome_of(client.client._client_stub.ModelInfer.future(message))
        self.assertIn("expected 0 raw input contents but got 1", outcome.text)

    def test_clients_of_a_unix_socket_have_names_of_their_own(self):
        where = next(name for name in self.daemon.listeners if name.startswith("unix:"))
        for value in (1, 2):
            client = Client(where, f"region{value}")
            self.addCleanup(client.close)
            client.register()
            client.put(rows(value))
            self.assertTrue((client.infer().as_numpy("OUTPUT0") == value).all())


class Off(unittest.TestCase):
    def test_unless_it_is_turned_on(self):
        with Daemon([synthetic("m")]) as daemon:
            client = Client(daemon.address, "region")
            self.addCleanup(client.close)
            with self.assertRaises(InferenceServerException) as caught:
                client.register()
            self.assertEqual(caught.exception.status(), "StatusCode.UNIMPLEMENTED")
            self.assertIn("not enabled", caught.exception.message())
            with self.assertRaises(InferenceServerException) as caught:
                client.infer()
            self.assertIn("Unable to find shared memory region: 'region'",
                          caught.exception.message())
            extensions = client.client.get_server_metadata().extensions
            self.assertNotIn("system_shared_memory", extensions)
            self.assertIn("model_repository", extensions)


if __name__ == "__main__":
    unittest.main(verbosity=2)
