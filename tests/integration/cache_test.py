"""`response_cache`: an equal request is given the answer of the one before, of the same caller."""
import hashlib
import os
import pathlib
import tempfile
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
import tritonclient.utils.shared_memory as shm
from tritonclient.grpc import service_pb2

import calls
import web
from daemon import Daemon, wait_until
from models import synthetic, tensor

PBTXT = """
backend: "identity"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: 16 }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 16 }
response_cache { enable: true }
"""
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]
TOKENS = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64")]
LIMIT_S = 30


def bearer(token):
    return [("authorization", f"Bearer {token}")]


class Cache(unittest.TestCase):
    def serve(self, *models, **config):
        self.daemon = self.enterContext(Daemon(list(models), **config))
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def infer(self, message, token=None):
        future = self.stub.ModelInfer.future(message, metadata=bearer(token) if token else (),
                                             timeout=LIMIT_S)
        outcome = calls.answer_of(future)
        return outcome.response

    def post(self, path, body, token=None):
        return web.post(self.daemon.http, path, body,
                        {"Authorization": f"Bearer {token}"} if token else None)

    def counts(self, model="m"):
        """(hits, misses) of a model."""
        return tuple(self.daemon.metric(f"mpsd_cache_{what}_total", model=model)
                     for what in ("hits", "misses"))

    def statistics(self, model="m"):
        return self.stub.ModelStatistics(
            service_pb2.ModelStatisticsRequest(name=model)).model_stats[0]

    def test_a_hit_has_the_same_bytes_and_counts_as_tritons(self):
        self.serve(synthetic("m", response_cache="tenant"), compat="triton")
        message = calls.request("m", {"x": calls.row_of(7, rows=2)}, request_id="one")
        first = self.infer(message)
        message.id = "two"
        second = self.infer(message)
        self.assertEqual(first.raw_output_contents, second.raw_output_contents)
        self.assertEqual(list(second.outputs[0].shape), [2, 16])
        self.assertEqual((first.id, second.id), ("one", "two"))
        statistics = self.statistics()
        infer = statistics.inference_stats
        self.assertEqual((statistics.inference_count, statistics.execution_count), (2, 1))
        self.assertEqual((infer.success.count, infer.queue.count, infer.compute_infer.count),
                         (2, 2, 1))
        self.assertEqual((infer.cache_hit.count, infer.cache_miss.count), (1, 1))
        self.assertGreater(infer.cache_hit.ns, 0)
        self.assertGreater(infer.cache_miss.ns, 0)
        self.assertEqual(self.counts(), (1, 1))
        for name, value in (("hits", infer.cache_hit), ("misses", infer.cache_miss)):
            self.assertEqual(self.daemon.metric(f"nv_cache_num_{name}_per_model"), value.count)
        self.assertEqual(self.daemon.metric("mpsd_requests_total", model="m", code="OK"), 2)
        self.assertEqual(self.daemon.metric("mpsd_kept_answers"), 1)
        self.assertGreater(self.daemon.metric("mpsd_kept_answer_bytes"), 2 * 16 * 4)

    def test_every_door_has_the_same_answers(self):
        self.serve(synthetic("m", response_cache="tenant"))
        data = [float(i) for i in range(16)]
        self.infer(calls.request("m", {"x": np.array([data], dtype=np.float32)}))
        body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 16], "data": data}]}
        self.assertEqual(self.post("/v2/models/m/infer", body)["outputs"][0]["data"], data)
        self.assertEqual(self.counts(), (1, 1))
        self.assertEqual(self.post("/v2/models/m/generate", {"x": data})["OUTPUT0"], data)
        message = calls.request("m", {"x": np.array([data], dtype=np.float32)})
        for answer in self.stub.ModelStreamInfer(iter([message] * 3), timeout=LIMIT_S):
            self.assertEqual(answer.error_message, "")
            self.assertEqual(calls.arrays(answer.infer_response)["OUTPUT0"].tolist(), [data])
        self.assertEqual(self.counts(), (5, 1))
        self.assertEqual(self.statistics().execution_count, 1)

    def test_forms_are_made_anew(self):
        """Classes of a kept answer, and a kept answer in a region of the client's."""
        self.serve(synthetic("m", response_cache="tenant"),
                   limits={"client_shared_memory": "1MiB"})
        row = np.arange(16, dtype=np.float32).reshape(1, 16)
        message = calls.request("m", {"x": row}, outputs=["OUTPUT0"])
        self.infer(message)
        message.outputs[0].parameters["classification"].int64_param = 1
        response = self.infer(message)
        self.assertEqual(response.raw_output_contents[0][4:], b"15.000000:15")
        self.assertEqual(self.counts(), (1, 1))
        with triton.InferenceServerClient(self.daemon.address) as client:
            key = f"/mpsd-test-{os.getpid()}-cache"
            region = shm.create_shared_memory_region("r", key, 128)
            self.addCleanup(shm.destroy_shared_memory_region, region)
            shm.set_shared_memory_region(region, [row])
            client.register_system_shared_memory("r", key, 128)
            given = triton.InferInput("x", [1, 16], "FP32")
            given.set_shared_memory("r", 64)
            wanted = triton.InferRequestedOutput("OUTPUT0")
            wanted.set_shared_memory("r", 64, offset=64)
            client.infer("m", [given], outputs=[wanted])
            np.testing.assert_array_equal(
                shm.get_contents_as_numpy(region, np.float32, [1, 16], 64), row)
            client.unregister_system_shared_memory()
        self.assertEqual(self.counts(), (2, 1))

    def test_a_model_without_the_key_keeps_nothing(self):
        self.serve(synthetic("m"))
        for _ in range(3):
            self.infer(calls.request("m", {"x": calls.row_of(1)}))
        self.assertEqual(self.statistics().execution_count, 3)
        self.assertEqual(self.counts(), (0, 0))
        self.assertEqual(self.daemon.metric("mpsd_kept_answers"), 0)

    def test_errors_are_not_kept(self):
        self.serve(synthetic("m", response_cache="tenant", parameters={"fail_if": 13}))
        for _ in range(2):
            outcome = calls.infer(self.stub, calls.request("m", {"x": calls.row_of(13)}))
            self.assertEqual(outcome.code, grpc.StatusCode.INTERNAL)
        self.assertEqual(self.counts(), (0, 2))
        self.assertEqual(self.statistics().execution_count, 2)

    def serve_tenants(self, *models):
        """With two tenants, whose tokens are "one-secret" and "two-secret"."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        tokens = self.tokens = folder / "tokens"
        tokens.write_text("".join(f"{name} {hashlib.sha256(name.encode()).hexdigest()}\n"
                                  for name in ("one-secret", "two-secret")))
        tokens.chmod(0o600)
        roles = ["infer", "health", "metrics", "control"]
        self.daemon = Daemon(
            list(models), listen_more={"control": f"unix:{folder}/c"},
            access={"tokens": str(tokens),
                    "rules": [{"token": name, "roles": roles}
                              for name in ("one-secret", "two-secret")]})
        self.daemon.http_headers = {"Authorization": "Bearer one-secret"}
        self.enterContext(self.daemon)
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def test_tenants_have_their_own_at_each_door(self):
        def unary(value, token):
            self.infer(calls.request("m", {"x": calls.row_of(value)}), token)

        def stream(value, token):
            answers = self.stub.ModelStreamInfer(
                iter([calls.request("m", {"x": calls.row_of(value)})]), metadata=bearer(token),
                timeout=LIMIT_S)
            self.assertEqual(next(answers).error_message, "")

        def http_door(value, token):
            self.post("/v2/models/m/infer",
                      {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 16],
                                   "data": [value] * 16}]}, token)

        self.serve_tenants(synthetic("m", response_cache="tenant"))
        hits = misses = 0
        for value, ask in enumerate((unary, stream, http_door)):
            for token in ("one-secret", "two-secret", "one-secret", "two-secret"):
                ask(value, token)
            hits, misses = hits + 2, misses + 2
            self.assertEqual(self.counts(), (hits, misses), ask.__name__)
            # The same rules, read again, change nothing.
            self.assertTrue(self.daemon.reload()["ok"])
            ask(value, "two-secret")
            hits += 1
            self.assertEqual(self.counts(), (hits, misses), ask.__name__)
            # A reload numbers the tenants anew: no one gets earlier answers, not even its own.
            self.change_rules(value)
            ask(value, "two-secret")
            misses += 1
            self.assertEqual(self.counts(), (hits, misses), ask.__name__)

    def change_rules(self, number):
        """With one token more, which nobody shows."""
        name = f"more-{number}"
        with self.tokens.open("a") as tokens:
            tokens.write(f"{name} {hashlib.sha256(name.encode()).hexdigest()}\n")
        self.assertTrue(self.daemon.reload()["ok"])

    def test_tenants_have_their_own_and_shared_models_do_not(self):
        self.serve_tenants(synthetic("m", response_cache="tenant"),
                           synthetic("all", response_cache="shared"))
        messages = {name: calls.request(name, {"x": calls.row_of(1)}) for name in ("m", "all")}
        for token in ("one-secret", "two-secret", "one-secret", "two-secret"):
            for message in messages.values():
                self.infer(message, token)
        self.assertEqual(self.counts("m"), (2, 2))
        self.assertEqual(self.counts("all"), (3, 1))
        # A reload numbers the tenants anew: nobody gets another's answers.
        self.change_rules(0)
        self.infer(messages["m"], "one-secret")
        self.infer(messages["all"], "two-secret")
        self.assertEqual(self.counts("m"), (2, 3))
        self.assertEqual(self.counts("all"), (4, 1))

    def test_a_reload_of_the_model_begins_with_none(self):
        self.serve(synthetic("m", response_cache="tenant"))
        message = calls.request("m", {"x": calls.row_of(1)})
        self.infer(message)
        self.infer(message)
        self.daemon.write_config(
            [synthetic("m", response_cache="tenant", parameters={"delay": "1ms"})])
        self.assertTrue(self.daemon.reload()["ok"])
        self.infer(message)
        self.assertEqual(self.statistics().execution_count, 2)
        self.assertEqual(self.counts(), (1, 2))
        wait_until(lambda: self.daemon.metric("mpsd_kept_answers") == 1, LIMIT_S, "the old's end")

    def test_the_room_is_bounded(self):
        self.serve(synthetic("m", [tensor("x", [-1])], response_cache="tenant"),
                   limits={"response_cache": "1MiB"})
        messages = [calls.request("m", {"x": calls.row_of(value, width=25_000)})
                    for value in range(20)]
        for message in messages:
            self.infer(message)
        self.assertLessEqual(self.daemon.metric("mpsd_kept_answer_bytes"), 1 << 20)
        kept = self.daemon.metric("mpsd_kept_answers")
        self.assertEqual(kept, 10)
        self.assertEqual(self.daemon.metric("mpsd_evicted_answers_total"), 20 - kept)
        self.infer(messages[-1])
        self.assertEqual(self.counts(), (1, 20))
        self.infer(messages[0])
        self.assertEqual(self.counts(), (1, 21))
        self.infer(calls.request("m", {"x": calls.row_of(1, width=40_000)}))  # above an eighth
        self.assertEqual(self.daemon.metric("mpsd_kept_answers"), kept)

    def test_config_pbtxt(self):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        (root / "m/1").mkdir(parents=True)
        (root / "m/config.pbtxt").write_text(PBTXT)
        self.serve(model_repository=str(root))
        config = self.stub.ModelConfig(service_pb2.ModelConfigRequest(name="m")).config
        self.assertTrue(config.response_cache.enable)
        for _ in range(2):
            self.infer(calls.request("m", {"INPUT0": calls.row_of(1)}))
        self.assertEqual(self.counts(), (1, 1))

    # Texts.

    def serve_texts(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        vocab = folder / "vocab.txt"
        vocab.write_text("".join(f"{word}\n" for word in WORDS))
        self.serve(synthetic("e", TOKENS, max_batch_size=8,
                             outputs=[tensor("sentence_embedding", [8])],
                             text={"tokenizer": str(vocab)}, parameters={"encode": "true"},
                             response_cache="tenant"))

    def test_a_request_of_texts_that_comes_again(self):
        self.serve_texts()
        body = {"input": ["a", "b", "a"]}
        first = self.post("/v1/embeddings", body)
        self.assertEqual(self.post("/v1/embeddings", body), first)
        self.assertEqual(self.counts("e"), (1, 1))
        self.assertEqual(self.daemon.metric("mpsd_text_tokens_total", model="e"), 2 * 9)
        many = {"input": [f"a {word}" for word in "abcdefgh"] * 2}  # two equal batches
        first = self.post("/v1/embeddings", many)
        self.assertEqual(self.post("/v1/embeddings", many), first)
        self.assertEqual(len(first["data"]), 16)
        self.assertGreaterEqual(self.counts("e")[0], 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
