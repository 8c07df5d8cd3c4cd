#!/usr/bin/env python3
"""Tests of the loads over HTTP: their requests, the echo, wrk's script, and the rows.

Usage: bench_http_test.py FOLDER, where mpsd-http-echo is.
"""

import http.client
import os
import struct
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../load_tests/bench")
import bench_http  # noqa: E402
import bench_rows  # noqa: E402
from bench_figures import Samples  # noqa: E402
from bench_processes import HttpEcho, Listening  # noqa: E402

BINARIES = sys.argv.pop(1)


def one_round(**figures):
    samples = Samples()
    samples.samples = {name: [figure] for name, figure in figures.items()}
    return samples


def load(throughput, p50_us=100, cpu_us=10):
    return {"throughput": throughput, "p50_us": p50_us, "cpu_us": {"server": cpu_us}}


def verdicts(rows):
    return [(row.number, row.met) for row in rows if row.met is not None]


class Requests(unittest.TestCase):
    def test_binary_has_the_tensor_behind_the_json(self):
        request = bench_http.NULL
        self.assertEqual(request.body[int(request.headers[bench_http.HEADER]):],
                         bench_http.floats(256))

    def test_numbers_in_json_read_back_as_the_same_floats(self):
        for value in struct.unpack("<384f", bench_http.floats(384)):
            number = bench_http.shortest(value)
            self.assertEqual(struct.unpack("<f", struct.pack("<f", number))[0], value)
            self.assertLessEqual(len(repr(number)), len("-0.00") + 9)


class Echo(unittest.TestCase):
    def ask(self, address, *bodies):
        connection = http.client.HTTPConnection(address, timeout=10)
        answers = []
        for body in bodies:  # on one connection
            connection.request("POST", "/", body)
            answers.append(connection.getresponse().read())
        connection.close()
        return answers

    def test_answers_with_the_body(self):
        with tempfile.TemporaryDirectory() as folder, \
                Listening([f"{BINARIES}/mpsd-http-echo"], f"{folder}/log") as echo:
            self.assertEqual(self.ask(echo.address, b"a", b"b" * 100000, b""),
                             [b"a", b"b" * 100000, b""])

    def test_answers_with_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/answer", "wb") as file:
                file.write(b"always")
            with HttpEcho(BINARIES, folder, f"{folder}/answer", 2) as echo:
                self.assertEqual(self.ask(echo.address, b"a", b"b"), [b"always"] * 2)

    @unittest.skipIf(bench_http.missing(["http_null_c1"]), "wrk is not installed")
    def test_is_loaded_by_wrk(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/answer", "wb") as file:
                file.write(b"always")
            loads = bench_http.HttpLoads()
            loads.folder, loads.failed = folder, []
            loads.arguments = types.SimpleNamespace(seconds=1, pin=None)
            with HttpEcho(BINARIES, folder, f"{folder}/answer", 1) as echo:
                report = loads.wrk(echo.address, bench_http.NULL, 2, echo.pid)
        self.assertGreater(report["throughput"], 0)
        self.assertGreaterEqual(report["p99_us"], report["p50_us"])
        self.assertEqual(loads.failed, [])


class Rows(unittest.TestCase):
    def test_door_is_held_to_the_echo_and_to_grpc(self):
        bench = one_round(http_null_c64=load(70), http_null_echo_c64=load(100), null_c64=load(87),
                          http_json_c64=load(59), http_json_echo_c64=load(100),
                          http_null_c1=load(1, p50_us=99), null_c1=load(1, p50_us=100))
        self.assertEqual(verdicts(bench_rows.http_rows(bench)),
                         [("H1", True), ("H1", True), ("H2", False), ("H3", True)])

    def test_idle_connections_have_bounds(self):
        def sample(**changes):
            active = {"throughput": 1, "refused": 0, "broken": changes.pop("broken", 0)}
            return one_round(http_idle={"resident_mb": 70, "before_mb": 20, "cores": 0.01,
                                        "active": active, "open": 10000, **changes})

        def met(**changes):
            return [row.met for row in bench_rows.idle_rows(sample(**changes))]

        self.assertEqual(met(), [True] * 3)
        self.assertEqual(met(resident_mb=71), [False, True, True])
        self.assertEqual(met(cores=0.02), [True, False, True])
        self.assertEqual(met(broken=1), [True, True, False])
        self.assertEqual(met(open=9999), [True, True, False])

    def test_idle_connections_of_http2_have_the_same_bounds(self):
        bench = one_round(http2_idle={"resident_mb": 71, "before_mb": 20, "cores": 0.02, "open": 9})
        self.assertEqual([row.met for row in bench_rows.idle_rows(bench)], [False] * 3)

    def test_steps_are_held_to_one_model(self):
        bench = one_round(null_c1=load(1, p50_us=100), steps_c1=load(1, p50_us=160),
                          null_c64=load(100), steps_c64=load(59))
        self.assertEqual(verdicts(bench_rows.step_rows(bench)), [("–", True), ("–", False)])

    def test_what_was_not_measured_has_no_row(self):
        for rows in (bench_rows.http_rows, bench_rows.idle_rows, bench_rows.step_rows):
            self.assertEqual(rows(one_round()), [])


if __name__ == "__main__":
    unittest.main()
