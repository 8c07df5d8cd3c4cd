"""Health, readiness and /readyz tell the truth, and soon."""
import contextlib
import json
import os
import queue
import signal
import threading
import unittest

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
SERVICE = "inference.GRPCInferenceService"
LIMIT_S = 30


class Watched:
    """The answers of one Watch, as they come."""

    def __init__(self, stub, name):
        self._call = stub.Watch(health_pb2.HealthCheckRequest(service=name), timeout=60)
        self._answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with contextlib.suppress(grpc.RpcError):
            for answer in self._call:
                self._answers.put(answer.status)
        self._answers.put(None)

    def next(self, limit_s=LIMIT_S):
        return self._answers.get(timeout=limit_s)

    def cancel(self):
        self._call.cancel()


class Health(unittest.TestCase):
    def serve(self, models, **more):
        daemon = self.enterContext(Daemon(models, **more))
        channel = self.enterContext(grpc.insecure_channel(daemon.address))
        return (daemon, health_pb2_grpc.HealthStub(channel),
                calls.service_pb2_grpc.GRPCInferenceServiceStub(channel))

    def check(self, health, name):
        return health.Check(health_pb2.HealthCheckRequest(service=name), timeout=10).status

    def test_all_is_well(self):
        daemon, health, infer = self.serve([synthetic("a"), synthetic("b")])
        for name in ("", SERVICE, "a", "b"):
            self.assertEqual(self.check(health, name), SERVING, name)
        self.assertTrue(infer.ServerReady(calls.service_pb2.ServerReadyRequest()).ready)
        for path in ("/readyz", "/livez", "/v2/health/ready", "/v2/health/live"):
            self.assertEqual(daemon.get(path)[0], 200, path)
        # In the form that KServe's client reads.
        self.assertIs(json.loads(daemon.get("/v2/health/live")[1])["live"], True)
        self.assertIs(json.loads(daemon.get("/v2/health/ready")[1])["ready"], True)
        self.assertEqual(daemon.get("/nothing")[0], 404)

    def test_unknown_name(self):
        _, health, _ = self.serve([synthetic("a")])
        with self.assertRaises(grpc.RpcError) as raised:
            self.check(health, "nobody")
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)
        watched = Watched(health, "nobody")
        self.assertEqual(watched.next(), SERVICE_UNKNOWN)
        watched.cancel()

    def test_a_model_that_never_loads(self):
        daemon, health, infer = self.serve(
            [synthetic("a"), synthetic("broken", parameters={"crash_at_load": True})])
        for name, status in (("", NOT_SERVING), (SERVICE, NOT_SERVING), ("a", SERVING),
                             ("broken", NOT_SERVING)):
            self.assertEqual(self.check(health, name), status, name)
        self.assertFalse(infer.ServerReady(calls.service_pb2.ServerReadyRequest()).ready)
        self.assertTrue(infer.ServerLive(calls.service_pb2.ServerLiveRequest()).live)
        for name, ready in (("a", True), ("broken", False)):
            answer = infer.ModelReady(calls.service_pb2.ModelReadyRequest(name=name))
            self.assertEqual(answer.ready, ready, name)
        status, text = daemon.get("/readyz")
        self.assertEqual(status, 503)
        self.assertIn("broken", text)
        self.assertEqual(daemon.get("/livez")[0], 200)

    def test_the_only_worker_dies(self):
        """Soon everybody knows; when the next one serves, everybody knows that too."""
        daemon, health, infer = self.serve(
            [synthetic("a", parameters={"load_delay": "2500ms"}), synthetic("b")])
        watched = {name: Watched(health, name) for name in ("", "a", "b")}
        for name, watch in watched.items():
            self.assertEqual(watch.next(), SERVING, name)

        def next_pid():
            pid = daemon.ps()["a"]["workers"][0]["pid"]
            return pid if pid != first else None
        first = daemon.ps()["a"]["workers"][0]["pid"]
        os.kill(first, signal.SIGKILL)
        successor = wait_until(next_pid, LIMIT_S, "the next one")
        os.kill(successor, signal.SIGSTOP)  # the successor serves after all of this was checked
        self.assertEqual(watched["a"].next(), NOT_SERVING)
        self.assertEqual(watched[""].next(), NOT_SERVING)
        self.assertEqual(self.check(health, "a"), NOT_SERVING)
        self.assertEqual(self.check(health, "b"), SERVING)
        self.assertFalse(infer.ServerReady(calls.service_pb2.ServerReadyRequest()).ready)
        self.assertEqual(daemon.get("/readyz")[0], 503)
        os.kill(successor, signal.SIGCONT)
        self.assertEqual(watched["a"].next(), SERVING)
        self.assertEqual(watched[""].next(), SERVING)
        self.assertEqual(daemon.get("/readyz")[0], 200)
        with self.assertRaises(queue.Empty):
            watched["b"].next(0.01)
        for watch in watched.values():
            watch.cancel()

    def test_one_of_two_workers_dies(self):
        """The model still serves, and nobody says otherwise."""
        daemon, health, _ = self.serve([synthetic("a", placement=placement(processes=2),
                                                  parameters={"load_delay": "500ms"})])
        daemon.wait_all_serving()
        watch = Watched(health, "a")
        self.assertEqual(watch.next(), SERVING)
        os.kill(daemon.ps()["a"]["workers"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: daemon.metric("mpsd_worker_restarts_total") == 1, LIMIT_S, "the death")
        daemon.wait_all_serving()
        with self.assertRaises(queue.Empty):
            watch.next(0.3)
        watch.cancel()

    def test_starting(self):
        """A model that still loads is not ready; one that has loaded is served beside it."""
        daemon = Daemon([synthetic("slow", parameters={"load_delay": "60s"}), synthetic("fast")],
                        listen=["unix:mpsd.sock"])
        self.addCleanup(daemon.discard)
        daemon.launch()
        stub = self.enterContext(calls.stub(f"unix:{daemon.folder}/mpsd.sock"))
        def infer(model):
            return calls.infer(stub, calls.request(model, {"x": calls.row_of(1)}))
        wait_until(lambda: infer("fast").code == calls.OK, LIMIT_S, "the first answer")
        slow = infer("slow")
        self.assertEqual((slow.code, slow.text),
                         (grpc.StatusCode.UNAVAILABLE,
                          "Request for model 'slow' is not at ready state"))
        self.assertFalse(stub.ServerReady(calls.service_pb2.ServerReadyRequest()).ready)
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)

    def test_stopping(self):
        """Not ready at once, and alive to the end."""
        daemon, health, _ = self.serve([synthetic("a")], limits={"lame_duck": "3s"})
        watch = Watched(health, "a")
        self.assertEqual(watch.next(), SERVING)
        daemon.terminate()
        self.assertEqual(watch.next(), NOT_SERVING)
        self.assertEqual(self.check(health, ""), NOT_SERVING)
        status, text = daemon.get("/readyz")
        self.assertEqual(status, 503)
        self.assertIn("stopping", text)
        self.assertEqual(daemon.get("/livez")[0], 200)
        self.assertEqual(daemon.wait(), 0)

    def test_many_watchers_come_and_go(self):
        daemon, health, _ = self.serve([synthetic("a")])
        for _ in range(5):
            watches = [Watched(health, "a") for _ in range(20)]
            for watch in watches:
                self.assertEqual(watch.next(), SERVING)
            for watch in watches:
                watch.cancel()
        wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the end of all watches")


if __name__ == "__main__":
    unittest.main(verbosity=2)
