#!/usr/bin/env python3
"""Texts a second of one core: the folder text/ beside the library `tokenizers`, on the same texts.

tokenizer_speed.py ENCODE_TEXTS [TOKENIZER.json…]

The texts are paragraphs of this repository's pages. Tokenizers of three kinds are trained on them;
further ones may be named. Time is processor time, so a busy machine matters little. Run with:
tests/requirements.txt's Python, build/release/tests/encode_texts
"""
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES = 300  # bytes of a text, some 68 tokens
ROUNDS = 5
TURNS = 9  # a host's speed varies, so both are measured in each turn, and ratios are within a turn


def texts():
    """Texts of whole words, 300 bytes each."""
    words = " ".join(p.read_text() for p in sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md"))).split()
    found, current = [], ""
    for word in words:
        current = f"{current} {word}".strip()
        if len(current) >= BYTES:
            found.append(current)
            current = ""
    return found


def trained(inputs):
    wordpiece = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    wordpiece.normalizer = normalizers.BertNormalizer()
    wordpiece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    wordpiece.train_from_iterator(inputs, trainers.WordPieceTrainer(
        vocab_size=8000, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False))
    yield "WordPiece", wordpiece
    unigram = Tokenizer(models.Unigram())
    unigram.normalizer = normalizers.NFKC()
    unigram.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    unigram.train_from_iterator(inputs, trainers.UnigramTrainer(
        vocab_size=8000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False))
    yield "Unigram", unigram
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.train_from_iterator(inputs, trainers.BpeTrainer(
        vocab_size=8000, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    yield "byte-level BPE", bpe


def their_seconds(tokenizer, inputs):
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for text in inputs:
            tokenizer.encode(text)
        best = min(best, time.process_time() - start)
    return best


def our_seconds(program, path, inputs):
    data = b"".join(struct.pack("<I", len(text)) + text for text in (t.encode() for t in inputs))
    done = subprocess.run([program, path, "--rounds", str(ROUNDS)], input=data, capture_output=True, check=True)
    words = done.stderr.decode().replace(",", "").split()
    return float(words[1]), float(words[4])


def main():
    program, *paths = sys.argv[1:]
    inputs = texts()
    print("| tokenizer | tokens a text | tokenizers, texts/s | mpsd, texts/s | ratio | range | load, ms |\n"
          "|---|---|---|---|---|---|---|")
    named = [(path, Tokenizer.from_file(path)) for path in paths]
    for name, tokenizer in [*trained(inputs), *named]:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(f"{folder}/tokenizer.json")
            turns = [(*our_seconds(program, f"{folder}/tokenizer.json", inputs), their_seconds(tokenizer, inputs))
                     for _ in range(TURNS)]
        load, ours, theirs = (statistics.median(values) for values in zip(*turns))
        ratios = sorted(their_s / our_s for _, our_s, their_s in turns)
        count = sum(len(tokenizer.encode(text).ids) for text in inputs) / len(inputs)
        print(f"| {pathlib.Path(name).parent.name or name} | {count:.0f} | {len(inputs) / theirs:,.0f} | "
              f"{len(inputs) / ours:,.0f} | {statistics.median(ratios):.1f} | "
              f"{ratios[0]:.1f} to {ratios[-1]:.1f} | {load * 1000:.1f} |")


if __name__ == "__main__":
    main()
