#!/usr/bin/env python3
"""What one front end does on a host of many cores: calls a second, and what each thread costs.

    load_tests/cores/cores.py --bin build/release/bin [--seconds 3] [--perf FOLDER] [--only TEXT]

Each row is a daemon with so many workers in so many pools, and so many clients on so many
connections. The model gives back 1 kB at once. The ceiling of a row is an echo under the same load.
The clients are gRPC's own; and, where they are installed, h2load for calls of gRPC and wrk for HTTP,
which cost less than the server. Linux only, and the load runs beside the server."""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"
sys.path.insert(0, str(BENCH))
import bench_frames  # noqa: E402
import bench_http  # noqa: E402

CORES = len(os.sched_getaffinity(0))
LOADS = tuple((clients, connections, min(threads, CORES))
              for clients, connections, threads in ((1, 1, 1), (64, 4, 4), (64, 64, 4), (512, 128, 8)))
LEAN_LOADS = (*LOADS[:2], (64, 64, min(8, CORES)), (512, 128, min(max(8, CORES // 4), CORES)))
SHAPES = ((1, 4), (1, 12), (4, 1), (1, 1))  # pools, workers in each
LARGE = ((150528, 4), (4194304, 2))  # elements, clients


def config_of(pools, workers, width):
    tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [width]}
    return {"listen": {"grpc": ["127.0.0.1:0"], "http": ["127.0.0.1:0"]},
            "models": [{"name": f"m{i}", "format": "synthetic", "device": "cpu", "warmup": "none",
                        "max_batch_size": 8, "inputs": [tensor],
                        "placement": {"processes": workers, "lanes": 1}} for i in range(pools)]}


class Threads:
    """CPU and sleeps of each thread of a process, by its name without a number."""

    def __init__(self, pid):
        self._pid = pid
        self._before = self._read()

    def _read(self):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for task in pathlib.Path(f"/proc/{self._pid}/task").iterdir():
            with contextlib.suppress(OSError):
                name, rest = re.fullmatch(r"\d+ \((.*)\) (.*)", (task / "stat").read_text().strip(),
                                          re.S).groups()
                ticks = sum(map(int, rest.split()[11:13]))
                sleeps = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)",
                                       (task / "status").read_text(), re.M)[1])
                of_name = sums[re.sub(r"-?\d+$", "", name)]
                for i, value in enumerate((1, ticks / os.sysconf("SC_CLK_TCK"), sleeps)):
                    of_name[i] += value
        return sums

    def told(self, calls):
        """Since the beginning: microseconds and sleeps for each call, in all and of busy threads."""
        rows, sums = [], [0, 0]
        for name, (count, *after) in sorted(self._read().items()):
            spent = [now - before for now, before in zip(after, self._before[name][1:])]
            sums = [sum(pair) for pair in zip(sums, spent)]
            micros = spent[0] / calls * 1e6
            if micros >= 0.05:
                rows.append(f"{name}×{count} {micros:.1f} us {spent[1] / calls:.2f}")
        return (f"{sums[0] / calls * 1e6:8.1f} us CPU  {sums[1] / calls:.2f} sleeps"
                f"  | {', '.join(rows)}")


@contextlib.contextmanager
def running(arguments, pattern):
    """The process and what the pattern's groups find in its output."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        found = None
        for line in process.stdout:
            found = found or re.search(pattern, line)
            if found and (line.startswith("Try:") or "listening" in line):
                break
        yield process.pid, *found.groups()
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()


def load(options, pid, address, shape, clients, connections, threads, is_echo):
    pools, width = shape
    models = [f"m{i}" for i in range(pools)]
    counted = Threads(pid)
    arguments = [options.bin / "mpsd-bench", "--target", address, "--model", *models,
                 "--input", f"INPUT0:FP32[1,{width}]", "--concurrency", clients, "--channels", connections,
                 "--threads", threads, "--duration", f"{options.seconds}s", "--warmup", "0s",
                 "--json", "--allow-errors", *(["--echo"] if is_echo else [])]
    done = subprocess.run([str(each) for each in arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return f"failed: {done.stderr[-300:]}{done.stdout[-300:]}"
    report = json.loads(done.stdout)
    errors = f"  {report['errors']}" if report["errors"] else ""
    return (f"{report['answered'] / report['seconds']:9.0f} /s  p50 {report['latency_us']['p50']:7.0f} us"
            f"  {counted.told(report['answered'])}{errors}")


def lean_command(options, program, address, model, clients, connections, threads):
    """A client that sends one request again and again, as fast as answers come."""
    body = options.folder / f"{program}.{model}"
    if program == "h2load":
        body.write_bytes(bench_frames.request(model))
        return bench_frames.h2load(address, body, options.seconds, clients, connections, threads)
    request = bench_http.binary_request(model, bench_http.tensor_head(256), bytes(1024), True)
    body.write_bytes(request.body)
    return bench_http.wrk_command(address, request, body, options.seconds, clients, threads)


def calls_of(program, printed):
    """How many good answers the client counted."""
    if program == "h2load":
        return int(re.search(r"(\d+) succeeded", printed)[1])
    report = json.loads(printed.splitlines()[-1])
    return report["answered"] - report["refused"]


def lean_load(options, program, pid, address, pools, clients, connections, threads):
    """One client for each model."""
    counted = Threads(pid)
    commands = [lean_command(options, program, address, f"m{i}", max(clients // pools, 1),
                             max(connections // pools, 1), max(threads // pools, 1))
                for i in range(pools)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
               for command in commands]
    calls = sum(calls_of(program, client.communicate()[0]) for client in started)
    if calls == 0:
        return "failed: no good answer"
    mean_us = clients / (calls / options.seconds) * 1e6
    return f"{calls / options.seconds:9.0f} /s mean {mean_us:7.0f} us  {counted.told(calls)}"


def profile(options, pid, name):
    if options.perf is None:
        return None
    data = options.perf / f"{name}.data"
    return subprocess.Popen(["perf", "record", "-F", "499", "-g", "-o", data, "-p", str(pid), "--",
                             "sleep", str(max(1, options.seconds - 1))],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def row(options, name, pid, load_it):
    """Prints what the load reports, and records its profile."""
    if options.only and not re.search(options.only, name):
        return
    recorded = profile(options, pid, re.sub(r"\W+", "_", name))
    print(f"{name:36} {load_it()}", flush=True)
    if recorded is not None:
        recorded.wait()


def rows(options, title, pid, address, shape, loads, is_echo):
    for clients, connections, threads in loads:
        row(options, f"{title} c={clients}/{connections}", pid, lambda: load(
            options, pid, address, shape, clients, connections, threads, is_echo))


def lean_rows(options, title, pid, addresses, pools):
    """`addresses`: by the program that loads each."""
    for program, address in addresses.items():
        for clients, connections, threads in LEAN_LOADS if shutil.which(program) else ():
            row(options, f"{title} {program} c={clients}/{connections}", pid, lambda: lean_load(
                options, program, pid, address, pools, clients, connections, threads))


@contextlib.contextmanager
def daemon(options, pools, workers, width):
    """Its process, and its addresses for gRPC and HTTP."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "mpsd.json")
        config.write_text(json.dumps({**config_of(pools, workers, width), "state_dir": f"{folder}/s"}))
        arguments = [options.bin / "mpsd", "serve", "--config", config, *options.more]
        pattern = r"takes gRPC calls on ([^, ]+), http on (\S+)"
        with running([str(each) for each in arguments], pattern) as started:
            yield started


def echo_rows(options):
    with running([str(options.bin / "mpsd-echo"), "--listen", "127.0.0.1:0", "--threads", "4"],
                 r"listening (\S+)") as (pid, address):
        rows(options, "echo of gRPC", pid, address, (1, 256), LOADS, True)
        lean_rows(options, "echo of gRPC", pid, {"h2load": address}, 1)
        for width, clients in LARGE:
            rows(options, f"echo {width * 4} B", pid, address, (1, width), [(clients, clients, 1)], True)
    answer = options.folder / "answer"
    answer.write_bytes(bytes(1200))
    with running([str(options.bin / "mpsd-http-echo"), "--listen", "127.0.0.1:0", "--threads", "4",
                  "--answer", str(answer)], r"listening (\S+)") as (pid, address):
        lean_rows(options, "echo of Beast", pid, {"wrk": address}, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--perf", type=pathlib.Path, help="a folder for records of perf")
    parser.add_argument("--only", help="rows whose name this expression finds")
    parser.add_argument("--more", nargs="*", default=[], help="further arguments of mpsd serve")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.folder = pathlib.Path(folder)
        print(f"{CORES} cores; name×threads, then microseconds and sleeps for each call")
        echo_rows(options)
        for pools, workers in SHAPES:
            with daemon(options, pools, workers, 256) as (pid, grpc, http):
                title = f"{pools} pools of {workers}"
                rows(options, title, pid, grpc, (pools, 256), LOADS, False)
                lean_rows(options, title, pid, {"h2load": grpc, "wrk": http}, pools)
        for width, clients in LARGE:
            with daemon(options, 1, 2, width) as (pid, grpc, _):
                rows(options, f"{width * 4} B", pid, grpc, (1, width), [(clients, clients, 1)], False)


if __name__ == "__main__":
    main()
