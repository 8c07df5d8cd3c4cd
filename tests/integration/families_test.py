"""Each family of encoders gives transformers' numbers for rows of tokens, whoever has saved its
weights. For texts each family of encoders and tokenizers gives the numbers of the tool that saved the
folder, by gRPC and HTTP."""
import pathlib
import tempfile
import unittest

import numpy as np
import tritonclient.grpc as triton

import calls
import family_folders
import web
from daemon import Daemon, WITH_TORCH
from models import huggingface
from streams import input_of

FARTHEST = 1e-5
BY_TORCH = ("bert_dense", "bert_sharded_bf16", "xlm_roberta_fp16", "bert_reranker")


def strings(name, texts):
    return input_of(name, np.array([text.encode() for text in texts], dtype=object)[:, None],
                    "BYTES")


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


class Family:
    """What is asked of one folder, and the answers of the tool that saved it."""

    def __init__(self, name, content):
        self.name = name
        self.samples = content["samples"]
        self.answers = np.array(content["answers"])
        self.embeds = "1_Pooling/config.json" in content["files"]
        self.prompt = {"prompt_name": content["prompt_name"]} if content.get("prompt_name") else {}
        labels = content["files"]["config.json"].get("id2label", {})
        self.labels = [labels[str(place)] for place in range(len(labels))]

    def inputs(self, samples):
        if self.samples and isinstance(self.samples[0], str):
            return [strings("text", samples)]
        return [strings(name, side)
                for name, side in zip(("text", "text_pair"), zip(*samples, strict=True))]

    def rows(self, answer):
        """The numbers of each row, as the oracle lists them."""
        names = ["sentence_embedding"] if self.embeds else ["logits", "scores"]
        return np.concatenate([answer.as_numpy(name) for name in names], axis=1)


@unittest.skipUnless(WITH_TORCH, "built without torch")
class FamilyCase(unittest.TestCase):
    @classmethod
    def serve(cls, names, write):
        """A daemon of these folders; what was written of each, by its name."""
        root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        written = {name: write(name, root / name) for name in names}
        cls.daemon = cls.enterClassContext(Daemon(
            [huggingface(name, root / name) for name in written]))
        return written


class Families(FamilyCase):
    @classmethod
    def setUpClass(cls):
        saved_by_torch = [f"{name}_of_torch" for name in BY_TORCH]
        cls.rows = cls.serve([*family_folders.names(), *saved_by_torch], cls.write)
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    @staticmethod
    def write(name, folder):
        family = name.removesuffix("_of_torch")
        return family_folders.write(family, folder, is_torch=family != name)

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
            for outcome, row in zip(calls.all_answered(self.stub, requests), rows):
                answer = np.concatenate([array[0] for array in
                                         calls.arrays(outcome.response).values()])
                farthest = np.abs(answer - np.array(row["answer"])).max()
                self.assertLessEqual(farthest, FARTHEST, name)

    def test_classes_have_the_labels_of_the_folder(self):
        name = "roberta_classifier"
        for row in self.rows[name]:
            request = self.request_of(name, row)
            request.outputs.add(name="scores").parameters["classification"].int64_param = 1
            outcome = calls.answered(self.stub, request)
            (classes,) = outcome.response.raw_output_contents
            scores = row["answer"][3:]
            index = int(np.argmax(scores))
            label = ("anger", "joy", "neither")[index]
            # Behind the length, the value, its index and its label.
            self.assertTrue(classes[4:].decode().endswith(f":{index}:{label}"), classes)


class TextFamilies(FamilyCase):
    @classmethod
    def setUpClass(cls):
        cls.families = [Family(*written) for written in cls.serve(
            family_folders.text_family_names(), family_folders.write_text_family).items()]
        cls.client = cls.enterClassContext(triton.InferenceServerClient(cls.daemon.address))

    def families_that(self, condition, at_least):
        found = [one for one in self.families if condition(one)]
        self.assertGreaterEqual(len(found), at_least)
        return found

    def infer(self, family, samples):
        return family.rows(self.client.infer(family.name, family.inputs(samples),
                                             parameters=family.prompt))

    def post(self, path, **body):
        return web.post(self.daemon.http, path, body)

    def check_close(self, family, samples, got, wanted):
        got = np.array(got)
        self.assertEqual(got.shape, wanted.shape, family.name)
        far = np.abs(got - wanted).max(axis=tuple(range(1, got.ndim)))
        wrong = [f"{sample!a}: {distance:.1e}" for sample, distance in zip(samples, far, strict=True)
                 if not distance <= FARTHEST]
        self.assertEqual(wrong, [], family.name)

    # gRPC.

    def test_each_text_alone(self):
        for family in self.families_that(lambda one: True, 20):
            with self.subTest(family.name):
                got = np.concatenate([self.infer(family, [one]) for one in family.samples])
                self.check_close(family, family.samples, got, family.answers)

    def test_all_texts_together_with_some_twice(self):
        for family in self.families_that(lambda one: True, 20):
            with self.subTest(family.name):
                places = [*range(len(family.samples)), 0, 3, 3]
                samples = [family.samples[place] for place in places]
                self.check_close(family, samples, self.infer(family, samples),
                                 family.answers[places])

    def test_the_other_way_round(self):
        for family in self.families_that(lambda one: True, 20):
            with self.subTest(family.name):
                self.check_close(family, family.samples[::-1],
                                 self.infer(family, family.samples[::-1]), family.answers[::-1])

    # HTTP.

    def test_embeddings(self):
        for family in self.families_that(lambda one: one.embeds, 12):
            with self.subTest(family.name):
                answer = self.post("/v1/embeddings", model=family.name, input=family.samples,
                                   **family.prompt)
                self.check_close(family, family.samples, [one["embedding"] for one in answer["data"]],
                                 unit(family.answers))
                answer = self.post("/embed", model=family.name, inputs=family.samples,
                                   normalize=False, **family.prompt)
                self.check_close(family, family.samples, answer, family.answers)

    def test_rankings(self):
        for family in self.families_that(lambda one: len(one.labels) == 1, 4):
            with self.subTest(family.name):
                query = family.samples[0][0]
                count = sum(pair[0] == query for pair in family.samples)
                documents = [document for _, document in family.samples[:count]]
                answer = self.post("/rerank", model=family.name, query=query, documents=documents)
                scores = {one["index"]: one["relevance_score"] for one in answer["results"]}
                answer = self.post("/rerank", model=family.name, query=query, texts=documents,
                                   raw_scores=True)
                logits = {one["index"]: one["score"] for one in answer}
                self.check_close(family, documents,
                                 [(logits[place], scores[place]) for place in range(count)],
                                 family.answers[:count])

    def test_classes(self):
        for family in self.families_that(lambda one: not one.embeds, 10):
            with self.subTest(family.name):
                # A list of one text each; a pair is a list of two.
                inputs = [[one] if isinstance(one, str) else one for one in family.samples]
                answer = self.post("/predict", model=family.name, inputs=inputs)
                scores = [{one["label"]: one["score"] for one in row} for row in answer]
                self.check_close(family, family.samples,
                                 [[row[label] for label in family.labels] for row in scores],
                                 family.answers[:, len(family.labels):])


if __name__ == "__main__":
    unittest.main(verbosity=2)
