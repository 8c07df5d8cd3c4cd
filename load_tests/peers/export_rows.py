"""Writes the encoder of a Hugging Face folder as TorchScript: export_rows.py FOLDER FILE. It has
one input, the ids of rows without padding, and one output, their vectors of length 1."""

import sys

import torch
from export_onnx import Embedder
from transformers import AutoModel


class Rows(torch.nn.Module):
    """A form for servers that batch one tensor a request."""

    def __init__(self, embedder):
        super().__init__()
        self.embedder = embedder

    def forward(self, input_ids):
        """The vectors."""
        return self.embedder(input_ids, torch.ones_like(input_ids), torch.zeros_like(input_ids))[1]


if __name__ == "__main__":
    FOLDER, FILE = sys.argv[1:]
    model = Rows(Embedder(AutoModel.from_pretrained(FOLDER, attn_implementation="sdpa"))).eval()
    with torch.inference_mode():
        traced = torch.jit.trace(model, torch.ones(2, 16, dtype=torch.int64))
        other = torch.arange(3 * 16).reshape(3, 16)
        torch.testing.assert_close(traced(other), model(other))
    traced.save(FILE)
