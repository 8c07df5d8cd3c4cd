"""OpenAI's and the embedders' routes over HTTP: recorded requests of their clients, and OpenAI's own."""
import base64
import functools
import http.client
import json
import pathlib
import socket
import struct
import tempfile
import threading
import unittest
import urllib.request
import zipfile

import openai

import web
from daemon import Daemon, MODELS, ROOT, WITH_TORCH, wait_until
from encoders import (EMBEDDING, MOST_TOKENS, RANKING, WORDS, encoder, numbers_of, tokens_of,
                      unit)
from models import huggingface, synthetic, tensor


class Embeddings(unittest.TestCase):
    def serve(self, *more, prompts=None, **config):
        """A daemon with the embedder "e", and with further models that `more` names."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        if prompts is not None:
            (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
        models = {"e": encoder("e", EMBEDDING, folder),
                  "r": encoder("r", RANKING, folder),
                  "c": encoder("c", [tensor("scores", [3])], folder),
                  "image": synthetic("image")}
        self.daemon = self.enterContext(Daemon([models[name] for name in ("e", *more)], **config))

    def ask(self, method, path, body=None, **headers):
        """(status, headers, answer) of one request."""
        return self.ask_by(self.daemon.http, method, path, body, **headers)

    def ask_by(self, connection, method, path, body=None, **headers):
        status, told, read = web.ask(connection, method, path, body,
                                     {"Content-Type": "application/json", **headers})
        return status, told, json.loads(read) if read else None

    def post(self, path, **body):
        status, _, answer = self.ask("POST", path, body)
        self.assertEqual(status, 200, answer)
        return answer

    def refused(self, code, path, **body):
        status, _, answer = self.ask("POST", path, body)
        self.assertEqual(status, code, answer)
        return answer

    def check_close(self, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for one, other in zip(got, wanted):
            self.assertAlmostEqual(one, other, delta=1e-6)

    # OpenAI.

    def test_a_text_and_a_list_of_texts(self):
        self.serve()
        answer = self.post("/v1/embeddings", model="e", input="a b")
        self.assertEqual(answer["object"], "list")
        self.assertEqual(answer["model"], "e")
        self.assertEqual(answer["usage"], {"prompt_tokens": 4, "total_tokens": 4})
        self.check_close(answer["data"][0]["embedding"], unit(numbers_of(tokens_of("a b"))))
        answer = self.post("/v1/embeddings", input=["a", "", "c d"])
        self.assertEqual([one["index"] for one in answer["data"]], [0, 1, 2])
        self.assertEqual(answer["usage"]["total_tokens"], 9)
        for one, text in zip(answer["data"], ["a", "", "c d"]):
            self.check_close(one["embedding"], unit(numbers_of(tokens_of(text))))

    def test_tokens_in_place_of_texts(self):
        self.serve()
        rows = [[5, 6, 7], [4]]
        answer = self.post("/v1/embeddings", input=rows)
        for one, row in zip(answer["data"], rows):
            self.check_close(one["embedding"], unit(numbers_of(row)))
        self.assertEqual(answer["usage"]["prompt_tokens"], 4)
        answer = self.post("/v1/embeddings", input=rows[0])
        self.check_close(answer["data"][0]["embedding"], unit(numbers_of(rows[0])))

    def test_prompts(self):
        self.serve("r", prompts={"prompts": {"query": "a b ", "document": "c "},
                                 "default_prompt_name": "document"})
        by_hand = [unit(numbers_of(tokens_of(f"a b {text}"))) for text in ("d", "e f")]
        answer = self.post("/v1/embeddings", model="e", input=["d", "e f"], prompt_name="query")
        for one, wanted in zip(answer["data"], by_hand, strict=True):
            self.check_close(one["embedding"], wanted)
        self.assertEqual(answer["usage"]["total_tokens"], 5 + 6)
        for path, key in (("/embed", "inputs"), ("/api/embed", "input")):
            answer = self.post(path, model="e", prompt_name="query", **{key: ["d", "e f"]})
            for one, wanted in zip(answer if path == "/embed" else answer["embeddings"], by_hand,
                                   strict=True):
                self.check_close(one, wanted)
        answer = self.post("/v1/embeddings", model="e", input="d")
        self.check_close(answer["data"][0]["embedding"], unit(numbers_of(tokens_of("c d"))))
        (row,) = self.post("/tokenize", model="e", inputs="d", prompt_name="query")
        self.assertEqual([one["id"] for one in row], tokens_of("a b d"))
        known = "'prompt_name' must be one of the model's prompts: document, query"
        wish = {"model": "e", "prompt_name": "other"}
        self.assertEqual(self.refused(400, "/v1/embeddings", input="d", **wish)["error"]["message"],
                         known)
        self.assertEqual(self.refused(422, "/embed", inputs="d", **wish),
                         {"error": known, "error_type": "Validation"})
        self.assertEqual(self.refused(422, "/tokenize", inputs="d", **wish)["error"], known)
        self.assertIn("rows of tokens have no prompt", self.refused(
            400, "/v1/embeddings", input=[[5]], **wish)["error"]["message"])
        self.post("/rerank", model="r", query="d", texts=["e"])

    def test_base64_and_dimensions(self):
        self.serve()
        answer = self.post("/v1/embeddings", input="a", encoding_format="base64", dimensions=3)
        got = struct.unpack("<3f", base64.b64decode(answer["data"][0]["embedding"]))
        self.check_close(got, unit(numbers_of(tokens_of("a"))[:3]))
        for dimensions in (0, 9, -1, 1.5, "3"):
            error = self.refused(400, "/v1/embeddings", input="a", dimensions=dimensions)
            self.assertEqual(error["error"]["type"], "invalid_request_error")

    def test_many_texts_are_several_batches(self):
        self.serve()
        texts = [" ".join(WORDS[4 + i % 8] for i in range(place % 4)) for place in range(101)]
        answer = self.post("/v1/embeddings", input=texts)
        for one, text in zip(answer["data"], texts):
            self.check_close(one["embedding"], unit(numbers_of(tokens_of(text))))
        self.assertEqual(answer["usage"]["total_tokens"],
                         sum(len(tokens_of(text)) for text in texts))
        self.assertIn("at most 256 rows",
                      self.refused(413, "/v1/embeddings", input=["a"] * 257)["error"]["message"])
        self.refused(413, "/v1/embeddings", input=["a"] * 2049)

    def test_a_body_has_no_more_tokens_than_it_may(self):
        self.serve(limits={"text_tokens": 30})  # batches of 4 rows
        self.post("/v1/embeddings", input=["a"] * 10)
        for rows in (["a"] * 11, [[5, 6, 7]] * 11):
            error = self.refused(400, "/v1/embeddings", input=rows)["error"]
            self.assertRegex(error["message"], r"tokens; (no|at) mo(re|st)")
            self.assertEqual(error["type"], "invalid_request_error")
        self.assertIn("more than 30 tokens", self.refused(422, "/embed", inputs=["a"] * 11)["error"])
        self.post("/v1/embeddings", input=[[5, 6, 7]] * 10)

    def test_equal_texts_of_a_batch_run_once_and_all_count(self):
        self.serve("r")
        texts = ["a b", "c", "a b", "a b", "c", "c"]  # batches of 4 and 2
        answer = self.post("/v1/embeddings", model="e", input=texts)
        for one, text in zip(answer["data"], texts, strict=True):
            self.check_close(one["embedding"], unit(numbers_of(tokens_of(text))))
        self.assertEqual(answer["usage"]["total_tokens"], 3 * 4 + 3 * 3)
        self.assertEqual(self.daemon.metric("mpsd_text_tokens_total", model="e"), 3 * 4 + 3 * 3)
        self.assertEqual(self.daemon.metric("mpsd_repeated_texts_total", model="e"), 3)
        self.assertEqual(self.daemon.metric("mpsd_batch_rows_sum", model="e"), 3)
        answer = self.post("/rerank", model="r", query="a", texts=["b", "c", "b"])
        self.assertEqual([one["score"] for one in sorted(answer, key=lambda one: one["index"])],
                         [numbers_of(tokens_of("a", text), 1)[0] for text in ("b", "c", "b")])
        self.assertEqual(self.daemon.metric("mpsd_repeated_texts_total", model="r"), 1)

    def test_long_texts_are_cut_and_told(self):
        self.serve()
        status, headers, answer = self.ask("POST", "/v1/embeddings",
                                           {"input": ["a b c d e f", "a"]})
        self.assertEqual(status, 200, answer)
        self.assertEqual(headers["x-mpsd-truncated"], "1")
        self.check_close(answer["data"][0]["embedding"], unit(numbers_of(tokens_of("a b c d"))))
        self.assertEqual(self.daemon.metric("mpsd_truncated_texts_total", model="e"), 1)
        long = ["a"] * 5 + ["a b c d e f"]
        error = self.refused(413, "/v1/embeddings", input=long, truncate=False)["error"]
        self.assertEqual(error["message"],
                         "text 5: it has 8 tokens, but at most 6 are served")
        self.assertEqual(error["code"], "context_length_exceeded")

    def test_a_megabyte_of_texts(self):
        self.serve()
        texts = ["a " * (1 << 16), "b " * (1 << 16)] * 4
        answer = self.post("/v1/embeddings", input=texts)
        for one, text in zip(answer["data"], ["a a a a", "b b b b"] * 4):
            self.check_close(one["embedding"], unit(numbers_of(tokens_of(text))))

    # Without a model.

    def test_each_path_finds_the_model_of_its_task(self):
        """As the clients of servers that have one model ask."""
        self.serve("r", "c")
        for path in ("/embed", "/v1/embeddings", "/api/embed"):
            self.post(path, **{"inputs" if path == "/embed" else "input": "a"})
        self.assertEqual(len(self.post("/rerank", query="a", texts=["a", "b"])), 2)
        self.assertEqual(len(self.post("/predict", inputs="a")), 3)
        self.assertEqual(len(self.post("/tokenize", inputs="a")), 1)
        _, _, answer = self.ask("GET", "/info")
        self.assertEqual(answer["model_id"], "e")
        self.assertEqual(answer["default_for"],
                         {"embedding": "e", "rerank": "r", "classify": "c"})
        self.assertNotIn("usual_model", self.daemon.log())

    def test_of_several_models_of_a_task_the_first_or_the_one_of_the_config(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        first, second = (encoder(name, EMBEDDING, folder) for name in ("z", "a"))
        self.daemon = self.enterContext(Daemon([first, second]))
        self.assertEqual(self.post("/v1/embeddings", input="a")["model"], "z")
        self.daemon.wait_logged('"usual_model".*"embedding".*"z"')
        self.daemon.write_config([first, second | {"default_for": ["embedding"]}])
        self.assertTrue(self.daemon.reload()["ok"])
        self.assertEqual(self.post("/v1/embeddings", input="a")["model"], "a")
        self.assertEqual(self.ask("GET", "/info")[2]["default_for"], {"embedding": "a"})
        self.daemon.wait_logged('"usual_model".*"embedding".*"a"')

    def test_while_models_load_no_other_one_answers_in_their_place(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        loading = encoder("first", EMBEDDING, folder)
        loading["parameters"]["load_delay"] = "3s"
        models = [loading, encoder("e", EMBEDDING, folder), encoder("r", RANKING, folder)]
        self.daemon = Daemon(models, listen_more={"http": f"unix:{folder / 'http'}"})
        self.addCleanup(self.daemon.discard)
        self.daemon.launch()
        ask = functools.partial(self.ask_socket, folder / "http")
        wait_until(lambda: ask("GET", "/v1/models/r")[0] == 200, 30, "the reranker")
        status, headers, answer = ask("POST", "/embed", {"inputs": "a"})
        self.assertEqual((status, headers["Retry-After"]), (503, "1"), answer)
        self.assertIn("'first' is still loading", answer["error"])
        wait_until(lambda: ask("POST", "/embed", {"inputs": "a"})[0] == 200, 30, "all models")
        self.assertEqual(ask("POST", "/v1/embeddings", {"input": "a"})[2]["model"], "first")

    def ask_socket(self, path, *asked):
        connection = http.client.HTTPConnection("localhost", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(path))
        except OSError:  # nobody listens yet
            connection.sock.close()
            return None, None, None
        return self.ask_by(connection, *asked)

    # Many texts.

    def test_a_call_that_cannot_be_answered_in_time_is_refused_before_its_first_batch(self):
        """Of 64 batches of which each takes 100 ms; the client has two seconds."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        slow = encoder("e", EMBEDDING, folder)
        slow["parameters"]["delay"] = "100ms"
        self.daemon = self.enterContext(Daemon([slow]))
        texts = [" ".join((WORDS[4 + i % 8], WORDS[4 + i // 8 % 8], WORDS[4 + i // 64]))
                 for i in range(256)]
        for first in range(0, 40, 4):  # so that it is known what a batch takes
            self.post("/embed", inputs=texts[first:first + 4])
        before = self.daemon.metric("mpsd_batches_total", model="e")
        status, headers, answer = self.ask("POST", "/embed", {"inputs": texts},
                                           **{"Request-Timeout": "2"})
        self.assertEqual(status, 429, answer)
        self.assertEqual(self.daemon.metric("mpsd_batches_total", model="e"), before)
        self.assertEqual(len(self.post("/embed", inputs=texts[:16])), 16)
        self.assertEqual(len(self.post("/embed", inputs=["a"] * 256)), 256)

    def test_a_call_that_cannot_be_answered_in_time_ends_once_that_is_known(self):
        """Nothing is known of batches when it comes; 20 of them would fit."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        slow = encoder("e", EMBEDDING, folder)
        slow["parameters"]["delay"] = "200ms"
        self.daemon = self.enterContext(Daemon([slow]))
        texts = [" ".join((WORDS[4 + i % 8], WORDS[4 + i // 8 % 8], WORDS[4 + i // 64]))
                 for i in range(256)]
        status, _, answer = self.ask("POST", "/embed", {"inputs": texts},
                                     **{"Request-Timeout": "4"})
        self.assertEqual(status, 429, answer)
        self.assertLess(self.daemon.metric("mpsd_batches_total", model="e"), 10)

    def test_refused_calls_of_many_clients_end_before_their_replies(self):
        """All come in one round of the door's thread, and a full queue refuses them there."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        self.daemon = self.enterContext(
            Daemon([{**encoder("e", EMBEDDING, folder), "queue": {"requests": 1}}]))
        body = json.dumps({"inputs": ["a b"] * 40})
        asked = (f"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
                 f"{body}").encode()
        host, port = self.daemon.http.rsplit(":", 1)
        clients = [self.enterContext(socket.create_connection((host, int(port)), timeout=60))
                   for _ in range(60)]
        for _ in range(5):
            for client in clients:
                client.sendall(asked[:-1])
            for client in clients:
                client.sendall(asked[-1:])
            for client in clients:
                answer = http.client.HTTPResponse(client)
                answer.begin()
                self.assertIn(answer.status, (200, 429))
                json.loads(answer.read())

    def test_the_list_of_models(self):
        self.serve("r", "c", "image")
        _, _, answer = self.ask("GET", "/v1/models")
        self.assertEqual({one["id"]: one["task"] for one in answer["data"]},
                         {"e": "embedding", "r": "rerank", "c": "classify"})
        status, _, answer = self.ask("GET", "/v1/models/r")
        self.assertEqual((status, answer["id"]), (200, "r"))
        status, _, answer = self.ask("GET", "/v1/models/x")
        self.assertEqual((status, answer["error"]["code"]), (404, "model_not_found"))

    def test_errors_of_openai(self):
        self.serve("r", "image")
        error = self.refused(404, "/v1/embeddings", model="gpt", input="a")["error"]
        self.assertEqual(sorted(error), ["code", "message", "param", "type"])
        self.refused(400, "/v1/embeddings", model="image", input="a")
        self.refused(400, "/v1/embeddings", model="r", input="a")
        for body in (b"", b"{", b"[]", b'{"input":"\xff"}', b'{"input":["a",1],"model":"e"}',
                     b'{"input":[],"model":"e"}', b'{"input":"\\ud800","model":"e"}'):
            status, _, answer = self.ask("POST", "/v1/embeddings", body)
            self.assertEqual(status, 400, (body, answer))
            self.assertIn("message", answer["error"])
        status, headers, _ = self.ask("GET", "/v1/embeddings")
        self.assertEqual((status, headers["Allow"]), (405, "POST"))

    def test_openais_own_client(self):
        self.serve("r")
        client = openai.OpenAI(base_url=f"http://{self.daemon.http}/v1", api_key="none",
                               max_retries=0)
        self.assertEqual({model.id for model in client.models.list()}, {"e", "r"})
        answer = client.embeddings.create(model="e", input=["a b", "c"])  # in base64
        self.check_close(answer.data[1].embedding, unit(numbers_of(tokens_of("c"))))
        self.assertEqual(answer.usage.prompt_tokens, 7)
        answer = client.embeddings.create(model="e", input="a", encoding_format="float")
        self.check_close(answer.data[0].embedding, unit(numbers_of(tokens_of("a"))))
        with self.assertRaises(openai.NotFoundError) as caught:
            client.embeddings.create(model="x", input="a")
        self.assertEqual(caught.exception.code, "model_not_found")
        with self.assertRaises(openai.BadRequestError):
            client.embeddings.create(model="e", input=[])

    # The embedders.

    def test_embed_of_tei(self):
        self.serve()
        (vector,) = self.post("/embed", inputs="a")
        self.check_close(vector, unit(numbers_of(tokens_of("a"))))
        vectors = self.post("/embed", inputs=["a", "b"], normalize=False)
        self.assertEqual(vectors, [numbers_of(tokens_of("a")), numbers_of(tokens_of("b"))])
        (vector,) = self.post("/embed", inputs="a b c d e f", normalize=False, truncate=True,
                              truncation_direction="Left")
        self.assertEqual(vector, numbers_of(tokens_of("c d e f")))
        error = self.refused(422, "/embed", inputs=[])
        self.assertEqual(error["error_type"], "Validation")
        status, _, info = self.ask("GET", "/info")
        self.assertEqual((status, info["model_id"], info["max_input_length"]),
                         (200, "e", MOST_TOKENS))
        with urllib.request.urlopen(f"http://{self.daemon.http}/health", timeout=30) as answer:
            self.assertEqual(answer.status, 200)

    def test_tokenize_of_tei(self):
        self.serve()
        (tokens,) = self.post("/tokenize", inputs="a b")
        self.assertEqual([token["id"] for token in tokens], tokens_of("a b"))
        self.assertEqual([token["special"] for token in tokens], [True, False, False, True])
        rows = self.post("/tokenize", inputs=["a b c d e f g h", ""], add_special_tokens=False)
        self.assertEqual([len(row) for row in rows], [8, 0])

    def test_embed_of_ollama(self):
        self.serve()
        answer = self.post("/api/embed", model="e", input=["a", "b c"])
        self.check_close(answer["embeddings"][1], unit(numbers_of(tokens_of("b c"))))
        self.assertEqual(answer["prompt_eval_count"], 7)
        self.assertGreater(answer["total_duration"], 0)

    def test_rerank_of_cohere_and_jina(self):
        self.serve("r")
        texts = ["b", "f", "c", "f"]
        scores = [numbers_of(tokens_of("a", text), 1)[0] for text in texts]
        order = sorted(range(4), key=lambda index: (-scores[index], index))
        for path in ("/v1/rerank", "/v2/rerank", "/rerank"):
            answer = self.post(path, model="r", query="a", documents=texts)
            self.assertEqual([(one["index"], one["relevance_score"]) for one in answer["results"]],
                             [(index, scores[index]) for index in order])
            self.assertEqual(answer["usage"]["total_tokens"], 4 * 5)
        answer = self.post("/v2/rerank", model="r", query="a", top_n=2, return_documents=True,
                           documents=[{"text": text} for text in texts])
        self.assertEqual([one["document"]["text"] for one in answer["results"]],
                         [texts[index] for index in order[:2]])
        self.assertEqual(sorted(answer), ["id", "model", "results", "usage"])

    def test_rerank_of_tei(self):
        self.serve("r")
        answer = self.post("/rerank", model="r", query="a", texts=["b", "c"], return_text=True,
                           raw_scores=True)
        wanted = {text: numbers_of(tokens_of("a", text), 1)[0] for text in ("b", "c")}
        self.assertEqual({one["text"]: one["score"] for one in answer}, wanted)
        self.refused(422, "/rerank", model="e", query="a", texts=["b"])

    def test_predict_of_tei(self):
        self.serve("c")
        scores = numbers_of(tokens_of("a"), 3)
        answer = self.post("/predict", model="c", inputs="a")
        self.assertEqual({one["label"]: one["score"] for one in answer},
                         {f"LABEL_{i}": score for i, score in enumerate(scores)})
        self.assertEqual([one["score"] for one in answer], sorted(scores, reverse=True))
        (first, second) = self.post("/predict", model="c", inputs=[["a", "b"], ["c", "d"]])
        self.assertEqual(sorted(one["score"] for one in second),
                         sorted(numbers_of(tokens_of("c", "d"), 3)))
        self.assertEqual(len(first), 3)

    # Rules of the server.

    def test_requests_count_as_those_of_every_way_in(self):
        self.serve()
        before = self.daemon.metric("mpsd_batches_total")
        self.post("/embed", inputs=["a"] * 9)
        self.assertGreater(self.daemon.metric("mpsd_batches_total"), before)
        status, headers, _ = self.ask("POST", "/embed", {"inputs": "a"}, **{
            "X-Request-Id": "seven", "Request-Timeout": "0"})
        self.assertEqual((status, headers["X-Request-Id"]), (504, "seven"))

    def test_many_clients_at_once(self):
        self.serve()
        faults = []

        def work(number):
            text = " ".join(WORDS[4 + (number + i) % 8] for i in range(number % 4))
            try:
                for _ in range(20):
                    (vector,) = self.post("/embed", inputs=text, normalize=False)
                    if vector != numbers_of(tokens_of(text)):
                        faults.append((text, vector))
            except AssertionError as error:
                faults.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])


@unittest.skipUnless(WITH_TORCH, "built without torch")
class TaskOfAFile(unittest.TestCase):
    """A TorchScript archive whose output has a name that tells no task, but whose mpsd.json does."""

    CODE = """class Model(Module):
  __parameters__ = []
  __buffers__ = []
  def forward(self: __torch__.Model, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    sums = [torch.sum(torch.mul(input_ids, attention_mask), [1], True),
            torch.sum(attention_mask, [1], True)]
    return torch.to(torch.cat(sums, 1), 6)
"""

    def serve(self, says, **config):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        spec = {"max_batch_size": 8, "task": says, "outputs": [tensor("y", [2])],
                "inputs": [tensor("input_ids", [-1], "INT64"),
                           tensor("attention_mask", [-1], "INT64")]}
        changed = {"identity/code/__torch__.py": self.CODE,
                   "identity/extra/mpsd.json": json.dumps(spec)}
        with zipfile.ZipFile(MODELS / "identity.pt") as old, \
                zipfile.ZipFile(folder / "m.pt", "w") as new:
            for name in old.namelist():
                new.writestr(name, changed.get(name, old.read(name)))
        return Daemon([{"name": "m", "path": str(folder / "m.pt"), "device": "cpu", **config}])

    def ask(self, daemon, method, path, **body):
        status, _, read = web.ask(daemon.http, method, path, body)
        return status, json.loads(read)

    def test_it_serves_embeddings_of_token_ids(self):
        with self.serve("embedding") as daemon:
            status, answer = self.ask(daemon, "POST", "/v1/embeddings", model="m",
                                      input=[[1, 2], [5, 3, 4]])
            self.assertEqual(status, 200, answer)
            for row, wanted in zip(answer["data"], ([3, 2], [12, 3]), strict=True):
                for number, other in zip(row["embedding"], unit(wanted), strict=True):
                    self.assertAlmostEqual(number, other, delta=1e-6)
            self.assertNotIn("task_overruled", daemon.log())

    def test_the_configs_word_counts_and_the_log_warns(self):
        with self.serve("embedding", task="classify") as daemon:
            _, models = self.ask(daemon, "GET", "/v1/models")
            self.assertEqual([model["task"] for model in models["data"]], ["classify"])
            status, _ = self.ask(daemon, "POST", "/v1/embeddings", model="m", input=[[1, 2]])
            self.assertEqual(status, 400)
            self.assertIn('"event":"task_overruled","model":"m","config":"classify",'
                          '"file":"embedding"', daemon.log())


@unittest.skipUnless(WITH_TORCH and (MODELS / "minilm/config.json").exists(), "there is no minilm")
class MiniLm(unittest.TestCase):
    def test_the_demos_vectors_are_those_of_sentence_transformers(self):
        entries = json.loads((ROOT / "tests/compat/minilm/reference.json").read_text())
        with Daemon([huggingface("minilm")]) as daemon:
            answer = web.post(daemon.http, "/v1/embeddings", {
                "model": "minilm", "input": [entry["text"] for entry in entries]})
        for one, entry in zip(answer["data"], entries):
            farthest = max(abs(a - b) for a, b in zip(one["embedding"], entry["embedding"]))
            self.assertLessEqual(farthest, 1e-5, entry["text"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
