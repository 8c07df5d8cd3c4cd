#!/usr/bin/env python3
"""Tests of the texts, the client and the rows of load_tests/peers/text_peers.py."""

import http.server
import json
import os
import sys
import threading
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f"{HERE}/../../load_tests/{folder}" for folder in ("peers", "bench")]
import kept_connection  # noqa: E402
import text_client  # noqa: E402
import text_loads  # noqa: E402
import text_rows  # noqa: E402
from bench_figures import Samples  # noqa: E402
from text_servers import BARE, INFINITY, LOOP, MPSD, PLACED  # noqa: E402

SHORT, MIXED, MANY = text_rows.SHORT, text_rows.MIXED, text_rows.MANY


class Loads(unittest.TestCase):
    def test_a_seed_gives_the_same_texts(self):
        self.assertEqual(text_loads.make_loads(1), text_loads.make_loads(1))
        self.assertNotEqual(text_loads.make_loads(1), text_loads.make_loads(2))

    def test_texts_have_the_tokens_that_a_load_says(self):
        loads = text_loads.make_loads(1)
        self.assertEqual({len(text.split()) + 2 for text in loads[SHORT].texts}, {16})
        tokens = [len(text.split()) + 2 for text in loads[MIXED].texts]
        self.assertGreaterEqual(min(tokens), 8)
        self.assertLessEqual(max(tokens), text_loads.LONGEST)
        self.assertEqual(text_loads.mean_tokens(loads[MIXED]), sum(tokens) / len(tokens))
        self.assertAlmostEqual(text_loads.mean_tokens(loads[MIXED]), 55, delta=15)

    def test_no_text_comes_twice_since_a_server_may_compute_equal_ones_once(self):
        for load in text_loads.make_loads(1).values():
            self.assertEqual(len(set(load.texts)), len(load.texts))

    def test_requests_are_all_texts_in_their_order(self):
        for load in text_loads.make_loads(1).values():
            requests = load.requests()
            self.assertEqual({len(texts) for texts in requests}, {load.texts_a_request})
            self.assertEqual(tuple(text for texts in requests for text in texts), load.texts)
            self.assertGreaterEqual(len(requests), load.clients)

    def test_figures_are_of_ordered_latencies(self):
        figures = text_loads.Report(8, 2, [0.4, 0.1, 0.3, 0.2], 0.5).figures()
        self.assertEqual((figures["texts_a_second"], figures["client_cores"]), (4, 0.25))
        self.assertEqual((figures["p50_ms"], figures["p99_ms"]), (300, 400))

    def test_the_farthest_number_counts(self):
        self.assertEqual(text_loads.farthest([[1, 2], [3, 4]], [[1, 2.5], [3, 3.75]]), 0.5)
        self.assertEqual(text_loads.farthest([[1, 2]], [[1, 2], [3, 4]]), float("inf"))
        self.assertEqual(text_loads.farthest([[1]], [[1, 2]]), float("inf"))


class Server(http.server.ThreadingHTTPServer):
    """Answers a text with its length; closes the connection behind "close", and answers "wait" when
    that has happened."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server_port}"
        self.asked = []
        self.closed = threading.Event()

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.closed.set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        texts = [texts] if isinstance(texts, str) else texts
        self.server.asked.append(texts)
        if texts == ["wait"]:
            self.server.closed.wait(10)
        entries = [{"index": index, "embedding": [len(text)]} for index, text in enumerate(texts)]
        body = json.dumps({"data": entries[::-1]}).encode()
        self.send_response(400 if texts == ["bad"] else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = texts == ["close"]

    def log_message(self, *_):
        """Nothing."""


class Client(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def load(self, *texts, **changes):
        return text_loads.Load("load", "", texts, **changes)

    def test_vectors_are_in_the_order_of_the_texts(self):
        load = self.load("a", "bb", "ccc", "dddd", texts_a_request=2, clients=2)
        self.assertEqual(text_client.ask(self.server.address, load), [[1], [2], [3], [4]])
        self.assertEqual(sorted(self.server.asked), [["a", "bb"], ["ccc", "dddd"]])

    def test_passes_are_whole_whatever_the_time(self):
        load = self.load("a", "bb", "ccc", clients=2)
        report = text_client.measure(self.server.address, load, 0.01)
        asked = self.server.asked[1:]  # behind the one that wakes the server up
        self.assertEqual((report.texts, len(report.latencies_s)), (len(asked), len(asked)))
        self.assertEqual(len({asked.count([text]) for text in load.texts}), 1)

    def test_a_resting_connection_may_be_closed(self):
        load = self.load("close", "wait", clients=2)
        self.assertEqual(text_client.ask(self.server.address, load), [[5], [4]])

    def test_a_refusal_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "400"):
            text_client.ask(self.server.address, self.load("bad"))

    def test_an_answer_is_whole_when_all_of_its_body_is_there(self):
        answer = b"HTTP/1.1 200 OK\r\nX: y\r\ncontent-length: 3\r\n\r\nabc"
        self.assertEqual(kept_connection.answer_body(bytearray(answer)), b"abc")
        for end in range(len(answer)):
            self.assertIsNone(kept_connection.answer_body(bytearray(answer[:end])))
        for wrong in (answer + b"d", answer.replace(b"200", b"500"),
                      answer.replace(b"content-length", b"length")):
            with self.assertRaises(RuntimeError):
                kept_connection.answer_body(bytearray(wrong))


def figures(rate, p50_ms=10):
    return {"texts_a_second": rate, "p50_ms": p50_ms, "p99_ms": p50_ms}


def samples(**rounds):
    """Of {load_threads: {title: [figures]}}."""
    all_samples = Samples()
    for key, titles in rounds.items():
        load, _, threads = key.rpartition("_")
        for title, reports in titles.items():
            all_samples.samples[(load, int(threads), title)] = reports
    return all_samples


def verdicts(rows):
    return [row.met for row in rows]


class Rows(unittest.TestCase):
    def test_the_best_is_a_server_with_all_rounds(self):
        given = samples(mixed_c64_2={
            MPSD: [figures(9)] * 2, PLACED: [figures(9)] * 2, LOOP: [figures(8)] * 2,
            BARE: [figures(8)] * 2, "gave up": [figures(7)], "slow": [figures(5)] * 2,
            "fast": [figures(6), figures(5)]})
        self.assertEqual(text_rows.best_of(given, MIXED, 2, "texts_a_second"), "fast")
        self.assertEqual(text_rows.best_of(given, MIXED, 2, "texts_a_second", (BARE,)), BARE)
        self.assertIsNone(text_rows.best_of(given, MIXED, 1, "texts_a_second"))

    def test_throughput_and_latency_are_held_to_the_best(self):
        for rate, p50_ms, met in ((13, 10, [True, None, True]), (12.9, 10.1, [False, None, False])):
            given = samples(
                mixed_c64_2={MPSD: [figures(rate)], "peer": [figures(10)]},
                many_c4_2={MPSD: [figures(1)], "peer": [figures(10)]},
                short_c1_1={PLACED: [figures(1, p50_ms)], "peer": [figures(1, 10)],
                            "slow": [figures(9, 99)]})
            self.assertEqual(verdicts(text_rows.peer_rows(given)), met)

    def test_infinity_counts_with_its_faster_engine(self):
        given = samples(mixed_c64_2={MPSD: [figures(20)], INFINITY[0]: [figures(8)],
                                     INFINITY[1]: [figures(10)], "peer": [figures(99)]},
                        short_c1_1={PLACED: [figures(19)], INFINITY[0]: [figures(10)]})
        rows = text_rows.infinity_rows(given)
        self.assertEqual(verdicts(rows), [False, True])
        self.assertIn(INFINITY[1], rows[1].quantity)

    def test_the_bare_loop_is_the_ceiling(self):
        for rate, met in ((9, True), (8.9, False)):
            given = samples(mixed_c64_2={MPSD: [figures(rate)], BARE: [{"texts_a_second": 10}]})
            self.assertEqual(verdicts(text_rows.bare_rows(given)), [met])

    def test_our_numbers_are_those_of_sentence_transformers(self):
        self.assertEqual(verdicts(text_rows.answer_rows({LOOP: 0, MPSD: 1e-4, "peer": 1})), [True])
        self.assertEqual(verdicts(text_rows.answer_rows({LOOP: 0, MPSD: 0, PLACED: 2e-4})), [False])
        self.assertEqual(text_rows.answer_rows({LOOP: 0, "peer": 0}), [])
        self.assertEqual(text_rows.answer_rows({MPSD: 0, "peer": 0}), [])  # nothing to compare with

    def test_what_was_not_measured_has_no_row(self):
        self.assertEqual(text_rows.all_rows(samples(), {}), [])
        self.assertEqual(text_rows.all_rows(samples(mixed_c64_2={MPSD: [figures(1)]}), {}), [])

    def test_the_table_has_the_servers_that_were_measured(self):
        given = samples(mixed_c64_2={LOOP: [figures(7.25)], BARE: [{"texts_a_second": 9}]},
                        short_c1_1={LOOP: [figures(1, 3)]})
        text = text_rows.servers_table(given, {LOOP: 2e-7}, (LOOP, MPSD, BARE))
        lines = [line.split(" | ")[1:] for line in text.splitlines()[2:]]
        self.assertEqual(lines, [["3.0", "–", "7.2", "–", "–", "–", "–", "2.0e-07 |"],
                                 ["–", "–", "9.0", "–", "–", "–", "–", "– |"]])


if __name__ == "__main__":
    unittest.main()
