"""A model on ONNX Runtime in loops without a server: onnxruntime_loop.py FILE SECONDS ROWS DIMS.
ROWS and DIMS may be several, by commas; DIMS are those of an input without the batch.

Each setting, rows × (as many threads that ask as there are cores, or one with all cores' threads),
runs so many seconds. Prints one line of JSON: {"samples_per_second": {"8 rows, 2 lanes": 120.5}}.
"""

import json
import os
import sys
import threading
import time

import numpy
import onnxruntime

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
TYPES = {"tensor(int64)": numpy.int64, "tensor(float)": numpy.float32}


def load(path, threads):
    """A session whose inferences have so many threads; its other options are the default ones."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def rate(session, feed, lanes, seconds):
    """Runs a second of all lanes together."""
    output = [session.get_outputs()[-1].name]
    rates = [0] * lanes

    def loop(lane):
        runs, begin = 0, time.perf_counter()
        while True:
            session.run(output, feed)
            runs += 1
            passed = time.perf_counter() - begin
            if passed >= seconds:
                break
        rates[lane] = runs / passed

    threads = [threading.Thread(target=loop, args=(lane,)) for lane in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(rates)


def main():
    """Measures all settings."""
    path, seconds, rows, dims = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
    found = {}
    for lanes in sorted({1, CORES}):
        session = load(path, CORES // lanes)
        for count in map(int, rows.split(",")):
            shape = (count, *map(int, dims.split(",")))
            feed = {value.name: numpy.ones(shape, TYPES[value.type])
                    for value in session.get_inputs()}
            rate(session, feed, lanes, seconds / 5)  # warm
            found[f"{count} rows, {lanes} lanes"] = count * rate(session, feed, lanes, seconds)
    print(json.dumps({"samples_per_second": found}))


if __name__ == "__main__":
    main()
