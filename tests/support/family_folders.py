"""Folders of small models, as Hugging Face's tools save them, made of tests' families/NAME.json and
text_families/NAME.json.

The numbers of a weight follow from its name, here and in family_folder.cc, so that no model lies in
the repository. make_families.py and make_text_families.py say what the files hold.
"""
import json
import pathlib
import struct
import zipfile

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


def pickled(value):
    """A pickle of a tuple of numbers, texts and parts that are pickled already."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    return b"(" + b"".join(pickled(part) for part in value) + b"t"


def write_torch_weights(path, tensors):
    """Writes a file as torch.save() does of [name, dtype, shape] each. Every other matrix lies in
    its storage by columns, as one does that was transposed."""
    storages = {"F32": b"FloatStorage", "F16": b"HalfStorage", "BF16": b"BFloat16Storage"}
    items = b""
    with zipfile.ZipFile(path, "w") as file:
        for number, (name, dtype, shape) in enumerate(tensors):
            count = int(np.prod(shape, dtype=np.int64))
            data = np.frombuffer(weight_bytes(name, dtype, shape), f"u{2 if dtype != 'F32' else 4}")
            strides = [int(np.prod(shape[place + 1:], dtype=np.int64)) for place in range(len(shape))]
            if len(shape) == 2 and number % 2:
                data, strides = data.reshape(shape).T, [1, shape[0]]
            file.writestr(f"m/data/{number}", data.tobytes())
            storage = pickled(["storage", b"ctorch\n" + storages[dtype] + b"\n", str(number), "cpu",
                               count]) + b"Q"
            hooks = b"ccollections\nOrderedDict\n)R"
            items += pickled(name) + b"ctorch._utils\n_rebuild_tensor_v2\n" + pickled(
                [storage, 0, shape, strides, b"\x89", hooks]) + b"R"
        file.writestr("m/data.pkl", b"\x80\x02}(" + items + b"u.")


def with_torch_weights(name):
    """The name of a file of weights, or its text, as torch.save() has it."""
    return name.replace("model.safetensors", "pytorch_model.bin").replace(
        "model-", "pytorch_model-").replace(".safetensors", ".bin")


def read(name):
    """A family's content."""
    return json.loads((FAMILIES / f"{name}.json").read_text())


def write_content(content, folder, is_torch=False):
    """Writes the folder that is told of; if `is_torch`, with weights as torch.save() writes them."""
    for path, small in content["files"].items():
        text = json.dumps(small)
        if is_torch and path.endswith(".index.json"):
            path, text = with_torch_weights(path), with_torch_weights(text)
        target = pathlib.Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for path, tensors in content["weights"].items():
        if is_torch:
            write_torch_weights(pathlib.Path(folder) / with_torch_weights(path), tensors)
        else:
            write_weights(pathlib.Path(folder) / path, tensors)


def write(name, folder, is_torch=False):
    """Writes a family's folder; returns its rows of tokens with their answers."""
    content = read(name)
    write_content(content, folder, is_torch)
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
