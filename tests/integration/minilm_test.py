"""The encoder of the demo gives sentence-transformers' embeddings, alone and in company."""
import json
import subprocess
import sys
import unittest

import numpy as np

import calls
from daemon import Daemon, MODELS, ROOT, WITH_TORCH, mpsd
from models import torchscript

EXAMPLE = ROOT / "client/examples/python/infer.py"
REFERENCE = ROOT / "tests/compat/minilm/reference.json"
LEAST_COSINE = 0.9999


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@unittest.skipUnless(WITH_TORCH, "built without torch")
class MiniLm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reference = json.loads(REFERENCE.read_text())
        model = torchscript("minilm", parameters={"vocab": str(MODELS / "vocab.txt")})
        cls.daemon = cls.enterClassContext(Daemon([model]))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def request_of(self, entry):
        ids = np.array([entry["input_ids"]], dtype=np.int64)
        return calls.request("minilm", {"input_ids": ids, "attention_mask": np.ones_like(ids)})

    def check(self, outcome, entry):
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        (embedding,) = calls.arrays(outcome.response).values()
        found = cosine(embedding[0], np.array(entry["embedding"]))
        self.assertGreaterEqual(found, LEAST_COSINE, entry["text"])

    def test_each_sentence_alone(self):
        self.assertEqual(len(self.reference), 20)
        for entry in self.reference:
            self.check(calls.infer(self.stub, self.request_of(entry)), entry)

    def test_all_sentences_at_once(self):
        before = self.daemon.metric("mpsd_batches_total")
        entries = self.reference * 3
        outcomes = calls.infer_all(self.stub, [self.request_of(entry) for entry in entries])
        for outcome, entry in zip(outcomes, entries):
            self.check(outcome, entry)
        batches = self.daemon.metric("mpsd_batches_total") - before
        print(f"  {len(entries)} sentences in {batches:.0f} batches", flush=True)
        self.assertLess(batches, len(entries), "no two sentences shared a batch")

    def test_the_example_in_python(self):
        """An unmodified tritonclient with tokens of its own; it prints how near each text is."""
        # Each row is as long as the longest of them.
        entries = [entry for entry in self.reference
                   if len(entry["input_ids"]) <= 16 and "\n" not in entry["text"]]
        self.assertGreater(len(entries), 8)
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), "--address", self.daemon.address, "minilm", "--vocab",
             str(MODELS / "vocab.txt"), *(entry["text"] for entry in entries)],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(entries))
        first = np.array(entries[0]["embedding"])
        for line, entry in zip(lines, entries):
            said, text = line.split("  ", 1)
            self.assertEqual(text, entry["text"])
            self.assertAlmostEqual(float(said), cosine(first, np.array(entry["embedding"])),
                                   delta=0.001, msg=text)

    def test_the_verb_takes_text(self):
        entry = self.reference[6]
        address = ["--address", self.daemon.address]
        done = mpsd("infer", "minilm", "--text", entry["text"], *address)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The first numbers of the embedding stand in what people read.
        self.assertIn(f"{entry['embedding'][0]:+.4f}", done.stdout)
        self.assertIn("384", done.stdout)

    def test_the_verb_refuses_a_text_for_another_model(self):
        done = mpsd("infer", "nobody", "--text", "hello", "--address", self.daemon.address)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("Request for unknown model: 'nobody' is not found", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
