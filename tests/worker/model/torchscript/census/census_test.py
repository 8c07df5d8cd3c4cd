#!/usr/bin/env python3
"""Whether the worker's census of real graphs is that of the modules they are made of.

Run with: census_test.py [--write]
Needs .deps/graphs-venv, which `./run torch` makes, and mpsd-worker in the folder MPSD_BIN. census.json
is the table that both are held against. --write writes it, from the modules alone: no worker takes
part.

A trace has what one run of its module calls, and its counts are equal. A script has all branches
too, so its worker may count more of a kind, but none of a kind that the module never calls. A model
has one lane on mps where its census is unknown or has layer_norm or attention.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import torch
    from graphs import GRAPHS
    from module_census import census_of
except ImportError as error:
    print(f"skipped: there is no {error.name} in {sys.executable}")
    sys.exit(0)

TABLE = pathlib.Path(__file__).with_name("census.json")
DATATYPES = {torch.float32: "FP32", torch.int64: "INT64"}


def has_one_lane(census):
    return not census["known"] or census["layer_norm"] > 0 or census["attention"] > 0


def expected_of(graph):
    """The row of the table."""
    census = {"known": graph.known, **(census_of(graph) if graph.known else {})}
    return {"made": "script" if graph.scripted else "trace", "one_lane": has_one_lane(census),
            **census}


def write_table():
    rows = [f"  {json.dumps(name)}: {json.dumps(expected_of(graph))}"
            for name, graph in GRAPHS.items()]
    TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def worker_census(graph, folder):
    """What `mpsd-worker --describe` says of the saved graph."""
    path = pathlib.Path(folder) / "graph.pt"
    graph.compiled().save(str(path))
    command = [pathlib.Path(os.environ["MPSD_BIN"]) / "mpsd-worker", "--describe", path,
               "--device", "cpu"]
    for name, tensor in graph.inputs.items():
        shape = ",".join(str(size) for size in tensor.shape)
        command += ["--input", f"{name}:{DATATYPES[tensor.dtype]}[{shape}]"]
    told = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    line = json.loads((told.stdout.splitlines() or ["{}"])[-1])
    if "census" not in line:
        raise AssertionError(f"exit code {told.returncode}: {told.stdout}")
    return line["census"]


class CensusTest(unittest.TestCase):
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}

    def test_the_table_is_of_the_modules(self):
        self.assertGreaterEqual(len(GRAPHS), 20)
        self.assertEqual(list(self.table), list(GRAPHS))
        for name, graph in GRAPHS.items():
            with self.subTest(name):
                self.assertEqual(self.table[name], expected_of(graph))

    def test_the_worker_counts_what_the_modules_call(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, graph in GRAPHS.items():
                with self.subTest(name):
                    self.check(self.table[name], worker_census(graph, folder))

    def check(self, expected, told):
        self.assertEqual(told["known"], expected["known"])
        self.assertEqual(has_one_lane(told), expected["one_lane"])
        for kind in expected.keys() - {"made", "one_lane", "known"}:
            if expected["made"] == "script" and expected[kind] > 0:
                self.assertGreaterEqual(told[kind], expected[kind], kind)
            else:
                self.assertEqual(told[kind], expected[kind], kind)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_table()
    else:
        unittest.main(verbosity=2, warnings="ignore")
