"""The modules of cuda_figures.py: of MiniLM's size, a deep perceptron, and two for one thing each.

Their weights are random: they cost what real ones cost, and mean nothing.
"""

import json

import torch

TOKENS, HIDDEN, INNER, HEADS, LAYERS, VOCABULARY = 128, 384, 1536, 12, 6, 30522


class Layer(torch.nn.Module):
    """A post-norm encoder layer like BERT's."""

    def __init__(self):
        super().__init__()
        self.heads = HEADS
        self.qkv = torch.nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = torch.nn.Linear(HIDDEN, HIDDEN)
        self.norm1 = torch.nn.LayerNorm(HIDDEN)
        self.inner = torch.nn.Linear(HIDDEN, INNER)
        self.outer = torch.nn.Linear(INNER, HIDDEN)
        self.norm2 = torch.nn.LayerNorm(HIDDEN)

    def forward(self, x, bias):
        rows, tokens, width = x.size(0), x.size(1), x.size(2)
        qkv = self.qkv(x).view(rows, tokens, 3, self.heads, width // self.heads)
        qkv = qkv.permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], attn_mask=bias)
        x = self.norm1(x + self.out(y.transpose(1, 2).reshape(rows, tokens, width)))
        return self.norm2(x + self.outer(torch.nn.functional.gelu(self.inner(x))))


class Encoder(torch.nn.Module):
    """Turns token ids and their mask into one normalized vector for each row."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(VOCABULARY, HIDDEN)
        self.places = torch.nn.Embedding(TOKENS, HIDDEN)
        self.norm = torch.nn.LayerNorm(HIDDEN)
        self.layers = torch.nn.ModuleList([Layer() for _ in range(LAYERS)])

    def forward(self, input_ids, attention_mask):
        x = self.norm(self.words(input_ids) + self.places.weight)
        mask = attention_mask.to(x.dtype)
        bias = ((mask - 1) * 10000)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, bias)
        pooled = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return torch.nn.functional.normalize(pooled)


class FirstColumn(torch.nn.Module):
    """Needs all of its input on the device and computes almost nothing."""

    def forward(self, x):
        return x[:, :1] + 1


class Gather(torch.nn.Module):
    """Faults the device when an index lies beyond the table."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.ones(1000, 16))

    def forward(self, ids):
        return torch.nn.functional.embedding(ids, self.table)


def minilm():
    torch.manual_seed(20)
    return Encoder()


def mlp():
    torch.manual_seed(20)
    layers = []
    for _ in range(8):
        layers += [torch.nn.Linear(2048, 2048), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)


def first_column():
    return FirstColumn()


def gather():
    return Gather()


MINILM_INPUTS = [("input_ids", "INT64", [-1, TOKENS]), ("attention_mask", "INT64", [-1, TOKENS])]
MODULES = {
    "minilm": (minilm, MINILM_INPUTS),
    "mlp": (mlp, [("input", "FP32", [-1, 2048])]),
    "first_column": (first_column, [("x", "FP32", [-1, 1 << 18])]),
    "gather": (gather, [("ids", "INT64", [-1, 1])]),
}


def main():
    """Writes each module as TorchScript for the CPU's and the GPU's worker alike."""
    import sys  # pylint: disable=import-outside-toplevel

    import export_model  # pylint: disable=import-outside-toplevel
    folder = sys.argv[1]
    for name, (factory, inputs) in MODULES.items():
        export_model.export_torchscript(factory(), f"{folder}/{name}.pt", inputs, ["y"], 128)
        print(json.dumps({"model": f"{name}.pt"}), flush=True)


if __name__ == "__main__":
    main()
