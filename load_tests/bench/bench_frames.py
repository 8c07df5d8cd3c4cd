"""Calls of gRPC by h2load, for bench.py.

gRPC's own client costs more than the server it asks, so that it hides a quick one. h2load writes the
same frames for less. It looks at HTTP's status alone; the daemon's metrics say how calls ended.
"""
import re
import shutil
import struct
import subprocess

from bench_figures import metric
from bench_processes import cpu_seconds

NAMES = ("frames_echo_c64", "frames_null_c64", "frames_refused_c64")
PATH = "/inference.GRPCInferenceService/ModelInfer"
STREAMS = 64
FLOATS = (("INPUT0", "FP32", 256, bytes(1024)),)  # names, datatypes, elements of a row, bytes


def field(number, value):
    """A field of a message, shorter than 16 KiB."""
    return bytes([number << 3 | 2, len(value) & 0x7f | 0x80, len(value) >> 7]) + value


def request(model, inputs=FLOATS):
    """A ModelInferRequest with one row, as a message of gRPC."""
    message = field(1, model.encode())
    for name, datatype, count, _ in inputs:
        shape = bytes([1, count & 0x7f | 0x80, count >> 7])
        message += field(5, field(1, name.encode()) + field(2, datatype.encode()) + field(3, shape))
    message += b"".join(field(7, raw) for *_, raw in inputs)
    return b"\0" + struct.pack(">I", len(message)) + message


def h2load(address, body, seconds, calls=STREAMS, connections=1, threads=1):
    """The command of a client that asks with this file again and again, `calls` at a time."""
    return [str(each) for each in (
        "h2load", "-t", threads, "-c", connections, "-m", calls // connections, "-D", seconds,
        "-d", body, "-H", "content-type: application/grpc", "-H", "te: trailers",
        f"http://{address}{PATH}")]


def missing(names):
    """Measurements that are impossible here: {name: why}."""
    lacking = shutil.which("h2load") is None
    return {name: "h2load is not installed" for name in names if lacking and name in NAMES}


class FrameLoads:
    """The measurements. Needs these members of Bench: arguments, folder, daemon, echo, failed."""

    def h2load(self, address, pid, model):
        """64 calls at a time on one connection; returns a report like Bench.load()'s."""
        path = f"{self.folder}/h2load.body"
        with open(path, "wb") as file:
            file.write(request(model))
        seconds = max(1, round(self.arguments.seconds))
        command = h2load(address, path, seconds)
        before = cpu_seconds(pid)
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60,
                              stdin=subprocess.DEVNULL, check=True,
                              preexec_fn=self.pin_client if self.arguments.pin else None)
        used = cpu_seconds(pid) - before
        count = int(re.search(r"(\d+) succeeded", done.stdout)[1])
        if count == 0:
            self.failed.append({"command": command, "wrong": 0, "errors": {"none succeeded": 1}})
        return {"throughput": count / seconds, "answered": count,
                "cpu_us": {"server": used * 1e6 / max(count, 1)}}

    def load_frames(self, model, counter):
        """Loads the daemon, whose `counter` must have counted every call."""
        before = metric(self.daemon.metrics(), *counter)
        report = self.h2load(self.daemon.grpc, self.daemon.pid, model)
        counted = metric(self.daemon.metrics(), *counter) - before
        if counted < report["answered"]:
            self.failed.append({"command": ["h2load"], "wrong": report["answered"] - counted,
                                "errors": {}})
        return report

    def frames_echo_c64(self):
        return self.h2load(self.echo.address, self.echo.pid, "identity")

    def frames_null_c64(self):
        return self.load_frames("identity", ("mpsd_batch_rows_sum", "identity"))

    def frames_refused_c64(self):
        """Calls to a model that is not there."""
        return self.load_frames("missing", ("mpsd_refused_requests_total", None))
