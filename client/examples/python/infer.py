#!/usr/bin/env python3
"""Asks a running server through Triton's own Python client, which knows nothing of mpsd.

infer.py [--address HOST:PORT] mlp
infer.py [--address HOST:PORT] minilm TEXT [TEXT ...]
With TLS and a token: --tls-ca ca.pem --token-file token
"""
import argparse
import sys

import numpy as np
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

TIMEOUT_S = 30


def tensor(name, array):
    """An input for the client; its datatype is the array's."""
    datatypes = {"float32": "FP32", "int64": "INT64"}
    result = triton.InferInput(name, list(array.shape), datatypes[array.dtype.name])
    result.set_data_from_numpy(array)
    return result


def infer_mlp(client, model, headers):
    """One random row for each FP32 input of the model."""
    metadata = client.get_model_metadata(model, headers=headers)
    random = np.random.default_rng(1)
    inputs = []
    for described in metadata.inputs:
        shape = [max(dim, 1) for dim in described.shape]
        inputs.append(tensor(described.name, random.random(shape, dtype=np.float32)))
    answer = client.infer(model, inputs, request_id="example", headers=headers,
                          client_timeout=TIMEOUT_S)
    for described in metadata.outputs:
        values = answer.as_numpy(described.name)
        print(f"{described.name} {list(values.shape)}: {values.ravel()[:8]}")


def infer_minilm(client, model, texts, headers):
    """Prints how close the embedding of each text is to the first's."""
    sent = triton.InferInput("text", [len(texts), 1], "BYTES")
    sent.set_data_from_numpy(np.array([[text.encode()] for text in texts], dtype=object))
    output = client.get_model_metadata(model, headers=headers).outputs[0].name
    answer = client.infer(model, [sent], headers=headers, client_timeout=TIMEOUT_S)
    embeddings = answer.as_numpy(output)
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    for text, cosine in zip(texts, unit @ unit[0]):
        print(f"{cosine:+.4f}  {text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1:8001")
    parser.add_argument("--tls-ca", help="with TLS; whose certificates are believed")
    parser.add_argument("--token-file", help="a file that holds the token to show")
    models = parser.add_subparsers(dest="model", required=True)
    models.add_parser("mlp")
    minilm = models.add_parser("minilm")
    minilm.add_argument("texts", nargs="+", metavar="TEXT")
    arguments = parser.parse_args()

    try:
        headers = {}
        if arguments.token_file:
            with open(arguments.token_file, encoding="utf-8") as file:
                headers = {"authorization": f"Bearer {file.read().strip()}"}
        with triton.InferenceServerClient(arguments.address, ssl=arguments.tls_ca is not None,
                                          root_certificates=arguments.tls_ca) as client:
            if arguments.model == "mlp":
                infer_mlp(client, arguments.model, headers)
            else:
                infer_minilm(client, arguments.model, arguments.texts, headers)
    except InferenceServerException as error:
        sys.exit(f"{error.status()}: {error.message()}")
    except OSError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
