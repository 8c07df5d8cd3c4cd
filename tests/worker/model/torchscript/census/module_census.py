"""The census of a module, taken without its graph: what its forward calls, counted while it runs.

An operator counts where Python calls libtorch's function for it, so neither the worker's names of
operators nor its patterns have a part in it. Attention counts where the forward of a class is called
that is attention, however that class computes it.
"""
import contextlib
from unittest import mock

import torch
from torch.nn import functional

FUNCTIONS = {
    "layer_norm": [(functional, "layer_norm")],
    "linear": [(functional, "linear"), (torch, "addmm")],
    "convolution": [(functional, f"conv{way}{dims}d") for way in ("", "_transpose")
                    for dims in (1, 2, 3)],
    "embedding": [(functional, "embedding")],
    "recurrent": [(torch._VF, "lstm"), (torch._VF, "gru")],  # pylint: disable=protected-access
    "contiguous": [(torch.Tensor, "contiguous")],
    "matmul": [(torch, name) for name in ("matmul", "mm", "bmm", "baddbmm", "einsum")]
    + [(torch.Tensor, name) for name in ("matmul", "__matmul__", "mm", "bmm", "baddbmm")],
}


def count_calls(stack, owner, name, kind, census):
    """Counts the calls of owner.name until the stack is left."""
    function = getattr(owner, name)

    def counted(*arguments, **options):
        census[kind] += 1
        return function(*arguments, **options)

    stack.enter_context(mock.patch.object(owner, name, counted))


def census_of(graph):
    """How often each kind of operator is called in one run of the graph's module."""
    census = {"attention": 0, **{kind: 0 for kind in FUNCTIONS}}
    module = graph.module()
    classes = {type(part) for part in module.modules()}
    missing = set(graph.attention) - {one.__name__ for one in classes}
    if missing:
        raise ValueError(f"it has no {', '.join(missing)}")
    with contextlib.ExitStack() as stack:
        for kind, functions in FUNCTIONS.items():
            for owner, name in functions:
                count_calls(stack, owner, name, kind, census)
        for one in classes:
            if one.__name__ in graph.attention:
                count_calls(stack, one, "forward", "attention", census)
        with graph.ways():
            module(*graph.inputs.values())
    return census
