"""The encoder of the demo gives sentence-transformers' embeddings, alone and in company."""
import json
import subprocess
import sys
import unittest

import numpy as np
import tritonclient.grpc as triton

import calls
from daemon import Daemon, MODELS, ROOT, WITH_TORCH, mpsd
from models import huggingface

EXAMPLE = ROOT / "client/examples/python/infer.py"
REFERENCE = ROOT / "tests/compat/minilm/reference.json"
FARTHEST = 1e-5


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@unittest.skipUnless(WITH_TORCH, "built without torch")
class MiniLm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reference = json.loads(REFERENCE.read_text())
        model = huggingface("minilm")
        cls.daemon = cls.enterClassContext(Daemon([model]))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def request_of(self, entry):
        ids = np.array([entry["input_ids"]], dtype=np.int64)
        return calls.request("minilm", {"input_ids": ids, "attention_mask": np.ones_like(ids)})

    def check(self, outcome, entry):
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        (embedding,) = calls.arrays(outcome.response).values()
        farthest = np.abs(embedding[0] - np.array(entry["embedding"])).max()
        self.assertLessEqual(farthest, FARTHEST, entry["text"])

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

    def test_a_token_that_is_no_word_fails_its_request_alone(self):
        good = self.request_of(self.reference[0])
        ids = np.array([[101, 30522, 102]], dtype=np.int64)
        bad = calls.request("minilm", {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        outcomes = calls.infer_all(self.stub, [good, bad] * 4)
        for outcome in outcomes[::2]:
            self.check(outcome, self.reference[0])
        for outcome in outcomes[1::2]:
            self.assertNotEqual(outcome.code, calls.OK)
            self.assertIn("the token id 30522 is outside of the model's 30522 words", outcome.text)

    def test_texts_have_the_embeddings_of_their_tokens(self):
        texts = np.array([[entry["text"]] for entry in self.reference], dtype=object)
        sent = triton.InferInput("text", list(texts.shape), "BYTES")
        sent.set_data_from_numpy(texts)
        with triton.InferenceServerClient(self.daemon.address) as client:
            answer = client.infer("minilm", [sent]).as_numpy("sentence_embedding")
        for row, entry in zip(answer, self.reference):
            farthest = np.abs(row - np.array(entry["embedding"])).max()
            self.assertLessEqual(farthest, FARTHEST, entry["text"])

    def test_token_types_may_be_said(self):
        ids = np.array([self.reference[0]["input_ids"]], dtype=np.int64)
        self.check(calls.infer(self.stub, calls.request("minilm", {
            "input_ids": ids, "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids)})), self.reference[0])

    def test_the_example_in_python(self):
        """An unmodified tritonclient; it prints how near each text is."""
        entries = [entry for entry in self.reference if entry["text"].isprintable()]
        self.assertGreater(len(entries), 8)
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), "--address", self.daemon.address, "minilm",
             *(entry["text"] for entry in entries)],
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
        # The text for people shows the embedding's first numbers.
        self.assertIn(f"{entry['embedding'][0]:+.4f}", done.stdout)
        self.assertIn("384", done.stdout)

    def test_inspect_and_init_say_what_the_folder_holds(self):
        done = mpsd("inspect", str(MODELS / "minilm"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for fact in ("huggingface, on cpu", "family: bert", "pooling: mean, normalize",
                     "tokens: at most 256 a row, as sentence_bert_config.json says",
                     "tokenizer: WordPiece, 30522 pieces", "[CLS] 101, [SEP] 102",
                     "the 128 tokens in tokenizer.json are not heeded", "prompts: none",
                     "sentence_embedding"):
            self.assertIn(fact, done.stdout)
        target = self.daemon.folder / "init.json"
        done = mpsd("init", str(MODELS / "minilm"), "--config", str(target))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = mpsd("check", str(target))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("inputs", json.loads(target.read_text())["models"][0])

    def test_the_verb_refuses_a_text_for_another_model(self):
        done = mpsd("infer", "nobody", "--text", "hello", "--address", self.daemon.address)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("Request for unknown model: 'nobody' is not found", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
