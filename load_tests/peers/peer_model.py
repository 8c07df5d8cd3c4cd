"""The model that each of the other servers runs, and the command line of all of them."""

import argparse

import numpy
import torch

BATCH = 64  # rows at most
WAIT_S = 0.001  # how long a server that waits for more rows does
NUMBERS = {"FP32": numpy.float32, "INT64": numpy.int64}


class PeerModel:
    """A TorchScript module on one thread, or without a file one that returns its rows."""

    def __init__(self, path):
        torch.set_num_threads(1)
        self.module = torch.jit.load(path).eval() if path else None

    def __call__(self, rows):
        """As many rows of FP32 as there are `rows`, which have the type of its input."""
        if self.module is None:
            return numpy.asarray(rows)
        with torch.inference_mode():
            return self.module(torch.from_numpy(numpy.ascontiguousarray(rows))).numpy()


def parse_arguments():
    """What peers_bench.py tells a server."""
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
