"""The loads over HTTP: bodies of requests, wrk as their client, and the echo beside the daemon.

HttpLoads is a part of bench.py's Bench, and has one method for each measurement.
"""

import http.client
import json
import os
import random
import resource
import shutil
import socket
import struct
import subprocess
import time
from dataclasses import dataclass, field

from bench_processes import Daemon, HttpEcho, cpu_seconds, resident_mb, run_json

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = "Inference-Header-Content-Length"
VECTOR = 384  # floats
IDLE = 10000
ACTIVE = 2000
# All come from one host, which gets half of each listener's; the active ones are at the first.
LISTENERS = 2
OPEN = 2 * (IDLE // LISTENERS + ACTIVE) * 16 // 15 + 200  # a listener gets 15 of 16
DESCRIPTORS = OPEN + 2000
IDLE_S = 5
ASK = b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
# The preface, settings that change nothing, and the same question as stream 1.
ASK_2 = (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" b"\0\0\0\4\0\0\0\0\0"
         b"\0\0\x1e\1\5\0\0\0\1" b"\x82\x86\4\x0f/v2/health/live\x41\x09localhost")
# How a good answer to each begins; HTTP/2's frames of settings come before.
ANSWERS = {ASK: b"HTTP/1.1 200 ", ASK_2: b"\0\0\0\1\x88"}
NEED_WRK = ("http_null_c1", "http_null_echo_c64", "http_null_c64", "http_json_echo_c64",
            "http_json_c64", "http_vector_echo_c64", "http_vector_c64", "http_idle")


def missing(names):
    """Measurements over HTTP that are impossible here: {name: why}."""
    lacks = {}
    if shutil.which("wrk") is None:
        lacks.update({name: "wrk is not installed" for name in NEED_WRK})
    for name in ("http_idle", "http2_idle"):
        if not os.path.isdir("/proc/self"):
            lacks[name] = "there is no /proc"
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < DESCRIPTORS:
            lacks[name] = f"the hard limit of open files is below {DESCRIPTORS}"
    return {name: why for name, why in lacks.items() if name in names}


@dataclass
class HttpRequest:
    """An inference as an HTTP request."""

    path: str
    body: bytes
    headers: dict = field(default_factory=dict)

    def ask(self, address):
        """Sends the request once; returns the answer's body. Any status but 200 is an error."""
        connection = http.client.HTTPConnection(address, timeout=10)
        try:
            connection.request("POST", self.path, self.body, self.headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{self.path}: {answer.status} {body[:200]}")
        return body


def floats(count):
    """`count` numbers like an embedding's, as bytes of FP32."""
    draw = random.Random(1)
    return struct.pack(f"<{count}f", *(draw.gauss(0, 0.05) for _ in range(count)))


def infer_path(model):
    """The protocol's path for a model's inferences."""
    return f"/v2/models/{model}/infer"


def tensor_head(count):
    """The protocol's JSON for a tensor of `count` floats."""
    return {"name": "INPUT0", "shape": [1, count], "datatype": "FP32"}


def binary_request(model, tensor, content, binary_answer):
    """A binary tensor after a head of JSON, as the protocol's clients send it."""
    head = {"inputs": [tensor | {"parameters": {"binary_data_size": len(content)}}],
            "parameters": {"binary_data_output": binary_answer}}
    text = json.dumps(head, separators=(",", ":")).encode()
    return HttpRequest(infer_path(model), text + content, {HEADER: str(len(text)),
                                               "Content-Type": "application/octet-stream"})


def shortest(value):
    """The shortest decimal number that FP32 reads as this value."""
    return next(number for number in (float(f"{value:.{digits}g}") for digits in range(1, 10))
                if struct.unpack("<f", struct.pack("<f", number))[0] == value)


def numbers(count):
    """The numbers of floats() as JSON has them."""
    return [shortest(value) for value in struct.unpack(f"<{count}f", floats(count))]


def json_request(model, tensor):
    """A tensor whose numbers are its "data"."""
    return HttpRequest(infer_path(model),
                       json.dumps({"inputs": [tensor]}, separators=(",", ":")).encode(),
                       {"Content-Type": "application/json"})


NULL = binary_request("identity", tensor_head(256), floats(256), True)
JSON = json_request("vector", tensor_head(VECTOR) | {"data": numbers(VECTOR)})
VECTOR_OUT = binary_request("vector", tensor_head(VECTOR), floats(VECTOR), False)


def right_answer(request, address):
    """The answer to the request; it must have the numbers that were sent."""
    answer = request.ask(address)
    if request is NULL:
        right = answer.endswith(floats(256))
    else:
        data = json.loads(answer)["outputs"][0]["data"]
        right = struct.pack(f"<{VECTOR}f", *data) == floats(VECTOR)
    if not right:
        raise RuntimeError(f"{request.path} over HTTP: a wrong answer")
    return answer


def http_threads(pid):
    """How many HTTP threads a daemon has; 1 if unknown."""
    count = 0
    for task in os.listdir(f"/proc/{pid}/task") if os.path.isdir("/proc/self") else []:
        with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as file:
            count += file.read().startswith("http-")
    return max(count, 1)


def wrk_command(address, request, body, seconds, connections, threads=1):
    """The command of a client that sends the request, whose body is in the file, again and again."""
    return ["wrk", "--threads", str(threads), "--connections", str(connections), "--duration",
            f"{seconds}s", "--script", f"{HERE}/wrk_post.lua", f"http://{address}{request.path}",
            "--", str(body), *(f"{name}: {value}" for name, value in request.headers.items())]


def is_open(connection):
    """Whether the server has not closed it."""
    connection.setblocking(False)
    try:
        while connection.recv(4096):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


class IdleConnections:
    """Connections that get one answer each, and then stay silent. Used in a `with` block."""

    def __init__(self, addresses, count, ask):
        self.addresses = [address.split(":") for address in addresses]
        self.ask = ask
        self.count = count
        self.sockets = []

    def __enter__(self):
        for i in range(self.count):
            host, port = self.addresses[i % len(self.addresses)]
            connection = socket.create_connection((host, int(port)), timeout=10)
            self.sockets.append(connection)
            connection.sendall(self.ask)
            answer = b""
            while ANSWERS[self.ask] not in answer:
                piece = connection.recv(4096)
                if not piece:
                    raise RuntimeError(f"a connection got {answer[:100]}")
                answer += piece
        return self

    def __exit__(self, *_):
        for connection in self.sockets:
            connection.close()

    def still_open(self):
        """How many connections the server has not closed."""
        return sum(map(is_open, self.sockets))


def allow_descriptors(count):
    """Lets this process and its children open `count` files, within the system's bound."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))


class HttpLoads:
    """The measurements over HTTP. Needs these members of Bench: arguments, folder, daemon,
    failed."""

    def wrk(self, address, request, concurrency, pid):
        """Loads one server in a closed loop; returns a report like Bench.load()'s."""
        path = f"{self.folder}/wrk.body"
        with open(path, "wb") as file:
            file.write(request.body)
        seconds = max(1, round(self.arguments.seconds))
        command = wrk_command(address, request, path, seconds, concurrency)
        before = cpu_seconds(pid)
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60,
                              stdin=subprocess.DEVNULL, check=True,
                              preexec_fn=self.pin_client if self.arguments.pin else None)
        used = cpu_seconds(pid) - before
        report = json.loads(done.stdout.splitlines()[-1])
        if report["refused"] or report["broken"] or not report["answered"]:
            self.failed.append({"command": command, "wrong": 0,
                                "errors": {key: report[key] for key in ("refused", "broken")}})
        report["throughput"] = report["answered"] / report["seconds"]
        report["cpu_us"] = {"server": used * 1e6 / max(report["answered"], 1)}
        return report

    def pin_client(self):
        """Pins the client; runs in its process before it begins."""
        os.sched_setaffinity(0, self.arguments.pin[0])

    def load_http(self, request, concurrency):
        """Loads the daemon."""
        right_answer(request, self.daemon.http)
        return self.wrk(self.daemon.http, request, concurrency, self.daemon.pid)

    def load_http_echo(self, request, concurrency):
        """Loads an echo that gives the daemon's answer, with as many threads as the daemon has."""
        path = f"{self.folder}/http_echo.answer"
        with open(path, "wb") as file:
            file.write(right_answer(request, self.daemon.http))
        with HttpEcho(self.arguments.binaries, self.folder, path,
                      http_threads(self.daemon.pid), self.arguments.pin) as echo:
            return self.wrk(echo.address, request, concurrency, echo.pid)

    def http_null_c1(self):
        return self.load_http(NULL, 1)

    def http_null_echo_c64(self):
        return self.load_http_echo(NULL, 64)

    def http_null_c64(self):
        return self.load_http(NULL, 64)

    def http_json_echo_c64(self):
        return self.load_http_echo(JSON, 64)

    def http_json_c64(self):
        return self.load_http(JSON, 64)

    def http_vector_echo_c64(self):
        return self.load_http_echo(VECTOR_OUT, 64)

    def http_vector_c64(self):
        return self.load_http(VECTOR_OUT, 64)

    def silent(self, ask, is_loaded):
        """A front end with ten thousand silent connections; then, if loaded, with two thousand more
        that all ask at once."""
        allow_descriptors(DESCRIPTORS)
        models = [{**self.models["identity"], "queue": {"requests": 2 * ACTIVE}}]
        with Daemon(self.arguments.binaries, self.folder, models, name="idle",
                    http_listeners=LISTENERS,
                    limits={"http_connections": OPEN}) as daemon:
            before_mb = resident_mb(daemon.pid)
            with IdleConnections(daemon.all_http, IDLE, ask) as idle:
                time.sleep(1)
                begin_s = cpu_seconds(daemon.pid)
                time.sleep(IDLE_S)
                used = (cpu_seconds(daemon.pid) - begin_s) / IDLE_S
                report = {"resident_mb": resident_mb(daemon.pid), "before_mb": before_mb,
                          "cores": used}
                if is_loaded:
                    report["active"] = self.wrk(daemon.http, NULL, ACTIVE, daemon.pid)
                report["open"] = idle.still_open()
        return report

    def http_idle(self):
        return self.silent(ASK, True)

    def http2_idle(self):
        return self.silent(ASK_2, False)
