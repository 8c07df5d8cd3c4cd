#!/usr/bin/env python3
"""Measures the daemon beside the ceilings of the machine it runs on, in one run.

Every figure is a ratio. The raw gRPC echo, a futex round trip, a memcpy and a bare libtorch loop
are measured in the same rounds as the daemon, in turn, and the medians of the rounds are compared.
Exit status 0 if every target is met, 1 if one is not, 2 if the run itself failed.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(f"{HERE}/../pictures")
import random_bert  # noqa: E402
import bench_forecast  # noqa: E402
import bench_frames  # noqa: E402
import bench_http  # noqa: E402
import bench_pictures  # noqa: E402
import bench_reloads  # noqa: E402
import bench_sweeps  # noqa: E402
import bench_tenants  # noqa: E402
from bench_figures import (Samples, bare_rate, failures, mean_batch, metric,  # noqa: E402
                           mixed_rate, table)
from bench_processes import ONE_THREAD, Daemon, Echo, children, own_mb, pin, run_json  # noqa: E402
from bench_rows import (ceiling_rows, foretold_rows, honesty_rows, hop_rows,  # noqa: E402
                        http_rows, idle_rows, micro_rows, missing_rows, model_rows, null_rows,
                        reload_rows, step_rows, sweep_rows, tenant_rows)

SMALL = "INPUT0:FP32[1,256]"
IMAGE = "INPUT0:FP32[1,3,224,224]"
LARGE = "INPUT0:FP32[1,4194304]"  # 16 MiB
LENGTHS = (8, 16, 30, 100)
MLP_ROW = "FP32[1024]"
NETWORKS = ("mlp", "minilm")  # answers are numbers that vary a little with the batch size


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{HERE}/../../build/release/bin",
                        help="folder of the binaries (default build/release/bin)")
    parser.add_argument("--models", default=f"{HERE}/../../.deps/models",
                        help="folder of the models; what is missing there is made for the run")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    parser.add_argument("--seconds", type=float, default=3, help="of each load (default 3)")
    parser.add_argument("--only", help="comma-separated measurements; the rest is left out")
    parser.add_argument("--echo-only", action="store_true", help="the ceilings alone, no daemon")
    parser.add_argument("--no-sweep", action="store_true",
                        help="leave out Poisson arrivals from 50 to 300 %% of capacity (T8)")
    parser.add_argument("--pin", metavar="CLIENT:SERVER:WORKER",
                        help="bind client, echo and front end, and workers to these cores")
    parser.add_argument("--json", metavar="FILE", help="write every sample there")
    parser.add_argument("--html", metavar="FILE", help="write a page with pictures there")
    arguments = parser.parse_args()
    if arguments.pin:
        arguments.pin = [{int(core)} for core in arguments.pin.split(":")]
        if len(arguments.pin) != 3:
            parser.error("--pin takes three cores, such as 0:1:1")
    return arguments


def find_models(arguments, folder, names):
    """The named models of bench.json; makes the files that the models folder lacks."""
    with open(f"{HERE}/bench.json", encoding="utf-8") as file:
        models = [model for model in json.load(file)["models"] if model["name"] in names]
    for model in models:
        if "path" in model:
            model["path"] = model_file(arguments, folder, model["path"])
    return models


def model_file(arguments, folder, name):
    """The path of a model in the models folder, or of one made in `folder`."""
    path = os.path.abspath(os.path.join(arguments.models, name))
    if os.path.exists(path):
        return path
    path = f"{folder}/{name}"
    if not os.path.exists(path) and name == "minilm":
        os.mkdir(path)
        random_bert.write(path)
    elif not os.path.exists(path):
        subprocess.run([f"{arguments.binaries}/mpsd-make-models", folder], check=True,
                       stdout=subprocess.DEVNULL, timeout=300)
    return path


class Bench(Samples, bench_frames.FrameLoads, bench_http.HttpLoads, bench_reloads.ReloadLoads, bench_sweeps.SweepLoads,
            bench_tenants.TenantLoads):
    """One run: its servers, its samples, and one method for each measurement."""

    def __init__(self, arguments, folder, models, daemon, echo, echo_unix):
        super().__init__()
        self.arguments = arguments
        self.folder = folder
        self.models = {model["name"]: model for model in models}
        self.daemon, self.echo, self.echo_unix = daemon, echo, echo_unix
        self.failed = []

    # ---- loads ----

    def load(self, target, *flags, model="identity", inputs=(SMALL,), allow_errors=False):
        """Runs mpsd-bench once; returns its report."""
        command = [f"{self.arguments.binaries}/mpsd-bench", "--json", "--target", target,
                   "--model", model, "--duration", f"{self.arguments.seconds * 1000:.0f}ms",
                   "--warmup", "500ms", *flags]
        for text in inputs:
            command += ["--input", text]
        if allow_errors:
            command.append("--allow-errors")
        if model in NETWORKS:
            command.append("--verify-near")
        report, right = run_json(command, self.arguments.seconds + 60,
                                 self.arguments.pin and self.arguments.pin[0])
        if not right:
            self.failed.append({"command": command, "errors": report["errors"],
                                "wrong": report["wrong"]})
        report["cpu_us"] = {used["name"]: used["cpu_us"] for used in report["processes"]}
        report["switches"] = {used["name"]: used["voluntary_switches"]
                              for used in report["processes"]}
        report["p50_us"] = report["latency_us"]["p50"]
        report["p99_us"] = report["latency_us"]["p99"]
        return report

    def load_echo(self, echo, *flags, inputs=(SMALL,)):
        """Loads the echo server, and reports its cost as `server`."""
        return self.load(echo.address, "--echo", "--pid", f"server={echo.pid}", *flags,
                         inputs=inputs)

    def load_daemon(self, *flags, model="identity", inputs=(SMALL,), target=None, **options):
        """Loads one model of the daemon; adds the mean batch size."""
        watched = ["--pid", f"server={self.daemon.pid}"]
        for index, pid in enumerate(children(self.daemon.pid)):
            watched += ["--pid", f"worker{index}={pid}"]
        before = self.daemon.metrics()
        report = self.load(target or self.daemon.grpc, *watched, *flags, model=model, inputs=inputs,
                           **options)
        report["mean_batch"] = mean_batch(before, self.daemon.metrics(), model)
        return report

    def bare_loop(self, model, inputs, sizes, seconds=0.7):
        """The bare loop's samples a second, by batch size."""
        command = [f"{self.arguments.binaries}/mpsd-bare-loop", "--model",
                   self.models[model]["path"], "--runs", "1", "--seconds", str(seconds),
                   "--batches", ",".join(str(size) for size in sorted(set(sizes)))]
        for text in inputs:
            command += ["--input", text]
        cores = self.arguments.pin and self.arguments.pin[2]
        report, _ = run_json(command, 120, cores, ONE_THREAD)
        return {int(size): rate for size, rate in report["samples_per_second"].items()}

    def lane_loop(self, model, rows, length, seconds):
        """The samples a second of a worker's lane without a worker. Open dims get `length`."""
        command = [f"{self.arguments.binaries}/mpsd-lane-bench", self.models[model]["path"], "cpu",
                   "1", str(rows), str(seconds), f"length={length}"]
        cores = self.arguments.pin and self.arguments.pin[2]
        report, _ = run_json(command, 120, cores, ONE_THREAD)
        return report["samples_per_second"]

    # ---- ceilings ----

    def futex(self):
        return run_json([f"{self.arguments.binaries}/mpsd-futex-echo", "--rounds", "5000"], 60)[0]

    def micro(self):
        """Nanoseconds of one core for single parts of a request's path."""
        command = [f"{self.arguments.binaries}/mpsd-micro-bench", "--benchmark_format=json",
                   "--benchmark_min_time=0.3"]
        report, _ = run_json(command, 120)
        return {run["name"]: run["cpu_time"] for run in report["benchmarks"]}

    def echo_c1(self):
        return self.load_echo(self.echo, "--concurrency", "1")

    def echo_c64(self):
        return self.load_echo(self.echo, "--concurrency", "64")

    def echo_connections(self, connections):
        """64 open calls over this many connections, to compare with the same number of streams."""
        return self.load_echo(self.echo, "--concurrency", "64", "--channels", str(connections))

    def echo_connections4_c64(self):
        return self.echo_connections(4)

    def echo_connections16_c64(self):
        return self.echo_connections(16)

    def echo_connections64_c64(self):
        return self.echo_connections(64)

    def echo_unix_c64(self):
        return self.load_echo(self.echo_unix, "--concurrency", "64")

    def echo_image(self):
        return self.load_echo(self.echo, "--concurrency", "4", inputs=(IMAGE,))

    def echo_large(self):
        return self.load_echo(self.echo, "--concurrency", "1", inputs=(LARGE,))

    # ---- the daemon ----

    def null_c1(self):
        return self.load_daemon("--verify-identity", "--concurrency", "1")

    def null_c64(self):
        return self.load_daemon("--verify-identity", "--concurrency", "64")

    def null_unix_c64(self):
        return self.load_daemon("--verify-identity", "--concurrency", "64", target=self.daemon.unix)

    def null_streams(self, streams):
        """64 open requests over this many streams."""
        return self.load_daemon("--verify-identity", "--concurrency", "64", "--streams",
                                str(streams))

    def null_streams1_c64(self):
        return self.null_streams(1)

    def null_streams4_c64(self):
        return self.null_streams(4)

    def null_streams16_c64(self):
        return self.null_streams(16)

    def null_streams64_c64(self):
        return self.null_streams(64)

    def steps_c1(self):
        return self.load_daemon("--verify-identity", "--concurrency", "1", model="chain")

    def steps_c64(self):
        return self.load_daemon("--verify-identity", "--concurrency", "64", model="chain")

    def null_image(self):
        return self.load_daemon("--verify-identity", "--concurrency", "4", model="image",
                                inputs=(IMAGE,))

    def null_large(self):
        return self.load_daemon("--verify-identity", "--concurrency", "1", model="large",
                                inputs=(LARGE,))

    def mlp_c128(self):
        report = self.load_daemon("--concurrency", "128", model="mlp",
                                  inputs=bench_sweeps.MLP.inputs)
        mean = report["mean_batch"] or 1
        rates = self.bare_loop("mlp", [MLP_ROW], [1, 64, int(mean), min(64, int(mean) + 1)])
        report.update(bare_1=rates[1], bare_64=rates[64], bare_same=bare_rate(rates, mean))
        return report

    def closed_loop(self, clients):
        """Calls of one row to the MLP, and the bare loop at the batch that these clients make."""
        report = self.load_daemon("--concurrency", str(clients), model="mlp",
                                  inputs=bench_sweeps.MLP.inputs)
        rows = min(clients, self.models["mlp"]["max_batch_size"])
        report["bare_same"] = self.bare_loop("mlp", [MLP_ROW], [rows])[rows]
        return report

    def curve(self, model, length):
        """A lane's samples a second, by rows."""
        return {"rates": {rows: self.lane_loop(model, rows, length, 0.4)
                          for rows in bench_forecast.SIZES}}

    def mlp_curve(self):
        """Times of batches on a worker's lane, whose products are not libtorch's (decision
        0040)."""
        return self.curve("mlp", 1024)

    def mlp_c16(self):
        return self.closed_loop(16)

    def mlp_c64(self):
        return self.closed_loop(64)

    def mlp_c256(self):
        return self.closed_loop(256)

    def mlp_c1(self):
        report = self.load_daemon("--concurrency", "1", model="mlp",
                                  inputs=bench_sweeps.MLP.inputs)
        report["bare_1"] = self.bare_loop("mlp", [MLP_ROW], [1])[1]
        return report

    def minilm(self):
        report = self.load_daemon(
            "--concurrency", "64", "--lengths", ",".join(str(length) for length in LENGTHS),
            model="minilm",
            inputs=("input_ids:INT64[1,-1]=0..20000", "attention_mask:INT64[1,-1]=1"))
        rows = round(report["mean_batch"] or 1)
        for name, size in (("bare_1", 1), ("bare_same", rows)):
            report[name] = mixed_rate([self.lane_loop("minilm", size, length, 0.5)
                                       for length in LENGTHS])
        return report

    def minilm_c64(self):
        return self.load_daemon("--concurrency", "64", model="minilm",
                                inputs=bench_sweeps.MINILM.inputs)

    def minilm_curve(self):
        return self.curve("minilm", 30)

    def start(self):
        path = model_file(self.arguments, self.folder, "mlp_256x512x4.pt")
        model = {"name": "small", "path": path, "device": "cpu", "warmup": "smallest",
                 "max_batch_size": 64, "placement": {"processes": 1, "lanes": 1, "threads": 1}}
        with Daemon(self.arguments.binaries, self.folder, [model], name="start") as daemon:
            return {"ready_s": daemon.ready_s,
                    "own_mb": own_mb(daemon.pid) if os.path.isdir("/proc/self") else None}

    # ---- the run ----

    def run(self, names):
        """Runs all rounds, one measurement after another; some only in the first round."""
        for index in range(self.arguments.rounds):
            for name in names:
                if index > 0 and name in ONCE:
                    continue
                print(f"round {index + 1} of {self.arguments.rounds}: {name}", file=sys.stderr,
                      flush=True)
                self.samples.setdefault(name, []).append(getattr(self, name)())


CONNECTIONS = ["echo_connections4_c64", "echo_connections16_c64", "echo_connections64_c64"]
CEILINGS = ["futex", "echo_c1", "echo_c64", "echo_unix_c64", "echo_image", "echo_large"]
# Each measurement runs next to its ceiling, so that both find the machine in the same state.
ORDER = ["futex", "echo_c1", "null_c1", "http_null_c1", "steps_c1", "echo_c64", "null_c64",
         "frames_echo_c64", "frames_null_c64", "frames_refused_c64", "http_null_c64", "http_null_echo_c64", "http_json_c64", "http_json_echo_c64",
         "http_vector_c64", "http_vector_echo_c64", "steps_c64", "echo_unix_c64", "null_unix_c64",
         "null_streams1_c64", "echo_connections4_c64", "null_streams4_c64",
         "echo_connections16_c64", "null_streams16_c64", "echo_connections64_c64",
         "null_streams64_c64", "echo_image", "null_image", "echo_large", "null_large", "mlp_c1", "mlp_c16", "mlp_c64",
         "mlp_c128", "mlp_c256", "mlp_curve", "minilm", "minilm_c64", "minilm_curve", "micro",
         "http_idle", "http2_idle", "tenants", "reload", "start"]
# Measurements that do not use the shared daemon.
ALONE = [*CEILINGS, *CONNECTIONS, "frames_echo_c64", "micro", "tenants", "reload", "start"]
# Measurements of the first round only: further rounds are not worth their time.
ONCE = [*CONNECTIONS, "null_streams4_c64", "null_streams16_c64", "null_streams64_c64"]
# The models of bench.json that a measurement needs besides "identity".
NEEDED = {"null_image": {"image"}, "null_large": {"large"},
          **{name: {"minilm"} for name in ("minilm", "minilm_c64", "minilm_curve")},
          **{f"mlp_{which}": {"mlp"} for which in ("c1", "c16", "c64", "c128", "c256", "curve")},
          "steps_c1": {"second", "chain"}, "steps_c64": {"second", "chain"},
          **{f"http_{name}_c64": {"vector"}
             for name in ("json", "json_echo", "vector", "vector_echo")}}


def commit():
    """The commit of the sources, if they are in a repository and git is here."""
    if shutil.which("git") is None:
        return "unknown"
    done = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def machine():
    """The machine and the versions of these figures."""
    name = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            name = next((line.partition(":")[2].strip() for line in file
                         if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def chosen(arguments):
    """The measurements of this run, in order, except those whose tool is missing here."""
    names = [name for name in ORDER if not arguments.echo_only or name in CEILINGS]
    if arguments.only:
        wanted = arguments.only.split(",")
        unknown = [name for name in wanted if name not in ORDER]
        if unknown:
            raise SystemExit(f"no such measurement: {', '.join(unknown)}; there are "
                             f"{', '.join(ORDER)}")
        names = [name for name in names if name in wanted]
    lacks = {**bench_http.missing(names), **bench_frames.missing(names)}
    if "micro" in names and not os.path.exists(f"{arguments.binaries}/mpsd-micro-bench"):
        lacks["micro"] = "mpsd-micro-bench was not built, which comes with the tests"
    for name, why in lacks.items():
        print(f"left out: {name}: {why}", file=sys.stderr)
    return [name for name in names if name not in lacks]


def measure(arguments, bench, names):
    """Runs the rounds against servers that end with this call; returns the table's rows, and T8's sweeps."""
    sweeps, foretold, wakeups = [], {}, None
    bench.run(names)
    if bench.has("mlp_curve", *bench_forecast.NEEDS):
        forecast = bench_forecast.Forecast(bench, "mlp_curve")
        foretold = {name: forecast.of_clients(clients, bench.samples[name])
                    for name, clients in ((f"mlp_c{count}", count) for count in (1, 16, 64, 256))
                    if bench.has(name)}
    for swept in () if arguments.no_sweep else (bench_sweeps.MLP, bench_sweeps.MINILM):
        if bench.has(*swept.needs, *bench_forecast.NEEDS):
            sweeps += bench.sweeps(swept)
    bench.samples["sweep"] = [point for sweep in sweeps for point in sweep.points]
    if bench.daemon is not None:
        wakeups = metric(bench.daemon.metrics(), "mpsd_timeout_wakeups_total")
    rows = (ceiling_rows(bench) + hop_rows(bench) + null_rows(bench) + http_rows(bench)
            + idle_rows(bench) + step_rows(bench) + model_rows(bench)
            + foretold_rows(bench, foretold) + sweep_rows(sweeps) + tenant_rows(bench)
            + reload_rows(bench) + micro_rows(bench) + honesty_rows(bench, wakeups))
    return rows + missing_rows(rows), sweeps


def run(arguments, folder):
    """Does the whole run in a temporary folder. Returns the bench, its rows and its sweeps."""
    names = chosen(arguments)
    wanted = {"identity"}.union(*(NEEDED.get(name, set()) for name in names))
    daemon_needed = any(name not in ALONE for name in names)
    models = find_models(arguments, folder, wanted) if daemon_needed else []
    with Echo(arguments.binaries, folder) as echo, \
            Echo(arguments.binaries, folder, f"unix:{folder}/echo.sock", "echo_unix") as echo_unix:
        if arguments.pin:
            pin(echo.pid, arguments.pin[1])
            pin(echo_unix.pid, arguments.pin[1])
        if not daemon_needed:
            bench = Bench(arguments, folder, models, None, echo, echo_unix)
            return bench, *measure(arguments, bench, names)
        with Daemon(arguments.binaries, folder, models) as daemon:
            if arguments.pin:
                pin(daemon.pid, arguments.pin[1])
                for worker in children(daemon.pid):
                    pin(worker, arguments.pin[2])
            bench = Bench(arguments, folder, models, daemon, echo, echo_unix)
            return bench, *measure(arguments, bench, names)


def main():
    """Runs, prints the table, and exits with 0 if the targets are met."""
    arguments = parse_arguments()
    arguments.binaries = os.path.abspath(arguments.binaries)
    begin = time.time()
    try:
        with tempfile.TemporaryDirectory(prefix="mpsd-bench-") as folder:
            bench, rows, sweeps = run(arguments, folder)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    head = (f"{machine()}; commit {commit()}; {time.strftime('%Y-%m-%d')}; {arguments.rounds} rounds of "
            f"{arguments.seconds:g} s, medians; {time.time() - begin:.0f} s in all")
    print(f"{head}\n")
    print(table(rows))
    print(failures(bench.failed), end="")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "commit": commit(), "samples": bench.samples,
                       "failed": bench.failed, "rows": [vars(row) for row in rows]}, file, indent=1)
    if arguments.html:
        bench_pictures.write(arguments.html, bench, rows, sweeps, head)
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
