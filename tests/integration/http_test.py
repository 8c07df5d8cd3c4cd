"""Inference over HTTP: the same house by another door, with requests written by hand."""
import gzip
import http.client
import json
import select
import socket
import unittest
import zlib

import numpy as np

import calls
import web
from daemon import Daemon, wait_until
from models import repeating, synthetic, tensor

JSON = {"Content-Type": "application/json"}
LENGTH = "Inference-Header-Content-Length"


def body_of(values, rows=1, **more):
    return json.dumps({"inputs": [{"name": "x", "shape": [rows, 16], "datatype": "FP32",
                                   "data": values}], **more})


def post_of(path, body):
    """The bytes of a request."""
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            f"{body}").encode()


class Http(unittest.TestCase):
    def serve(self, *models, **more):
        daemon = self.enterContext(Daemon(list(models) or [synthetic("m")], **more))
        self.address = daemon.http
        return daemon

    def ask(self, method, path, body=None, headers=None, address=None):
        """(status, headers, body) of one request on a connection of its own."""
        return web.ask(address or self.address, method, path, body, headers)

    def infer(self, body, path="/v2/models/m/infer", **headers):
        status, _, answer = self.ask("POST", path, body, {**JSON, **headers})
        return status, json.loads(answer)

    def refused(self, code, text, *arguments, **more):
        status, answer = self.infer(*arguments, **more)
        self.assertEqual(status, code, answer)
        self.assertEqual(list(answer), ["error"])
        self.assertIn(text, answer["error"])

    def connect(self):
        host, port = self.address.split(":")
        return socket.create_connection((host, int(port)), timeout=30)

    def raw(self, sent):
        """All that comes for these bytes until the server ends the connection."""
        with self.connect() as client:
            client.sendall(sent)
            received = b""
            while piece := client.recv(65536):
                received += piece
            return received

    def test_json_in_and_out(self):
        self.serve()
        status, answer = self.infer(body_of(list(range(16)), id="seven"))
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["model_name"], "m")
        self.assertEqual(answer["model_version"], "1")
        self.assertEqual(answer["id"], "seven")
        self.assertEqual(answer["outputs"], [{"name": "OUTPUT0", "datatype": "FP32",
                                              "shape": [1, 16],
                                              "data": [float(i) for i in range(16)]}])

    def test_binary_in_and_out(self):
        self.serve()
        values = np.arange(32, dtype=np.float32).reshape(2, 16)
        head = json.dumps({"inputs": [{"name": "x", "shape": [2, 16], "datatype": "FP32",
                                       "parameters": {"binary_data_size": 128}}],
                           "parameters": {"binary_data_output": True}}).encode()
        status, headers, answer = self.ask("POST", "/v2/models/m/versions/1/infer",
                                           head + values.tobytes(), {LENGTH: str(len(head))})
        self.assertEqual(status, 200, answer)
        length = int(headers[LENGTH])
        self.assertEqual(json.loads(answer[:length])["outputs"][0]["parameters"],
                         {"binary_data_size": 128})
        self.assertEqual(answer[length:], values.tobytes())

    def test_compressed_bodies(self):
        self.serve()
        body = body_of(list(range(16))).encode()
        for coding, packed in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
            status, answer = self.infer(packed, **{"Content-Encoding": coding})
            self.assertEqual(status, 200, answer)
            self.assertEqual(answer["outputs"][0]["data"], [float(i) for i in range(16)])
        bomb = gzip.compress(bytes(100 << 20))
        self.refused(413, "larger than max", bomb, **{"Content-Encoding": "gzip"})
        self.refused(400, "cannot be inflated as gzip", body, **{"Content-Encoding": "gzip"})
        self.refused(415, "must be gzip or deflate", body, **{"Content-Encoding": "br"})
        self.assertEqual(self.infer(body)[0], 200)

    def test_generate(self):
        self.serve(synthetic("m"), repeating("many"))
        values = [float(i) for i in range(16)]
        status, answer = self.infer(json.dumps({"x": values, "id": "7"}),
                                    path="/v2/models/m/generate")
        self.assertEqual((status, answer), (200, {"model_name": "m", "model_version": "1",
                                                  "id": "7", "OUTPUT0": values}))
        self.refused(400, "proper shape", json.dumps({"x": [1, 2]}), path="/v2/models/m/generate")
        self.refused(404, "unknown model: 'x'", "{}", path="/v2/models/x/generate")
        one = json.dumps({"IN": [5], "DELAY": [0], "WAIT": 0})
        status, answer = self.infer(one, path="/v2/models/many/generate")
        self.assertEqual((status, answer["OUT"]), (200, 5))
        two = json.dumps({"IN": [5, 6], "DELAY": [0, 0], "WAIT": 0})
        self.refused(400, "exactly 1 response", two, path="/v2/models/many/generate")

    def events(self, path, body):
        status, headers, answer = self.ask("POST", path, json.dumps(body))
        self.assertEqual(status, 200, answer)
        self.assertTrue(headers["Content-Type"].startswith("text/event-stream"))
        events = answer.decode().split("\n\n")
        self.assertEqual(events.pop(), "")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def test_a_stream_has_an_event_for_each_answer(self):
        self.serve(synthetic("m"), repeating("many", {"throw_if": 78}))
        stream = "/v2/models/many/generate_stream"
        for elements in ([], [1], list(range(100, 600))):
            got = self.events(stream, {"IN": elements, "DELAY": [0] * len(elements), "WAIT": 0})
            self.assertEqual([event["OUT"] for event in got], elements)
        got = self.events(stream, {"IN": [1, 78], "DELAY": [0, 0], "WAIT": 0})
        self.assertEqual(got[0]["OUT"], 1)
        self.assertEqual(list(got[1]), ["error"])
        self.assertEqual(len(self.events("/v2/models/m/generate_stream", {"x": [1] * 16})), 1)

    def test_a_client_that_leaves_a_stream_ends_it(self):
        daemon = self.serve(repeating("many"))
        body = json.dumps({"IN": [1] * 1000, "DELAY": [100] * 1000, "WAIT": 0})
        with self.connect() as client:
            client.sendall(post_of("/v2/models/many/generate_stream", body))
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 OK"))
        wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 30, "its end")

    def test_a_large_tensor(self):
        self.serve(synthetic("m", [tensor("x", [1 << 20])], max_batch_size=2))
        values = np.random.default_rng(1).random(1 << 20, dtype=np.float32)
        head = json.dumps({"inputs": [{"name": "x", "shape": [1, 1 << 20], "datatype": "FP32",
                                       "parameters": {"binary_data_size": 4 << 20}}],
                           "parameters": {"binary_data_output": True}}).encode()
        status, headers, answer = self.ask("POST", "/v2/models/m/infer", head + values.tobytes(),
                                           {LENGTH: str(len(head))})
        self.assertEqual(status, 200, answer[:300])
        self.assertEqual(answer[int(headers[LENGTH]):], values.tobytes())

    def test_errors_have_the_texts_and_codes_of_the_protocol(self):
        self.serve()
        self.refused(404, "Request for unknown model: 'x' is not found", body_of([0] * 16),
                     path="/v2/models/x/infer")
        self.refused(404, "Request for unknown model: 'x' is not found", "{}",
                     path="/v2/models/x/infer")
        self.refused(404, "'m' version 99 is not found", body_of([0] * 16),
                     path="/v2/models/m/versions/99/infer")
        self.refused(400, "unexpected shape for input 'x' for model 'm'",
                     json.dumps({"inputs": [{"name": "x", "shape": [1, 15], "datatype": "FP32",
                                             "data": [0] * 15}]}))
        self.refused(400, "JSON", "{")
        self.refused(400, "", body_of([0] * 16), **{LENGTH: "1000000"})
        self.refused(504, "", body_of([0] * 16), **{"Request-Timeout": "0"})
        self.refused(400, "Request-Timeout", body_of([0] * 16), **{"Request-Timeout": "soon"})

    def test_paths_that_do_not_infer(self):
        self.serve()

        def get(path):
            status, _, answer = self.ask("GET", path)
            self.assertEqual(status, 200, answer)
            return json.loads(answer)

        self.assertEqual(get("/v2")["name"], "mpsd")
        self.assertEqual(get("/v2/models/m")["inputs"],
                         [{"name": "x", "datatype": "FP32", "shape": [-1, 16]}])
        self.assertEqual(get("/v2/models/m/config")["max_batch_size"], 8)
        self.infer(body_of([0] * 16))
        stats = get("/v2/models/m/versions/1/stats")["model_stats"][0]
        self.assertEqual(stats["inference_stats"]["success"]["count"], 1)
        self.assertEqual(len(get("/v2/models/stats")["model_stats"]), 1)
        self.assertEqual(self.ask("GET", "/v2/models/m/ready")[0], 200)
        self.assertEqual(self.ask("GET", "/v2/models/x/ready")[0], 503)
        self.assertEqual(self.ask("GET", "/v2/health/ready")[0], 200)
        status, _, answer = self.ask("POST", "/v2/repository/index", "{}")
        self.assertEqual((status, json.loads(answer)),
                         (200, [{"name": "m", "version": "1", "state": "READY", "reason": ""}]))
        status, _, answer = self.ask("POST", "/v2/repository/models/m/unload")
        self.assertEqual(status, 503, answer)
        self.assertIn("explicit model load / unload is not allowed", answer.decode())
        self.assertEqual(self.ask("GET", "/v2/nothing")[0], 404)
        self.assertEqual(self.ask("GET", "/v2/models/m/infer")[0], 405)

    def test_requests_of_both_doors_share_batches_and_statistics(self):
        daemon = self.serve()
        with calls.stub(daemon.address) as stub:
            calls.infer(stub, calls.request("m", {"x": calls.row_of(1)}))
        self.infer(body_of([0] * 16))
        _, _, answer = self.ask("GET", "/v2/models/m/stats")
        self.assertEqual(json.loads(answer)["model_stats"][0]["inference_count"], 2)

    def test_metrics(self):
        daemon = self.serve()
        self.infer(body_of([0] * 16))
        self.infer("{")
        self.ask("GET", "/v2/nothing")
        for code, count in ((400, 1), (404, 1), (503, 0)):
            self.assertEqual(daemon.metric("mpsd_http_replies_total", code=str(code)), count)
        self.assertGreaterEqual(daemon.metric("mpsd_http_connections"), 1)
        self.assertEqual(daemon.metric("mpsd_http_body_bytes"), 0)

    def test_pages_of_other_sites(self):
        self.serve(listen_more={"cors": ["https://app.example"]})
        mine = {"Origin": "https://app.example"}
        status, headers, _ = self.ask("POST", "/v2/models/m/infer", body_of([0] * 16), mine)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (200, mine["Origin"]))
        status, headers, _ = self.ask("OPTIONS", "/v2/models/m/infer", None,
                                      {**mine, "Access-Control-Request-Method": "POST"})
        self.assertEqual((status, headers["Access-Control-Allow-Methods"]),
                         (200, "GET, HEAD, POST"))
        self.refused(403, "listen.cors", body_of([0] * 16), Origin="https://evil.example")
        self.refused(403, "listen.hosts", body_of([0] * 16), Origin="http://evil.example:8000",
                     Host="evil.example:8000")

    def test_slow_clients_are_given_up(self):
        self.serve(limits={"http_head": "1s", "http_body": "1s", "http_idle": "1s"})
        self.assertTrue(self.raw(b"GET /livez HT").startswith(b"HTTP/1.1 408 "))
        head = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx"
        self.assertTrue(self.raw(head).startswith(b"HTTP/1.1 408 "))
        self.assertEqual(self.raw(b""), b"")

    def test_tricklers_are_given_up_and_keep_nobody_waiting(self):
        """Each byte comes in time, and the whole does not; others are served beside them."""
        self.serve(limits={"http_head": "2s", "http_body": "2s"})
        post = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\n"
        kinds = ((b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ", b"x"),
                 (post + b"Content-Length: 9999\r\n\r\n", b" "),
                 (post + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"))
        pieces = {}
        for begin, piece in kinds * 10:
            client = self.enterContext(self.connect())
            client.sendall(begin)
            pieces[client] = piece
        answers = []

        def all_given_up():
            for client, piece in list(pieces.items()):
                if select.select([client], [], [], 0)[0]:
                    answers.append(client.recv(65536))
                    del pieces[client]
                else:
                    client.send(piece)
            self.assertEqual(self.infer(body_of([0] * 16))[0], 200)
            return not pieces

        wait_until(all_given_up, 60, "the end of the tricklers")
        self.assertEqual({answer[:13] for answer in answers}, {b"HTTP/1.1 408 "})

    def test_a_client_that_does_not_read_is_cut(self):
        """Others are served beside it."""
        daemon = self.serve(synthetic("large", [tensor("x", [4 << 20])], max_batch_size=2),
                            synthetic("m"), limits={"http_answer": "1s"})
        head = json.dumps({"inputs": [{"name": "x", "shape": [1, 4 << 20], "datatype": "FP32",
                                       "parameters": {"binary_data_size": 16 << 20}}],
                           "parameters": {"binary_data_output": True}}).encode()
        host, port = self.address.split(":")
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            client.sendall("POST /v2/models/large/infer HTTP/1.1\r\nHost: localhost\r\n"
                           f"{LENGTH}: {len(head)}\r\nContent-Length: {len(head) + (16 << 20)}"
                           "\r\n\r\n".encode() + head)
            client.sendall(bytes(16 << 20))
            wait_until(lambda: daemon.metric("mpsd_requests_total", model="large") == 1, 30,
                       "its answer")
            self.assertEqual(self.infer(body_of([0] * 16))[0], 200)
            wait_until(lambda: daemon.metric("mpsd_untaken_answers_total") == 1, 30, "the cut")
            self.assertEqual(self.infer(body_of([0] * 16))[0], 200)

    def test_a_client_that_leaves_cancels_its_request(self):
        daemon = self.serve(synthetic("m", parameters={"delay": "60s"}))
        with self.connect() as client:
            client.sendall(post_of("/v2/models/m/infer", body_of([0] * 16)))
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 1, 30, "the call")
        wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, 30, "its end")
        daemon.kill()

    def test_a_unix_socket_and_several_addresses(self):
        daemon = Daemon([synthetic("m")], listen_more={
            "http": ["127.0.0.1:0", "127.0.0.1:0", "unix:http.sock"]})
        self.enterContext(daemon)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(daemon.folder / "http.sock"))
            client.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 OK"))

    def test_a_drain_sends_clients_elsewhere_and_answers_probes(self):
        daemon = self.serve(limits={"lame_duck": "60s"})
        kept = http.client.HTTPConnection(self.address, timeout=30)
        self.addCleanup(kept.close)
        kept.request("GET", "/readyz")
        self.assertEqual(kept.getresponse().read(), b"ok")
        daemon.terminate()
        wait_until(lambda: self.ask("GET", "/readyz")[0] == 503, 30, "the drain")
        kept.request("POST", "/v2/models/m/infer", body_of([0] * 16), JSON)
        answer = kept.getresponse()
        self.assertEqual((answer.status, answer.headers["Connection"]), (200, "close"))
        self.assertEqual(self.ask("GET", "/livez")[0], 200)
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)

    def test_requests_inside_are_answered_by_a_stop(self):
        daemon = self.serve(synthetic("m", parameters={"delay": "1s"}))
        with self.connect() as client:
            client.sendall(post_of("/v2/models/m/infer", body_of([0] * 16)))
            wait_until(lambda: daemon.metric("mpsd_open_calls") == 1, 30, "the call")
            daemon.terminate()
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 OK"))
        self.assertEqual(daemon.wait(), 0)


if __name__ == "__main__":
    unittest.main()
