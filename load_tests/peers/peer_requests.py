"""The models that peers_bench.py serves, and one inference of each for each way into a server."""

import json
import random
import struct
from dataclasses import dataclass

import bench_http

TOKENS = 20000  # ids below this are words
FORMATS = {"FP32": "f", "INT64": "q"}


@dataclass(frozen=True)
class Model:
    """A model that all servers serve, with one input and one output."""

    name: str
    input: str
    output: str
    datatype: str  # the input's; the output has FP32
    width: int     # numbers in an input row
    answer_width: int
    file: str = ""  # a TorchScript file; empty: the output is the input

    def row(self):
        """The numbers to send."""
        if self.datatype == "FP32":
            return bench_http.numbers(self.width)
        draw = random.Random(1)
        return [draw.randrange(TOKENS) for _ in range(self.width)]

    def generator_input(self):
        """Nearly the same input, made by mpsd-bench."""
        content = f"=0..{TOKENS}" if self.datatype == "INT64" else ""
        return f"{self.input}:{self.datatype}[1,{self.width}]{content}"

    def loop_input(self):
        """The input for mpsd-bare-loop."""
        return f"{self.datatype}[{self.width}]"


IDENTITY = Model("identity", "INPUT0", "OUTPUT0", "FP32", 256, 256)
MLP = Model("mlp", "input", "output", "FP32", 1024, 1024, "mlp_1024x6.pt")
MINILM = Model("minilm", "input_ids", "output", "INT64", 16, 384, "minilm_rows.pt")


def own_request(path, model):
    """A request in the server's own JSON, which its script in this folder defines."""
    return bench_http.HttpRequest(path.format(model.name),
                                  json.dumps({"input": model.row()}).encode(),
                                  {"Content-Type": "application/json"})


def request_of(way, path, model):
    """An inference of one row as an HTTP request."""
    if way == "own":
        return own_request(path, model)
    tensor = {"name": model.input, "shape": [1, model.width], "datatype": model.datatype}
    if way == "json":
        return bench_http.json_request(model.name, tensor | {"data": model.row()})
    content = struct.pack(f"<{model.width}{FORMATS[model.datatype]}", *model.row())
    return bench_http.binary_request(model.name, tensor, content, True)


def answer_of(way, body, model):
    """The numbers of an answer."""
    if way == "binary":
        return struct.unpack(f"<{model.answer_width}f", body[-4 * model.answer_width:])
    output = json.loads(body)
    return output["output"] if way == "own" else output["outputs"][0]["data"]


def whole_request(address, request):
    """The whole HTTP request as bytes."""
    headers = {"Host": address, "Content-Length": len(request.body), **request.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {request.path} HTTP/1.1\r\n{lines}\r\n".encode() + request.body
