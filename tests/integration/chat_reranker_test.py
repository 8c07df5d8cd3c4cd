"""A reranker that was a chat model: pairs are put into the words of its training, by every route."""
import contextlib
import http.client
import json
import math
import pathlib
import tempfile
import unittest

import numpy as np

import calls
import family_folders
from daemon import Daemon, WITH_TORCH
from models import huggingface

FARTHEST = 1e-5
QUERY = "How far is it?"
DOCUMENTS = ["A mile.", "It is blue. \u00e4\u4e2d", "", "x " * 3000]
MOST_TOKENS = 1024
BEFORE = """<|im_start|>system
Judge whether the Document meets the requirements based on the Query and the Instruct provided. \
Note that the answer can only be "yes" or "no".<|im_end|>
<|im_start|>user
"""
MIDDLE = """<Instruct>: Given a web search query, retrieve relevant passages that answer the query
<Query>: {}
<Document>: {}"""
BEHIND = """<|im_end|>
<|im_start|>assistant
<think>

</think>

"""


def write(folder, has_modules):
    content = family_folders.read("qwen3_reranker")
    files = content["files"]
    files["config.json"]["max_position_embeddings"] = MOST_TOKENS
    tokenizer = family_folders.read_text_family("qwen3")["tokenizer.json"]
    if not has_modules:
        del files["modules.json"], files["1_LogitScore/config.json"]
    family_folders.write_content(content | {"files": files | {"tokenizer.json": tokenizer}}, folder)


@unittest.skipUnless(WITH_TORCH, "built without torch")
class ChatReranker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = cls.enterClassContext(contextlib.ExitStack())
        root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name in ("r", "older-Reranker", "told"):
            write(root / name, has_modules=name == "r")
        cls.daemon = stack.enter_context(Daemon(
            [huggingface("r", root / "r"), huggingface("older", root / "older-Reranker"),
             huggingface("told", root / "told", task="rerank")]))
        cls.stub = stack.enter_context(calls.stub(cls.daemon.address))

    def answer(self, path, **body):
        connection = http.client.HTTPConnection(self.daemon.http, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def post(self, path, **body):
        status, answer = self.answer(path, **body)
        self.assertEqual(status, 200, answer)
        return answer

    def tokens_of(self, text):
        (tokens,) = self.post("/tokenize", model="r", inputs=text, add_special_tokens=False)
        return [token["id"] for token in tokens]

    def tokens_of_pair(self, document):
        before, behind = self.tokens_of(BEFORE), self.tokens_of(BEHIND)
        middle = self.tokens_of(MIDDLE.format(QUERY, document))
        return [*before, *middle[:MOST_TOKENS - len(before) - len(behind)], *behind]

    def expected(self):
        """The logit and the score of each document, by the tokens that it should become."""
        rows = []
        for document in DOCUMENTS:
            ids = np.array([self.tokens_of_pair(document)], dtype=np.int64)
            outcome = calls.infer(self.stub, calls.request(
                "r", {"input_ids": ids, "attention_mask": np.ones_like(ids)}))
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            arrays = calls.arrays(outcome.response)
            rows.append((float(arrays["logits"][0][0]), float(arrays["scores"][0][0])))
        return rows

    def check(self, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for number, right in zip(got, wanted):
            self.assertAlmostEqual(number, right, delta=FARTHEST)

    def test_all_routes_give_the_likelihood_of_yes(self):
        logits, scores = zip(*self.expected())
        self.check(scores, [1 / (1 + math.exp(-logit)) for logit in logits])
        self.assertGreater(len(set(scores)), 3)
        for model in ("r", "older", "told"):
            for path in ("/rerank", "/v1/rerank", "/v2/rerank"):
                answer = self.post(path, model=model, query=QUERY, documents=DOCUMENTS)
                by_place = {one["index"]: one["relevance_score"] for one in answer["results"]}
                self.check([by_place[place] for place in range(len(DOCUMENTS))], scores)
            for raw, numbers in ((True, logits), (False, scores)):
                answer = self.post("/rerank", model=model, query=QUERY, texts=DOCUMENTS,
                                   raw_scores=raw, truncate=True)
                by_place = {one["index"]: one["score"] for one in answer}
                self.check([by_place[place] for place in range(len(DOCUMENTS))], numbers)
            answer = self.post("/predict", model=model,
                               inputs=[[QUERY, document] for document in DOCUMENTS], truncate=True)
            self.check([classes[0]["score"] for classes in answer], scores)
            self.assertEqual(answer[0][0]["label"], "yes")

    def test_a_text_alone_is_refused(self):
        status, answer = self.answer("/predict", model="r", inputs="alone")
        self.assertEqual(status, 422, answer)
        self.assertIn("this model scores pairs of texts", json.dumps(answer))


if __name__ == "__main__":
    unittest.main(verbosity=2)
