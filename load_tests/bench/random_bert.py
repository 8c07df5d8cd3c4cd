"""An encoder of MiniLM's size with random weights, as Hugging Face tools save it.

It costs as much as the real one and needs no download; its answers mean nothing.
"""

import array
import json
import os
import random

CONFIG = {
    "model_type": "bert", "hidden_act": "gelu", "hidden_size": 384, "num_hidden_layers": 6,
    "num_attention_heads": 12, "intermediate_size": 1536, "vocab_size": 30522,
    "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
}


def tensor_shapes(config):
    """Name and shape of every tensor of the encoder."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {"embeddings.word_embeddings.weight": [config["vocab_size"], hidden],
              "embeddings.position_embeddings.weight": [config["max_position_embeddings"], hidden],
              "embeddings.token_type_embeddings.weight": [config["type_vocab_size"], hidden],
              "embeddings.LayerNorm.weight": [hidden], "embeddings.LayerNorm.bias": [hidden]}
    for layer in range(config["num_hidden_layers"]):
        linears = {f"attention.self.{part}": (hidden, hidden) for part in ("query", "key", "value")}
        linears |= {"attention.output.dense": (hidden, hidden),
                    "intermediate.dense": (inner, hidden), "output.dense": (hidden, inner)}
        for name, shape in linears.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = list(shape)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = [shape[0]]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = [hidden]
            shapes[f"encoder.layer.{layer}.{name}.bias"] = [hidden]
    return shapes


def write(folder, seed=1):
    """Writes config.json and model.safetensors into the folder."""
    draw = random.Random(seed)
    block = array.array("f", (draw.gauss(0, 0.02) for _ in range(65521))).tobytes()
    shapes = tensor_shapes(CONFIG)
    header, offset = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        text = json.dumps(header).encode()
        file.write(len(text).to_bytes(8, "little") + text)
        for entry in header.values():
            size = entry["data_offsets"][1] - entry["data_offsets"][0]
            file.write((block * (size // len(block) + 1))[:size])
