#!/usr/bin/env python3
"""What one front end does on a host of many cores: calls a second, and what each thread costs.

    load_tests/cores/cores.py --bin build/release/bin [--seconds 3] [--perf FOLDER] [--only TEXT]

Each row is a daemon with so many workers in so many pools, and so many clients on so many
connections. The model gives back 1 kB at once. The ceiling of a row is gRPC's own echo under the
same load. Linux only, and the load runs beside the server."""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile

LOADS = ((1, 1, 1), (64, 4, 4), (64, 64, 4), (512, 128, 8))  # clients, connections, threads
SHAPES = ((1, 4), (1, 12), (4, 1), (1, 1))  # pools, workers in each
LARGE = ((150528, 4), (4194304, 2))  # elements, clients


def config_of(pools, workers, width):
    tensor = {"name": "x", "datatype": "FP32", "shape": [width]}
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
        """Since the beginning: microseconds and sleeps for each call, of the busy threads."""
        rows = []
        for name, (count, seconds, sleeps) in sorted(self._read().items()):
            _, seconds_before, sleeps_before = self._before[name]
            micros = (seconds - seconds_before) / calls * 1e6
            if micros >= 0.05:
                rows.append(f"{name}×{count} {micros:.1f} us {(sleeps - sleeps_before) / calls:.2f}")
        return ", ".join(rows)


@contextlib.contextmanager
def running(arguments, pattern):
    """The process and what the pattern finds in its output."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        found = None
        for line in process.stdout:
            found = found or re.search(pattern, line)
            if found and (line.startswith("Try:") or "listening" in line):
                break
        yield process.pid, found[1]
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()


def load(options, pid, address, shape, clients, connections, threads, is_echo):
    pools, width = shape
    models = [f"m{i}" for i in range(pools)]
    counted = Threads(pid)
    arguments = [options.bin / "mpsd-bench", "--target", address, "--model", *models,
                 "--input", f"x:FP32[1,{width}]", "--concurrency", clients, "--channels", connections,
                 "--threads", threads, "--duration", f"{options.seconds}s", "--warmup", "0s",
                 "--pid", f"server={pid}", "--json", "--allow-errors", *(["--echo"] if is_echo else [])]
    done = subprocess.run([str(each) for each in arguments], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return f"failed: {done.stderr[-300:]}{done.stdout[-300:]}"
    report = json.loads(done.stdout)
    server = next(each for each in report["processes"] if each["name"] == "server")
    errors = f"  {report['errors']}" if report["errors"] else ""
    return (f"{report['answered'] / report['seconds']:9.0f} /s  p50 {report['latency_us']['p50']:7.0f} us"
            f"  {server['cpu_us']:8.1f} us CPU  {server['voluntary_switches']:.2f} sleeps"
            f"  | {counted.told(report['answered'])}{errors}")


def profile(options, pid, name):
    if options.perf is None:
        return None
    data = options.perf / f"{name}.data"
    return subprocess.Popen(["perf", "record", "-F", "499", "-g", "-o", data, "-p", str(pid), "--",
                             "sleep", str(max(1, options.seconds - 1))],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rows(options, title, pid, address, shape, loads, is_echo):
    for clients, connections, threads in loads:
        name = f"{title} c={clients}/{connections}"
        if options.only and not re.search(options.only, name):
            continue
        recorded = profile(options, pid, re.sub(r"\W+", "_", name))
        line = load(options, pid, address, shape, clients, connections, threads, is_echo)
        print(f"{name:32} {line}", flush=True)
        if recorded is not None:
            recorded.wait()


@contextlib.contextmanager
def daemon(options, pools, workers, width):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "mpsd.json")
        config.write_text(json.dumps({**config_of(pools, workers, width), "state_dir": f"{folder}/s"}))
        arguments = [options.bin / "mpsd", "serve", "--config", config, *options.more]
        with running([str(each) for each in arguments], r"takes gRPC calls on ([^, ]+),") as started:
            yield started


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--perf", type=pathlib.Path, help="a folder for records of perf")
    parser.add_argument("--only", help="rows whose name this expression finds")
    parser.add_argument("--more", nargs="*", default=[], help="further arguments of mpsd serve")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores; name×threads, then microseconds and sleeps for each call")
    with running([str(options.bin / "mpsd-echo"), "--listen", "127.0.0.1:0", "--threads", "4"],
                 r"listening (\S+)") as (pid, address):
        rows(options, "echo of gRPC", pid, address, (1, 256), LOADS, True)
        for width, clients in LARGE:
            rows(options, f"echo {width * 4} B", pid, address, (1, width), [(clients, clients, 1)], True)
    for pools, workers in SHAPES:
        with daemon(options, pools, workers, 256) as (pid, address):
            rows(options, f"{pools} pools of {workers}", pid, address, (pools, 256), LOADS, False)
    for width, clients in LARGE:
        with daemon(options, 1, 2, width) as (pid, address):
            rows(options, f"{width * 4} B", pid, address, (1, width), [(clients, clients, 1)], False)


if __name__ == "__main__":
    main()
