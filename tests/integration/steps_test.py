"""Models of steps: a graph of other models that clients call as one."""
import collections
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import tempfile
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
import tritonclient.http as triton_http
import tritonclient.utils.shared_memory as shm

import calls
from daemon import Daemon, WITH_TORCH, wait_until
from models import placement, synthetic, tensor, torchscript
from streams import Stream, input_of

CODE = grpc.StatusCode
LIMIT_S = 30
RANDOM = np.random.default_rng(32)


def step(model, inputs, outputs, **more):
    return {"model": model, "inputs": inputs, "outputs": outputs, **more}


def whole(name, steps, inputs=None, outputs=None, max_batch_size=8, **more):
    return {"name": name, "max_batch_size": max_batch_size, "inputs": inputs or [tensor("x", [16])],
            "outputs": outputs or [tensor("y", [16])], "steps": steps, **more}


def chain(*members, name="chain", **more):
    """x through each of the members, one after the other."""
    names = ["x", *(f"t{i}" for i in range(1, len(members))), "y"]
    return whole(name, [step(member, {"x": names[i]}, {"OUTPUT0": names[i + 1]})
                        for i, member in enumerate(members)], **more)


def joining(name, **more):
    return synthetic(name, [tensor("INPUT0", [16]), tensor("INPUT1", [16])], **more)


def diamond(**more):
    """x ─▶ first ─▶ t ─▶ left, right ─▶ join ─▶ y, z."""
    return whole("diamond",
                 [step("join", {"INPUT0": "l", "INPUT1": "r"}, {"OUTPUT0": "y", "OUTPUT1": "z"}),
                  step("left", {"x": "t"}, {"OUTPUT0": "l"}),
                  step("right", {"x": "t"}, {"OUTPUT0": "r"}),
                  step("first", {"x": "x"}, {"OUTPUT0": "t"})],
                 outputs=[tensor("y", [16]), tensor("z", [16])], **more)


def rows_of(rows=1, width=16):
    return RANDOM.random((rows, width), dtype=np.float32)


class Steps(unittest.TestCase):
    def serve(self, *models, **config):
        self.daemon = self.enterContext(Daemon(list(models), **config))
        self.client = self.enterContext(triton.InferenceServerClient(self.daemon.address))
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def call(self, model, sent=None, limit_s=LIMIT_S, **more):
        sent = rows_of() if sent is None else sent
        return calls.infer(self.stub, calls.request(model, {"x": sent}, **more), limit_s)

    def check_echo(self, model, rows=1):
        sent = rows_of(rows)
        outcome = self.call(model, sent)
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        for array in calls.arrays(outcome.response).values():
            np.testing.assert_array_equal(array, sent)
        return outcome.response

    def check_refused(self, outcome, code, *texts):
        self.assertEqual(outcome.code, code, outcome.text)
        for text in texts:
            self.assertIn(text, outcome.text)

    def counts(self, model):
        stats = self.client.get_inference_statistics(model).model_stats[0]
        return (stats.inference_stats.success.count, stats.inference_stats.fail.count,
                stats.inference_count, stats.execution_count)


class Served(Steps):
    """One daemon for what changes nothing."""

    @classmethod
    def setUpClass(cls):
        strings = synthetic("strings", [tensor("x", [2], "BYTES")])
        cls.daemon = cls.enterClassContext(Daemon(
            [chain("first", "second"), diamond(),
             whole("words", [step("strings", {"x": "x"}, {"OUTPUT0": "t"}),
                             step("strings", {"x": "t"}, {"OUTPUT0": "y"})],
                   inputs=[tensor("x", [2], "BYTES")], outputs=[tensor("y", [2], "BYTES")]),
             whole("large", [step("wide", {"x": "x"}, {"OUTPUT0": "t"}),
                             step("wide", {"x": "t"}, {"OUTPUT0": "y"})],
                   inputs=[tensor("x", [-1])], outputs=[tensor("y", [-1])], max_batch_size=0),
             synthetic("first"), synthetic("second"), synthetic("left"), synthetic("right"),
             joining("join"), strings,
             synthetic("wide", [tensor("x", [-1])], max_batch_size=0)]))
        cls.client = cls.enterClassContext(triton.InferenceServerClient(cls.daemon.address))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def test_a_chain_gives_the_right_bytes(self):
        for rows in (1, 3, 8):
            response = self.check_echo("chain", rows)
            self.assertEqual([output.name for output in response.outputs], ["y"])
            self.assertEqual(list(response.outputs[0].shape), [rows, 16])

    def test_a_diamond_gives_the_right_bytes(self):
        response = self.check_echo("diamond", 2)
        self.assertEqual([output.name for output in response.outputs], ["y", "z"])

    def test_only_the_wanted_output_in_the_wanted_order(self):
        sent = rows_of()
        for wanted in (["z"], ["z", "y"]):
            outcome = self.call("diamond", sent, outputs=wanted)
            self.assertEqual([output.name for output in outcome.response.outputs], wanted)

    def test_tensors_larger_than_a_copied_reply(self):
        sent = RANDOM.random(300_000, dtype=np.float32)
        outcome = self.call("large", sent)
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        np.testing.assert_array_equal(calls.arrays(outcome.response)["y"], sent)

    def test_strings(self):
        sent = np.array([["", "sea"], ["how far", "x" * 5000]], dtype=object)
        made = input_of("x", sent, "BYTES")
        back = self.client.infer("words", [made]).as_numpy("y")
        self.assertEqual([[text.decode() for text in row] for row in back], sent.tolist())

    def test_over_http(self):
        sent = rows_of(2)
        with contextlib.closing(triton_http.InferenceServerClient(self.daemon.http)) as client:
            made = triton_http.InferInput("x", [2, 16], "FP32")
            made.set_data_from_numpy(sent)
            answer = client.infer("chain", [made])
            np.testing.assert_array_equal(answer.as_numpy("y"), sent)
            self.assertTrue(client.is_model_ready("chain"))
            self.assertEqual(client.get_model_config("chain")["platform"], "ensemble")

    def test_over_a_stream(self):
        sent = [rows_of() for _ in range(20)]
        with Stream(self.daemon.address) as stream:
            for i, array in enumerate(sent):
                stream.ask("chain", {"x": array}, request_id=str(i))
            for i, array in enumerate(sent):
                result = stream.answer()
                self.assertEqual(result.get_response().id, str(i))
                np.testing.assert_array_equal(result.as_numpy("y"), array)

    def test_what_clients_are_told(self):
        metadata = self.client.get_model_metadata("diamond")
        self.assertEqual(metadata.platform, "ensemble")
        self.assertEqual([output.name for output in metadata.outputs], ["y", "z"])
        self.assertEqual(list(metadata.inputs[0].shape), [-1, 16])
        config = self.client.get_model_config("diamond").config
        self.assertEqual((config.platform, config.backend), ("ensemble", ""))
        self.assertEqual(len(config.instance_group), 0)
        self.assertFalse(config.HasField("dynamic_batching"))
        first = config.ensemble_scheduling.step[0]
        self.assertEqual((first.model_name, first.model_version), ("join", -1))
        self.assertEqual(dict(first.input_map), {"INPUT0": "l", "INPUT1": "r"})
        self.assertEqual(dict(first.output_map), {"OUTPUT0": "y", "OUTPUT1": "z"})
        self.assertTrue(self.client.is_model_ready("diamond"))
        index = {model.name: model.state
                 for model in self.client.get_model_repository_index().models}
        self.assertEqual(index["diamond"], "READY")

    def test_what_operators_are_told(self):
        told = self.daemon.ps()["diamond"]
        self.assertTrue(told["ready"])
        self.assertEqual((told["state"], told["platform"], told["workers"]),
                         ("ready", "ensemble", []))
        self.assertIn("diamond", self.daemon.table)

    def test_every_request_counts_once_and_so_does_each_step(self):
        before = {name: self.counts(name) for name in ("diamond", "left", "right", "join")}
        for rows in (1, 2, 3):
            self.check_echo("diamond", rows)
        for name, counted in before.items():
            more = tuple(now - then for now, then in zip(self.counts(name), counted))
            self.assertEqual(more, (3, 0, 6, 3), name)
        self.assertEqual(self.daemon.metric("mpsd_requests_total", model="diamond", code="OK"),
                         self.daemon.metric("mpsd_requests_total", model="join", code="OK"))

    def test_a_wrong_input_is_refused_before_any_step(self):
        before = self.counts("first")
        self.check_refused(self.call("chain", rows_of(9)), CODE.INVALID_ARGUMENT,
                           "batch-size must be <= 8 for 'chain'")
        self.check_refused(self.call("chain", rows_of(1, 15)), CODE.INVALID_ARGUMENT,
                           "unexpected shape for input 'x' for model 'chain'")
        self.assertEqual(self.counts("first"), before)

    def test_many_at_once(self):
        sent = [rows_of(1 + i % 4) for i in range(200)]
        outcomes = calls.all_answered(self.stub, [
            calls.request("diamond" if i % 2 else "chain", {"x": array})
            for i, array in enumerate(sent)])
        for outcome, array in zip(outcomes, sent, strict=True):
            for back in calls.arrays(outcome.response).values():
                np.testing.assert_array_equal(back, array)
        wait_until(lambda: self.daemon.metric("mpsd_step_requests") == 0, LIMIT_S, "the last end")
        self.assertEqual(self.daemon.metric("mpsd_step_copy_bytes"), 0)


class Faults(Steps):
    def test_a_failing_step_ends_the_call(self):
        self.serve(chain("first", "fails", "last"), synthetic("first"), synthetic("last"),
                   synthetic("fails", parameters={"throw_if": "666"}))
        self.check_refused(self.call("chain", calls.row_of(666)), CODE.INTERNAL,
                           "in ensemble 'chain', steps[1] (model 'fails'): ")
        self.check_echo("chain")
        self.assertEqual(self.counts("chain"), (1, 1, 1, 1))
        self.assertEqual(self.counts("first")[:2], (2, 0))
        self.assertEqual(self.counts("fails")[:2], (1, 1))
        self.assertEqual(self.counts("last")[:2], (1, 0))

    def test_a_failing_step_cancels_the_others(self):
        slow = synthetic("right", parameters={"delay": "10s"})
        self.serve(diamond(), synthetic("first"), slow, joining("join"),
                   synthetic("left", parameters={"throw_if": "666"}))
        self.check_refused(self.call("diamond", calls.row_of(666), limit_s=8), CODE.INTERNAL,
                           "steps[1] (model 'left')")
        self.assertEqual(self.daemon.metric("mpsd_requests_total", model="right",
                                            code="CANCELLED"), 1)
        self.assertEqual(self.counts("join"), (0, 0, 0, 0))
        for pid in self.daemon.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # none of them needs a wait
        self.daemon.kill()

    def test_the_deadline_is_one_for_all_steps(self):
        self.serve(chain("first", "second"), synthetic("first", parameters={"delay": "300ms"}),
                   synthetic("second", parameters={"delay": "300ms"}))
        self.check_refused(self.call("chain", parameters={"timeout": 450_000}),
                           CODE.DEADLINE_EXCEEDED, "(model 'second')", "Request timeout expired")
        self.check_echo("chain")
        self.assertEqual(self.counts("chain")[:2], (1, 1))

    def test_a_client_that_leaves_ends_the_step(self):
        self.serve(chain("first", "second"), synthetic("first"),
                   synthetic("second", parameters={"delay": "500ms"}))
        future = self.stub.ModelInfer.future(calls.request("chain", {"x": rows_of()}))
        wait_until(lambda: self.daemon.metric("mpsd_running_batches", model="second") == 1,
                   LIMIT_S, "the second step")
        future.cancel()
        wait_until(lambda: self.daemon.metric("mpsd_requests_total", model="chain",
                                              code="CANCELLED") == 1, LIMIT_S, "the ending")
        self.assertEqual(self.daemon.metric("mpsd_requests_total", model="second",
                                            code="CANCELLED"), 1)
        self.check_echo("chain")

    def test_a_killed_worker_costs_a_step_nothing(self):
        self.serve(chain("first", "second"), synthetic("first"),
                   synthetic("second", parameters={"delay": "400ms"}, placement=placement(2)))
        self.daemon.wait_all_serving()
        sent = [rows_of() for _ in range(4)]
        futures = [self.stub.ModelInfer.future(calls.request("chain", {"x": array}))
                   for array in sent]
        wait_until(lambda: self.daemon.metric("mpsd_running_batches", model="second") >= 1,
                   LIMIT_S, "the second step")
        os.kill(self.daemon.ps()["second"]["workers"][0]["pid"], signal.SIGKILL)
        os.kill(self.daemon.ps()["second"]["workers"][1]["pid"], signal.SIGKILL)
        for future, array in zip(futures, sent, strict=True):
            outcome = calls.answer_of(future)
            np.testing.assert_array_equal(calls.arrays(outcome.response)["y"], array)
        self.assertGreater(self.daemon.metric("mpsd_dispatched_again_total", model="second"), 0)

    def test_a_deadly_request_is_quarantined_for_its_step_only(self):
        """One among others and then alone kills its step's worker; from then on it kills none."""
        deadly = synthetic("right", parameters={"crash_if": 666, "delay": "30ms"})
        self.serve(diamond(), chain("first", "left"), synthetic("first"), synthetic("left"), deadly,
                   joining("join"))
        crashed = "in ensemble 'diamond', steps[2] (model 'right'): request crashed its worker"
        values = [*range(8), 666, *range(8, 16)]
        outcomes = calls.infer_all(self.stub, [
            calls.request("diamond", {"x": calls.row_of(value)}) for value in values])
        for value, outcome in zip(values, outcomes, strict=True):
            if value == 666:
                self.check_refused(outcome, CODE.INTERNAL, crashed)
                continue
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            for back in calls.arrays(outcome.response).values():
                np.testing.assert_array_equal(back, calls.row_of(value))
        self.daemon.wait_all_serving()
        deaths = self.daemon.metric("mpsd_worker_restarts_total", model="right")
        self.assertIn(deaths, (1, 2), "one among others and one alone")

        outcome = self.call("diamond", calls.row_of(666))
        self.assertEqual((outcome.code, outcome.text), (CODE.INTERNAL, crashed))
        outcome = self.call("right", calls.row_of(666))
        self.assertEqual((outcome.code, outcome.text),
                         (CODE.INTERNAL, "request crashed its worker"))
        for model in ("first", "left", "chain"):
            self.assertEqual(self.call(model, calls.row_of(666)).code, calls.OK, model)
        self.check_echo("diamond")
        self.check_only_struck("right", deaths, quarantined=2)

    def check_only_struck(self, struck, deaths, quarantined):
        for name, told in self.daemon.ps().items():
            counts = (len(told.get("refused_contents", [])),
                      self.daemon.metric("mpsd_quarantined_requests_total", model=name),
                      self.daemon.metric("mpsd_worker_restarts_total", model=name))
            self.assertEqual(counts, (1, quarantined, deaths) if name == struck else (0, 0, 0), name)
            self.assertTrue(told["ready"], name)

    def test_a_full_member_and_a_full_whole(self):
        self.serve(chain("slow", max_batch_size=1, queue={"requests": 4}),
                   synthetic("slow", max_batch_size=1, parameters={"delay": "300ms"},
                             queue={"requests": 2}, placement=placement()))
        message = calls.request("chain", {"x": rows_of()})
        outcomes = calls.infer_all(self.stub, [message] * 8)
        texts = collections.Counter(outcome.text for outcome in outcomes)
        full = "Exceeds maximum queue size"
        # One runs, two wait for the lane; the fourth is refused by the member.
        self.assertEqual(texts[""], 3, texts)
        self.assertGreater(texts[full] + texts[f"in ensemble 'chain', steps[0] (model 'slow'): {full}"], 4)
        self.assertEqual(self.counts("chain")[0], 3)

    def test_members_that_keep_answers(self):
        """Each step is looked for among the kept answers, at once; nothing runs twice."""
        self.serve(chain("first", "second"), synthetic("first", response_cache="shared"),
                   synthetic("second", response_cache="shared"))
        sent = rows_of()
        for _ in range(3):
            outcome = self.call("chain", sent)
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            np.testing.assert_array_equal(calls.arrays(outcome.response)["y"], sent)
        self.check_echo("chain")
        for model in ("first", "second"):
            self.assertEqual(self.daemon.metric("mpsd_cache_hits_total", model=model), 2)
            self.assertEqual(self.counts(model), (4, 0, 2, 2))
        self.assertEqual(self.counts("chain"), (4, 0, 4, 4))

    def test_inputs_and_outputs_in_a_clients_region(self):
        self.serve(chain("first", "second"), synthetic("first"), synthetic("second"),
                   limits={"client_shared_memory": "1MiB"})
        sent = rows_of(2)
        key = f"/mpsd-test-steps-{os.getpid()}"
        handle = shm.create_shared_memory_region("r", key, 2 * sent.nbytes)
        self.addCleanup(shm.destroy_shared_memory_region, handle)
        shm.set_shared_memory_region(handle, [sent])
        self.client.register_system_shared_memory("r", key, 2 * sent.nbytes)
        made = triton.InferInput("x", [2, 16], "FP32")
        made.set_shared_memory("r", sent.nbytes)
        wanted = triton.InferRequestedOutput("y")
        wanted.set_shared_memory("r", sent.nbytes, offset=sent.nbytes)
        self.client.infer("chain", [made], outputs=[wanted])
        back = shm.get_contents_as_numpy(handle, np.float32, [2, 16], sent.nbytes)
        np.testing.assert_array_equal(back, sent)

    def test_classes_of_an_output(self):
        self.serve(chain("first", "second"), synthetic("first"), synthetic("second"))
        sent = rows_of()
        made = input_of("x", sent)
        wanted = triton.InferRequestedOutput("y", class_count=1)
        told = self.client.infer("chain", [made], outputs=[wanted]).as_numpy("y")[0][0]
        self.assertEqual(int(told.decode().split(":")[1]), int(sent.argmax()))

    def test_a_member_that_takes_texts(self):
        """Equal texts are one row of the member and rows of their own here; long ones too."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        vocab = folder / "vocab.txt"
        vocab.write_text("".join(f"{word}\n" for word in ["[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                          *"abcdefgh"]))
        tokens = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64")]
        self.serve(whole("m", [step("words", {"x": "texts"}, {"OUTPUT0": "t"}),
                               step("enc", {"text": "t"}, {"sentence_embedding": "v"})],
                         inputs=[tensor("texts", [1], "BYTES")], outputs=[tensor("v", [8])]),
                   synthetic("words", [tensor("x", [1], "BYTES")]),
                   synthetic("enc", tokens, text={"tokenizer": str(vocab)},
                             parameters={"encode": "true"}))
        def vectors(model, name, texts):
            made = input_of(name, np.array([[text] for text in texts], dtype=object), "BYTES")
            answer = self.client.infer(model, [made])
            return answer.as_numpy("v" if model == "m" else "sentence_embedding")
        for texts in (["a b", "c", "a b", "d e f"], ["a " * 9000, "b", "a " * 9000]):
            np.testing.assert_array_equal(vectors("m", "texts", texts),
                                          vectors("enc", "text", texts))

    def test_a_stop_waits_for_the_steps(self):
        self.serve(chain("first", "second"), synthetic("first", parameters={"delay": "500ms"}),
                   synthetic("second", parameters={"delay": "300ms"}))
        sent = rows_of()
        future = self.stub.ModelInfer.future(calls.request("chain", {"x": sent}))
        wait_until(lambda: self.daemon.metric("mpsd_running_batches", model="first") == 1, LIMIT_S,
                   "the first step")
        self.daemon.terminate()
        calls.answer_of(future)
        self.assertEqual(self.daemon.wait(), 0)


class Access(Steps):
    def test_the_members_are_reached_on_behalf_of_the_whole(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        tokens = folder / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text("".join(f"{name} {hashlib.sha256(name.encode()).hexdigest()}\n"
                                  for name in ("some-secret", "all-secret")))
        roles = ["infer", "health", "metrics", "control"]
        self.daemon = Daemon(
            [chain("first", "second"), synthetic("first"), synthetic("second")],
            listen_more={"control": f"unix:{folder}/c"},
            access={"tokens": str(tokens),
                    "rules": [{"token": "all-secret", "roles": roles},
                              {"token": "some-secret", "roles": ["infer"], "models": ["chain"]}]})
        self.daemon.http_headers = {"Authorization": "Bearer all-secret"}
        self.enterContext(self.daemon)
        self.stub = self.enterContext(calls.stub(self.daemon.address))
        for model, code in (("chain", calls.OK), ("first", CODE.PERMISSION_DENIED)):
            outcome = calls.outcome_of(self.stub.ModelInfer.future(
                calls.request(model, {"x": rows_of()}), timeout=LIMIT_S,
                metadata=[("authorization", "Bearer some-secret")]))
            self.assertEqual(outcome.code, code, outcome.text)


class Members(Steps):
    """Members that come, go and change."""

    def test_an_unloaded_member_is_named(self):
        self.serve(chain("first", "second"), synthetic("first"), synthetic("second"),
                   model_control="explicit")
        self.check_echo("chain")
        self.client.unload_model("second")
        self.assertFalse(self.client.is_model_ready("chain"))
        self.assertFalse(self.client.is_server_ready())
        self.check_refused(self.call("chain"), CODE.NOT_FOUND,
                           "in ensemble 'chain', steps[1] (model 'second'): ",
                           "has no available versions")
        self.assertEqual(self.counts("first")[0], 1, "no step ran")
        self.assertIn("second", self.daemon.ps()["chain"]["state"])
        index = {model.name: model for model in self.client.get_model_repository_index().models}
        self.assertEqual(index["chain"].state, "UNAVAILABLE")
        self.client.load_model("second")
        self.assertTrue(self.client.is_model_ready("chain"))
        self.check_echo("chain")

    def test_a_request_inside_ends_when_its_member_is_unloaded(self):
        self.serve(chain("first", "slow"), synthetic("first"),
                   synthetic("slow", parameters={"delay": "500ms"}), model_control="explicit")
        sent = rows_of()
        future = self.stub.ModelInfer.future(calls.request("chain", {"x": sent}))
        wait_until(lambda: self.daemon.metric("mpsd_running_batches", model="slow") == 1, LIMIT_S,
                   "the second step")
        self.client.unload_model("slow")
        outcome = calls.answer_of(future)
        np.testing.assert_array_equal(calls.arrays(outcome.response)["y"], sent)

    def test_a_reload_of_a_member_loses_no_request(self):
        models = [chain("first", "second"), synthetic("first"), synthetic("second")]
        self.serve(*models)
        with Load(self.daemon.address) as load:
            for delay in ("1ms", "2ms", "0"):
                wait_until(lambda: load.answered() > 20, LIMIT_S, "answers")
                models[2] = synthetic("second", parameters={"delay": delay})
                self.daemon.write_config(models)
                self.assertTrue(self.daemon.reload()["ok"])
        self.assertEqual({(outcome.code, outcome.text) for outcome in load.outcomes},
                         {(calls.OK, "")})

    def test_a_member_without_a_worker(self):
        self.serve(chain("first", "second"), synthetic("first"),
                   synthetic("second", parameters={"load_delay": "1s"}))
        os.kill(self.daemon.ps()["second"]["workers"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: not self.client.is_model_ready("chain"), LIMIT_S, "the death")
        self.check_echo("chain")  # waits for the next worker, as a request to the member does
        self.assertTrue(self.client.is_model_ready("chain"))

    def test_the_steps_change_with_a_reload(self):
        models = [chain("first", "second"), synthetic("first"), synthetic("second")]
        self.serve(*models)
        self.check_echo("chain")
        models[0] = chain("first")
        self.daemon.write_config(models)
        report = self.daemon.reload()
        self.assertTrue(report["ok"], report)
        self.check_echo("chain")
        self.assertEqual(self.counts("chain")[0], 2, "the counters go on")
        self.assertEqual(self.counts("second")[0], 1)


class Load(calls.Load):
    """calls.Load, for a chain."""

    def __init__(self, address):
        super().__init__(address, "chain", callers=4)

    def _call(self, a_stub, value):
        with self._lock:
            self.started += 1
        outcome = calls.infer(a_stub, calls.request("chain", {"x": calls.row_of(value)}))
        if outcome.code == calls.OK and not (calls.arrays(outcome.response)["y"] == value).all():
            outcome = outcome._replace(code=None, text="another call's bytes")
        with self._lock:
            self.outcomes.append(outcome._replace(response=None))


class Repository(Steps):
    MEMBER = """
backend: "identity"
max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: 16 }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 16 }
"""
    ENSEMBLE = """
platform: "ensemble"
max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: 16 }
output { name: "y" data_type: TYPE_FP32 dims: 16 }
ensemble_scheduling {
  step { model_name: "member" model_version: -1
         input_map { key: "x" value: "x" } output_map { key: "OUTPUT0" value: "t" } }
  step { model_name: "member" model_version: 1
         input_map { key: "x" value: "t" } output_map { key: "OUTPUT0" value: "y" } }
}
"""

    def repository(self, **texts):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, text in texts.items():
            (folder / name / "1").mkdir(parents=True)
            (folder / name / "config.pbtxt").write_text(text)
        return folder

    def test_ensemble_scheduling(self):
        folder = self.repository(member=self.MEMBER, ens=self.ENSEMBLE)
        self.serve(model_repository=str(folder))
        self.check_echo("ens", 3)
        self.assertEqual(self.counts("member"), (2, 0, 6, 2))
        config = self.client.get_model_config("ens").config
        self.assertEqual([s.model_version for s in config.ensemble_scheduling.step], [-1, 1])

    def test_explicit_loads(self):
        folder = self.repository(member=self.MEMBER, ens=self.ENSEMBLE)
        self.serve(model_repository=str(folder), model_control="explicit")
        with self.assertRaisesRegex(Exception, r"steps\[0\] \(model 'member'\)"):
            self.client.load_model("ens")
        self.client.load_model("member")
        self.client.load_model("ens")
        self.check_echo("ens")
        config = json.dumps({"max_batch_size": 4})
        self.client.load_model("ens", config=config)
        self.check_refused(self.call("ens", rows_of(5)), CODE.INVALID_ARGUMENT, "must be <= 4")
        self.client.unload_model("ens")
        self.assertFalse(self.client.is_model_ready("ens"))

    def test_a_member_that_does_not_fit(self):
        wrong = self.MEMBER.replace("dims: 16", "dims: 15")
        folder = self.repository(member=wrong, ens=self.ENSEMBLE)
        self.serve(model_repository=str(folder))
        self.assertFalse(self.client.is_model_ready("ens"))
        self.check_refused(self.call("ens"), CODE.UNAVAILABLE,
                           "in ensemble 'ens', steps[0].inputs.x: 'x' is made as [-1,16] and read "
                           "as [-1,15]")


@unittest.skipUnless(WITH_TORCH, "without libtorch")
class Torch(Steps):
    def test_a_chain_and_a_fork_of_torchscript(self):
        steps = [step("two_outputs", {"input": "x"}, {"double": "twice", "sum": "s"}),
                 step("two_outputs", {"input": "twice"}, {"double": "four", "sum": "s2"})]
        self.serve(whole("m", steps, outputs=[tensor("four", [16]), tensor("s", [1]),
                                              tensor("s2", [1])]),
                   torchscript("two_outputs"))
        sent = rows_of(3)
        outcome = self.call("m", sent)
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        back = calls.arrays(outcome.response)
        np.testing.assert_allclose(back["four"], 4 * sent)
        np.testing.assert_allclose(back["s"], sent.sum(axis=1, keepdims=True), rtol=1e-5)
        np.testing.assert_allclose(back["s2"], 2 * back["s"], rtol=1e-5)

    def test_a_module_that_throws(self):
        self.serve(whole("m", [step("two_outputs", {"input": "x"}, {"double": "t"}),
                               step("throws", {"input": "t"}, {"output": "y"})]),
                   torchscript("two_outputs"), torchscript("throws"))
        self.check_refused(self.call("m", calls.row_of(np.nan)), CODE.INTERNAL,
                           "in ensemble 'm', steps[1] (model 'throws'): PyTorch execute failure")


if __name__ == "__main__":
    unittest.main()
