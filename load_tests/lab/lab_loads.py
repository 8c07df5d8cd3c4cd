"""The loads of a scenario, as commands of mpsd-bench and mpsd-simulate, and their reports."""

import re
from concurrent.futures import ThreadPoolExecutor

import make_trace
from bench_figures import mean_batch
from bench_processes import Daemon, run_json
from bench_tokens import access_of_tenants
from lab_scenario import is_identity, models_of

WARMUP_MS = 700
SPANS = 50  # spans in a timeline
PATIENCE_S = 60
UNITS_US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
# Flags of mpsd-bench that are named like their keys.
SAME = ("skew", "streams", "cv", "burst", "on", "off", "deadline", "threads", "channels")
NOISE = 0.02  # noise of a synthetic model's batches
WAITING = 256  # requests in a queue without a configured length


def microseconds(text):
    """A duration, written as in configs, in microseconds."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|us|ms|s)", text).groups()
    return float(number) * UNITS_US[unit]


def rate_of(load, done):
    """Calls a second. Some loads have a multiple of another load's rate; `done` is {"phase/load":
    report}."""
    rate = load["rate"]
    return rate["times"] * done[rate["of"]]["throughput"] if isinstance(rate, dict) else rate


def trace_flags(load, path):
    """The flags of a load from a trace; writes the trace to `path`."""
    trace = load["trace"]
    with open(path, "w", encoding="utf-8") as file:
        file.write(make_trace.csv(make_trace.make(make_trace.Shape(**trace["make"]))))
    wheres = (("--where", f"{column}={value}") for column, value in trace.get("where", {}).items())
    return ["--trace", path, "--bin", trace["bin"], *(flag for pair in wheres for flag in pair)]


def arrival_flags(load, done, path):
    """The flags for the arrival of the load's calls."""
    if "clients" in load:
        return ["--concurrency", str(load["clients"])]
    if "trace" in load:
        return trace_flags(load, path)
    return ["--rate", f"{rate_of(load, done):.3f}"]


class LoadRunner:
    """Runs one phase after another. Needs the folder of programs, a folder for files, and the
    seconds."""

    def __init__(self, binaries, folder, seconds):
        self.binaries, self.folder, self.seconds = binaries, folder, seconds
        self.failed = []

    def command(self, daemon, phase, name, done, seed):
        """mpsd-bench with a load of the phase."""
        load = phase.loads[name]
        models = {model["name"]: model for model in phase.models}
        command = [f"{self.binaries}/mpsd-bench", "--json", "--allow-errors", "--target", daemon.grpc,
                   "--pid", f"server={daemon.pid}", "--model", ",".join(models_of(load)),
                   "--seed", str(seed), "--duration", f"{self.seconds * 1000:.0f}ms",
                   "--warmup", f"{WARMUP_MS}ms", "--timeline",
                   f"{self.seconds * 1000 / SPANS:.0f}ms",
                   *arrival_flags(load, done, f"{self.folder}/{name}.csv")]
        for key in SAME:
            if key in load:
                command += [f"--{key}", str(load[key])]
        if "slo" in load or "deadline" in load:
            command += ["--slo", load.get("slo", load.get("deadline"))]
        if "lengths" in load:
            command += ["--lengths", ",".join(map(str, load["lengths"]))]
        if "tenant" in load:
            command += ["--token-file", f"{self.folder}/{load['tenant']}"]
        if all(is_identity(models[model]) for model in models_of(load)):
            command.append("--verify-identity")
        elif all("path" in models[model] for model in models_of(load)):
            command.append("--verify-near")
        for text in load["inputs"]:
            command += ["--input", text]
        return command

    def run(self, phase, tenants, done, seed):
        """The reports of the phase's loads, which come at once: {name: report}."""
        if phase.simulate is not None:
            return {name: self.simulated(phase, name, done, seed, phase.simulate)
                    for name in phase.loads}
        config = {"access": access_of_tenants(self.folder, tenants)} if tenants else {}
        with Daemon(self.binaries, self.folder, phase.models, name="lab", **config) as daemon, \
                ThreadPoolExecutor(len(phase.loads)) as threads:
            commands = [self.command(daemon, phase, name, done, seed + index)
                        for index, name in enumerate(phase.loads)]
            before = daemon.metrics()
            reports = list(threads.map(self.measured, commands))
            after = daemon.metrics()
        for name, report in zip(phase.loads, reports):
            names = models_of(phase.loads[name])
            report["mean_batch"] = mean_batch(before, after, names[0]) if len(names) == 1 else None
        return dict(zip(phase.loads, reports))

    def measured(self, command):
        """The report of one mpsd-bench. Calls may fail; the bars decide which failures count."""
        report, _ = run_json(command, self.seconds + PATIENCE_S)
        if report["wrong"]:
            self.failed.append({"command": command, "errors": report["errors"],
                                "wrong": report["wrong"]})
        return report

    def simulated(self, phase, name, done, seed, more=()):
        """The report of mpsd-simulate for a load, with a report's keys. Client and front end cost
        nothing there."""
        load = phase.loads[name]
        model = next(model for model in phase.models if model["name"] in models_of(load))
        command = [f"{self.binaries}/mpsd-simulate", *model_flags(model), "--seed", str(seed),
                   "--duration", f"{self.seconds * 1000:.0f}ms"]
        if "clients" in load:
            command += ["--clients", str(load["clients"])]
        else:
            command += ["--rate", f"{rate_of(load, done):.3f}"]
        if "deadline" in load:
            command += ["--deadline", load["deadline"]]
        report, _ = run_json([*command, *more], PATIENCE_S)
        return {**report, "wrong": 0, "errors": {}}


def model_flags(model):
    """The flags that tell mpsd-simulate about a synthetic model."""
    parameters, placement = model.get("parameters", {}), model.get("placement", {})
    each, per_row = (microseconds(parameters.get(key, "0us")) for key in ("delay", "delay_per_row"))
    largest = model["max_batch_size"]
    rows = sorted({1, largest, *(2 ** power for power in range(1, 11) if 2 ** power < largest)})
    flags = ["--curve", ",".join(f"{count}={(each + per_row * count) * 1e3:.0f}ns" for count in rows),
             "--max-batch", str(largest), "--noise", str(NOISE),
             "--lanes", str(placement.get("processes", 1) * placement.get("lanes", 1)),
             "--queue", str(model.get("queue", {}).get("requests", WAITING))]
    delay = model.get("batching", {}).get("max_delay")
    return [*flags, "--max-delay", delay] if delay else flags
