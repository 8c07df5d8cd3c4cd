"""Each family of encoders gives transformers' numbers through the daemon, whoever has saved its
weights."""
import contextlib
import pathlib
import tempfile
import unittest

import numpy as np

import calls
import family_folders
from daemon import Daemon, WITH_TORCH
from models import huggingface

FARTHEST = 1e-5


@unittest.skipUnless(WITH_TORCH, "built without torch")
class Families(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = cls.enterClassContext(contextlib.ExitStack())
        root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cls.rows = {name: family_folders.write(name, root / name)
                    for name in family_folders.names()}
        for name in ("bert_dense", "bert_sharded_bf16", "xlm_roberta_fp16", "bert_reranker"):
            as_torch = f"{name}_of_torch"
            cls.rows[as_torch] = family_folders.write(name, root / as_torch, is_torch=True)
        cls.daemon = stack.enter_context(Daemon(
            [huggingface(name, root / name) for name in cls.rows]))
        cls.stub = stack.enter_context(calls.stub(cls.daemon.address))

    def request_of(self, name, row):
        ids = np.array([row["input_ids"]], dtype=np.int64)
        arrays = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if "token_type_ids" in row:
            arrays["token_type_ids"] = np.array([row["token_type_ids"]], dtype=np.int64)
        return calls.request(name, arrays)

    def test_every_row_of_every_family(self):
        self.assertGreaterEqual(len(self.rows), 14)
        for name, rows in self.rows.items():
            requests = [self.request_of(name, row) for row in rows]
            for outcome, row in zip(calls.infer_all(self.stub, requests), rows):
                self.assertEqual(outcome.code, calls.OK, outcome.text)
                answer = np.concatenate([array[0] for array in
                                         calls.arrays(outcome.response).values()])
                farthest = np.abs(answer - np.array(row["answer"])).max()
                self.assertLessEqual(farthest, FARTHEST, name)

    def test_classes_have_the_labels_of_the_folder(self):
        name = "roberta_classifier"
        for row in self.rows[name]:
            request = self.request_of(name, row)
            request.outputs.add(name="scores").parameters["classification"].int64_param = 1
            outcome = calls.infer(self.stub, request)
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            (classes,) = outcome.response.raw_output_contents
            scores = row["answer"][3:]
            index = int(np.argmax(scores))
            label = ("anger", "joy", "neither")[index]
            # Behind the length, the value, its index and its label.
            self.assertTrue(classes[4:].decode().endswith(f":{index}:{label}"), classes)


if __name__ == "__main__":
    unittest.main(verbosity=2)
