"""Requests of one row, batched by the daemon: a text model of MiniLM's size on 1, 2, 4 … devices.

cuda_rows.py, in the environment that cuda_figures.sh makes, on a host with h2load:
  PARTS="models rows" cuda_figures.sh FOLDER
gRPC's own client costs more than the daemon. The rows are counted by the daemon: h2load takes a
refusal for an answer.
"""
import os
import struct
import subprocess
import sys
import time

from bench_frames import h2load, request
from bench_processes import cpu_seconds, metric
from cuda_all import as_one, devices_of_host
from cuda_figures import BIN, MODELS, attempt, figure, lane_bench, programs, serving

TOKENS = 128
SECONDS = 4
ROWS = 64  # of a batch, at most
PROCESSES, LANES = 1, 3  # on each device; processes take turns there, lanes do not
CLIENTS = ((16, 4), (64, 4), (512, 16), (1024, 32))  # for each device: calls at a time, connections
WORDS = (("input_ids", "INT64", TOKENS, struct.pack(f"<{TOKENS}q", *range(1000, 1000 + TOKENS))),
         ("attention_mask", "INT64", TOKENS, struct.pack(f"<{TOKENS}q", *[1] * TOKENS)))


def model_on(devices):
    return {"name": "rows", "path": str(MODELS / "minilm.pt"), "precision": "bf16",
            "device": as_one(devices),
            "max_batch_size": ROWS, "warmup": "smallest", "queue": {"requests": 20000},
            "placement": {"processes": PROCESSES * len(devices), "lanes": LANES, "threads": 1}}


def rate(daemon, calls, connections):
    """Rows a second, the front end's cores, and the mean batch."""
    command = h2load(daemon.grpc, MODELS / "rows.body", SECONDS, calls, connections,
                     threads=min(connections, 16))
    names = ("mpsd_batch_rows_sum", "mpsd_batch_rows_count")

    def state():
        page = daemon.metrics()
        return [time.monotonic(), cpu_seconds(daemon.pid), *(metric(page, name) for name in names)]

    before = state()
    with programs():
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=SECONDS + 60)
    _, cores, rows, batches = (now - then for now, then in zip(state(), before))
    return {"rows_per_second": rows / SECONDS, "cores": cores / SECONDS,
            "batch": rows / max(batches, 1)}


def ceilings():
    """What lanes without a front end do with so many rows at a time, in the best number of lanes."""
    for rows in (16, 64, 256):
        rates = {}
        for lanes in (1, 2, 4):
            found = attempt("lanes", lane_bench, MODELS / "minilm.pt", lanes, min(rows // lanes, ROWS),
                            "precision=bf16") or {}
            rates[lanes] = found.get("samples_per_second")
        figure("rows", at_a_time=rows, lanes_alone=rates)


def main():
    devices = devices_of_host()
    (MODELS / "rows.body").write_bytes(request("rows", WORDS))
    ceilings()
    count = 1
    while count <= len(devices):
        with serving([model_on(devices[:count])]) as daemon:
            for calls, connections in CLIENTS:
                found = attempt("load", rate, daemon, calls * count, connections * count)
                if found is None:
                    sys.exit(1)
                figure("rows", devices=count, cpus=os.cpu_count(), calls=calls * count, **found)
        count *= 2


if __name__ == "__main__":
    main()
