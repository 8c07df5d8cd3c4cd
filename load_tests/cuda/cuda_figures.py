"""One part of cuda_figures.sh; that script says how and where to run it."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

from bench_processes import Daemon, metric, run_json

BIN = pathlib.Path(os.environ["MPSD_FIGURES_BIN"])
OUT = pathlib.Path(os.environ["MPSD_FIGURES_OUT"])
DEVICE = os.environ["MPSD_FIGURES_DEVICE"]
SECONDS = float(os.environ["MPSD_FIGURES_SECONDS"])
MODELS = pathlib.Path(os.environ["MPSD_FIGURES_MODELS"])
BATCHES = (1, 8, 32, 128)
SPLITS = ((1, 8), (4, 2))  # processes × lanes
STAGES = ("queue", "dispatch", "execute", "respond")
BENCH_INPUTS = {"minilm": ["input_ids:INT64[{rows},128]=0..20000",
                           "attention_mask:INT64[{rows},128]=1"],
                "mlp": ["input:FP32[{rows},2048]"]}


@contextlib.contextmanager
def programs():
    """The environment in which our programs find their libraries; not for Python or compilers."""
    before = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = os.environ["MPSD_FIGURES_LIBRARIES"]
    try:
        yield
    finally:
        if before is None:
            del os.environ["LD_LIBRARY_PATH"]
        else:
            os.environ["LD_LIBRARY_PATH"] = before


def figure(part, **values):
    """Prints one figure and keeps it."""
    line = json.dumps({"part": part, **{key: round(value, 3) if isinstance(value, float) else value
                                        for key, value in values.items()}})
    print(line, flush=True)
    with open(OUT / "figures.jsonl", "a", encoding="utf-8") as file:
        file.write(line + "\n")


def attempt(what, work, *arguments):
    """Runs a function. Its failure loses this figure, not the others of the part."""
    try:
        return work(*arguments)
    except Exception as error:  # pylint: disable=broad-exception-caught
        print(f"   {what}: {type(error).__name__}: {str(error)[-1500:]}", flush=True)
        return None


def stanza(model, rows, processes, lanes, device=DEVICE, **more):
    """A model of the config whose batches are as large as one request."""
    return {"name": f"{model}_{rows}", "path": str(MODELS / f"{model}.pt"), "device": device,
            "max_batch_size": rows, "warmup": "smallest",
            "placement": {"processes": processes, "lanes": lanes, "threads": 1}, **more}


@contextlib.contextmanager
def serving(models, cuda_mps="off", **config):
    """A daemon with these models in its own folder; its log is kept."""
    with tempfile.TemporaryDirectory(prefix="mpsd-figures-") as folder:
        try:
            with programs(), Daemon(str(BIN), folder, models, patience_s=60,
                                    cuda_mps=cuda_mps, **config) as daemon:
                yield daemon
        finally:
            log = pathlib.Path(folder) / "mpsd.log"
            if log.exists():
                with open(OUT / "daemons.log", "ab") as kept:
                    kept.write(log.read_bytes()[-20000:])


def bench(daemon, name, model, rows, *options):
    """The report of calls with `rows` rows to the model, and whether all went well."""
    inputs = [part for text in BENCH_INPUTS[model]
              for part in ("--input", text.format(rows=rows))]
    return run_json(
        [str(BIN / "mpsd-bench"), "--target", daemon.grpc, "--model", name, *inputs, *options,
         "--threads", "4", "--channels", "4", "--duration", f"{SECONDS}s", "--warmup", "500ms",
         "--json"], timeout_s=40)


def load(daemon, model, rows, concurrency):
    """Rows a second and p50 of calls with `rows` rows."""
    report, good = bench(daemon, f"{model}_{rows}", model, rows, "--concurrency", str(concurrency))
    return {"rows_per_second": report["throughput"] * rows, "errors": report["errors"],
            "p50_us": report["latency_us"]["p50"], "mean_us": report["latency_us"]["mean"],
            "good": good}


def stage_sums(daemon, model):
    """{stage: (seconds, requests)} of a model since the daemon began."""
    page = daemon.metrics()

    def total(part, stage):
        labels = f'{{model="{model}",version="1",stage="{stage}"}}'
        return metric(page, f"mpsd_stage_seconds_{part}{labels}")

    return {stage: (total("sum", stage), total("count", stage)) for stage in STAGES}


def one_client(daemon, model, rows):
    """The time of one client's calls: mean microseconds of each stage, and outside of the stages,
    in both transports and the client."""
    name = f"{model}_{rows}"
    before = stage_sums(daemon, name)
    found = load(daemon, model, rows, 1)
    after = stage_sums(daemon, name)
    stages = {stage: 1e6 * (after[stage][0] - before[stage][0]) /
                     max(1, after[stage][1] - before[stage][1]) for stage in STAGES}
    outside = found["mean_us"] - sum(stages.values())
    return {"p50_us": found["p50_us"],
            "stages_us": {stage: round(us, 1) for stage, us in
                          {**stages, "outside": outside}.items()}}


def lane_bench(file, lanes, rows, *parameters):
    """The throughput of one process's lanes without a front end."""
    with programs():
        report, _ = run_json([str(BIN / "mpsd-lane-bench"), str(file), DEVICE, str(lanes),
                              str(rows), str(SECONDS), *parameters], timeout_s=60)
    return report


def python_inputs(model, rows):
    """The same inputs in the host's memory, for loops in Python."""
    import torch
    if model == "mlp":
        return [torch.rand(rows, 2048)]
    return [torch.randint(0, 20000, (rows, 128)), torch.ones(rows, 128, dtype=torch.int64)]


def python_loop(model, rows, threads):
    """Rows a second of a bare loop: from the host's memory, through the model, and back."""
    import torch
    module = torch.jit.load(str(MODELS / f"{model}.pt"), map_location=DEVICE).eval()
    module = torch.jit.freeze(module)
    stop, counts = threading.Event(), [0] * threads

    def run(index):
        inputs = python_inputs(model, rows)
        with torch.inference_mode(), torch.cuda.stream(torch.cuda.Stream()):
            while not stop.is_set():
                module(*[tensor.to(DEVICE) for tensor in inputs]).cpu()
                counts[index] += 1

    workers = [threading.Thread(target=run, args=(index,)) for index in range(threads)]
    for worker in workers:
        worker.start()
    time.sleep(0.5)
    first, begin = sum(counts), time.monotonic()
    time.sleep(SECONDS)
    rate = (sum(counts) - first) / (time.monotonic() - begin)
    stop.set()
    for worker in workers:
        worker.join()
    return rate * rows


# The parts.


def host():
    """The host, the device and the versions of these figures."""
    import torch
    def tell(command):
        with programs():
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=25)
        print(done.stdout.strip() or done.stderr.strip(), flush=True)

    for command in (["nvidia-smi", "-L"], [str(BIN / "mpsd-worker"), "--devices"]):
        attempt(command[0], tell, command)
    figure("host", torch=torch.__version__, gpu=torch.cuda.get_device_name(0),
           cores=len(os.sched_getaffinity(0)), date=time.strftime("%Y-%m-%d"))


def models():
    """Makes the models of all other parts."""
    MODELS.mkdir(parents=True, exist_ok=True)
    import cuda_models
    subprocess.run([sys.executable, cuda_models.__file__, str(MODELS)], check=True)


def minilm_of(processes, lanes, cuda_mps="off"):
    """All batch sizes at one placement."""
    stanzas = [stanza("minilm", rows, processes, lanes) for rows in BATCHES]
    with serving(stanzas, cuda_mps) as daemon:
        for rows in BATCHES:
            found = load(daemon, "minilm", rows, 4 * processes * lanes)
            figure("minilm", processes=processes, lanes=lanes, batch=rows, cuda_mps=cuda_mps,
                   ready_s=daemon.ready_s, **found)


def minilm():
    """Embeddings of 128 tokens a second, against a loop in Python of eight threads."""
    for rows in BATCHES:
        rate = attempt(f"python {rows}", python_loop, "minilm", rows, 8)
        figure("minilm_python", threads=8, batch=rows, rows_per_second=rate)
    for processes, lanes in SPLITS:
        attempt(f"{processes}x{lanes}", minilm_of, processes, lanes)


def status_of(daemon, model):
    """The model as `mpsd ps` shows it."""
    with programs():
        done = subprocess.run([str(BIN / "mpsd"), "ps", "--json", "--address", daemon.grpc],
                              capture_output=True, text=True, check=False, timeout=30)
    return next(entry for entry in json.loads(done.stdout)["models"] if entry["name"] == model)


def precision_of(word):
    """Small and large batches in one precision, and which one the workers took."""
    sizes = (1, 32, 128)
    with serving([stanza("minilm", rows, 1, 8, precision=word) for rows in sizes]) as daemon:
        for rows in sizes:
            found = load(daemon, "minilm", rows, 32)
            told = status_of(daemon, f"minilm_{rows}")
            figure("precision", asked=word, taken=told["precision"], note=told["precision_note"],
                   batch=rows, ready_s=daemon.ready_s, **found)


def precision():
    """Embeddings of 128 tokens a second, by the model's precision."""
    for word in ("tf32", "fp16", "auto"):  # `graphs` has fp32 and bf16
        attempt(word, precision_of, word)


def graphs_of(word, switch):
    """All batch sizes, one call after the other, and 512 clients of one row each, batched."""
    stanzas = [stanza("minilm", rows, 1, 8, precision=word, parameters={"graphs": switch},
                      queue={"requests": 1024}) for rows in BATCHES]
    with serving(stanzas) as daemon:
        one = load(daemon, "minilm", 1, 1)
        figure("graphs", precision=word, graphs=switch, clients=1, ready_s=daemon.ready_s, **one)
        for rows in BATCHES:
            found = load(daemon, "minilm", rows, 64 if rows == 1 else 32)
            figure("graphs", precision=word, graphs=switch, batch=rows, **found)
        many_clients_of(daemon, precision=word, graphs=switch, lanes=8)


def many_clients_of(daemon, **what):
    """512 clients of one row each, batched."""
    report, good = bench(daemon, "minilm_128", "minilm", 1, "--concurrency", "512")
    figure("graphs", clients=512, good=good, rows_per_second=report["throughput"],
           p50_us=report["latency_us"]["p50"], **what)


def few_lanes_of(count):
    """The same clients on fewer lanes, whose batches are larger."""
    with serving([stanza("minilm", 128, 1, count, precision="bf16",
                         queue={"requests": 1024})]) as daemon:
        many_clients_of(daemon, precision="bf16", graphs="on", lanes=count)


def graphs():
    """Embeddings of 128 tokens a second, by recorded runs and without them; the lanes alone too."""
    for word, switch in (("fp32", "on"), ("bf16", "off"), ("bf16", "on")):
        attempt(f"{word} {switch}", graphs_of, word, switch)
    for count in (1, 2, 4):
        attempt(f"{count} lanes", few_lanes_of, count)
    for rows in BATCHES:
        bare = attempt("lane bench", lane_bench, MODELS / "minilm.pt", 8, rows, "precision=bf16",
                       "graphs=on") or {}
        figure("graphs", precision="bf16", graphs="on", batch=rows,
               lanes_alone=bare.get("samples_per_second"))


def encoders():
    """A folder of MiniLM's size: rows of all lengths on the lanes alone, and texts by the daemon."""
    for word, lanes_count, rows in (("fp32", 4, 128), ("bf16", 1, 32), ("bf16", 1, 128),
                                    ("bf16", 4, 32), ("bf16", 4, 128), ("bf16", 8, 128)):
        bare = attempt("lane bench", lane_bench, MODELS / "encoder", lanes_count, rows,
                       f"precision={word}", "mixed=on", "length=256") or {}
        figure("encoders", precision=word, lanes=lanes_count, batch=rows,
               lanes_alone=bare.get("samples_per_second"))
    model = {"name": "texts", "path": str(MODELS / "encoder"), "device": DEVICE,
             "precision": "bf16", "max_batch_size": 128, "queue": {"requests": 2048},
             "placement": {"processes": 1, "lanes": 4, "threads": 1}}
    with serving([model]) as daemon, programs():
        for words, rows, clients in (("14", 1, 1), ("14", 1, 64), ("3..110", 1, 64),
                                     ("3..110", 1, 512), ("3..110", 32, 32)):
            report, _ = run_json(
                [str(BIN / "mpsd"), "bench", "texts", "--address", daemon.grpc, "--clients",
                 str(clients), "--rows", str(rows), "--input", f"text={words}", "--seconds",
                 str(SECONDS), "--json"], timeout_s=40)
            point = report["points"][0]
            figure("encoders", words=words, batch=rows, **point)


def lanes():
    """One process of eight lanes, whole, without a front end, and a loop of eight threads."""
    def daemon_of(rows):
        with serving([stanza("mlp", rows, 1, 8)]) as daemon:
            found = load(daemon, "mlp", rows, 32)
            return {**found, "one_client": one_client(daemon, "mlp", rows)}

    for rows in (1, 16, 64):
        found = attempt("daemon", daemon_of, rows) or {}
        bare = attempt("lane bench", lane_bench, MODELS / "mlp.pt", 8, rows) or {}
        one = attempt("one lane", lane_bench, MODELS / "mlp.pt", 1, rows) or {}
        loop = attempt("python", python_loop, "mlp", rows, 8)
        figure("lanes", batch=rows, daemon=found.get("rows_per_second"),
               lane_bench=bare.get("samples_per_second"), python=loop,
               one_lane=one.get("samples_per_second"), one_client=found.get("one_client"),
               errors=found.get("errors"))


def batching():
    """Calls of one row in closed loops, batched on one lane, against that lane alone (T6)."""
    with serving([stanza("minilm", 64, 1, 1)]) as daemon:
        for count in (1, 16, 64, 256):
            report, good = bench(daemon, "minilm_64", "minilm", 1, "--concurrency", str(count))
            bare = attempt("lane bench", lane_bench, MODELS / "minilm.pt", 1, min(count, 64),
                           "length=128") or {}
            figure("batching", model="minilm", concurrency=count, good=good,
                   rows_per_second=report["throughput"],
                   bare=bare.get("samples_per_second"), p50_us=report["latency_us"]["p50"])


def stolen_seconds():
    """The time stolen by other guests of the host, on all cores together, since its start."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def held_up(daemon, after_s, seconds):
    """Stops the daemon for `seconds`, `after_s` after the beginning."""
    def hold():
        time.sleep(after_s)
        os.kill(daemon.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(daemon.pid, signal.SIGCONT)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def overload():
    """Poisson arrivals with deadlines, up to three times a closed loop's rate (T8)."""
    with serving([stanza("minilm", 64, 1, 1)]) as daemon:
        one, _ = bench(daemon, "minilm_64", "minilm", 1, "--concurrency", "1")
        capacity = bench(daemon, "minilm_64", "minilm", 1, "--concurrency", "256")[0]["throughput"]
        alone_us = one["latency_us"]["p50"]
        figure("overload", closed_loop=capacity, alone_us=alone_us)

        def offer(share, deadline, **more):
            stolen = stolen_seconds()
            report, _ = bench(daemon, "minilm_64", "minilm", 1, "--rate",
                              str(round(share * capacity)), "--deadline", deadline, "--slo",
                              deadline, "--allow-errors")
            figure("overload", deadline=deadline, offered=share * capacity,
                   good_per_second=report["goodput"], of_capacity=report["goodput"] / capacity,
                   stolen_s=stolen_seconds() - stolen, errors=report["errors"], **more)

        for deadline in (f"{round(5 * alone_us)}us", "15ms", "30ms"):
            for share in (0.9, 1.5, 2, 3):
                offer(share, deadline)
        with held_up(daemon, 0.8, 0.15):
            offer(3, "15ms", held_up_s=0.15)
        offer(0.9, "30ms", after="it was held up")


def ask_gather(daemon, index):
    """Sends one request with `mpsd infer`; returns its exit code and output."""
    import numpy
    file = MODELS / f"ids_{index}.npy"
    numpy.save(file, numpy.array([[index]], dtype=numpy.int64))
    done = subprocess.run([str(BIN / "mpsd"), "infer", "gather_4", "--input", f"ids=@{file}",
                           "--address", daemon.grpc], capture_output=True, text=True,
                          check=False, timeout=30)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1:]


def fault_of(processes, cuda_mps="off"):
    """The time from a request that faults the device to the next answer."""
    stanzas = [stanza("gather", 4, processes, 2), stanza("mlp", 1, 1, 1)]
    with serving(stanzas, cuda_mps) as daemon:
        print("   before:", ask_gather(daemon, 3), flush=True)
        begin = time.monotonic()
        poison = ask_gather(daemon, 10_000_000)
        poison_s = time.monotonic() - begin
        while ask_gather(daemon, 3)[0] != 0 and time.monotonic() - begin < 40:
            time.sleep(0.01)
        served_s = time.monotonic() - begin
        neighbour = load(daemon, "mlp", 1, 4)
        figure("fault", processes=processes, cuda_mps=cuda_mps, poison_answered_s=poison_s,
               served_again_s=served_s, poison=" ".join(poison[1]),
               neighbour_errors=neighbour["errors"],
               exits=[worker.get("last_exit") for worker in status_of(daemon, "gather_4")["workers"]])


def fault():
    """Recovery of a device fault, with two workers."""
    attempt("2 workers", fault_of, 2)


def slab():
    """Copies from host to device, from registered pages and others, without computing."""
    for register in ("on", "off"):
        for count in (1, 4):
            report = attempt("lane bench", lane_bench, MODELS / "first_column.pt", count, 64,
                             f"register={register}")
            if report:
                figure("slab", register=register, lanes=count,
                       gb_per_second=report["input_bytes_per_second"] / 1e9)


def device_mib():
    """The memory in use on all devices, by all processes."""
    done = subprocess.run(["nvidia-smi", "--query-gpu=memory.used",
                           "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, check=True, timeout=20)
    return sum(map(int, done.stdout.split()))


def memory():
    """The memory of device and host that workers and lanes take while they work."""
    idle = device_mib()
    figure("memory", idle_mib=idle)

    def of(model, rows, processes, count):
        with serving([stanza(model, rows, processes, count)]) as daemon:
            ready = device_mib() - idle
            load(daemon, model, rows, 4 * processes * count)
            resident = [worker.get("resident_bytes") or worker.get("memory_bytes")
                        for worker in status_of(daemon, f"{model}_{rows}")["workers"]]
            figure("memory", model=model, batch=rows, processes=processes, lanes=count,
                   ready_mib=ready, loaded_mib=device_mib() - idle, resident_bytes=resident)

    for processes, count in ((1, 1), (1, 8), (2, 4)):
        attempt(f"minilm {processes}x{count}", of, "minilm", 32, processes, count)


def come_back(daemon, model, begin_s):
    """When each state of the model's worker 0 was first seen, until the worker serves again."""
    seen = {}
    while "serving" not in seen and time.monotonic() - begin_s < 60:
        state = status_of(daemon, model)["workers"][0]["state"]
        if state != "serving" or seen:
            seen.setdefault(state, time.monotonic() - begin_s)
    return seen


def wait_for_all(daemon, model):
    """A model is ready with its first worker: waits until the last one serves too."""
    daemon.wait_for(
        lambda: all(worker["state"] == "serving" for worker in status_of(daemon, model)["workers"]),
        60, f"serve '{model}' with all workers")


def weights_of(model, switch):
    """Four workers of one lane, and the return of one that is killed."""
    idle = device_mib()
    entry = {**stanza(model, 16, 4, 1), "parameters": {"shared_weights": switch}}
    with serving([entry]) as daemon:
        wait_for_all(daemon, entry["name"])
        ready = device_mib() - idle
        found = load(daemon, model, 16, 16)
        os.kill(status_of(daemon, entry["name"])["workers"][0]["pid"], signal.SIGKILL)
        back = come_back(daemon, entry["name"], time.monotonic())
        figure("weights", model=model, shared=switch, ready_s=daemon.ready_s, ready_mib=ready,
               again_mib=device_mib() - idle, back_s=back, **found)


def weights():
    """Workers of one model on one device, with one copy of its weights and with four."""
    for model in ("mlp", "minilm"):
        for switch in ("off", "on"):
            attempt(f"{model} {switch}", weights_of, model, switch)


def packages():
    """The same module as TorchScript and compiled, by the lanes of one process."""
    import cuda_models
    import export_model
    for name in ("mlp", "minilm"):
        factory, inputs = cuda_models.MODULES[name]
        target = MODELS / f"{name}.pt2"
        begin = time.monotonic()
        attempt(f"export {name}", lambda: export_model.export_package(
            factory(), target, inputs, ["y"], 128, DEVICE))
        figure("packages", model=name, export_s=time.monotonic() - begin, made=target.exists())
        for kind in ("pt", "pt2"):
            for rows in (1, 32):
                for count in (1, 4):
                    report = attempt(f"{name}.{kind}", lane_bench, MODELS / f"{name}.{kind}", count,
                                     rows, "length=128")
                    if report:
                        figure("packages", model=name, kind=kind, lanes=count, batch=rows,
                               rows_per_second=report["samples_per_second"])


def mps():
    """Processes side by side, with the Multi-Process Service and without it."""
    def mlp_of(service, processes, count):
        stanzas = [stanza("mlp", rows, processes, count) for rows in (1, 64)]
        with serving(stanzas, cuda_mps=service) as daemon:
            for rows in (1, 64):
                figure("mps", cuda_mps=service, model="mlp", processes=processes, lanes=count,
                       batch=rows, **load(daemon, "mlp", rows, 4 * processes * count))

    for service in ("off", "on"):
        for split in ((1, 4), (2, 4)):
            attempt(f"mlp {split}", mlp_of, service, *split)
    for split in SPLITS:
        attempt(f"minilm {split}", minilm_of, *split, "on")
    attempt("fault", fault_of, 2, "on")


def scaling():
    """Four processes and four lanes against one, for large work, on the device and on cores."""
    def of(device, rows, processes, count):
        with serving([stanza("mlp", rows, processes, count, device)]) as daemon:
            return load(daemon, "mlp", rows, 4 * processes * count)

    for device, rows in (("cpu", 64), (DEVICE, 64), (DEVICE, 1024)):
        for processes, count in ((1, 1), (1, 4), (4, 1)):
            found = attempt(f"{device} {processes}x{count}", of, device, rows, processes, count)
            if found:
                figure("scaling", device=device, batch=rows, processes=processes, lanes=count,
                       **found)


def tests():
    """The worker's own tests, on the device."""
    for name in ("model_test", "execute_test", "torchscript_model_test", "encoder_model_test"):
        if not (BIN / name).exists():
            continue
        with programs():
            done = subprocess.run([str(BIN / name), "--gtest_brief=1"], capture_output=True,
                                  text=True, check=False, timeout=60,
                                  env={**os.environ, "MPSD_TEST_DEVICE": DEVICE,
                                       "MPSD_TEST_FAMILIES": str(BIN.parent / "families")})
        text = done.stdout + done.stderr
        print(text[-4000:], flush=True)
        figure("tests", test=name, exit=done.returncode)


def bars():
    """Lanes at once against one alone, with a soak of two million operations."""
    report = OUT / "lane-bars.json"
    with programs():
        done = subprocess.run([str(BIN / "mpsd-lane-bars"), "--device", DEVICE, "--limit", "5m",
                               "--report", str(report)], check=False)
    if report.exists():
        for bar in json.loads(report.read_text(encoding="utf-8"))["bars"]:
            figure("bars", **bar)
    sys.exit(done.returncode)


PARTS = (host, models, minilm, precision, graphs, encoders, lanes, batching, overload, fault, slab, memory,
         weights, packages, mps, scaling, tests, bars)

if __name__ == "__main__":
    {part.__name__: part for part in PARTS}[sys.argv[1]]()
