#!/usr/bin/env python3
"""Exports a PyTorch module as a file that mpsd serves without further configuration.

  export_model.py FILE.py:FACTORY OUT.pt|OUT.pt2 --input name:FP32[-1,16]… [--output NAME…]
                  [--max-batch-size 64] [--device cpu]

FACTORY is a function of FILE.py that returns the module. OUT.pt is TorchScript; OUT.pt2 is compiled
by AOTInductor for this kind of machine and device. Both contain the names, datatypes and dims of
inputs and outputs; a .pt2 also contains the census of operators, and whether inputs are written.
A dim of -1 may have any length; a first dim of -1 is the batch.

As a library: export_torchscript(...) and export_package(...). Needs the torch of the same version
as mpsd's libtorch, and for .pt2 a C++ compiler.
"""
import argparse
import importlib.util
import json
import pathlib
import platform
import re
import sys

import torch

DTYPES = {
    "BOOL": torch.bool, "UINT8": torch.uint8, "UINT16": torch.uint16, "UINT32": torch.uint32,
    "UINT64": torch.uint64, "INT8": torch.int8, "INT16": torch.int16, "INT32": torch.int32,
    "INT64": torch.int64, "FP16": torch.float16, "FP32": torch.float32, "FP64": torch.float64,
    "BF16": torch.bfloat16,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

# As in proto/link/census.cc: an operator's kind is the first that its name contains.
KINDS = [
    ("layer_norm", "layer_norm"), ("attention", "attention"), ("multi_head", "attention"),
    ("transformer_encoder", "attention"), ("linear", "linear"), ("addmm", "linear"),
    ("conv", "convolution"), ("embedding", "embedding"), ("lstm", "recurrent"),
    ("gru", "recurrent"), ("rnn", "recurrent"), ("contiguous", "contiguous"),
]
MATMULS = {"matmul", "mm", "bmm", "einsum", "baddbmm"}
EXAMPLE_LENGTHS = {True: 3, False: 8}  # of an open dim: the batch, any other


def parse_tensor(text):
    """"name:FP32[-1,16]" as (name, datatype, whole shape)."""
    match = re.fullmatch(r"([\w.:-]+):(\w+)\[([-\d, ]*)\]", text)
    if match is None or match[2] not in DTYPES:
        raise SystemExit(f"export_model.py: '{text}' is no NAME:TYPE[DIMS]")
    dims = [int(dim) for dim in match[3].split(",") if dim.strip()]
    return match[1], match[2], dims


def batches(inputs):
    return all(shape[:1] == [-1] for _, _, shape in inputs)


def example_inputs(inputs, device):
    batched = batches(inputs)
    tensors = []
    for _, datatype, shape in inputs:
        sizes = [EXAMPLE_LENGTHS[batched and i == 0] if dim < 0 else dim
                 for i, dim in enumerate(shape)]
        tensors.append(torch.ones(sizes, dtype=DTYPES[datatype], device=device))
    return tuple(tensors)


def tensor_json(name, datatype, shape, batched):
    return {"name": name, "datatype": datatype, "shape": list(shape[1:] if batched else shape)}


def spec_json(inputs, outputs, max_batch_size):
    batched = batches(inputs)
    spec = {"inputs": [tensor_json(*tensor, batched) for tensor in inputs],
            "outputs": [tensor_json(*tensor, batched) for tensor in outputs]}
    if batched:
        spec["max_batch_size"] = max_batch_size
    return spec


def count_operator(name, census):
    census["operators"] += 1
    bare = re.sub(r"^aten\.", "", name).split(".")[0]
    for part, kind in KINDS:
        if part in bare:
            census[kind] += 1
            return
    if bare in MATMULS:
        census["matmul"] += 1


def take_census(program):
    census = {"known": True, "operators": 0, "matmul": 0}
    census.update({kind: 0 for _, kind in KINDS})
    for module in program.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in module.graph.nodes:
            if node.op == "call_function" and str(node.target).startswith("aten."):
                count_operator(str(node.target), census)
    weights = list(program.state_dict.values())
    census["parameter_bytes"] = sum(weight.nbytes for weight in weights)
    census["parameter_dtypes"] = sorted({NAMES.get(weight.dtype, str(weight.dtype))
                                         for weight in weights})
    return census


def name_outputs(returned, names):
    """[(name, tensor)] of what forward returned, named as the worker names them."""
    if isinstance(returned, torch.Tensor):
        returned = [returned]
    if isinstance(returned, dict):
        return list(returned.items())
    names = names or [f"OUTPUT__{i}" for i in range(len(returned))]
    return list(zip(names, returned, strict=True))


def learn_outputs(module, inputs, names, device):
    """[(name, datatype, shape)]; a dim that differs between runs of different lengths is -1."""
    def run(lengths):
        tensors = []
        for _, datatype, shape in inputs:
            sizes = [lengths[i == 0] if dim < 0 else dim for i, dim in enumerate(shape)]
            tensors.append(torch.ones(sizes, dtype=DTYPES[datatype], device=device))
        with torch.inference_mode():
            return name_outputs(module(*tensors), names)

    outputs = []
    for (name, small), (_, large) in zip(run({True: 2, False: 8}), run({True: 3, False: 9})):
        shape = [a if a == b else -1 for a, b in zip(small.shape, large.shape)]
        outputs.append((name, NAMES[small.dtype], shape))
    return outputs


def writes_inputs(program):
    """Whether the program writes its inputs; only its functional graph tells that."""
    return bool(program.run_decompositions({}).graph_signature.user_inputs_to_mutate)


def export_torchscript(module, path, inputs, output_names=None, max_batch_size=64, device="cpu"):
    module = module.eval().to(device)
    outputs = learn_outputs(module, inputs, output_names, device)
    scripted = torch.jit.script(module)
    spec = json.dumps(spec_json(inputs, outputs, max_batch_size))
    torch.jit.save(scripted, str(path), _extra_files={"mpsd.json": spec})


def export_package(module, path, inputs, output_names=None, max_batch_size=64, device="cpu"):
    module = module.eval().to(device)
    outputs = learn_outputs(module, inputs, output_names, device)
    dynamic = tuple({i: torch.export.Dim.DYNAMIC for i, dim in enumerate(shape) if dim < 0}
                    for _, _, shape in inputs)
    with torch.no_grad():
        program = torch.export.export(module, example_inputs(inputs, device),
                                      dynamic_shapes=dynamic)
    metadata = {
        "spec": spec_json(inputs, outputs, max_batch_size),
        "census": take_census(program),
        "writes_inputs": writes_inputs(program),
        "machine": platform.machine(),
    }
    torch._inductor.aoti_compile_and_package(  # pylint: disable=protected-access
        program, package_path=str(path),
        inductor_configs={
            "aot_inductor.metadata": {"mpsd": json.dumps(metadata)},
            # Its symbols come from the libtorch that the worker has loaded.
            "aot_inductor.link_libtorch": False,
            # As many threads as the lane has, not as this machine has cores.
            "cpp.dynamic_threads": True,
        })


def load_factory(text):
    file, _, name = text.rpartition(":")
    spec = importlib.util.spec_from_file_location("exported_model", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def main():
    parser = argparse.ArgumentParser(description="export a PyTorch module for mpsd")
    parser.add_argument("factory", help="FILE.py:FACTORY")
    parser.add_argument("target", type=pathlib.Path, help="OUT.pt or OUT.pt2")
    parser.add_argument("--input", action="append", required=True, metavar="NAME:TYPE[DIMS]")
    parser.add_argument("--output", action="append", metavar="NAME")
    parser.add_argument("--max-batch-size", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    exporters = {".pt": export_torchscript, ".pt2": export_package}
    if arguments.target.suffix not in exporters:
        parser.error("the target must end in .pt or .pt2")
    exporters[arguments.target.suffix](
        load_factory(arguments.factory)(), arguments.target,
        [parse_tensor(text) for text in arguments.input], arguments.output,
        arguments.max_batch_size, arguments.device)
    print(arguments.target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
