"""sentence-transformers in a loop, without a server: the best that a Python program can have.

text_loop.py FOLDER THREADS. Reads lines of JSON, {"requests": [[text…]…], "seconds": S}. For each
line makes whole passes over the requests until S seconds have passed, and answers with one line
that has the vectors of the last pass.
"""

import json
import sys
import time

import torch
from sentence_transformers import SentenceTransformer


def run(model, requests, seconds):
    """Latencies and vectors."""
    latencies, vectors = [], []
    begin = time.perf_counter()
    while not latencies or time.perf_counter() - begin < seconds:
        vectors = []
        for texts in requests:
            sent = time.perf_counter()
            rows = model.encode(texts, show_progress_bar=False)
            latencies.append(time.perf_counter() - sent)
            vectors.append(rows)
    return {"seconds": time.perf_counter() - begin, "latencies_s": latencies,
            "vectors": [row.tolist() for rows in vectors for row in rows]}


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    MODEL = SentenceTransformer(sys.argv[1], device="cpu")
    for line in sys.stdin:
        print(json.dumps(run(MODEL, **json.loads(line))), flush=True)
