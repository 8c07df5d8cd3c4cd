"""Sequences: requests that a model answers by what came before, one after the other."""
import hashlib
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import grpc
import numpy as np
import tritonclient.grpc as triton
import tritonclient.http as triton_http
from google.protobuf import json_format
from tritonclient.grpc import service_pb2

import calls
from daemon import BIN, Daemon, WITH_TORCH, wait_until
from models import placement, synthetic, tensor
from streams import Stream

CODE = grpc.StatusCode
LIMIT_S = 30
FIRST = {"sequence_start": True}
LAST = {"sequence_end": True}

INPUTS = [tensor("x", [1]), tensor("START", [1], "INT32"), tensor("END", [1], "INT32"),
          tensor("READY", [1], "INT32"), tensor("ID", [1], "UINT64"), tensor("last", [1])]
CONTROLS = {"start": "START", "end": "END", "ready": "READY", "id": "ID"}
# A synthetic model returns each input. So its outputs show the state, which is x of the request
# before, and what the front end supplies.
SHOWN = {"x": "OUTPUT0", "start": "OUTPUT1", "end": "OUTPUT2", "ready": "OUTPUT3", "id": "OUTPUT4",
         "last": "OUTPUT5"}


def remembering(name, inputs=None, controls=None, max_idle="20s", max_candidates=64, **more):
    """Its output OUTPUT5 is the x of the request before."""
    sequences = {"max_idle": max_idle, "max_candidates": max_candidates,
                 "controls": CONTROLS if controls is None else controls,
                 "states": [{"input": "last", "output": "OUTPUT0", "told": True}]}
    return synthetic(name, inputs or INPUTS, sequences=sequences, **more)


def message(model, sequence, x, *marks):
    parameters = {"sequence_id": sequence}
    for mark in marks:
        parameters.update(mark)
    return calls.request(model, {"x": np.array([[x]], dtype=np.float32)}, parameters=parameters)


def shown(outcome):
    arrays = {name: raw for name, raw in zip((o.name for o in outcome.response.outputs),
                                             outcome.response.raw_output_contents)}
    types = {"x": np.float32, "last": np.float32, "id": np.uint64}
    return {what: np.frombuffer(arrays[name], types.get(what, np.int32))[0]
            for what, name in SHOWN.items() if name in arrays}


class Sequences(unittest.TestCase):
    def serve(self, *models, **config):
        self.daemon = self.enterContext(Daemon(list(models), **config))
        self.stub = self.enterContext(calls.stub(self.daemon.address))
        return self.daemon

    def call(self, sequence, x, *marks, model="m", limit_s=LIMIT_S):
        return calls.infer(self.stub, message(model, sequence, x, *marks), limit_s)

    def check_last(self, outcome, last):
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        self.assertEqual(shown(outcome)["last"], last)

    def check_refused(self, outcome, code, text):
        self.assertEqual(outcome.code, code, outcome.text)
        self.assertIn(text, outcome.text)

    def open_sequences(self):
        return self.daemon.metric("mpsd_open_sequences", model="m")

    def ended(self, reason):
        return self.daemon.metric("mpsd_sequences_ended_total", model="m", reason=reason)


class Served(Sequences):
    """One daemon for what leaves nothing behind."""

    @classmethod
    def setUpClass(cls):
        names = [tensor("x", [1]), tensor("ID", [1], "BYTES"), tensor("last", [1])]
        cls.daemon = cls.enterClassContext(Daemon(
            [remembering("m", placement=placement(2, 2)), synthetic("plain"),
             remembering("slow", parameters={"delay": "200ms"}),
             remembering("named", names, controls={"id": "ID"})]))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))
        cls.client = cls.enterClassContext(triton.InferenceServerClient(cls.daemon.address))

    def tearDown(self):
        self.assertEqual(self.open_sequences(), 0)

    def test_a_sequence_from_its_start_to_its_end(self):
        first = self.call(7, 1, FIRST)
        self.check_last(first, 0)
        self.assertEqual(shown(first), {"x": 1, "start": 1, "end": 0, "ready": 1, "id": 7,
                                        "last": 0})
        self.check_last(self.call(7, 2), 1)
        self.assertEqual(self.open_sequences(), 1)
        last = self.call(7, 3, LAST)
        self.assertEqual(shown(last), {"x": 3, "start": 0, "end": 1, "ready": 1, "id": 7,
                                       "last": 2})
        self.check_refused(self.call(7, 4), CODE.INVALID_ARGUMENT, "it has had its last request")

    def test_one_request_may_be_all(self):
        self.check_last(self.call(8, 1, FIRST, LAST), 0)

    def test_what_has_not_begun_is_refused(self):
        self.check_refused(self.call(99, 1), CODE.INVALID_ARGUMENT, "'sequence_start' opens it")
        self.check_refused(self.call(0, 1, FIRST), CODE.INVALID_ARGUMENT, "'sequence_id'")
        none = calls.request("m", {"x": np.zeros((1, 1), np.float32)})
        self.check_refused(calls.infer(self.stub, none), CODE.INVALID_ARGUMENT, "'sequence_id'")

    def test_a_request_has_one_row(self):
        two = calls.request("m", {"x": np.zeros((2, 1), np.float32)},
                            parameters={"sequence_id": 5, **FIRST})
        self.check_refused(calls.infer(self.stub, two), CODE.INVALID_ARGUMENT, "one row")

    def test_what_the_front_end_supplies_is_not_told_nor_taken(self):
        metadata = self.client.get_model_metadata("m")
        self.assertEqual([tensor.name for tensor in metadata.inputs], ["x"])
        sent = calls.request("m", {"x": np.zeros((1, 1), np.float32),
                                   "START": np.ones((1, 1), np.int32)},
                             parameters={"sequence_id": 5, **FIRST})
        self.check_refused(calls.infer(self.stub, sent), CODE.INVALID_ARGUMENT, "START")

    def test_the_configuration_tells_of_sequences(self):
        config = self.client.get_model_config("m").config
        batching = config.sequence_batching
        self.assertEqual(batching.max_sequence_idle_microseconds, 20_000_000)
        self.assertEqual(batching.oldest.max_candidate_sequences, 64)
        kinds = {entry.name: entry.control[0].kind for entry in batching.control_input}
        self.assertEqual(kinds, {"START": 0, "READY": 1, "END": 2, "ID": 3})
        self.assertEqual(list(batching.control_input[0].control[0].int32_false_true), [0, 1])
        self.assertEqual(batching.state[0].output_name, "OUTPUT0")
        self.assertEqual([entry.name for entry in config.input], ["x"])
        self.assertFalse(config.HasField("dynamic_batching"))

    def test_a_second_start_begins_anew(self):
        self.check_last(self.call(7, 1, FIRST), 0)
        before = self.ended("restarted")
        self.check_last(self.call(7, 2, FIRST), 0)
        self.assertEqual(self.ended("restarted"), before + 1)
        self.check_last(self.call(7, 3, LAST), 2)

    def test_requests_that_come_at_once_run_in_their_order(self):
        marks = [[FIRST]] + [[] for _ in range(20)] + [[LAST]]
        outcomes = calls.infer_all(self.stub, [message("m", 7, x + 1, *mark)
                                               for x, mark in enumerate(marks)])
        for x, outcome in enumerate(outcomes):
            self.check_last(outcome, x)

    def test_sequences_share_batches_and_a_sequence_does_not(self):
        def executed():
            stats = self.client.get_inference_statistics("slow").model_stats[0]
            return stats.inference_count, stats.execution_count
        sequences = range(1, 9)
        outcomes = calls.infer_all(self.stub, [message("slow", i, i, FIRST) for i in sequences])
        rows_before, batches_before = executed()
        self.assertEqual({outcome.code for outcome in outcomes}, {calls.OK})
        outcomes = calls.infer_all(self.stub, [message("slow", i, 0, LAST) for i in sequences])
        for i, outcome in zip(sequences, outcomes):
            self.check_last(outcome, i)
        rows, batches = executed()
        self.assertEqual(rows - rows_before, 8)
        self.assertLess(batches - batches_before, 8)
        _, before = executed()
        outcomes = calls.infer_all(self.stub, [message("slow", 1, x, *mark) for x, mark in
                                               enumerate([[FIRST], [], [LAST]])])
        self.assertEqual({outcome.code for outcome in outcomes}, {calls.OK})
        self.assertEqual(executed()[1] - before, 3)

    def test_the_stream_of_an_unmodified_client(self):
        with Stream(self.daemon.address) as stream:
            for x in range(1, 6):
                stream.ask("m", {"x": np.array([[x]], np.float32)}, sequence_id=70,
                           sequence_start=x == 1, sequence_end=x == 5)
            for x in range(5):
                self.assertEqual(stream.answer().as_numpy("OUTPUT5")[0, 0], x)
            stream.ask("m", {"x": np.array([[1]], np.float32)}, sequence_id=70)
            self.assertIn("is not open", str(stream.next()[1]))

    def test_http_and_grpc_are_doors_to_the_same_sequence(self):
        with triton_http.InferenceServerClient(self.daemon.http) as client:
            made = triton_http.InferInput("x", [1, 1], "FP32")
            made.set_data_from_numpy(np.array([[5]], np.float32))
            answer = client.infer("m", [made], sequence_id=71, sequence_start=True)
            self.assertEqual(answer.as_numpy("OUTPUT5")[0, 0], 0)
            self.check_last(self.call(71, 6), 5)
            answer = client.infer("m", [made], sequence_id=71, sequence_end=True)
            self.assertEqual(answer.as_numpy("OUTPUT5")[0, 0], 6)
            with self.assertRaisesRegex(Exception, "is not open"):
                client.infer("m", [made], sequence_id=71)

    def test_an_id_may_be_a_text_where_the_model_takes_one(self):
        outcome = self.call("session a", 1, FIRST, model="named")
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        names = dict(zip((o.name for o in outcome.response.outputs),
                         outcome.response.raw_output_contents))
        self.assertEqual(names["OUTPUT1"], b"\x09\0\0\0session a")
        self.assertEqual(self.call("session a", 1, LAST, model="named").code, calls.OK)
        self.check_refused(self.call(5, 1, FIRST, model="named"), CODE.INVALID_ARGUMENT, "BYTES")
        self.check_refused(self.call("five", 1, FIRST), CODE.INVALID_ARGUMENT, "UINT64")

    def test_a_plain_model_takes_the_parameters_and_ignores_them(self):
        sent = calls.request("plain", {"x": calls.row_of(1)}, parameters={"sequence_id": 5})
        self.assertEqual(calls.infer(self.stub, sent).code, calls.OK)

    def test_a_request_that_is_late_changes_nothing(self):
        self.check_last(self.call(7, 1, FIRST, model="slow"), 0)
        late = self.call(7, 2, model="slow", limit_s=0.1)
        self.assertNotEqual(late.code, calls.OK)
        self.check_last(self.call(7, 3, LAST, model="slow"), 1)

    def test_many_clients_at_once(self):
        faults = []

        def run(sequence):
            try:
                with calls.stub(self.daemon.address) as stub:
                    for x in range(30):
                        marks = [FIRST] if x == 0 else [LAST] if x == 29 else []
                        outcome = calls.infer(stub, message("m", sequence, x + 1, *marks))
                        if outcome.code != calls.OK or shown(outcome)["last"] != x:
                            faults.append((sequence, x, outcome))
                            return
            except Exception as fault:
                faults.append(fault)
        threads = [threading.Thread(target=run, args=(1000 + i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])


class Ends(Sequences):
    def test_an_idle_sequence_is_closed_and_told(self):
        self.serve(remembering("m", max_idle="300ms"))
        self.check_last(self.call(7, 1, FIRST), 0)
        self.assertGreater(self.daemon.metric("mpsd_sequence_state_bytes"), 0)
        wait_until(lambda: self.open_sequences() == 0, LIMIT_S, "the end of the idle sequence")
        self.assertEqual(self.ended("idle"), 1)
        self.assertEqual(self.daemon.metric("mpsd_sequence_state_bytes"), 0)
        self.check_refused(self.call(7, 2), CODE.INVALID_ARGUMENT, "came for too long")
        self.check_last(self.call(7, 3, FIRST, LAST), 0)

    def test_sequences_beyond_the_lanes_wait(self):
        self.serve(remembering("m", max_candidates=2))
        for sequence in (1, 2):
            self.check_last(self.call(sequence, 1, FIRST), 0)
        waits = self.stub.ModelInfer.future(message("m", 3, 9, FIRST), timeout=LIMIT_S)
        self.assertEqual(self.call(4, 1, FIRST, limit_s=0.5).code, CODE.DEADLINE_EXCEEDED)
        self.assertFalse(waits.done())
        self.check_last(self.call(2, 2, LAST), 1)
        self.check_last(calls.outcome_of(waits), 0)

    def test_the_first_answer_may_be_a_large_one(self):
        self.serve(synthetic("m", [tensor("x", [-1]), tensor("START", [1], "INT32")],
                             sequences={"controls": {"start": "START"}}))
        message = calls.request("m", {"x": np.ones((1, 1_000_000), np.float32)},
                                parameters={"sequence_id": 1, **FIRST, **LAST})
        outcome = calls.infer(self.stub, message, LIMIT_S)
        self.assertEqual(outcome.code, calls.OK, outcome.text)

    def test_a_killed_worker_is_told(self):
        self.serve(remembering("m", parameters={"delay": "400ms"}, placement=placement(1)))
        self.check_last(self.call(1, 1, FIRST), 0)
        self.check_last(self.call(2, 1, FIRST), 0)
        inside = [self.stub.ModelInfer.future(message("m", 1, x), timeout=LIMIT_S)
                  for x in range(2)]
        wait_until(lambda: self.daemon.metric("mpsd_running_batches") == 1, LIMIT_S, "a batch")
        os.kill(next(iter(self.daemon.workers())), signal.SIGKILL)
        for future in inside:
            self.check_refused(calls.outcome_of(future), CODE.UNAVAILABLE,
                               "the state of sequence 1")
        for sequence in (1, 2):
            self.check_refused(self.call(sequence, 2), CODE.INVALID_ARGUMENT, "its worker is gone")
        self.assertEqual(self.ended("lost"), 2)
        self.check_last(self.call(1, 5, FIRST), 0)
        self.check_last(self.call(1, 6, LAST), 5)

    def test_a_reload_is_told(self):
        self.serve(remembering("m"))
        self.check_last(self.call(1, 1, FIRST), 0)
        self.daemon.write_config([remembering("m", max_candidates=3)])
        self.daemon.reload()
        self.check_refused(self.call(1, 2), CODE.INVALID_ARGUMENT, "is not open")
        self.assertEqual(self.ended("closed"), 1)
        self.check_last(self.call(1, 3, FIRST, LAST), 0)

    def test_sequences_that_never_end_are_no_hindrance_to_a_stop(self):
        self.serve(remembering("m"))
        for sequence in range(1, 20):
            self.check_last(self.call(sequence, 1, FIRST), 0)
        started = time.monotonic()
        self.daemon.terminate()
        self.daemon.wait()
        self.assertLess(time.monotonic() - started, 15)

    def test_states_have_a_bound(self):
        wide = [tensor("x", [65536]), tensor("last", [65536])]
        self.serve(remembering("m", wide, controls={}), limits={"sequence_states": "1MiB"})
        sent = [calls.request("m", {"x": np.zeros((1, 65536), np.float32)},
                              parameters={"sequence_id": i, **FIRST}) for i in range(1, 6)]
        codes = [calls.infer(self.stub, each).code for each in sent]
        self.assertEqual(codes, [calls.OK] * 4 + [CODE.RESOURCE_EXHAUSTED])


class Tenants(Sequences):
    def test_a_stolen_id_is_another_sequence(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        tokens = folder / "tokens"
        tokens.write_text("".join(f"{name} {hashlib.sha256(name.encode()).hexdigest()}\n"
                                  for name in ("one-secret", "two-secret")))
        tokens.chmod(0o600)
        roles = ["infer", "health", "metrics", "control"]
        self.daemon = Daemon(
            [remembering("m")], listen_more={"control": f"unix:{folder}/c"},
            access={"tokens": str(tokens),
                    "rules": [{"token": name, "roles": roles}
                              for name in ("one-secret", "two-secret")]})
        self.daemon.http_headers = {"Authorization": "Bearer one-secret"}
        self.enterContext(self.daemon)
        self.stub = self.enterContext(calls.stub(self.daemon.address))

        def call(token, sequence, x, *marks):
            future = self.stub.ModelInfer.future(
                message("m", sequence, x, *marks), timeout=LIMIT_S,
                metadata=[("authorization", f"Bearer {token}")])
            return calls.outcome_of(future)
        self.check_last(call("one-secret", 7, 1, FIRST), 0)
        self.check_refused(call("two-secret", 7, 2), CODE.INVALID_ARGUMENT, "is not open")
        self.check_last(call("two-secret", 7, 3, FIRST), 0)
        self.check_last(call("one-secret", 7, 4, LAST), 1)
        self.check_last(call("two-secret", 7, 5, LAST), 3)


PBTXT = """
backend: "identity"
max_batch_size: 8
input { name: "x" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "OUTPUT1" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "OUTPUT2" data_type: TYPE_INT64 dims: [ 1 ] }
output { name: "OUTPUT3" data_type: TYPE_FP32 dims: [ 1 ] }
sequence_batching {
  max_sequence_idle_microseconds: 20000000
  control_input { name: "START"
    control { kind: CONTROL_SEQUENCE_START fp32_false_true: [ -1, 4 ] } }
  control_input { name: "CORRID"
    control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_INT64 } }
  state { input_name: "last" output_name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ]
    initial_state { name: "none" data_type: TYPE_FP32 dims: [ 1 ] zero_data: true } }
  %s
}
"""


class Repository(Sequences):
    def serve_text(self, strategy):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (root / "m/1").mkdir(parents=True)
        (root / "m/config.pbtxt").write_text(PBTXT % strategy)
        self.serve(model_repository=str(root), model_control="explicit")
        self.stub.RepositoryModelLoad(service_pb2.RepositoryModelLoadRequest(model_name="m"))
        ready = service_pb2.ModelReadyRequest(name="m")
        wait_until(lambda: self.stub.ModelReady(ready).ready, LIMIT_S, "the model")

    def test_a_held_queue_counts_those_that_wait_for_their_turn(self):
        """All are of one sequence, so that one is in the pool at a time."""
        self.serve(remembering("m"), environment={"TRITONSERVER_DELAY_SCHEDULER": "4"})
        futures = []
        for x, mark in enumerate((FIRST, {}, {}, LAST)):
            self.assertEqual(self.daemon.metric("mpsd_batches_total"), 0)
            futures.append(self.stub.ModelInfer.future(message("m", 7, x, mark), timeout=LIMIT_S))
            if mark is not LAST:  # in this order
                wait_until(lambda: self.daemon.metric("mpsd_open_calls") == len(futures), LIMIT_S,
                           "the call")
        for x, future in enumerate(futures):
            self.check_last(calls.outcome_of(future), max(x - 1, 0))

    def test_a_configuration_of_triton(self):
        self.serve_text("oldest { max_candidate_sequences: 4 }")

        def outputs(outcome):
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            return [each[0, 0] for each in calls.arrays(outcome.response).values()]
        self.assertEqual(outputs(self.call(9, 1, FIRST)), [1, 4, 9, 0])
        self.assertEqual(outputs(self.call(9, 2, LAST)), [2, -1, 9, 1])
        config = self.stub.ModelConfig(service_pb2.ModelConfigRequest(name="m")).config
        self.assertEqual(config.sequence_batching.oldest.max_candidate_sequences, 4)
        # The model accepts its own description.
        load = service_pb2.RepositoryModelLoadRequest(model_name="m")
        load.parameters["config"].string_param = json_format.MessageToJson(
            config, preserving_proto_field_name=True)
        self.stub.RepositoryModelLoad(load)
        self.assertEqual(outputs(self.call(9, 1, FIRST, LAST)), [1, 4, 9, 0])

    def test_direct_with_implicit_state(self):
        self.serve_text("direct { }")
        self.assertEqual(self.call(9, 1, FIRST).code, calls.OK)
        self.assertEqual(self.call(9, 1, LAST).code, calls.OK)
        config = self.stub.ModelConfig(service_pb2.ModelConfigRequest(name="m")).config
        self.assertTrue(config.sequence_batching.HasField("direct"))


@unittest.skipUnless(WITH_TORCH, "needs libtorch")
class OfTorch(Sequences):
    def test_a_module_that_sums(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        subprocess.run([str(BIN / "mpsd-make-models"), folder, "--faulty"], check=True)
        self.serve({"name": "m", "path": f"{folder}/sums.pt", "device": "cpu",
                    "placement": placement(1, 2), "sequences": {
            "max_idle": "20s", "controls": {"start": "start"},
            "states": [{"input": "sum", "output": "sum_out"}]}})

        def total(outcome):
            self.assertEqual(outcome.code, calls.OK, outcome.text)
            arrays = calls.arrays(outcome.response)
            self.assertEqual(list(arrays), ["y"])
            return arrays["y"][0, 0]
        sequences = {i: 0.0 for i in range(1, 9)}
        for x in range(10):
            for i in sequences:
                mark = [FIRST] if x == 0 else [LAST] if x == 9 else []
                sequences[i] += i * x
                self.assertEqual(total(self.call(i, i * x, *mark)), sequences[i])
        self.assertEqual(self.open_sequences(), 0)


class BadConfigs(unittest.TestCase):
    def check_not_served(self, model, text):
        with Daemon([model, synthetic("other")]) as daemon:
            daemon.wait_logged(text)

    def test_a_model_without_those_tensors_is_refused_at_load(self):
        self.check_not_served(remembering("m", controls={"start": "BEGIN"}),
                              "'BEGIN' is no input of the model")


if __name__ == "__main__":
    unittest.main()
