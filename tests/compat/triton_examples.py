#!/usr/bin/env python3
"""The examples of Triton's Python clients, unmodified, against a daemon of ours.

triton_examples.py CHECKOUT [NAME…]
CHECKOUT is one of github.com/triton-inference-server/client. By hand: the examples are no package.
Prints a line for each example; exit status 0 means that all pass but those of REFUSED.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import programs  # noqa: F401 (finds tests/support)
import tritonclient.grpc as grpcclient
from daemon import BIN, Daemon

LIMIT_S = 60
WORDS = ("TYPE_STRING", [16])
NUMBERS = ("TYPE_INT32", [16])
# model: (its file, the datatypes and shapes of its inputs, of its outputs)
MODELS = {
    "simple": ("simple", [NUMBERS] * 2, [NUMBERS] * 2),
    "simple_int8": ("simple", [("TYPE_INT8", [16])] * 2, [("TYPE_INT8", [16])] * 2),
    "simple_string": ("simple_string", [WORDS] * 2, [WORDS] * 2),
    "simple_identity": ("simple_identity", [("TYPE_STRING", [-1])], [("TYPE_STRING", [-1])]),
    # The three further ones that simple_*_model_control.py counts.
    **{f"further{i}": ("simple", [NUMBERS] * 2, [NUMBERS] * 2) for i in range(3)},
}
REPEAT = """
backend: "repeat"
max_batch_size: 0
model_transaction_policy { decoupled: True }
input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
        { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
        { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
         { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
"""
REFUSED = {
    "sequence": "needs models that keep a state, and this repository has none",
    "cudashm": "needs a CUDA device",
    "model_control": "files of a model are not taken from a request; the rest of it passes",
    "image": "its model and its picture are downloads",
    "grpc_client.py": "its model, densenet_onnx, is a download",
    "memory_growth": "is a test of the client's own memory",
}
FLAGS = {"reuse_infer_objects_client.py": ["-i", "grpc"]}


def tensors(kind, named, specs):
    lines = [f'{{ name: "{named}{i}" data_type: {datatype} dims: {dims} }}'
             for i, (datatype, dims) in enumerate(specs)]
    return f"{kind} [ {', '.join(lines)} ]\n"


def make_repository(folder):
    """Triton's example repository: as many models, under the same names."""
    made = folder / "made"
    subprocess.run([str(BIN / "mpsd-make-models"), str(made), "--examples"], check=True)
    repository = folder / "repository"
    for name, (file, inputs, outputs) in MODELS.items():
        version = repository / name / "1"
        version.mkdir(parents=True)
        shutil.copy(made / f"{file}.pt", version / "model.pt")
        (repository / name / "config.pbtxt").write_text(
            'platform: "pytorch_libtorch"\nmax_batch_size: 8\n'
            + tensors("input", "INPUT", inputs) + tensors("output", "OUTPUT", outputs))
    (repository / "repeat_int32" / "1").mkdir(parents=True)
    (repository / "repeat_int32" / "config.pbtxt").write_text(REPEAT)
    return repository


def load_all(address):
    with grpcclient.InferenceServerClient(address) as client:
        for name in (*MODELS, "repeat_int32"):
            client.load_model(name)


def why_refused(name):
    return next((why for word, why in REFUSED.items() if word in name), None)


def run(example, daemon):
    """(whether it passed, the last line that it printed)."""
    address = daemon.http.removeprefix("http://") if "http" in example.name else daemon.address
    command = [sys.executable, str(example), "-u", address, *FLAGS.get(example.name, [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT_S, check=False)
    lines = done.stdout.strip().splitlines() or ["-"]
    return done.returncode == 0, lines[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    # Those of model control unload a model: they come last.
    examples = sorted(arguments.checkout.glob("src/python/examples/*_*.py"),
                      key=lambda path: ("model_control" in path.name, path.name))
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        repository = make_repository(pathlib.Path(folder))
        with Daemon([], model_repository=str(repository), model_control="explicit",
                    compat="triton", limits={"client_shared_memory": "16MiB"}) as daemon:
            load_all(daemon.address)
            for example in examples:
                if arguments.names and example.name not in arguments.names:
                    continue
                passed, said = run(example, daemon)
                why = why_refused(example.name)
                verdict = "passed" if passed else f"refused: {why}" if why else "FAILED"
                print(f"{example.name:<52} {verdict}: {said}", flush=True)
                failed += [] if passed or why else [example.name]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
