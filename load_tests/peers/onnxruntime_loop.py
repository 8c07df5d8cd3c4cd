"""A model on ONNX Runtime in a loop without a server, with one thread: onnxruntime_loop.py FILE
SECONDS ROWS DIMS. ROWS and DIMS may be lists with commas; DIMS are the dims of an input without the
batch.

Each number of rows runs SECONDS seconds. Prints one line of JSON, like mpsd-bare-loop:
{"samples_per_second": {"8": 120.5}}.
"""

import json
import sys
import time

import numpy
import onnxruntime

TYPES = {"tensor(int64)": numpy.int64, "tensor(float)": numpy.float32}


def load(path):
    """A session with one thread and otherwise default options."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def rate(session, feed, seconds):
    """Runs a second."""
    output = [session.get_outputs()[-1].name]
    runs, begin = 0, time.perf_counter()
    while True:
        session.run(output, feed)
        runs += 1
        passed = time.perf_counter() - begin
        if passed >= seconds:
            return runs / passed


def main():
    """Measures all numbers of rows."""
    path, seconds, rows, dims = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
    session = load(path)
    found = {}
    for count in map(int, rows.split(",")):
        shape = (count, *map(int, dims.split(",")))
        feed = {value.name: numpy.ones(shape, TYPES[value.type]) for value in session.get_inputs()}
        rate(session, feed, seconds / 5)  # warm
        found[str(count)] = count * rate(session, feed, seconds)
    print(json.dumps({"samples_per_second": found}))


if __name__ == "__main__":
    main()
