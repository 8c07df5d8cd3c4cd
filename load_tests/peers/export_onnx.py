"""Writes the encoder of a Hugging Face folder as ONNX, with pooling by the mean and vectors of
length 1: export_onnx.py FOLDER FILE. Its attention is plain products and a softmax. ONNX Runtime
takes equally long for the attention of torch's own kernel, and for one fused beforehand."""

import sys

import torch
from transformers import AutoModel

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Embedder(torch.nn.Module):
    """The encoder, followed by the steps of sentence-transformers."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids, attention_mask, token_type_ids):
        """The states of all tokens, and the vectors."""
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask,
                              token_type_ids=token_type_ids).last_hidden_state
        kept = attention_mask.unsqueeze(-1).to(states.dtype)
        means = (states * kept).sum(1) / kept.sum(1).clamp(min=1e-9)
        return states, torch.nn.functional.normalize(means, p=2, dim=1)


if __name__ == "__main__":
    FOLDER, FILE = sys.argv[1:]
    sample = torch.ones(2, 16, dtype=torch.int64)
    open_dims = {name: {0: "batch", 1: "length"} for name in (*INPUTS, "last_hidden_state")}
    torch.onnx.export(
        Embedder(AutoModel.from_pretrained(FOLDER, attn_implementation="eager").eval()),
        (sample, sample, torch.zeros_like(sample)), FILE, dynamo=False, opset_version=17,
        input_names=list(INPUTS), output_names=["last_hidden_state", "sentence_embedding"],
        dynamic_axes={**open_dims, "sentence_embedding": {0: "batch"}})
