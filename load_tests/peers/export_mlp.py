"""Writes a TorchScript network of dense layers, each followed by a ReLU, as ONNX: export_mlp.py
FILE.pt FILE.onnx."""

import sys

import torch

if __name__ == "__main__":
    SOURCE, TARGET = sys.argv[1:]
    model = torch.jit.load(SOURCE).eval()
    weights = [value for value in model.state_dict().values() if value.dim() == 2]
    biases = [value for value in model.state_dict().values() if value.dim() == 1]
    layers = []
    for weight, bias in zip(weights, biases, strict=True):
        layer = torch.nn.Linear(*reversed(weight.shape))
        layer.weight, layer.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
        layers += [layer, torch.nn.ReLU()]
    copied = torch.nn.Sequential(*layers).eval()
    sample = torch.rand(4, weights[0].shape[1])
    torch.testing.assert_close(copied(sample), model(sample))
    torch.onnx.export(copied, (sample,), TARGET, dynamo=False, opset_version=17,
                      input_names=["INPUT"], output_names=["OUTPUT"],
                      dynamic_axes={"INPUT": {0: "batch"}, "OUTPUT": {0: "batch"}})
