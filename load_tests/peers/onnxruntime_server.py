"""ONNX Runtime behind /v1/embeddings: one thread reads, computes and answers, one request after the
other. Each request is padded to its longest text. The session has default options, except its
threads."""

import argparse
import asyncio
import re

import numpy
import onnxruntime
import orjson
from tokenizers import Tokenizer

from text_loads import LONGEST


class Embedder:
    """Vectors of texts."""

    def __init__(self, folder, threads):
        self.tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(f"{folder}/onnx/model.onnx", options,
                                                    providers=["CPUExecutionProvider"])

    def __call__(self, texts):
        rows = self.tokenizer.encode_batch(texts)
        return self.session.run(["sentence_embedding"], {
            "input_ids": numpy.array([row.ids for row in rows], numpy.int64),
            "attention_mask": numpy.array([row.attention_mask for row in rows], numpy.int64),
            "token_type_ids": numpy.array([row.type_ids for row in rows], numpy.int64)})[0]


class Connection(asyncio.Protocol):
    """One client's connection; its requests have a Content-Length."""

    def __init__(self, embedder):
        self.embedder = embedder
        self.transport = None
        self.data = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            length = re.search(rb"\r\ncontent-length: *(\d+)", self.data[:end].lower())
            after = end + 4 + (int(length[1]) if length else 0)
            if len(self.data) < after:
                return
            body, self.data = self.data[end + 4:after], self.data[after:]
            self.answer(body)

    def answer(self, body):
        """Computes, and writes the answer in OpenAI's form."""
        request = orjson.loads(body)
        texts = request["input"]
        vectors = self.embedder([texts] if isinstance(texts, str) else texts)
        answer = orjson.dumps(
            {"object": "list", "model": request["model"],
             "data": [{"object": "embedding", "index": index, "embedding": vector}
                      for index, vector in enumerate(vectors)]}, option=orjson.OPT_SERIALIZE_NUMPY)
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             b"Content-Length: %d\r\n\r\n" % len(answer) + answer)


async def serve(port, embedder):
    """Serves until the process ends."""
    server = await asyncio.get_running_loop().create_server(lambda: Connection(embedder),
                                                            "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True, help="of a model, with onnx/model.onnx")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True, help="of one inference")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, Embedder(arguments.folder, arguments.threads)))
