"""mpsd: serves PyTorch models, and calls servers of them.

    with mpsd.serve("./all-MiniLM-L6-v2") as server:
        vectors = server.client.embed(["How far is it to the sea?"])

    client = mpsd.Client("http://127.0.0.1:8000")
    outputs = client.infer("mlp", {"input": numpy.zeros((1, 1024), numpy.float32)})
"""
from ._async_client import AsyncClient
from ._client import Client
from ._server import Server, StartError, serve
from ._wire import CallError, Model

__all__ = ["AsyncClient", "CallError", "Client", "Model", "Server", "StartError", "serve"]
