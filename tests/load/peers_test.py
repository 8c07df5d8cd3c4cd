#!/usr/bin/env python3
"""Tests of the requests, the open loop and the tables of load_tests/peers/peers_bench.py."""

import http.server
import json
import os
import struct
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f"{HERE}/../../load_tests/{folder}" for folder in ("peers", "bench")]
import peer_requests  # noqa: E402
import peer_rows  # noqa: E402
from kept_connection import answer_body  # noqa: E402
from open_loop import OpenLoop, arrivals  # noqa: E402

MLP, MINILM = peer_requests.MLP, peer_requests.MINILM
SERVER = "server"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Requests(unittest.TestCase):
    def test_all_ways_send_the_same_numbers(self):
        for model, element in ((MLP, "f"), (MINILM, "q")):
            own = json.loads(peer_requests.request_of("own", "/x/{}", model).body)["input"]
            tensor = json.loads(peer_requests.request_of("json", "", model).body)["inputs"][0]
            binary = peer_requests.request_of("binary", "", model)
            size = int(binary.headers["Inference-Header-Content-Length"])
            content = struct.pack(f"<{model.width}{element}", *own)
            self.assertEqual(len(own), model.width)
            self.assertEqual(tensor, {"name": model.input, "shape": [1, model.width],
                                      "datatype": model.datatype, "data": own})
            self.assertEqual(binary.body[size:], content)
            head = json.loads(binary.body[:size])["inputs"][0]
            self.assertEqual(head["parameters"], {"binary_data_size": len(content)})

    def test_ids_are_those_of_words(self):
        self.assertTrue(all(isinstance(value, int) and 0 <= value < peer_requests.TOKENS
                            for value in MINILM.row()))

    def test_all_ways_have_the_same_answer(self):
        model = peer_requests.Model("m", "x", "y", "FP32", 2, 2)
        self.assertEqual(peer_requests.answer_of("own", b'{"output": [1.5, 2]}', model), [1.5, 2])
        self.assertEqual(peer_requests.answer_of(
            "json", b'{"outputs": [{"data": [1.5, 2]}]}', model), [1.5, 2])
        self.assertEqual(peer_requests.answer_of(
            "binary", b"{}" + struct.pack("<2f", 1.5, 2), model), (1.5, 2))

    def test_a_whole_request_says_where_its_body_ends(self):
        request = peer_requests.request_of("own", "/x/{}", MLP)
        head, body = peer_requests.whole_request("host:1", request).split(b"\r\n\r\n")
        self.assertEqual(head.split(b"\r\n")[:3], [
            b"POST /x/mlp HTTP/1.1", b"Host: host:1", b"Content-Length: %d" % len(request.body)])
        self.assertEqual(body, request.body)


class Chunks(unittest.TestCase):
    def test_an_answer_in_chunks_is_whole_behind_the_last_one(self):
        answer = HEAD + b"3\r\nabc\r\nA\r\n0\r\n\r\n56789\r\n0\r\n\r\n"
        self.assertEqual(answer_body(bytearray(answer)), b"abc0\r\n\r\n56789")
        for end in range(len(answer)):
            self.assertIsNone(answer_body(bytearray(answer[:end])))
        for wrong in (answer + b"d", answer.replace(b"200", b"500")):
            with self.assertRaises(RuntimeError):
                answer_body(bytearray(wrong))


class Server(http.server.ThreadingHTTPServer):
    """Answers after a while, and may close the connection a little later."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, seconds, closes):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seconds, self.closes, self.connections, self.requests = seconds, closes, 0, 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections += 1

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests += 1
        time.sleep(self.server.seconds)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.close_connection = self.server.closes

    def log_message(self, *_):
        """Nothing."""


class OpenLoops(unittest.TestCase):
    def run_loop(self, seconds, times, closes=False):
        """The latencies, and the server."""
        server = Server(seconds, closes)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        request = peer_requests.whole_request(
            "x", peer_requests.bench_http.HttpRequest("/", b"body"))
        try:
            with OpenLoop(f"127.0.0.1:{server.server_port}", request) as loop:
                return loop.run(times), server
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def test_arrivals_have_their_rate_and_are_the_same_for_a_seed(self):
        times = arrivals(100, 10000, 7)
        self.assertEqual(times, arrivals(100, 10000, 7))
        self.assertNotEqual(times, arrivals(100, 10000, 8))
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(times[-1], 100, delta=5)

    def test_requests_do_not_wait_for_the_answers_to_others(self):
        latencies, server = self.run_loop(0.2, [0.0] * 8)
        self.assertEqual((len(latencies), server.requests, server.connections), (8, 8, 8))
        self.assertGreaterEqual(min(latencies), 0.2)

    def test_a_connection_that_is_free_is_used_again(self):
        latencies, server = self.run_loop(0, [0, 0.2, 0.4])
        self.assertEqual((len(latencies), server.requests, server.connections), (3, 3, 1))

    def test_a_connection_that_its_server_closed_is_not(self):
        latencies, server = self.run_loop(0, [0, 0.2, 0.4], closes=True)
        self.assertEqual((len(latencies), server.requests, server.connections), (3, 3, 3))

    def test_latency_counts_from_the_time_that_was_drawn(self):
        latencies, _ = self.run_loop(0, [-0.5])
        self.assertGreaterEqual(latencies[0], 0.5)


def report(rate, p99_us=10, p50_us=5):
    return {"throughput": rate, "p50_us": p50_us, "p99_us": p99_us}


class Tables(unittest.TestCase):
    def figures(self):
        """A server with JSON of its own, and the daemon with clients of three numbers."""
        figures = peer_rows.Figures()
        own, ours = ("own", "m", SERVER), ("json", "m", peer_rows.OURS.title)
        figures.closed = {
            (*own, 1): [report(10), report(30), report(20)], (*own, 64): [report(40, 50)],
            (*ours, 1): [report(60)], (*ours, 64): [report(100, 50)],
            (*ours, 128): [report(200, 50.1)], (*ours, 16): [report(80, 10)],
            (peer_rows.LOOP_WAY, "m", peer_rows.LOOP, 1): [report(15, 0, 0)],
            (peer_rows.LOOP_WAY, "m", peer_rows.LOOP, 64): [report(150, 0, 0)]}
        figures.equal = {(*own, SERVER): [{"rate": 28, "p99_us": 4000}],
                         (*own, peer_rows.OURS.title): [{"rate": 28, "p99_us": 1000}]}
        return figures

    def cells(self, table):
        return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]

    def test_a_server_is_compared_with_the_daemon_under_the_same_clients(self):
        rows = {row[2]: row[3:] for row in self.cells(peer_rows.closed_table(self.figures()))}
        self.assertEqual(rows[SERVER], ["20", "0.01 ms", "3.0 ×", "40", "0.01 ms", "0.05 ms",
                                        "2.5 ×"])
        self.assertEqual(rows[peer_rows.OURS.title][2::4], ["–", "–"])
        self.assertEqual(rows[peer_rows.LOOP], ["15", "–", "–", "150", "–", "–", "–"])

    def test_the_daemon_counts_with_what_it_answers_within_the_others_p99(self):
        self.assertEqual(self.cells(peer_rows.equal_table(self.figures())), [
            ["HTTP, its own JSON", "m", SERVER, "28", "4.00 ms", "1.00 ms", "4.0 ×", "0.05 ms", "40",
             "100", "2.5 ×"]])

    def test_a_p99_that_the_daemon_never_has_is_named_as_such(self):
        figures = self.figures()
        figures.closed[("own", "m", SERVER, 64)] = [report(40, 9)]
        self.assertEqual(self.cells(peer_rows.equal_table(figures))[0][-2:], ["–", "–"])

    def test_what_was_not_measured_is_not_compared(self):
        figures = self.figures()
        figures.closed = {key: value for key, value in figures.closed.items() if key[2] == SERVER}
        figures.equal = {}
        self.assertEqual(self.cells(peer_rows.closed_table(figures))[0][5::4], ["–", "–"])
        self.assertEqual(self.cells(peer_rows.equal_table(figures)), [])


if __name__ == "__main__":
    unittest.main()
