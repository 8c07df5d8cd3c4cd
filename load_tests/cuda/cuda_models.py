"""The modules of cuda_figures.py: one of MiniLM's size, a deep perceptron, and three special ones.

Their weights are random: they cost as much as real ones, and mean nothing.
"""

import json
import pathlib

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


class Same(torch.nn.Module):
    """Gives back its input, bit by bit, from the device's memory."""

    def forward(self, x):
        return x.clone()


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
    "same": (Same, [("x", "FP32", [-1, 1024])]),
    "gather": (gather, [("ids", "INT64", [-1, 1])]),
}


def encoder_tensors():
    """The weights of a BERT of MiniLM's size, by the names of its file."""
    shapes = {"embeddings.word_embeddings.weight": (VOCABULARY, HIDDEN),
              "embeddings.position_embeddings.weight": (512, HIDDEN),
              "embeddings.token_type_embeddings.weight": (2, HIDDEN),
              "embeddings.LayerNorm": (HIDDEN,)}
    for layer in range(LAYERS):
        place = f"encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            shapes[f"{place}attention.self.{part}"] = (HIDDEN, HIDDEN)
        shapes[f"{place}attention.output.dense"] = (HIDDEN, HIDDEN)
        shapes[f"{place}attention.output.LayerNorm"] = (HIDDEN,)
        shapes[f"{place}intermediate.dense"] = (INNER, HIDDEN)
        shapes[f"{place}output.dense"] = (HIDDEN, INNER)
        shapes[f"{place}output.LayerNorm"] = (HIDDEN,)
    torch.manual_seed(20)
    tensors = {}
    for name, shape in shapes.items():
        if name.endswith(".weight"):
            tensors[name] = torch.randn(shape) * 0.02
            continue
        tensors[name + ".weight"] = torch.ones(shape) if len(shape) == 1 else torch.randn(shape) * 0.02
        tensors[name + ".bias"] = torch.zeros(shape[0])
    return tensors


def write_encoder(folder):
    """A Hugging Face folder for the format `huggingface`, with words of its own."""
    folder.mkdir()
    tensors, header, data = encoder_tensors(), {}, b""
    for name, tensor in tensors.items():
        raw = tensor.numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "architectures": ["BertModel"], "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER,
        "vocab_size": VOCABULARY, "max_position_embeddings": 512, "type_vocab_size": 2,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0}))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = special + [f"w{number}" for number in range(VOCABULARY - len(special))]
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None,
        "added_tokens": [{"id": id, "content": word, "special": True, "single_word": False,
                          "lstrip": False, "rstrip": False, "normalized": False}
                         for id, word in enumerate(special)],
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": None,
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {word: id for id, word in enumerate(words)}}}))


def main():
    """Writes each module as TorchScript that workers on CPU and GPU can load."""
    import sys  # pylint: disable=import-outside-toplevel

    import export_model  # pylint: disable=import-outside-toplevel
    folder = sys.argv[1]
    for name, (factory, inputs) in MODULES.items():
        export_model.export_torchscript(factory(), f"{folder}/{name}.pt", inputs, ["y"], 128)
        print(json.dumps({"model": f"{name}.pt"}), flush=True)
    write_encoder(pathlib.Path(folder) / "encoder")


if __name__ == "__main__":
    main()
