"""The encoder of the demo gives sentence-transformers' embeddings, alone and in company."""
import json
import unittest

import numpy as np

import calls
from daemon import Daemon, MODELS, ROOT, WITH_TORCH, mpsd
from models import torchscript

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
