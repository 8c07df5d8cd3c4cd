#!/usr/bin/env python3
"""The tokenizer library against the library `tokenizers`: not one id may differ.

The environment: MPSD_ENCODE_TEXTS names our program, MPSD_LONG asks for 220,000 texts more a
tokenizer, and MPSD_TOKENIZERS may name a folder with further tokenizer.json files.
"""
import itertools
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from tokenizers import Tokenizer

import made
import texts

PROGRAM = os.environ["MPSD_ENCODE_TEXTS"]
LONG = "MPSD_LONG" in os.environ
FURTHER = os.environ.get("MPSD_TOKENIZERS")


def encode(path, inputs, *options):
    """[(ids, types)] of our own program."""
    raw = [text if isinstance(text, bytes) else text.encode() for text in inputs]
    data = b"".join(struct.pack("<I", len(text)) + text for text in raw)
    done = subprocess.run([PROGRAM, path, *options], input=data, capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    answers, at = [], 0
    while at < len(done.stdout):
        count, = struct.unpack_from("<I", done.stdout, at)
        ids = struct.unpack_from(f"<{count}i", done.stdout, at + 4)
        answers.append((list(ids), list(done.stdout[at + 4 + 4 * count:at + 4 + 5 * count])))
        at += 4 + 5 * count
    return answers


def usual_texts(every):
    """The long form has many of each kind; the usual one is thorough with one tokenizer of a kind."""
    yield from texts.TRICKY
    yield from itertools.islice(texts.every_character(), 0, None, 1 if LONG or every else 32)
    if LONG:
        yield from texts.runs()
    count = 110_000 if LONG else 1_500 if every else 200
    yield from texts.scripts(count, 1)
    yield from texts.noise(count, 2)


class Differences(unittest.TestCase):
    def compare(self, path, reference, inputs, *options, **encode_options):
        """Complains of the first differences and says how many there are."""
        inputs = list(inputs)
        pairs = "--pairs" in options
        ours = encode(path, itertools.chain(*inputs) if pairs else inputs, *options)
        self.assertEqual(len(ours), len(inputs))
        theirs = reference.encode_batch(inputs, **encode_options)
        wrong = [(text, (t.ids, t.type_ids), our) for text, t, our in zip(inputs, theirs, ours)
                 if (t.ids, t.type_ids) != our]
        shown = "\n".join(f"{text!a}\n  theirs {their}\n  ours   {our}" for text, their, our in wrong[:5])
        if wrong:
            self.fail(f"{len(wrong)} of {len(inputs)} differ\n{shown}")

    def compare_all(self, name, reference, every):
        with tempfile.TemporaryDirectory() as folder, self.subTest(name):
            path = f"{folder}/tokenizer.json"
            reference.no_truncation()
            reference.no_padding()
            reference.save(path)
            self.compare(path, reference, usual_texts(every))
            some = list(texts.scripts(10_000 if LONG else 60, 3)) + texts.TRICKY
            pairs = list(zip(some, reversed(some)))
            self.compare(path, reference, some, "--bare", add_special_tokens=False)
            self.compare(path, reference, pairs, "--pairs")
            self.compare(path, reference, pairs, "--pairs", "--bare", add_special_tokens=False)
            for size, side in itertools.product((4, 7, 12) if LONG or every else (6,), ("right", "left")):
                reference.enable_truncation(size, direction=side)
                options = ["--max", str(size)] + (["--left"] if side == "left" else [])
                self.compare(path, reference, some, *options)
                self.compare(path, reference, pairs, "--pairs", *options)
            reference.no_truncation()
            reference.encode_special_tokens = True
            self.compare(path, reference, some, "--plain")

    def compare_each(self, tokenizers):
        for index, (name, tokenizer) in enumerate(tokenizers):
            self.compare_all(name, tokenizer, every=index == 0)

    def test_wordpiece(self):
        self.compare_each(made.wordpieces())

    def test_unigram(self):
        self.compare_each(made.unigrams())

    def test_bpe(self):
        self.compare_each(made.bpes())

    def test_added_tokens(self):
        (name, tokenizer), = made.with_added_tokens()
        self.compare_all(name, tokenizer, every=False)

    def test_further_tokenizers(self):
        found = sorted(pathlib.Path(FURTHER).glob("**/tokenizer.json")) if FURTHER else []
        if not found:
            self.skipTest("MPSD_TOKENIZERS names no folder with tokenizer.json files")
        for path in found:
            self.compare_all(str(path), Tokenizer.from_file(str(path)), every=True)

    def test_broken_utf8_is_decoded_as_python_does(self):
        (_, tokenizer), = itertools.islice(made.wordpieces(), 1)
        broken = [bytes(b) for n in (1, 2, 3) for b in itertools.product(
            (0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE4, 0xED, 0xEF,
             0xF0, 0xF1, 0xF4, 0xF5, 0xFF), repeat=n)]
        broken += [b"a\xf0\x90\x80z", b"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", b"\xed\xa0\x80\xed\xb0\x80"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "tokenizer.json")
            made.visible_replacements(tokenizer).save(str(path))
            reference = Tokenizer.from_file(str(path))
            ours = encode(str(path), broken)
            for raw, (ids, _) in zip(broken, ours):
                wanted = reference.encode(raw.decode(errors="replace")).ids
                self.assertEqual(ids, wanted, raw)

    def test_anything_unknown_is_refused_by_its_name(self):
        (_, tokenizer), = itertools.islice(made.wordpieces(), 1)
        whole = tokenizer.to_str()
        for place, wanted in made.unknown_parts():
            changed = json.loads(whole)
            place(changed)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "tokenizer.json")
                path.write_text(json.dumps(changed))
                with self.assertRaisesRegex(AssertionError, wanted):
                    encode(str(path), ["a"])


if __name__ == "__main__":
    unittest.main()
