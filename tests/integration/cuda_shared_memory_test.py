"""Tensors in memory of CUDA devices that clients have registered, with files for that memory.

The daemon, mpsd-device-copier and the clients' messages are real; the driver is
tests/fakes/fake_cuda.cc, whose handles hold the path of a file."""
import base64
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import calls  # noqa: E402
import procfs  # noqa: E402
from daemon import BIN, Daemon, wait_until  # noqa: E402
from models import repeating, synthetic, tensor  # noqa: E402
from region_clients import (REGION_BYTES, ROW_BYTES, RegionCase, RegionClient,  # noqa: E402
                            RegionsAsTheyAreMeant, rows)
from streams import input_of  # noqa: E402

FAKE_CUDA = os.environ.get("MPSD_FAKE_CUDA") or str(BIN.parent / "tests/fake_cuda")
LARGE_BYTES = 20 << 20  # more than the copier's segments hold at once
OWN = [("grpc.use_local_subchannel_pool", 1), *calls.CHANNEL_OPTIONS[:2]]
LIMIT_S = 30
CONFIG_ERROR = 78
COPIER = "mpsd-device-copier"


def copiers(daemon):
    """The pids of the daemon's copiers, while the daemon lives. A copier hides all but its name."""
    return [pid for pid in procfs.children(daemon.pid) if procfs.name(pid) == COPIER[:15]]


def served(models=None, **more):
    """A daemon with the fake driver."""
    environment = more.pop("environment", {})
    limits = {"client_cuda_memory": "64MiB", **more.pop("limits", {})}
    daemon = Daemon(models or [synthetic("m", [tensor("x", [16])], max_batch_size=256)],
                    limits=limits, **more)
    daemon.environment.update({"LD_LIBRARY_PATH": FAKE_CUDA, **environment})
    return daemon


def start_infer(client):
    """An infer() on a thread of its own: the thread, and the list that gets its error's status."""
    outcome = []
    def call():
        try:
            client.infer()
        except InferenceServerException as error:
            outcome.append(error.status())
    thread = threading.Thread(target=call)
    thread.start()
    return thread, outcome


class Client(RegionClient):
    """A client on a connection of its own, with memory of the device."""

    def __init__(self, test, address, name="region", byte_size=REGION_BYTES):
        self.client = triton.InferenceServerClient(address, channel_args=OWN)
        test.addCleanup(self.client.close)
        self.name = name.partition(".")[0]
        folder = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-")))
        self.path = folder / name
        self.path.write_bytes(bytes(byte_size))
        self.byte_size = byte_size

    def handle(self):
        """As tritonclient.utils.cuda_shared_memory.get_raw_handle() returns it."""
        return base64.b64encode(b"FAKE" + str(self.path).encode().ljust(60, b"\0"))

    def register(self, name=None, handle=None, device=0, byte_size=None):
        self.client.register_cuda_shared_memory(name or self.name, handle or self.handle(), device,
                                                self.byte_size if byte_size is None else byte_size)
        return self

    def put(self, array, offset=0):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(array.tobytes())

    def get(self, shape, offset=0, datatype=np.float32):
        with open(self.path, "rb") as file:
            file.seek(offset)
            return np.frombuffer(file.read(int(np.prod(shape)) * 4), datatype).reshape(shape)


class DeviceCase(RegionCase):
    SECRETS = ("mpsd-", "/tmp", "errno", "FAKE")


class CudaSharedMemory(RegionsAsTheyAreMeant, DeviceCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(served(
            [synthetic("m", [tensor("x", [16])], max_batch_size=256),
             synthetic("wide", [tensor("x", [LARGE_BYTES // 4])], max_batch_size=1),
             synthetic("two", [tensor("a", [4]), tensor("b", [4])]),
             repeating("many")]))

    def client(self, name="region", register=True, **more):
        client = Client(self, self.daemon.address, name, **more)
        return client.register() if register else client

    def test_more_than_a_segment_holds(self):
        wait_until(lambda: self.daemon.metric("mpsd_client_regions") == 0, LIMIT_S,
                   "the end of other tests' regions")
        client = self.client(byte_size=2 * LARGE_BYTES)
        array = np.random.default_rng(1).random((1, LARGE_BYTES // 4), np.float32)
        client.put(array)
        client.infer("wide", array.shape, out=LARGE_BYTES)
        self.assertEqual(client.get(array.shape, LARGE_BYTES).tobytes(), array.tobytes())

    def test_many_calls_at_once(self):
        client = self.client()
        for i in range(64):
            client.put(rows(i), i * ROW_BYTES)
        done = threading.Semaphore(0)
        errors = []
        def take(result, error):  # pylint: disable=unused-argument
            errors.append(error)
            done.release()
        for i in range(64):
            tensor_input = triton.InferInput("x", [1, 16], "FP32")
            tensor_input.set_shared_memory("region", ROW_BYTES, i * ROW_BYTES)
            output = triton.InferRequestedOutput("OUTPUT0")
            output.set_shared_memory("region", ROW_BYTES, 8192 + i * ROW_BYTES)
            client.client.async_infer("m", [tensor_input], take, outputs=[output])
        for _ in range(64):
            self.assertTrue(done.acquire(timeout=LIMIT_S))
        self.assertEqual(errors, [None] * 64)
        for i in range(64):
            self.assertTrue((client.get((1, 16), 8192 + i * ROW_BYTES) == i).all(), i)

    def test_a_stream(self):
        client = self.client()
        answers = []
        done = threading.Event()
        def take(result, error):
            answers.append((result, error))
            if len(answers) == 4:
                done.set()
        client.client.start_stream(take)
        for i in range(4):
            client.put(rows(i), i * ROW_BYTES)
            tensor_input = triton.InferInput("x", [1, 16], "FP32")
            if i == 1:  # between two that wait for the device
                tensor_input.set_data_from_numpy(rows(i))
            else:
                tensor_input.set_shared_memory("region" if i < 3 else "nothing", ROW_BYTES,
                                               i * ROW_BYTES)
            output = triton.InferRequestedOutput("OUTPUT0")
            output.set_shared_memory("region", ROW_BYTES, 4096 + i * ROW_BYTES)
            client.client.async_stream_infer("m", [tensor_input], outputs=[output],
                                             request_id=str(i))
        self.assertTrue(done.wait(LIMIT_S))
        client.client.stop_stream()
        self.assertEqual([error is None for _, error in answers], [True, True, True, False])
        self.assertEqual([result.get_response().id for result, _ in answers[:3]], list("012"))
        self.assertIn("Unable to find shared memory region: 'nothing'", str(answers[3][1]))
        for i in range(3):
            self.assertTrue((client.get((1, 16), 4096 + i * ROW_BYTES) == i).all())

    def test_answers_of_a_decoupled_model(self):
        client = self.client()
        answers = []
        done = threading.Event()
        def take(result, error):
            answers.append((result, error, client.get((1,), 0, np.int32)[0]))
            if len(answers) == 3:
                done.set()
        client.client.start_stream(take)
        inputs = []
        for name, array in (("IN", [4, 5, 6]), ("DELAY", [0, 0, 0]), ("WAIT", [0])):
            array = np.array(array, np.int32 if name == "IN" else np.uint32)
            inputs.append(triton.InferInput(name, list(array.shape),
                                            "INT32" if name == "IN" else "UINT32"))
            inputs[-1].set_data_from_numpy(array)
        output = triton.InferRequestedOutput("OUT")
        output.set_shared_memory("region", 4, 0)
        client.client.async_stream_infer("many", inputs, outputs=[output])
        self.assertTrue(done.wait(LIMIT_S))
        client.client.stop_stream()
        self.assertEqual([error for _, error, _ in answers], [None] * 3)
        self.assertEqual(client.get((1,), 0, np.int32)[0], 6)

    def test_status_and_unregister(self):
        client = self.client()
        self.client("other").client.close()
        regions = client.client.get_cuda_shared_memory_status().regions
        self.assertEqual(list(regions), ["region"])
        region = client.client.get_cuda_shared_memory_status("region").regions["region"]
        self.assertEqual((region.name, region.device_id, region.byte_size),
                         ("region", 0, REGION_BYTES))
        client.client.unregister_cuda_shared_memory("region")
        self.refused("NOT_FOUND", "Unable to find cuda shared memory region: 'region'",
                     client.client.get_cuda_shared_memory_status, "region")
        self.refused("NOT_FOUND", "Unable to find shared memory region: 'region'", client.infer)
        client.client.unregister_cuda_shared_memory("region")
        client.client.unregister_cuda_shared_memory()
        client.register()

    def test_the_extension_is_announced(self):
        client = self.client()
        extensions = client.client.get_server_metadata().extensions
        self.assertIn("cuda_shared_memory", extensions)
        self.assertNotIn("system_shared_memory", extensions)

    def test_it_goes_with_its_connection(self):
        client = self.client("leaving")
        (copier,) = copiers(self.daemon)
        def maps():
            try:
                return str(client.path) in pathlib.Path(f"/proc/{copier}/maps").read_text()
            except PermissionError:
                return self.skipTest("the copier hides its memory from everybody but root")
        self.assertTrue(maps())
        client.client.close()
        wait_until(lambda: not maps(), LIMIT_S, "the end of the region")

    def test_a_region_of_another_connection(self):
        owner = self.client()
        stranger = self.client("mine", register=False)
        self.refused("NOT_FOUND", "Unable to find shared memory region: 'region'",
                     stranger.infer, region="region")
        self.assertEqual(len(stranger.client.get_cuda_shared_memory_status().regions), 0)
        stranger.client.unregister_cuda_shared_memory()
        self.refused("ALREADY_EXISTS", "'mine' overlaps another one", stranger.register,
                     handle=owner.handle())
        owner.put(rows(1))
        self.assertTrue((owner.infer().as_numpy("OUTPUT0") == 1).all())

    def test_bad_registrations(self):
        client = self.client(register=False)
        begin = "failed to register shared memory region 'region': "
        self.refused("INVALID_ARGUMENT", begin + "failed to open CUDA IPC handle", client.register,
                     handle=base64.b64encode(b"\1" * 64))
        self.refused("INVALID_ARGUMENT", begin + "a raw handle has 64 bytes", client.register,
                     handle=base64.b64encode(b"FAKE"))
        for size in (REGION_BYTES + 1, 2**63):
            self.refused("INVALID_ARGUMENT", begin + "its allocation is smaller than byte size",
                         client.register, byte_size=size)
        self.refused("INVALID_ARGUMENT", begin + "its byte size is 0", client.register,
                     byte_size=0)
        for device in (1, -1, 2**40):
            self.refused("INVALID_ARGUMENT", begin + "there is no such device", client.register,
                         device=device)
        self.refused("INVALID_ARGUMENT", "from 1 to 128 bytes", client.register, name="n" * 129)
        client.register()
        self.refused("ALREADY_EXISTS", "shared memory region 'region' already in manager",
                     client.register)

    def test_ranges_beyond_the_region(self):
        client = self.client()
        self.refused("INVALID_ARGUMENT", "Invalid offset for shared memory region: 'region'",
                     client.infer, at=REGION_BYTES + 1)
        self.refused("INVALID_ARGUMENT", "Invalid offset + byte size", client.infer,
                     at=REGION_BYTES - 60)
        self.refused("INVALID_ARGUMENT", "Invalid offset + byte size", client.infer,
                     out=REGION_BYTES - 60)

    def test_the_sum_of_regions_is_bounded(self):
        wait_until(lambda: self.daemon.metric("mpsd_client_regions") == 0, LIMIT_S,
                   "the end of other tests' regions")
        client = self.client(register=False, byte_size=40 << 20)
        other = self.client("other", register=False, byte_size=40 << 20)
        client.register()
        self.refused("RESOURCE_EXHAUSTED", "all CUDA shared memory regions together may have",
                     other.register)
        client.client.unregister_cuda_shared_memory()
        other.register()

    def test_a_copy_that_the_driver_refuses(self):
        client = self.client("region.fail")
        self.refused("INVALID_ARGUMENT", "could not be copied: error 1 of the driver",
                     client.infer)


class CopierFaults(DeviceCase):
    """Each has a daemon of its own, since the copier's death ends every copy under way."""

    def client(self, daemon, name="region", register=True, **more):
        client = Client(self, daemon.address, name, **more)
        return client.register() if register else client

    def test_one_that_is_killed_harms_nobody_else(self):
        with served() as daemon:
            client = self.client(daemon)
            client.put(rows(1))
            (first,) = copiers(daemon)
            os.kill(first, signal.SIGKILL)
            wait_until(lambda: copiers(daemon) not in ([], [first]), LIMIT_S, "the next copier")
            client.put(rows(2))
            client.infer(out=4096)
            self.assertTrue((client.get((1, 16), 4096) == 2).all())
            self.assertEqual(daemon.metric("mpsd_device_copier_deaths_total"), 1)

    def test_it_dies_in_the_middle_of_an_input(self):
        with served() as daemon:
            good, bad = self.client(daemon), self.client(daemon, "bad.crash")
            self.refused("UNAVAILABLE", "CUDA shared memory cannot be reached", bad.infer)
            good.put(rows(3))
            self.assertTrue((good.infer().as_numpy("OUTPUT0") == 3).all())

    def test_it_dies_in_the_middle_of_an_output(self):
        with served() as daemon:
            good, bad = self.client(daemon), self.client(daemon, "bad.crash")
            output = triton.InferRequestedOutput("OUTPUT0")
            output.set_shared_memory("bad", ROW_BYTES, 0)
            tensor_input = input_of("x", rows(8))
            self.refused("UNAVAILABLE", "CUDA shared memory cannot be reached", bad.client.infer,
                         "m", [tensor_input], outputs=[output])
            good.infer(out=4096)

    def test_one_that_hangs_is_killed_and_others_wait_for_nothing_else(self):
        with served() as daemon:
            hanging = self.client(daemon, "bad.hang")
            thread, outcome = start_infer(hanging)
            # While the copier hangs, calls without such memory are answered.
            with calls.stub(daemon.address) as stub:
                for value in range(20):
                    stub.ModelInfer(calls.request("m", {"x": calls.row_of(value)}),
                                    timeout=LIMIT_S)
            thread.join(LIMIT_S)
            self.assertEqual(outcome, ["StatusCode.UNAVAILABLE"])
            daemon.wait_logged("it does not answer")

    def test_a_call_that_is_cancelled_while_it_waits(self):
        with served() as daemon:
            hanging, good = self.client(daemon, "bad.hang"), self.client(daemon)
            request = service_pb2.ModelInferRequest(model_name="m")
            part = request.inputs.add(name="x", datatype="FP32", shape=[1, 16])
            part.parameters["shared_memory_region"].string_param = "bad"
            part.parameters["shared_memory_byte_size"].int64_param = ROW_BYTES
            call = hanging.client._client_stub.ModelInfer.future(request)
            wait_until(lambda: daemon.metric("mpsd_open_calls") >= 1, LIMIT_S, "the call")
            call.cancel()
            with self.assertRaises(grpc.FutureCancelledError):
                call.result()
            good.infer(out=4096)  # behind it, once the copier was killed
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the call's end")

    def test_a_stream_that_is_cancelled_while_it_waits(self):
        with served() as daemon:
            hanging = self.client(daemon, "bad.hang")
            tensor_input = triton.InferInput("x", [1, 16], "FP32")
            tensor_input.set_shared_memory("bad", ROW_BYTES)
            hanging.client.start_stream(lambda result, error: None)
            hanging.client.async_stream_infer("m", [tensor_input])
            wait_until(lambda: daemon.metric("mpsd_open_calls") >= 1, LIMIT_S, "the stream")
            hanging.client.stop_stream(cancel_requests=True)
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the stream's end")

    def test_the_daemon_ends_while_a_copy_hangs(self):
        with served(limits={"drain_timeout": "1s"}) as daemon:
            hanging = self.client(daemon, "bad.hang")
            thread, outcome = start_infer(hanging)
            wait_until(lambda: daemon.metric("mpsd_open_calls") >= 1, LIMIT_S, "the call")
            (copier,) = copiers(daemon)
            daemon.terminate()
            self.assertEqual(daemon.wait(), 0)
            thread.join(LIMIT_S)
            self.assertEqual(outcome, ["StatusCode.UNAVAILABLE"])
            self.assertFalse(procfs.runs(copier))

    def test_a_daemon_that_is_killed_leaves_no_copier(self):
        with served() as daemon:
            self.client(daemon)
            (copier,) = copiers(daemon)
            daemon.kill()
            wait_until(lambda: not procfs.runs(copier), LIMIT_S, "the end of the copier")

    def test_a_host_without_device(self):
        with served(environment={"FAKE_CUDA_DEVICES": "0"}) as daemon:
            client = self.client(daemon, register=False)
            self.refused("UNIMPLEMENTED", "there is no CUDA device on its host", client.register)
            self.assertNotIn("cuda_shared_memory", client.client.get_server_metadata().extensions)
            self.assertEqual(len(client.client.get_cuda_shared_memory_status().regions), 0)
            self.assertEqual(copiers(daemon), [])

    def test_the_front_end_has_no_driver_in_it(self):
        with served() as daemon:
            self.client(daemon).infer(out=4096)
            try:
                maps = pathlib.Path(f"/proc/{daemon.pid}/maps").read_text()
            except PermissionError:
                self.skipTest("the daemon hides its memory from everybody but root")
            self.assertNotIn("libcuda", maps)

    def test_without_the_key_there_is_no_copier(self):
        with served(limits={"client_cuda_memory": "0B"}) as daemon:
            client = self.client(daemon, register=False)
            self.refused("UNIMPLEMENTED", "CUDA shared memory regions of clients are not enabled",
                         client.register)
            self.assertEqual(copiers(daemon), [])

    def test_without_the_program_it_does_not_start(self):
        with tempfile.TemporaryDirectory(prefix="mpsd-") as folder:
            for program in ("mpsd", "mpsd-worker"):
                shutil.copy(BIN / program, folder)
            daemon = served(binaries=pathlib.Path(folder))
            done = subprocess.run([f"{folder}/mpsd", "serve", "--config", str(daemon.config_file)],
                                  capture_output=True, text=True, timeout=LIMIT_S, check=False)
            daemon.discard()
        self.assertEqual(done.returncode, CONFIG_ERROR, done.stderr)
        self.assertIn(f"{COPIER}, which limits.client_cuda_memory needs", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
