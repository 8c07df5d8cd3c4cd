"""Tensors in memory of a CUDA device, by tritonclient's own utilities; cuda_region_check.sh runs it.

Each step prints one line that begins with ok or FAIL; a figure's line is JSON.
"""

import base64
import json
import os
import pathlib
import signal
import statistics
import sys
import tempfile
import time
import traceback

import numpy as np

from bench_processes import Daemon, children

BIN = pathlib.Path(os.environ["MPSD_CHECK_BIN"])
OUT = pathlib.Path(os.environ["MPSD_CHECK_OUT"])
SANDBOX = os.environ.get("SANDBOX", "basic")  # for the workers and the copier
LIMIT_S = 30
SIZES = (4 << 10, 64 << 10, 1 << 20, 8 << 20, 32 << 20)
REGION_BYTES = 2 * SIZES[-1]
SECONDS_EACH = 0.7
WIDTH = 1024  # the perceptron's
OPTIONS = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1),
           ("grpc.max_send_message_length", -1)]
failures = []


def step(name):
    """A decorator: runs the function at once, and prints whether it succeeded."""
    def run(work):
        begin = time.monotonic()
        try:
            told = work()
            print(f"ok    {name} ({time.monotonic() - begin:.2f} s){': ' + told if told else ''}")
        except Exception:  # pylint: disable=broad-exception-caught
            failures.append(name)
            print(f"FAIL  {name}\n{traceback.format_exc(limit=-3)}")
        return work
    return run


def models(folder):
    """An identity of each size on the host, and a perceptron on the device."""
    import torch
    identities = [{"name": identity(size), "format": "synthetic", "device": "cpu",
                   "max_batch_size": 1, "warmup": "none",
                   "inputs": [{"name": "x", "datatype": "FP32", "shape": [size // 4]}]}
                  for size in SIZES]
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(),
                                 torch.nn.Linear(WIDTH, WIDTH)).eval()
    path = pathlib.Path(folder) / "mlp.pt"
    torch.jit.trace(module, torch.zeros(1, WIDTH)).save(str(path))
    mlp = {"name": "mlp", "path": str(path), "device": "cuda:0", "max_batch_size": 32,
           "warmup": "smallest",
           "inputs": [{"name": "INPUT__0", "datatype": "FP32", "shape": [WIDTH]}],
           "outputs": [{"name": "OUTPUT__0", "datatype": "FP32", "shape": [WIDTH]}]}
    return [*identities, mlp], module


def identity(size):
    """The name of the identity model for `size` bytes."""
    return f"identity_{size}"


class Region:
    """A region of the device's memory, registered on a client's connection."""

    def __init__(self, client, name, byte_size):
        self.client, self.name, self.byte_size = client, name, byte_size
        self.handle = cuda.create_shared_memory_region(name, byte_size, 0)

    def register(self, byte_size=None, raw=None, device=0, name=None):
        self.client.register_cuda_shared_memory(name or self.name,
                                                raw or cuda.get_raw_handle(self.handle), device,
                                                byte_size or self.byte_size)

    def close(self):
        self.client.unregister_cuda_shared_memory(self.name)
        time.sleep(0.2)  # so that the copier closes the region before its owner frees it
        cuda.destroy_shared_memory_region(self.handle)


def infer(client, model, name, shape, region_in, region_out, out_bytes=None):
    """One call whose input and output lie in regions."""
    size = int(np.prod(shape)) * 4
    tensor = triton.InferInput(name, list(shape), "FP32")
    tensor.set_shared_memory(region_in, size)
    output = triton.InferRequestedOutput("OUTPUT__0" if model == "mlp" else "OUTPUT0")
    output.set_shared_memory(region_out, out_bytes or size)
    return client.infer(model, [tensor], outputs=[output], client_timeout=LIMIT_S)


def refused(text, call, *arguments, **more):
    """The server's error for a call that must fail."""
    try:
        call(*arguments, **more)
    except InferenceServerException as error:
        if text not in str(error):
            raise
        return str(error)[:160]
    raise AssertionError(f"it went well, without '{text}'")


def seconds_of(call):
    """The times of calls, one after another."""
    call()
    times, until = [], time.monotonic() + SECONDS_EACH
    while time.monotonic() < until:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return times


def report(way, size, times):
    """Prints bytes a second, both directions together."""
    print(json.dumps({"way": way, "bytes": size, "calls": len(times),
                      "p50_us": round(statistics.median(times) * 1e6, 1),
                      "mb_per_s_in_plus_out": round(2 * size * len(times) / sum(times) / 1e6, 1)}))


def copiers(daemon):
    """The pids of the daemon's copiers."""
    found = []
    for pid in children(daemon.pid):
        try:
            if os.readlink(f"/proc/{pid}/exe").endswith("mpsd-device-copier"):
                found.append(pid)
        except OSError:  # the process has ended
            continue
    return found


def check_bytes(client, source, target):
    """Checks that the output equals the input, at every size."""
    for size in SIZES:
        array = np.random.default_rng(size).random((1, size // 4), np.float32)
        cuda.set_shared_memory_region(source.handle, [array])
        infer(client, identity(size), "x", array.shape, "in", "out")
        found = cuda.get_contents_as_numpy(target.handle, np.float32, array.shape)
        assert found.tobytes() == array.tobytes(), f"{size} bytes differ"
    return f"{len(SIZES)} sizes up to {SIZES[-1] >> 20} MiB"


def check_model(client, module, source, target):
    """Checks a model on the device between two regions."""
    import torch
    rows = torch.rand(32, WIDTH)
    cuda.set_shared_memory_region(source.handle, [rows.numpy()])
    infer(client, "mlp", "INPUT__0", (32, WIDTH), "in", "out")
    found = cuda.get_contents_as_numpy(target.handle, np.float32, (32, WIDTH))
    with torch.inference_mode():
        wanted = module(rows).numpy()
    difference = float(np.abs(found - wanted).max())
    assert difference < 2e-2, difference
    return f"largest difference from the host's {difference:.1e}"


def check_figures(client):
    """Measures calls through regions, and for comparison through messages."""
    for size in SIZES:
        shape = (1, size // 4)
        times = seconds_of(lambda s=shape, n=identity(size): infer(client, n, "x", s, "in",
                                                                         "out"))
        report("cuda regions", size, times)
        if 2 * size >= 64 << 20:
            continue
        tensor = triton.InferInput("x", list(shape), "FP32")
        tensor.set_data_from_numpy(np.zeros(shape, np.float32))
        times = seconds_of(lambda t=tensor, n=identity(size): client.infer(
            n, [t], client_timeout=LIMIT_S))
        report("message", size, times)


def check_death(client, daemon, source, target):
    """Kills the copier; the next request must find the regions again."""
    (first,) = copiers(daemon)
    os.kill(first, signal.SIGKILL)
    begin = time.monotonic()
    while copiers(daemon) in ([], [first]):
        assert time.monotonic() < begin + LIMIT_S, "no other copier came"
        time.sleep(0.01)
    array = np.full((1, 1024), 7, np.float32)
    cuda.set_shared_memory_region(source.handle, [array])
    infer(client, identity(array.nbytes), "x", array.shape, "in", "out")
    found = cuda.get_contents_as_numpy(target.handle, np.float32, array.shape)
    assert found.tobytes() == array.tobytes()
    return f"answered {time.monotonic() - begin:.2f} s after the kill"


def check(daemon, module):
    """Runs all steps, on one connection."""
    client = triton.InferenceServerClient(daemon.grpc, channel_args=OPTIONS)
    source, target = Region(client, "in", REGION_BYTES), Region(client, "out", REGION_BYTES)

    @step("register two regions of device memory")
    def _():
        source.register()
        target.register()
        found = client.get_cuda_shared_memory_status().regions
        assert sorted(found) == ["in", "out"] and found["in"].byte_size == REGION_BYTES
        assert "cuda_shared_memory" in client.get_server_metadata().extensions

    step("bytes in are bytes out")(lambda: check_bytes(client, source, target))
    step("a model on the device")(lambda: check_model(client, module, source, target))
    step("figures")(lambda: check_figures(client))
    step("the copier is killed")(lambda: check_death(client, daemon, source, target))

    other = Region(client, "other", 1 << 20)
    step("a size that is a lie")(lambda: refused(
        "smaller than byte size says", other.register, byte_size=1 << 30))
    step("bytes that are no handle")(lambda: refused(
        "failed to open CUDA IPC handle", other.register, raw=base64.b64encode(bytes(64))))
    step("a device that is not there")(lambda: refused(
        "there is no such device", other.register, device=99))
    step("the same memory twice")(lambda: refused(
        "overlaps", source.register, name="again"))

    @step("unregister and free")
    def _():
        source.close()
        target.close()
        refused("Unable to find shared memory region", infer, client, identity(SIZES[0]), "x",
                (1, SIZES[0] // 4), "in", "out")

    @step("a connection that goes takes its regions along")
    def _():
        other.register()
        client.close()
        until = time.monotonic() + LIMIT_S
        while "mpsd_client_regions 0" not in daemon.metrics():
            assert time.monotonic() < until, "they are still there"
            time.sleep(0.05)


def main():
    """Runs everything; returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="mpsd-regions-") as folder:
        stanzas, module = models(folder)
        os.environ["LD_LIBRARY_PATH"] = os.environ["MPSD_CHECK_LIBRARIES"]
        try:
            daemon = Daemon(str(BIN), folder, stanzas, patience_s=60,
                            limits={"client_cuda_memory": "1GiB"}, sandbox=SANDBOX)
        finally:
            del os.environ["LD_LIBRARY_PATH"]
        try:
            with daemon:
                check(daemon, module)
            code = daemon.popen.returncode
            step("the daemon ends with 0")(lambda: None if code == 0 else 1 / 0)
        finally:
            log = pathlib.Path(folder) / "mpsd.log"
            (OUT / "regions-daemon.log").write_bytes(log.read_bytes())
            if failures:
                print(f"the daemon's log:\n{log.read_text()[-4000:]}")
    print("ALL WELL" if not failures else f"FAILED: {', '.join(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        import tritonclient.grpc as triton
        import tritonclient.utils.cuda_shared_memory as cuda
        from tritonclient.utils import InferenceServerException
    except (ImportError, RuntimeError) as error:
        print(f"FAILED: this Python has no tritonclient with gRPC and CUDA: {error}\n"
              "(cuda_bundle.sh carries it with CLIENT_PYTHON=3.12, or whatever this one is)")
        sys.exit(2)
    sys.exit(main())
