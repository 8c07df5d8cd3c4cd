"""The protocol without a connection: requests as bytes, and what an answer's bytes mean.

Client and AsyncClient differ only in how they move bytes, so both are made of these functions.
"""
from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
HEAD_LENGTH = "Inference-Header-Content-Length"

_DATATYPES = {
    "bool": "BOOL", "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64",
    "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64",
    "float16": "FP16", "float32": "FP32", "float64": "FP64"}
_NUMPY_NAMES = {datatype: name for name, datatype in _DATATYPES.items()}


class CallError(RuntimeError):
    """A call that the server answered with an error.

    `status` is HTTP's code. `retry_after` is the number of seconds after which the server wants to
    be asked again; None where it does not say.
    """

    def __init__(self, status: int, message: str, retry_after: Optional[float] = None) -> None:
        super().__init__(f"{message} (HTTP {status})")
        self.status = status
        self.message = message
        self.retry_after = retry_after


@dataclass(frozen=True)
class Model:
    """A model that the server knows."""

    name: str
    version: str
    state: str   # "READY", "LOADING", "UNAVAILABLE"
    reason: str  # why the model is not ready


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """An answer; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def checked(reply: Reply) -> Reply:
    """The reply itself if it is a good one; else raises the CallError that it means."""
    if reply.status < 400:
        return reply
    wait = reply.headers.get("retry-after", "")
    raise CallError(reply.status, _complaint(reply), float(wait) if wait.isdigit() else None)


def _complaint(reply: Reply) -> str:
    try:
        error = reply.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        return reply.body[:500].decode(errors="replace") or "no reason given"


def _post(path: str, content: Mapping[str, Any]) -> Request:
    return Request("POST", path, json.dumps(content).encode(),
                   {"Content-Type": "application/json"})


# Tensors.


def datatype_of(array: Array) -> str:
    """The protocol's name of the array's type; texts and bytes are BYTES."""
    if array.dtype.kind in "OSU":
        return "BYTES"
    try:
        return _DATATYPES[array.dtype.name]
    except KeyError:
        raise TypeError(f"the protocol has no datatype for numpy's {array.dtype}") from None


def _bytes_of(array: Array, datatype: str) -> bytes:
    if datatype != "BYTES":
        return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    parts = []
    for element in array.ravel():
        is_bytes = isinstance(element, (bytes, bytearray, memoryview))
        text = bytes(element) if is_bytes else str(element).encode()
        parts += [len(text).to_bytes(4, "little"), text]
    return b"".join(parts)


def _array_of(raw: memoryview, datatype: str, shape: Sequence[int]) -> Array:
    if datatype == "BYTES":
        return _texts_of(raw).reshape(shape)
    if datatype == "BF16":  # numpy has none: the same values as float32
        wide = np.frombuffer(raw, "<u2").astype("<u4") << 16
        return wide.view("<f4").reshape(shape)
    return np.frombuffer(bytearray(raw), np.dtype(_NUMPY_NAMES[datatype])).reshape(shape)


def _texts_of(raw: memoryview) -> Array:
    texts, at = [], 0
    while at < len(raw):
        length = int.from_bytes(raw[at:at + 4], "little")
        texts.append(bytes(raw[at + 4:at + 4 + length]))
        at += 4 + length
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


# The calls, each with the reader of its answer.


def infer(model: str, inputs: Mapping[str, Any], outputs: Optional[Sequence[str]],
          parameters: Optional[Mapping[str, Any]], version: str) -> Request:
    tensors, payloads = [], []
    for name, value in inputs.items():
        array = np.asarray(value)
        if array.dtype.kind in "SU":  # numpy's own texts and bytes lose the zeros at their end
            array = np.asarray(value, dtype=object)
        datatype = datatype_of(array)
        payload = _bytes_of(array, datatype)
        payloads.append(payload)
        tensors.append({"name": name, "datatype": datatype, "shape": list(array.shape),
                        "parameters": {"binary_data_size": len(payload)}})
    content: dict[str, Any] = {
        "inputs": tensors, "parameters": {**(parameters or {}), "binary_data_output": True}}
    if outputs is not None:
        content["outputs"] = [{"name": name, "parameters": {"binary_data": True}}
                              for name in outputs]
    head = json.dumps(content).encode()
    where = f"/v2/models/{quote(model, safe='')}" + (f"/versions/{version}" if version else "")
    return Request("POST", f"{where}/infer", b"".join([head, *payloads]),
                   {"Content-Type": "application/octet-stream", HEAD_LENGTH: str(len(head))})


def read_infer(reply: Reply) -> dict[str, Array]:
    checked(reply)
    head_length = int(reply.headers.get(HEAD_LENGTH.lower(), len(reply.body)))
    raw = memoryview(reply.body)[head_length:]
    found = {}
    for tensor in json.loads(reply.body[:head_length])["outputs"]:
        size = tensor["parameters"]["binary_data_size"]
        found[tensor["name"]] = _array_of(raw[:size], tensor["datatype"], tensor["shape"])
        raw = raw[size:]
    return found


def embed(texts: Sequence[str], model: Optional[str], prompt: Optional[str],
          dimensions: Optional[int]) -> Request:
    content: dict[str, Any] = {"input": list(texts), "encoding_format": "base64"}
    content.update(_told(model=model, prompt_name=prompt, dimensions=dimensions))
    return _post("/v1/embeddings", content)


def read_embed(reply: Reply) -> Array:
    rows = checked(reply).json()["data"]
    return np.stack([np.frombuffer(base64.b64decode(row["embedding"]), "<f4") for row in rows])


def rerank(query: str, texts: Sequence[str], model: Optional[str], raw_scores: bool) -> Request:
    return _post("/rerank", {"query": query, "texts": list(texts), "raw_scores": raw_scores,
                             **_told(model=model)})


def read_rerank(reply: Reply) -> Array:
    """The scores in the order of the texts; the server's order is by score."""
    results = checked(reply).json()
    scores = np.empty(len(results), np.float32)
    for result in results:
        scores[result["index"]] = result["score"]
    return scores


def models() -> Request:
    return _post("/v2/repository/index", {})


def read_models(reply: Reply) -> list[Model]:
    return [Model(entry["name"], entry.get("version", ""), entry.get("state", ""),
                  entry.get("reason", "")) for entry in checked(reply).json()]


def ready(model: Optional[str]) -> Request:
    where = "health" if model is None else f"models/{quote(model, safe='')}"
    return Request("GET", f"/v2/{where}/ready")


def read_ready(reply: Reply) -> bool:
    return reply.status == 200


def _told(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
