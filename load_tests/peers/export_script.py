"""Writes the encoder of a Hugging Face folder as TorchScript, for texts of any number and length:
export_script.py FOLDER FILE. Pools by the mean; vectors have length 1."""

import sys

import torch
from export_onnx import Embedder
from transformers import AutoModel

if __name__ == "__main__":
    FOLDER, FILE = sys.argv[1:]
    model = Embedder(AutoModel.from_pretrained(FOLDER, attn_implementation="sdpa").eval())
    with torch.inference_mode():
        sample = torch.ones(2, 16, dtype=torch.int64)
        traced = torch.jit.trace(model, (sample, sample, torch.zeros_like(sample)))
        other = torch.ones(3, 128, dtype=torch.int64)
        torch.testing.assert_close(traced(other, other, other)[1], model(other, other, other)[1])
    traced.save(FILE)
