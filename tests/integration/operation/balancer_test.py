"""What balancers do to a host beside calls: probe it often, keep connections, half-close them."""
import contextlib
import functools
import http.client
import itertools
import resource
import socket
import time
import unittest

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

import calls
import procfs
from daemon import Daemon, wait_until
from models import synthetic
from threads import Threads

LIMIT_S = 60
IDLE = 5000
PROBES = 3000
GET = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Probes(Threads):
    """Threads that ask whether the host is ready, by kept connections and by new ones, and by gRPC,
    until the `with` statement ends."""

    def __init__(self, daemon, threads=2):
        self._daemon = daemon
        self._made = itertools.count()
        self.made, self.wrong = 0, []
        kinds = (self._keep, self._connect, self._call)
        super().__init__(*(functools.partial(self._run, kind) for kind in kinds for _ in range(threads)))

    def _run(self, kind):
        answers = kind()
        try:
            for answer in answers:
                self.made = next(self._made)
                if answer not in (200, health_pb2.HealthCheckResponse.SERVING):
                    self.wrong.append(answer)
                if self.over.is_set():
                    return
        except (OSError, http.client.HTTPException, grpc.RpcError) as fault:
            self.wrong.append(fault)
        finally:
            answers.close()

    def _asked(self, connection):
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def _connection(self):
        return contextlib.closing(http.client.HTTPConnection(self._daemon.http, timeout=LIMIT_S))

    def _keep(self):
        with self._connection() as connection:
            while True:
                yield self._asked(connection)

    def _connect(self):
        while True:
            with self._connection() as connection:
                answer = self._asked(connection)
            yield answer

    def _call(self):
        with grpc.insecure_channel(self._daemon.address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            while True:
                yield stub.Check(health_pb2.HealthCheckRequest(), timeout=LIMIT_S).status


class Balancer(unittest.TestCase):
    def check_served(self, daemon):
        with calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, calls.request("m", {"x": calls.row_of(1)}))
            self.assertEqual(outcome.code, calls.OK, outcome)

    def test_probes_without_a_pause_disturb_no_call(self):
        with Daemon([synthetic("m")]) as daemon:
            with calls.Load(daemon.address, "m") as load, Probes(daemon) as probes:
                began = time.monotonic()
                wait_until(lambda: probes.made > PROBES and load.answered() > 100, LIMIT_S, "probes")
                print(f"{probes.made / (time.monotonic() - began):.0f} probes a second beside {load.answered()} calls")
            self.assertEqual(probes.wrong, [])
            self.assertEqual({outcome.code for outcome in load.outcomes}, {calls.OK})

    def test_a_host_whose_models_are_all_reloaded_stays_ready(self):
        def models(turn):
            return [synthetic(name, parameters={"load_delay": f"{100 + turn % 2}ms"}) for name in "mno"]
        with Daemon(models(0)) as daemon:
            with Probes(daemon, threads=1) as probes:
                for turn in range(1, 6):
                    daemon.write_config(models(turn))
                    report = daemon.reload()
                    self.assertEqual(report["text"], "3 replaced, 0 added, 0 removed, 0 kept")
                    before = probes.made
                    wait_until(lambda before=before: probes.made > before + 20, LIMIT_S, "probes")
            self.assertEqual(probes.wrong, [])
            wait_until(lambda: len(daemon.workers()) == 3, LIMIT_S, "the end of the old workers")

    def test_many_idle_connections_of_one_balancer(self):
        """They have had a request each. One host gets half of a limit."""
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard < 4 * IDLE:
            self.skipTest(f"only {hard} descriptors")
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (4 * IDLE, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        with Daemon([synthetic("m")], limits={"http_connections": 2 * IDLE + 1000}) as daemon:
            host, port = daemon.http.rsplit(":", 1)
            fresh = procfs.own_bytes(daemon.pid)
            kept = []
            for _ in range(IDLE):
                one = socket.create_connection((host, int(port)), timeout=LIMIT_S)
                self.addCleanup(one.close)
                one.sendall(GET)
                self.assertIn(b" 200 ", one.recv(4096))
                kept.append(one)
            self.assertGreaterEqual(daemon.metric("mpsd_http_connections"), IDLE)
            self.check_served(daemon)
            each = (procfs.own_bytes(daemon.pid) - fresh) / IDLE
            print(f"{IDLE} idle connections take {each / 1024:.1f} KiB each")
            self.assertLess(each, 64 << 10)
            kept[0].sendall(GET)
            self.assertIn(b" 200 ", kept[0].recv(4096), "the first one lives")
            for one in kept:
                one.close()
            wait_until(lambda: daemon.metric("mpsd_http_connections") <= 1, LIMIT_S, "their end")

    def test_who_half_closes_a_connection_has_left(self):
        """Over HTTP/1.1 its request is cancelled; nothing is left of it."""
        body = b'{"inputs": [{"name": "x", "shape": [1, 16], "datatype": "FP32", "data": %s}]}' % (
            str([0] * 16).encode())
        infer = b"POST /v2/models/slow/infer HTTP/1.1\r\nHost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
        with Daemon([synthetic("m"), synthetic("slow", parameters={"delay": "200ms"})]) as daemon:
            for address, asked in ((daemon.http, infer + body), (daemon.http, GET), (daemon.http, b""),
                                   (daemon.address, b"")):
                host, port = address.rsplit(":", 1)
                for _ in range(50):
                    with socket.create_connection((host, int(port)), timeout=LIMIT_S) as one:
                        one.sendall(asked)
                        one.shutdown(socket.SHUT_WR)
                        while one.recv(4096):
                            pass
            self.check_served(daemon)
            wait_until(lambda: daemon.metric("mpsd_connections") == 0, LIMIT_S, "no connection")
            wait_until(lambda: daemon.metric("mpsd_requests_total", code="CANCELLED") > 0, LIMIT_S, "a cancelled request")


if __name__ == "__main__":
    unittest.main(verbosity=2)
