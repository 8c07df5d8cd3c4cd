"""The model that each of the other servers runs, and their common command line."""

import argparse

import numpy
import torch

BATCH = 64  # most rows in a batch
WAIT_S = 0.001  # how long a server may wait for more rows
NUMBERS = {"FP32": numpy.float32, "INT64": numpy.int64}


class PeerModel:
    """A TorchScript module on one thread; without a file a model that returns its rows."""

    def __init__(self, path):
        torch.set_num_threads(1)
        self.module = torch.jit.load(path).eval() if path else None

    def __call__(self, rows):
        """Runs `rows`, which have the input's type; returns as many rows of FP32."""
        if self.module is None:
            return numpy.asarray(rows)
        with torch.inference_mode():
            return self.module(torch.from_numpy(numpy.ascontiguousarray(rows))).numpy()


def parse_arguments():
    """The arguments that peers_bench.py gives a server."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True, help="the model's")
    parser.add_argument("--path", default="", help="of a TorchScript module")
    parser.add_argument("--input", required=True, help="the name of its input")
    parser.add_argument("--output", required=True, help="the name of its output")
    parser.add_argument("--datatype", required=True, choices=NUMBERS, help="of its input")
    parser.add_argument("--width", type=int, required=True, help="the numbers of an input's row")
    parser.add_argument("--http", type=int, required=True, help="a port")
    parser.add_argument("--grpc", type=int, required=True, help="a port")
    parser.add_argument("--folder", required=True, help="for files of its own")
    return parser.parse_args()
