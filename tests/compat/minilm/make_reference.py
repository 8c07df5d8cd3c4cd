"""Writes reference.json: what sentence-transformers makes of twenty sentences.

Run with: python make_reference.py MODEL_DIR > reference.json
MODEL_DIR is the Hugging Face folder of all-MiniLM-L6-v2 with its 1_Pooling folder. Needs the PyPI
packages torch 2.11.0, transformers and sentence-transformers. The file is committed; this script
says where it comes from.
"""

import json
import sys

import torch
from sentence_transformers import SentenceTransformer

LONG = (
    "The harbour was quiet when the first ferry came in. Two men in oilskins took the lines without "
    "a word, made them fast, and went back to their coffee. On the upper deck a girl counted the "
    "gulls aloud, lost her place at thirty-one, and began again. Behind the breakwater the sea was "
    "still grey; further out a band of light moved slowly over the water, as if somebody were "
    "drawing a curtain aside. "
)

SENTENCES = [
    "hello",
    "Berlin",
    "good morning",
    "The cat sits outside.",
    "A man is playing guitar.",
    "The new movie is awesome!",
    "How do I reset my password?",
    "I have forgotten the password of my account and cannot log in.",
    "UPPER case, MiXeD case and lower case are the same to an uncased model",
    "Numbers: 3.14159, 1,000,000 and 2026-01-31; punctuation ?! (brackets) [and] {braces} -- dashes",
    "Crème brûlée, naïve façade, Ångström, Zürich, São Paulo",
    "你好，世界",
    "Привет, мир",
    "emoji 🙂 and symbols ∑ ≤ ∞ €",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "def add(a, b):\n\treturn a + b  # tabs\tand newlines are white space",
    "A request that has expired before its batch is closed never reaches a device, and neither does "
    "one whose client has gone away in the meantime.",
    LONG.strip(),
    (LONG + "Nobody on the quay looked up. ").strip(),
    (LONG * 2 + "Then the horn sounded, twice, and the day began.").strip(),
]


def main():
    torch.set_num_threads(1)
    model = SentenceTransformer(sys.argv[1], device="cpu")
    model.max_seq_length = 256
    entries = []
    for text in SENTENCES:
        ids = model.tokenizer(text)["input_ids"]
        assert len(ids) <= 256, f"{len(ids)} tokens would be cut"
        embedding = model.encode(text, normalize_embeddings=True)
        entries.append(
            {
                "text": text,
                "input_ids": ids,
                "embedding": [round(float(value), 7) for value in embedding],
            }
        )
    print("[")
    print(",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries))
    print("]")


if __name__ == "__main__":
    main()
