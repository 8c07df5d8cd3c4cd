"""A model on one CUDA device and on all of the host ("device": "cuda:all").

cuda_all.py, in the environment that cuda_figures.sh makes, on a host with two devices or more:
  PARTS="models all" cuda_figures.sh FOLDER
Checks that each device has only its own workers and their memory. Checks that a killed worker comes
back on its own device while the others answer. Prints the rates of one device and of all. A failed
check ends the part with exit code 1.
"""
import collections
import json
import os
import signal
import subprocess
import sys
import time

from cuda_figures import BIN, attempt, figure, load, programs, serving, stanza, status_of

LANES = 4  # in a process
SIZES = (("minilm", 1), ("minilm", 32), ("minilm", 128), ("mlp", 64))
CLIENTS = 32  # for each device
PATIENCE_S = 60
CONTEXT_MIB = 500  # rough size of a process's context on a device


def devices_of_host():
    """The CUDA devices, by the worker's names."""
    with programs():
        done = subprocess.run([str(BIN / "mpsd-worker"), "--devices"], capture_output=True,
                              text=True, check=True, timeout=60)
    names = json.loads(done.stdout.strip().splitlines()[-1])["devices"]
    return [name for name in names if name.startswith("cuda:")]


def as_one(devices):
    """These devices as a config's "device": "cuda:0,1"."""
    return "cuda:" + ",".join(name.partition(":")[2] for name in devices)


def used_mib():
    """The memory in use on each device."""
    done = subprocess.run(["nvidia-smi", "--query-gpu=memory.used",
                           "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, check=True, timeout=20)
    return [int(line) for line in done.stdout.splitlines()]


def workers_of(daemon, model):
    """The model's workers by their index, once all of them serve."""
    end = time.monotonic() + PATIENCE_S
    while True:
        workers = status_of(daemon, model)["workers"]
        if all(worker["state"] == "serving" for worker in workers):
            return {worker["index"]: worker for worker in workers}
        if time.monotonic() > end:
            raise RuntimeError(f"not all serve: {workers}")
        time.sleep(0.2)


def check_spread(daemon, model, wanted):
    """Checks that `mpsd ps` has the wanted number of workers on each device, and no others."""
    found = collections.Counter(worker["device"] for worker in workers_of(daemon, model).values())
    if found != collections.Counter(wanted):
        raise RuntimeError(f"{model}: the workers are on {dict(found)}, not on {wanted}")


def rate_on(device, wanted, model, rows):
    """Rows a second with the number of processes that placement chooses."""
    before = used_mib()
    with serving([stanza(model, rows, 1, LANES, device, placement={"lanes": LANES})]) as daemon:
        check_spread(daemon, f"{model}_{rows}", wanted)
        taken = [now - then for now, then in zip(used_mib(), before)]
        if len(wanted) > 1 and max(taken) - min(taken) > CONTEXT_MIB / 2:
            raise RuntimeError(f"a worker takes memory of another one's device: {taken} MiB")
        found = load(daemon, model, rows, CLIENTS * len(wanted))
        figure("all", device=device, model=model, batch=rows, workers=len(wanted), ready_mib=taken,
               **found)
        return found["rows_per_second"]


def check_configured(devices):
    """Checks that the processes of a config take the devices in turn."""
    model = stanza("mlp", 1, len(devices) + 1, 1, "cuda:all")
    with serving([model]) as daemon:
        check_spread(daemon, "mlp_1", [*devices, devices[0]])
    pair = f"cuda:{len(devices) - 1},0"
    with serving([stanza("mlp", 1, 1, 1, pair, placement={"lanes": 1})]) as daemon:
        check_spread(daemon, "mlp_1", [devices[-1], devices[0]])


def check_death(devices):
    """Checks that a killed worker comes back on its device, and that calls meanwhile are
    answered."""
    with serving([stanza("mlp", 1, 1, LANES, "cuda:all", placement={"lanes": LANES})]) as daemon:
        before = workers_of(daemon, "mlp_1")
        victim = next(worker for worker in before.values() if worker["device"] == devices[-1])
        os.kill(victim["pid"], signal.SIGKILL)
        answered = load(daemon, "mlp", 1, CLIENTS)
        after = workers_of(daemon, "mlp_1")
        figure("all", killed_on=devices[-1], errors=answered["errors"],
               rows_per_second=answered["rows_per_second"])
        if {index: worker["device"] for index, worker in after.items()} != \
                {index: worker["device"] for index, worker in before.items()}:
            raise RuntimeError(f"they were on {before}, and are on {after}")
        same = [index for index in before if before[index]["pid"] == after[index]["pid"]]
        if len(same) != len(before) - 1 or answered["errors"]:
            raise RuntimeError(f"of {sorted(before)} only {same} went on; {answered['errors']}")


def main():
    """All checks, then the rates."""
    devices = devices_of_host()
    figure("all", devices=devices)
    if len(devices) < 2:
        sys.exit("this part wants a host with two CUDA devices or more")
    check_configured(devices)
    check_death(devices)
    for model, rows in SIZES:
        one = attempt("one", rate_on, "cuda:0", devices[:1], model, rows)
        every = attempt("all", rate_on, "cuda:all", devices, model, rows)
        if one is None or every is None:
            sys.exit(1)
        figure("all", model=model, batch=rows, one=one, all=every, times=every / one)


if __name__ == "__main__":
    main()
