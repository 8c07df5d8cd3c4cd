"""Texts, with Triton's own client: the server makes tokens of them, and the model gives these back."""
import json
import pathlib
import queue
import tempfile
import threading
import unittest

import numpy as np
import tritonclient.grpc as triton

from daemon import Daemon, wait_until
from models import placement, synthetic, tensor
from streams import input_of

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c"]
CLS, SEP, A, B, C = 2, 3, 4, 5, 6
TOKENS = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64"),
          {**tensor("token_type_ids", [-1], "INT64"), "optional": True}]


def strings(name, *texts, dims=None):
    made = triton.InferInput(name, dims or [len(texts), 1], "BYTES")
    made.set_data_from_numpy(np.array(texts, dtype=object).reshape(dims or [len(texts), 1]))
    return made


class Texts(unittest.TestCase):
    def serve(self, words=WORDS, prompts=None, model=None, limits=None, **text):
        """A daemon with a model that answers OUTPUT0: ids, OUTPUT1: mask, OUTPUT2: types."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        self.vocab = folder / "vocab.txt"
        self.write_words(words)
        if prompts is not None:
            (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
        self.daemon = self.enterContext(Daemon(
            [synthetic("m", TOKENS, text={"tokenizer": str(self.vocab), **text},
                       **(model or {}))], limits=limits or {}))
        self.client = self.enterContext(triton.InferenceServerClient(self.daemon.address))

    def write_words(self, words):
        self.vocab.write_text("".join(f"{word}\n" for word in words))

    def ids(self, *texts, **more):
        answer = self.client.infer("m", [strings("text", *texts)], **more)
        return answer.as_numpy("OUTPUT0").tolist()

    def wait_for(self, name, value):
        wait_until(lambda: self.daemon.metric(name, model="m") == value, 30, name)

    def check_refused(self, inputs, text, **more):
        with self.assertRaises(triton.InferenceServerException) as caught:
            self.client.infer("m", inputs, **more)
        self.assertEqual(caught.exception.status(), "StatusCode.INVALID_ARGUMENT")
        self.assertIn(text, caught.exception.message())

    def test_texts_become_rows_of_tokens(self):
        self.serve()
        answer = self.client.infer("m", [strings("text", "a b c", "b", "")])
        self.assertEqual(answer.as_numpy("OUTPUT0").tolist(),
                         [[CLS, A, B, C, SEP], [CLS, B, SEP, 0, 0], [CLS, SEP, 0, 0, 0]])
        self.assertEqual(answer.as_numpy("OUTPUT1").tolist(),
                         [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])
        self.assertEqual(self.daemon.metric("mpsd_text_tokens_total", model="m"), 10)
        self.assertEqual(self.daemon.metric("mpsd_batch_tokens_sum", model="m"), 3 * 5)
        self.assertEqual(self.daemon.metric("mpsd_padding_tokens_total", model="m"), 3 * 5 - 10)
        self.assertEqual(self.daemon.metric("mpsd_stage_seconds_count", model="m", stage="texts"),
                         1)

    def test_equal_texts_are_one_row_and_get_one_each(self):
        self.serve()
        self.assertEqual(self.ids("a", "b c", "a", "a"),
                         [[CLS, A, SEP, 0], [CLS, B, C, SEP], [CLS, A, SEP, 0], [CLS, A, SEP, 0]])
        self.assertEqual(self.daemon.metric("mpsd_text_tokens_total", model="m"), 13)
        self.assertEqual(self.daemon.metric("mpsd_repeated_texts_total", model="m"), 2)
        self.assertEqual(self.daemon.metric("mpsd_batch_rows_sum", model="m"), 2)

    def test_requests_beyond_the_budget_of_tokens_go_in_two_batches(self):
        for budget, batches in ((10, 2), (9, 3)):
            with self.subTest(budget=budget):
                self.serve(model={"max_batch_tokens": budget, "placement": placement()})
                self.assertEqual(
                    self.daemon.metric("mpsd_batch_token_budget", model="m"), budget)
                answers = queue.Queue()

                def send(text, put=answers.put):
                    self.client.async_infer("m", [strings("text", text)],
                                            lambda result, error: put(error))

                with self.daemon.stopped_workers():
                    send("a")
                    self.wait_for("mpsd_running_batches", 1)
                    send("a b c")
                    send("c b a")
                    self.wait_for("mpsd_queue_requests", 2)
                for _ in range(3):
                    self.assertIsNone(answers.get(timeout=30))
                self.assertEqual(self.daemon.metric("mpsd_batches_total", model="m"), batches)

    def test_a_list_of_texts_needs_no_second_dim(self):
        self.serve()
        answer = self.client.infer("m", [strings("text", "a", "b", dims=[2])])
        self.assertEqual(answer.as_numpy("OUTPUT0").tolist(), [[CLS, A, SEP], [CLS, B, SEP]])

    def test_pairs(self):
        self.serve()
        answer = self.client.infer("m", [strings("text", "a"), strings("text_pair", "b c")])
        self.assertEqual(answer.as_numpy("OUTPUT0").tolist(), [[CLS, A, SEP, B, C, SEP]])
        self.assertEqual(answer.as_numpy("OUTPUT2").tolist(), [[0, 0, 0, 1, 1, 1]])

    def test_tokens_are_taken_as_before(self):
        self.serve()
        tokens = np.array([[CLS, A, SEP]], dtype=np.int64)
        inputs = [triton.InferInput(name, [1, 3], "INT64")
                  for name in ("input_ids", "attention_mask")]
        for one in inputs:
            one.set_data_from_numpy(tokens)
        answer = self.client.infer("m", inputs)
        self.assertEqual(answer.as_numpy("OUTPUT0").tolist(), tokens.tolist())
        self.check_refused([*inputs, strings("text", "a")],
                           "unexpected inference input 'input_ids' beside 'text' for model 'm'")

    def test_texts_of_too_many_tokens_are_refused(self):
        self.serve(limits={"text_tokens": 6})
        self.assertEqual(self.ids("a", "b"), [[CLS, A, SEP], [CLS, B, SEP]])
        self.check_refused([strings("text", "a", "b c")],
                           "the texts of the request have more than 6 tokens; no more are served")
        self.check_refused([strings("text", "a", "a", "a")], "more than 6 tokens")

    def test_long_texts_are_cut_at_the_side_that_the_config_says(self):
        self.serve(max_tokens=4, side="left")
        answer = self.client.infer("m", [strings("text", "a", "a b c", "a b b")])
        self.assertEqual(answer.as_numpy("OUTPUT0").tolist(),
                         [[CLS, A, SEP, 0], [CLS, B, C, SEP], [CLS, B, B, SEP]])
        self.assertEqual(answer.get_response().parameters["truncated_texts"].int64_param, 2)
        self.assertNotIn("truncated_texts", self.client.infer(
            "m", [strings("text", "a")]).get_response().parameters)
        self.assertEqual(self.daemon.metric("mpsd_truncated_texts_total", model="m"), 2)

    def test_prompts_of_the_folder(self):
        self.serve(prompts={"prompts": {"query": "c b ", "plain": ""},
                            "default_prompt_name": "query"})
        by_hand = self.ids("c b a", "c b b a", parameters={"prompt_name": "plain"})
        self.assertEqual(by_hand, [[CLS, C, B, A, SEP, 0], [CLS, C, B, B, A, SEP]])
        self.assertEqual(self.ids("a", "b a", parameters={"prompt_name": "query"}), by_hand)
        self.assertEqual(self.ids("a", "b a"), by_hand)
        self.assertEqual(self.daemon.metric("mpsd_text_tokens_total", model="m"), 3 * 11)
        for texts, name, why in (
                ([strings("text", "a")], "other",
                 "'prompt_name' must be one of the model's prompts: plain, query"),
                ([strings("text", "a"), strings("text_pair", "b")], "query",
                 "pairs of texts have no prompt"),
                ([strings("text", "a")], 1,
                 "invalid value type for 'prompt_name' parameter, expected string_param.")):
            self.check_refused(texts, why, parameters={"prompt_name": name})

    def test_a_reload_finds_changed_prompts(self):
        self.serve(prompts={"prompts": {"query": "c "}, "default_prompt_name": "query"})
        self.assertEqual(self.ids("a"), [[CLS, C, A, SEP]])
        beside = self.vocab.parent / "config_sentence_transformers.json"
        beside.write_text(json.dumps({"prompts": {"query": "b b "},
                                      "default_prompt_name": "query"}))
        self.daemon.reload()
        wait_until(lambda: self.ids("a") == [[CLS, B, B, A, SEP]], 30, "the other prompt")
        beside.unlink()
        self.daemon.reload()
        wait_until(lambda: self.ids("a") == [[CLS, A, SEP]], 30, "no prompt")

    def test_rows_of_tokens_have_no_prompt(self):
        self.serve(prompts={"prompts": {"query": "c "}})
        rows = [[CLS, A, SEP]]
        tokens = [triton.InferInput(name, [1, 3], "INT64")
                  for name in ("input_ids", "attention_mask")]
        tokens[0].set_data_from_numpy(np.array(rows, np.int64))
        tokens[1].set_data_from_numpy(np.ones((1, 3), np.int64))
        self.check_refused(tokens, "rows of tokens have no prompt",
                           parameters={"prompt_name": "query"})

    def test_a_model_whose_prompts_cannot_be_used_is_not_ready(self):
        self.serve(prompts={"prompts": {"query": 1}})
        with self.assertRaises(triton.InferenceServerException) as caught:
            self.ids("a")
        self.assertEqual(caught.exception.status(), "StatusCode.UNAVAILABLE")
        self.assertFalse(self.client.is_model_ready("m"))
        self.assertIn("'prompts': 'query' must be a text", self.daemon.log())

    def test_long_texts_are_refused_where_the_config_says_so(self):
        self.serve(max_tokens=4, long_input="error")
        self.assertEqual(self.ids("a b"), [[CLS, A, B, SEP]])
        self.check_refused([strings("text", "a", "a b c")],
                           "text 1: it has 5 tokens, but at most 4 are served")

    def test_a_megabyte_is_encoded_beside_the_calls(self):
        self.serve()
        long = "a " * (1 << 19)
        results = []
        thread = threading.Thread(target=lambda: results.append(self.ids(long, client_timeout=60)))
        thread.start()
        for _ in range(20):
            self.assertEqual(self.ids("b"), [[CLS, B, SEP]])
        thread.join()
        self.assertEqual(results, [[[CLS] + [A] * 510 + [SEP]]])

    def test_bytes_that_are_no_text(self):
        self.serve()
        made = input_of("text", np.array([[b"\xff\0\xed\xa0\x80"]], dtype=object), "BYTES")
        answer = self.client.infer("m", [made])
        self.assertEqual(answer.as_numpy("OUTPUT0").tolist()[0][0], CLS)

    def test_clients_are_told_of_both_ways_in(self):
        self.serve()
        metadata = self.client.get_model_metadata("m")
        self.assertEqual([(one.name, one.datatype) for one in metadata.inputs],
                         [("text", "BYTES"), ("text_pair", "BYTES"), ("input_ids", "INT64"),
                          ("attention_mask", "INT64"), ("token_type_ids", "INT64")])
        config = self.client.get_model_config("m").config
        self.assertEqual([one.optional for one in config.input], [False, True, True, True, True])

    def test_a_reload_takes_the_new_words_and_loses_no_request(self):
        self.serve()
        wanted = {"old": [[CLS, A, SEP]], "new": [[CLS, C, SEP]]}
        self.assertEqual(self.ids("a"), wanted["old"])
        seen, stop = [], threading.Event()

        def ask():
            with triton.InferenceServerClient(self.daemon.address) as client:
                while not stop.is_set():
                    answer = client.infer("m", [strings("text", "a")])
                    seen.append(answer.as_numpy("OUTPUT0").tolist())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        self.write_words([*WORDS[:4], "c", "b", "a"])
        self.daemon.reload()
        self.assertEqual(self.ids("a"), wanted["new"])
        stop.set()
        for thread in threads:
            thread.join()
        self.assertTrue(all(one in wanted.values() for one in seen))


if __name__ == "__main__":
    unittest.main(verbosity=2)
