"""Decoupled models: any number of answers to a request, with an unmodified tritonclient."""
import os
import signal
import subprocess
import tempfile
import threading
import unittest

import grpc
import numpy as np
import tritonclient.grpc as client
import tritonclient.utils.shared_memory as shm
from tritonclient.grpc import service_pb2

import calls
import models
import streams
from daemon import BIN, Daemon, WITH_TORCH, wait_until
from models import placement, synthetic, tensor

LIMIT_S = 30
# Elements of IN with a special effect.
HANGS, THROWS, CRASHES = 77, 78, 79
FREE = 100  # from here on elements are only repeated
LOST = "worker lost"


def repeating(name="m", **more):
    return models.repeating(name, {"hang_if": HANGS, "throw_if": THROWS, "crash_if": CRASHES},
                            **more)


def tensors_of(elements, delay_ms=0):
    return {"IN": np.array(elements, np.int32), "WAIT": np.zeros(1, np.uint32),
            "DELAY": np.full(len(elements), delay_ms, np.uint32)}


class Stream(streams.Stream):
    """Asks the model "m" about elements."""

    def ask(self, elements, request_id="r", final=True, model="m", tensors=None, outputs=None):
        super().ask(model, tensors or tensors_of(elements), request_id=request_id, outputs=outputs,
                    enable_empty_final_response=final)


class Decoupled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Of tests that change nothing."""
        cls.shared = cls.enterClassContext(Daemon([repeating()]))

    def serve(self, *served, **more):
        return self.enterContext(Daemon(list(served) or [repeating()], **more))

    def stream(self, daemon):
        return self.enterContext(Stream(daemon.address))

    def open(self, *served, **more):
        """A daemon and a stream."""
        daemon = self.serve(*served, **more)
        return daemon, self.stream(daemon)

    def check_answer(self, taken, element, index, request_id="r", flag=False):
        result, error = taken
        self.assertIsNone(error)
        self.assertEqual(result.as_numpy("OUT").tolist(), [element])
        self.assertEqual(result.as_numpy("IDX").tolist(), [index])
        self.check_head(result, request_id, flag)

    def check_head(self, result, request_id, flag):
        response = result.get_response()
        self.assertEqual((response.id, response.model_name, response.model_version),
                         (request_id, "m", "1"))
        if flag is None:
            self.assertNotIn("triton_final_response", response.parameters)
        else:
            self.assertIs(response.parameters["triton_final_response"].bool_param, flag)

    def check_answers(self, stream, elements, request_id="r", final=True):
        """These come next, from the first index on, and then the final answer."""
        for index, element in enumerate(elements):
            self.check_answer(stream.next(), element, index, request_id)
        if final:
            self.check_final(stream.next(), request_id)

    def check_final(self, taken, request_id="r"):
        result, error = taken
        self.assertIsNone(error)
        self.assertEqual(len(result.get_response().outputs), 0)
        self.check_head(result, request_id, True)

    def check_error(self, taken, text):
        result, error = taken
        self.assertIsNone(result)
        self.assertIn(text, error.message())

    def success_count(self, daemon, name="m"):
        return self.statistics(daemon, name).inference_stats.success.count

    def statistics(self, daemon, name="m"):
        with calls.stub(daemon.address) as stub:
            return stub.ModelStatistics(
                service_pb2.ModelStatisticsRequest(name=name)).model_stats[0]

    def responses(self, daemon, field, name="m"):
        """What was counted there, by the index of the answer."""
        counts = {int(index): getattr(response, field).count
                  for index, response in self.statistics(daemon, name).response_stats.items()}
        return {index: count for index, count in sorted(counts.items()) if count}

    # Number of answers.

    def test_as_many_answers_as_elements(self):
        stream = self.stream(self.shared)
        for elements in ([], [7], [5, 4, 3, 2, 1], list(range(40))):
            stream.ask(elements)
            self.check_answers(stream, elements)

    def test_no_answer_sends_nothing_unless_it_was_asked_for(self):
        stream = self.stream(self.shared)
        stream.ask([], "quiet", final=False)
        stream.ask([1], "one", final=False)
        self.check_answer(stream.next(), 1, 0, "one", flag=None)
        stream.ask([], "told", final=True)
        self.check_final(stream.next(), "told")
        self.assertTrue(stream.empty())

    def test_a_full_stream_of_requests_without_answers_goes_on(self):
        """More than a stream has inside at a time, none of which makes room by being written."""
        stream = self.stream(self.shared)
        for _ in range(600):
            stream.ask([], final=False)
        stream.ask([1], "last")
        self.check_answers(stream, [1], "last")

    def test_outputs_that_were_asked_for(self):
        stream = self.stream(self.shared)
        stream.ask([4], outputs=[client.InferRequestedOutput("IDX")])
        result, _ = stream.next()
        self.assertEqual([output.name for output in result.get_response().outputs], ["IDX"])
        self.check_final(stream.next())

    def test_the_largest_elements_of_each_answer(self):
        stream = self.stream(self.shared)
        stream.ask([4, 5], outputs=[client.InferRequestedOutput("OUT", class_count=1)])
        for element in (4, 5):
            result, error = stream.next()
            self.assertIsNone(error)
            self.assertEqual(result.as_numpy("OUT").tolist(), [b"%d:0" % element])
        self.check_final(stream.next())

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_module_that_returns_a_list(self):
        """Of which each element is an answer. Each has the same random number: forward runs once
        for a request, also where others come between."""
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        subprocess.run([str(BIN / "mpsd-make-models"), folder, "--faulty"], check=True)
        daemon, stream = self.open({"name": "m", "path": f"{folder}/lists.pt", "device": "cpu"})
        rows = {"none": [], "three": [3, 4, 5], "two": [7, 8]}
        for name, row in rows.items():
            stream.ask(None, name, tensors={"x": np.array(row, np.float32)})
        seen, runs, finals = {name: [] for name in rows}, {name: set() for name in rows}, 0
        while finals < len(rows):
            result, error = stream.next()
            self.assertIsNone(error)
            response = result.get_response()
            if response.parameters["triton_final_response"].bool_param:
                finals += 1
                continue
            seen[response.id] += result.as_numpy("y").tolist()
            runs[response.id] |= set(result.as_numpy("run").tolist())
        self.assertEqual(seen, rows)
        self.assertEqual([len(drawn) for drawn in runs.values()], [0, 1, 1])
        self.assertTrue(runs["three"].isdisjoint(runs["two"]))
        self.assertEqual(self.responses(daemon, "success"), {0: 2, 1: 2, 2: 1})

    # Times of answers.

    def test_an_answer_is_there_before_the_next_is_computed(self):
        """The model never gets beyond the third element."""
        daemon, stream = self.open()
        stream.ask([1, 2, HANGS, 4])
        self.check_answers(stream, [1, 2], final=False)
        wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, LIMIT_S, "the third")
        self.assertTrue(stream.empty())
        self.assertEqual(self.success_count(daemon), 0)
        os.kill(daemon.workers()[0], signal.SIGKILL)
        self.check_error(stream.next(), LOST)
        self.check_final(stream.next())

    def test_requests_do_not_wait_for_each_other(self):
        """What hangs has the first lane; the other lane's answers come."""
        daemon = self.serve(repeating(placement=placement(processes=2)))
        daemon.wait_all_serving()
        stream = self.stream(daemon)
        stream.ask([1, HANGS], "first")
        self.check_answer(stream.next(), 1, 0, "first")
        stream.ask([8, 9], "second")
        self.check_answers(stream, [8, 9], "second")
        for pid in daemon.workers():
            os.kill(pid, signal.SIGKILL)
        self.check_error(stream.next(), LOST)
        self.check_final(stream.next(), "first")

    def test_requests_of_one_lane_take_turns(self):
        """The second has its answer while most of the first's are still to come."""
        _, stream = self.open(repeating(placement=placement()))
        elements = list(range(FREE, FREE + 100))
        stream.ask(elements, "long", tensors=tensors_of(elements, delay_ms=20))
        self.check_answer(stream.next(), FREE, 0, "long")
        stream.ask([7], "short")
        ids = [stream.next()[0].get_response().id for _ in range(99 + 1 + 2)]
        self.assertEqual((ids.count("long"), ids.count("short")), (100, 2))
        self.assertLess(ids.index("short"), 50)

    def test_answers_of_one_request_keep_their_order(self):
        daemon, stream = self.open(repeating(placement=placement(processes=2, lanes=2)))
        lengths = {f"r{i}": i % 7 for i in range(60)}
        for request_id, length in lengths.items():
            stream.ask(list(range(length)), request_id)
        seen = dict.fromkeys(lengths, 0)
        open_ids = set(lengths)
        while open_ids:
            result, error = stream.next()
            self.assertIsNone(error, error)
            response = result.get_response()
            self.assertIn(response.id, open_ids)
            if response.parameters["triton_final_response"].bool_param:
                open_ids.remove(response.id)
                continue
            self.assertEqual(result.as_numpy("IDX").tolist(), [seen[response.id]])
            seen[response.id] += 1
        self.assertEqual(seen, lengths)

    # Other endings.

    def test_an_error_is_followed_by_the_final_answer(self):
        daemon, stream = self.open()
        stream.ask([1, THROWS, 3])
        self.check_answer(stream.next(), 1, 0)
        self.check_error(stream.next(), "PyTorch execute failure: asked to throw")
        self.check_final(stream.next())
        stream.ask([1, THROWS, 3], final=False)
        self.check_answer(stream.next(), 1, 0, flag=None)
        self.check_error(stream.next(), "asked to throw")
        stream.ask([2])
        self.check_answers(stream, [2])

    def test_a_request_that_is_refused(self):
        stream = self.stream(self.shared)
        stream.ask(None, tensors={"IN": np.zeros(1, np.int32)})
        self.check_error(stream.next(), "expected 3 inputs but got 1 inputs for model 'm'")
        self.check_final(stream.next())
        stream.ask(None, tensors={**tensors_of([1]), "DELAY": np.zeros(2, np.uint32)})
        self.check_error(stream.next(), "IN and DELAY must have as many elements")
        self.check_final(stream.next())
        stream.ask([1] * 65537)
        self.check_error(stream.next(), "IN has more than 65536 elements")
        self.check_final(stream.next())

    def test_a_client_that_cancels_in_the_middle(self):
        daemon = self.serve()
        for _ in range(3):
            with Stream(daemon.address) as stream:
                stream.ask(list(range(FREE, FREE + 60000)))
                for index in range(5):
                    self.check_answer(stream.next(), FREE + index, index)
                stream.cancel()
            wait_until(lambda: daemon.metric("mpsd_queue_bytes") == 0 and
                       daemon.metric("mpsd_running_batches") == 0, LIMIT_S, "rest")
        with Stream(daemon.address) as stream:
            stream.ask([3])
            self.check_answers(stream, [3])
        self.assertEqual(self.success_count(daemon), 1)

    def test_the_timeout_parameter_between_answers(self):
        daemon = self.serve()
        with calls.stub(daemon.address) as stub:
            message = calls.request("m", tensors_of(range(50), delay_ms=100),
                                    parameters={"timeout": 300_000})
            answers = list(stub.ModelStreamInfer(iter([message]), timeout=LIMIT_S))
            self.assertGreater(len(answers), 0)
            self.assertLess(len(answers), 50)
            self.assertIn("Request timeout expired", answers[-1].error_message)
            self.assertEqual({answer.error_message for answer in answers[:-1]}, {""})

    def test_a_reader_that_stops_reading_holds_nobody_up(self):
        """No further answer is made for it than it takes."""
        daemon = self.serve()
        stop = threading.Event()
        self.addCleanup(stop.set)

        def requests():
            yield calls.request("m", tensors_of(range(FREE, FREE + 60000)))
            stop.wait(LIMIT_S)

        with calls.stub(daemon.address) as stub:
            call = stub.ModelStreamInfer(requests(), timeout=60)
            next(call)  # and then no more
            other = self.stream(daemon)
            other.ask([1, 2])
            self.check_answers(other, [1, 2])
            self.assertEqual(self.success_count(daemon), 1)
            call.cancel()

    # A worker that dies.

    def test_a_worker_killed_before_the_first_answer(self):
        """The request runs again, on a worker that does not die."""
        daemon, stream = self.open()
        stream.ask(None, tensors=tensors_of([5], delay_ms=2000))
        wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, LIMIT_S, "the batch")
        os.kill(daemon.workers()[0], signal.SIGKILL)
        self.check_answers(stream, [5])
        self.assertEqual(daemon.metric("mpsd_dispatched_again_total"), 1)

    def test_a_worker_killed_after_the_first_answer(self):
        """The request is not run again: its answers would repeat."""
        daemon, stream = self.open()
        for final in (True, False):
            stream.ask([5, HANGS, 6], final=final)
            self.check_answer(stream.next(), 5, 0, flag=False if final else None)
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, LIMIT_S, "the batch")
            os.kill(daemon.workers()[0], signal.SIGKILL)
            self.check_error(stream.next(), LOST)
            if final:
                self.check_final(stream.next())
            daemon.wait_all_serving()
        stream.ask([1])
        self.check_answers(stream, [1])
        self.assertEqual(daemon.metric("mpsd_dispatched_again_total"), 0)

    def test_an_answer_that_crashes_its_worker(self):
        daemon, stream = self.open()
        for told in (LOST, "request crashed its worker"):
            stream.ask([1, CRASHES])
            self.check_answer(stream.next(), 1, 0)
            self.check_error(stream.next(), told)
            self.check_final(stream.next())

    # Metadata.

    def test_a_unary_call_is_refused(self):
        daemon = self.serve()
        with calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, calls.request("m", {"IN": np.zeros(1, np.int32)}))
        self.assertEqual(outcome.code, grpc.StatusCode.UNIMPLEMENTED)
        self.assertEqual(outcome.text, "ModelInfer RPC doesn't support models with decoupled "
                                       "transaction policy")

    def test_the_config_says_so(self):
        daemon = self.serve(repeating(), synthetic("s"))
        with calls.stub(daemon.address) as stub:
            for name, decoupled in (("m", True), ("s", False)):
                config = stub.ModelConfig(service_pb2.ModelConfigRequest(name=name)).config
                self.assertIs(config.model_transaction_policy.decoupled, decoupled)

    def test_a_request_counts_once(self):
        daemon, stream = self.open()
        for elements in ([], [1], [1, 2, 3, 4, 5], [1, THROWS]):
            stream.ask(elements)
            while True:
                result, _ = stream.next()
                response = result and result.get_response()
                if response and response.parameters["triton_final_response"].bool_param:
                    break
        statistics = self.statistics(daemon)
        infer = statistics.inference_stats
        self.assertEqual((statistics.inference_count, statistics.execution_count), (3, 4))
        self.assertEqual((infer.success.count, infer.fail.count), (3, 1))
        for stage in (infer.queue, infer.compute_input, infer.compute_infer, infer.compute_output):
            self.assertEqual(stage.count, 3)
        stages = (infer.queue.ns + infer.compute_input.ns + infer.compute_infer.ns +
                  infer.compute_output.ns)
        self.assertLessEqual(stages, infer.success.ns)
        self.assertEqual([(batch.batch_size, batch.compute_infer.count)
                          for batch in statistics.batch_stats], [(1, 4)])
        self.assertEqual(daemon.metric("mpsd_requests_total", model="m"), 4)

    def test_answers_count_by_their_index(self):
        """Asked for or not, the word that there is no other one counts."""
        daemon, stream = self.open()
        received = 0
        for elements, final in (([5, 4, 3, 2, 1], True), ([1, 2], False), ([], False), ([], True)):
            stream.ask(elements, final=final)
            for index, element in enumerate(elements):
                self.check_answer(stream.next(), element, index, flag=False if final else None)
                received += 1
                self.assertGreaterEqual(sum(self.responses(daemon, "success").values()), received)
            if final:
                self.check_final(stream.next())
        wait_until(lambda: sum(self.responses(daemon, "empty_response").values()) == 4, LIMIT_S,
                   "the quiet ones")
        self.assertEqual(self.responses(daemon, "success"), {0: 2, 1: 2, 2: 1, 3: 1, 4: 1})
        self.assertEqual(sum(self.responses(daemon, "success").values()), received)
        self.assertEqual(self.responses(daemon, "compute_output"), {0: 2, 1: 2, 2: 1, 3: 1, 4: 1})
        self.assertEqual(self.responses(daemon, "empty_response"), {0: 2, 2: 1, 5: 1})
        self.assertEqual(self.responses(daemon, "compute_infer"),
                         {0: 4, 1: 2, 2: 2, 3: 1, 4: 1, 5: 1})
        self.assertEqual(self.responses(daemon, "fail"), {})
        self.assertEqual(self.responses(daemon, "cancel"), {})

    def test_the_times_of_answers_add_up(self):
        daemon, stream = self.open()
        stream.ask(None, tensors={**tensors_of([1, 2, 3]),
                                  "DELAY": np.array([0, 200, 0], np.uint32)})
        self.check_answers(stream, [1, 2, 3])
        statistics = self.statistics(daemon)
        responses = statistics.response_stats
        self.assertGreaterEqual(responses["1"].compute_infer.ns, 200_000_000)
        for index in "012":
            answer = responses[index]
            self.assertEqual(answer.success.ns, answer.compute_infer.ns + answer.compute_output.ns)
        self.assertEqual(responses["3"].empty_response.ns, responses["3"].compute_infer.ns)
        self.assertEqual(sum(answer.compute_infer.ns for answer in responses.values()),
                         statistics.inference_stats.compute_infer.ns)

    def test_an_error_counts_in_the_place_of_its_answer(self):
        daemon, stream = self.open()
        stream.ask([1, 2, THROWS, 4])
        self.check_answers(stream, [1, 2], final=False)
        self.check_error(stream.next(), "asked to throw")
        self.check_final(stream.next())
        self.assertEqual(self.responses(daemon, "success"), {0: 1, 1: 1})
        self.assertEqual(self.responses(daemon, "fail"), {2: 1})
        self.assertGreater(self.statistics(daemon).response_stats["2"].fail.ns, 0)
        self.assertEqual(self.responses(daemon, "empty_response"), {})
        self.assertEqual(self.responses(daemon, "cancel"), {})

    def test_an_answer_that_could_not_be_given_counts_as_failed(self):
        """An error stands in its place: it does not fit where it is to lie."""
        daemon = self.serve(limits={"client_shared_memory": "1MiB"})
        key = f"/mpsd-test-{os.getpid()}-answers"
        region = shm.create_shared_memory_region("region", key, 64)
        self.addCleanup(shm.destroy_shared_memory_region, region)
        stream = self.stream(daemon)
        stream.register("region", key, 64)
        wish = client.InferRequestedOutput("OUT")
        wish.set_shared_memory("region", 2)
        stream.ask([1, 2], outputs=[wish])
        self.check_error(stream.next(), "should be at least 4 bytes")
        self.check_final(stream.next())
        self.assertEqual(self.responses(daemon, "success"), {})
        self.assertEqual(self.responses(daemon, "fail"), {0: 1})

    def test_a_cancelled_request_counts_at_the_answer_it_waited_for(self):
        daemon = self.serve()
        with Stream(daemon.address) as stream:
            stream.ask([1, 2, HANGS])
            self.check_answers(stream, [1, 2], final=False)
            wait_until(lambda: daemon.metric("mpsd_running_batches") == 1, LIMIT_S, "the third")
            stream.cancel()
        wait_until(lambda: self.responses(daemon, "cancel"), LIMIT_S, "the ending")
        self.assertEqual(self.responses(daemon, "cancel"), {2: 1})
        self.assertEqual(self.responses(daemon, "success"), {0: 1, 1: 1})
        self.assertEqual(self.responses(daemon, "fail"), {})
        os.kill(daemon.workers()[0], signal.SIGKILL)

    def test_answers_beyond_the_indices_that_are_kept(self):
        daemon, stream = self.open()
        stream.ask([1] * 70)
        self.check_answers(stream, [1] * 70)
        self.assertEqual(self.responses(daemon, "success"), {**dict.fromkeys(range(63), 1), 63: 7})
        self.assertEqual(self.responses(daemon, "empty_response"), {63: 1})

    def test_a_refused_request_counts_for_no_answer(self):
        daemon, stream = self.open()
        stream.ask(None, tensors={"IN": np.zeros(1, np.int32)})
        self.check_error(stream.next(), "expected 3 inputs")
        self.check_final(stream.next())
        self.assertEqual(len(self.statistics(daemon).response_stats), 0)

    def test_an_ordinary_model_has_no_indices(self):
        daemon = self.serve(synthetic("s", [tensor("x", [4], "INT32")],
                                      parameters={"throw_if": "7"}))
        stream = self.stream(daemon)
        for element in (1, 7):
            stream.ask(None, tensors={"x": np.full((1, 4), element, np.int32)}, model="s")
            self.assertEqual(stream.next()[1] is None, element == 1)
        statistics = self.statistics(daemon, "s")
        infer = statistics.inference_stats
        self.assertEqual((infer.success.count, infer.fail.count), (1, 1))
        self.assertEqual(len(statistics.response_stats), 0)

    def test_a_stop_waits_for_the_last_answer(self):
        daemon, stream = self.open()
        stream.ask(None, tensors=tensors_of(list(range(8)), delay_ms=100))
        self.check_answer(stream.next(), 0, 0)
        daemon.terminate()
        for index in range(1, 8):
            self.check_answer(stream.next(), index, index)
        self.check_final(stream.next())
        self.assertEqual(daemon.wait(), 0)

    def test_a_model_that_cannot_be_decoupled(self):
        daemon = self.serve(synthetic("s", max_batch_size=0, decoupled=True), repeating())
        status = daemon.ps()
        self.assertEqual(status["m"]["workers"][0]["state"], "serving")
        daemon.wait_logged("it cannot be decoupled unless its parameter 'repeat' is true")


if __name__ == "__main__":
    unittest.main(verbosity=2)
