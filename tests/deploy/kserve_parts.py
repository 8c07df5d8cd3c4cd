"""KServe's package, as far as a test needs it: what its resources look like, and calls of a server."""
import importlib
import re
import sys
import types

import grpc
import openai


def _models():
    """kserve.models; the package itself imports what its servers need."""
    found = importlib.machinery.PathFinder.find_spec("kserve")
    package = types.ModuleType("kserve")
    package.__path__ = found.submodule_search_locations
    sys.modules["kserve"] = package
    return importlib.import_module("kserve.models")


MODELS = _models()
TOP = {"apiVersion", "kind", "metadata"}


def check(value, kind):
    """Fails at a field that KServe does not know, below the kinds that are its own."""
    listed = re.fullmatch(r"list\[(\w+)\]", kind)
    if listed:
        for one in value:
            check(one, listed[1])
        return
    model = getattr(MODELS, kind, None)
    if model is None:  # a kind of Kubernetes, or a number or text
        return
    kinds = {model.attribute_map[name]: kind for name, kind in model.openapi_types.items()}
    unknown = set(value) - set(kinds)
    assert not unknown, f"{kind} has no {unknown}"
    for name, part in value.items():
        if name not in TOP:
            check(part, kinds[name])


def model_is_ready(address, model):
    """The call ModelReady, with its two small messages written by hand."""
    name = model.encode()
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelReady")
        return call(b"\x0a" + bytes([len(name)]) + name, timeout=30) == b"\x08\x01"


def embeddings(url, model, texts):
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        answer = client.embeddings.create(model=model, input=texts, encoding_format="float")
    return [one.embedding for one in answer.data]
