"""Folders of small models, as Hugging Face's tools save them, made of tests' families/NAME.json and
text_families/NAME.json.

The numbers of a weight follow from its name, here and in family_folder.cc, so that no model lies in
the repository. make_families.py and make_text_families.py say what the files hold.
"""
import json
import pathlib

import numpy as np

FAMILIES = pathlib.Path(__file__).resolve().parents[1] / "worker/model/encoder/families"
TEXT_FAMILIES = FAMILIES.with_name("text_families")
BITS = 2 ** 64


def seed_of(name):
    """FNV-1a."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % BITS
    return seed


def scramble(numbers):
    """splitmix64."""
    z = numbers * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def weight(name, shape):
    """A tensor's numbers: multiples of 1/128 below a half, about 1 for the weights of norms. Every
    dtype of a file holds them exactly."""
    count = int(np.prod(shape, dtype=np.int64))
    places = np.arange(count, dtype=np.uint64) + np.uint64(seed_of(name))
    steps = (scramble(places) >> np.uint64(57)).astype(np.int64) - 64
    is_norm = len(shape) == 1 and name.endswith(".weight")
    return (steps / 128 + is_norm).astype(np.float32).reshape(shape)


def weight_bytes(name, dtype, shape):
    values = weight(name, shape)
    if dtype == "BF16":
        return (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return values.astype({"F32": np.float32, "F16": np.float16}[dtype]).tobytes()


def write_weights(path, tensors):
    """Writes a safetensors file of [name, dtype, shape] each."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, dtype, shape in tensors:
        begin = len(data)
        data += weight_bytes(name, dtype, shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read(name):
    """A family's content."""
    return json.loads((FAMILIES / f"{name}.json").read_text())


def write_content(content, folder):
    """Writes the folder that is told of."""
    for path, small in content["files"].items():
        target = pathlib.Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(small))
    for path, tensors in content["weights"].items():
        write_weights(pathlib.Path(folder) / path, tensors)


def write(name, folder):
    """Writes a family's folder; returns its rows of tokens with their answers."""
    content = read(name)
    write_content(content, folder)
    return content["rows"]


def names():
    return sorted(path.stem for path in FAMILIES.glob("*.json"))


def read_text_family(name):
    """A folder's content, with its "tokenizer.json" and the "samples" that it answers."""
    content = json.loads((TEXT_FAMILIES / f"{name}.json").read_text())
    tokenizer = TEXT_FAMILIES / f"tokenizers/{content['tokenizer']}.json"
    samples = json.loads((TEXT_FAMILIES / "samples.json").read_text())
    return content | {"tokenizer.json": json.loads(tokenizer.read_text()),
                      "samples": samples[content["asks"]]}


def write_text_family(name, folder):
    """Writes a folder that takes texts; returns its content."""
    content = read_text_family(name)
    whole = content | {"files": content["files"] | {"tokenizer.json": content["tokenizer.json"]}}
    write_content(whole, folder)
    return content


def text_family_names():
    return sorted(path.stem for path in TEXT_FAMILIES.glob("*.json") if path.stem != "samples")
