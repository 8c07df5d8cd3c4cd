"""ModelStreamInfer: many requests over one call, their answers in order, their errors in band."""
import os
import queue
import random
import signal
import threading
import time
import unittest

import grpc
import numpy as np
from tritonclient.grpc import service_pb2

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic

LIMIT_S = 30


class Stream:
    """One open stream: send() requests, next() answers."""

    def __init__(self, stub, timeout=60):
        self._requests = queue.Queue()
        self._answers = queue.Queue()
        self.ended = threading.Event()
        self.error = None
        self.call = stub.ModelStreamInfer(iter(self._requests.get, None), timeout=timeout)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for answer in self.call:
                self._answers.put(answer)
        except grpc.RpcError as error:
            self.error = error
        self.ended.set()

    def send(self, message):
        self._requests.put(message)

    def close(self):
        self._requests.put(None)

    def next(self):
        return self._answers.get(timeout=LIMIT_S)

    def rest(self):
        """All answers up to the end of the stream."""
        assert self.ended.wait(LIMIT_S), "the stream does not end"
        answers = []
        while not self._answers.empty():
            answers.append(self._answers.get())
        return answers


def number(value, model="m", **more):
    return calls.request(model, {"x": calls.row_of(value)}, request_id=f"r{value}", **more)


class StreamInfer(unittest.TestCase):
    def serve(self, *models, **more):
        daemon = self.enterContext(Daemon(list(models), **more))
        return daemon, self.enterContext(calls.stub(daemon.address))

    def check_answer(self, answer, value):
        self.assertEqual(answer.error_message, "")
        self.assertEqual(answer.infer_response.id, f"r{value}")
        output = calls.arrays(answer.infer_response)["OUTPUT0"]
        self.assertTrue((output == value).all(), (value, output))

    def test_one_after_the_other(self):
        _, stub = self.serve(synthetic("m"))
        stream = Stream(stub)
        for value in range(20):
            stream.send(number(value))
            answer = stream.next()
            self.check_answer(answer, value)
            self.assertEqual(answer.infer_response.model_name, "m")
            self.assertEqual(answer.infer_response.model_version, "1")
        stream.close()
        self.assertEqual(stream.rest(), [])
        self.assertIsNone(stream.error)

    def test_half_closed_with_a_thousand_inside(self):
        """All answers come, in the order of the requests, though two workers ran them."""
        _, stub = self.serve(synthetic("m", parameters={"delay": "1ms"}, queue={"requests": 512},
                                       placement=placement(processes=2, lanes=2)))
        stream = Stream(stub)
        for value in range(1000):
            stream.send(number(value))
        stream.close()
        answers = stream.rest()
        self.assertIsNone(stream.error)
        self.assertEqual(len(answers), 1000)
        for value, answer in enumerate(answers):
            self.check_answer(answer, value)

    def test_an_error_is_in_band_and_in_order(self):
        _, stub = self.serve(synthetic("m", parameters={"delay": "20ms"}))
        stream = Stream(stub)
        stream.send(number(0))
        wrong = calls.request("m", {"x": np.zeros((1, 15), np.float32)}, request_id="wrong")
        stream.send(wrong)
        stream.send(number(1))
        self.check_answer(stream.next(), 0)
        answer = stream.next()
        self.assertIn("unexpected shape for input 'x' for model 'm'", answer.error_message)
        self.assertEqual(answer.infer_response.id, "wrong")
        self.check_answer(stream.next(), 1)
        stream.close()
        self.assertEqual(stream.rest(), [])

    def test_every_kind_of_error_leaves_the_stream_open(self):
        _, stub = self.serve(synthetic("m", parameters={"throw_if": "7"}))
        stream = Stream(stub)
        for message, text in (
                (number(1, "nobody"), "Request for unknown model: 'nobody' is not found"),
                (number(2, version="99"), "version 99 is not found"),
                (number(7), "PyTorch execute failure"),
                (number(3, parameters={"triton_x": 1}), "reserved"),
                (calls.request("m", {}), "expected 1 inputs but got 0 inputs")):
            stream.send(message)
            answer = stream.next()
            self.assertIn(text, answer.error_message)
            self.assertEqual(answer.infer_response.id, message.id)
        stream.send(number(4))
        self.check_answer(stream.next(), 4)
        stream.close()
        self.assertEqual(stream.rest(), [])
        self.assertIsNone(stream.error)

    def test_one_model_does_not_wait_for_another(self):
        _, stub = self.serve(synthetic("slow", parameters={"delay": "3s"}), synthetic("fast"))
        stream = Stream(stub)
        stream.send(number(1, "slow"))
        stream.send(number(2, "fast"))
        self.check_answer(stream.next(), 2)
        self.check_answer(stream.next(), 1)
        stream.close()
        self.assertEqual(stream.rest(), [])

    def test_a_stream_that_sends_nothing(self):
        daemon, stub = self.serve(synthetic("m"))
        stream = Stream(stub)
        stream.close()
        self.assertEqual(stream.rest(), [])
        self.assertIsNone(stream.error)
        wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the end of the call")

    def test_bytes_that_are_no_request(self):
        """The stream goes on after them."""
        daemon, _ = self.serve(synthetic("m"))
        with grpc.insecure_channel(daemon.address) as channel:
            call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
            good = number(5).SerializeToString()
            answers = [service_pb2.ModelStreamInferResponse.FromString(answer)
                       for answer in call(iter([b"\xff" * 20, good, b"\x0b", good]), timeout=10)]
        self.assertEqual(len(answers), 4)
        self.assertEqual(sum(answer.error_message != "" for answer in answers), 2)
        self.assertEqual([answer.infer_response.id for answer in answers
                          if not answer.error_message], ["r5", "r5"])

    def test_cancelled_with_requests_inside(self):
        """What the stream had inside ends; at_rest is checked when the daemon stops."""
        daemon, stub = self.serve(synthetic("m", parameters={"delay": "5ms"},
                                            placement=placement(processes=2)))
        seed = random.randrange(1 << 30)
        print(f"  seed {seed}", flush=True)
        dice = random.Random(seed)
        for _ in range(20):
            stream = Stream(stub)
            sent = dice.randrange(1, 100)
            for value in range(sent):
                stream.send(number(value))
            for _ in range(dice.randrange(min(3, sent + 1))):
                stream.next()
            stream.call.cancel()
            self.assertTrue(stream.ended.wait(LIMIT_S))
        wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the end of all streams")
        self.assertEqual(calls.infer(stub, number(1)).code, calls.OK)

    def test_the_deadline_of_the_stream(self):
        daemon, stub = self.serve(synthetic("m", parameters={"delay": "2s"}))
        stream = Stream(stub, timeout=0.3)
        stream.send(number(1))
        self.assertTrue(stream.ended.wait(LIMIT_S))
        self.assertEqual(stream.error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the end of the stream")

    def test_the_timeout_of_one_request(self):
        _, stub = self.serve(synthetic("m", parameters={"delay": "2s"}, max_batch_size=1))
        stream = Stream(stub)
        stream.send(number(1))
        stream.send(number(2, parameters={"timeout": 20_000}))
        stream.send(number(3))
        self.check_answer(stream.next(), 1)
        self.assertIn("Request timeout expired", stream.next().error_message)
        self.check_answer(stream.next(), 3)
        stream.close()
        self.assertEqual(stream.rest(), [])

    def test_the_final_flag(self):
        """Whoever asks for final responses learns that its one answer is the last."""
        _, stub = self.serve(synthetic("m"))
        stream = Stream(stub)
        stream.send(number(1, parameters={"triton_enable_empty_final_response": True}))
        answer = stream.next()
        self.check_answer(answer, 1)
        self.assertTrue(answer.infer_response.parameters["triton_final_response"].bool_param)
        stream.send(number(2))
        answer = stream.next()
        self.check_answer(answer, 2)
        self.assertEqual(len(answer.infer_response.parameters), 0)
        stream.close()
        self.assertEqual(stream.rest(), [])

    def test_large_tensors(self):
        _, stub = self.serve(synthetic("m", [{"name": "x", "datatype": "FP32",
                                              "shape": [150528]}]))
        stream = Stream(stub)
        for value in range(40):
            stream.send(calls.request("m", {"x": calls.row_of(value, width=150528)},
                                      request_id=f"r{value}"))
        stream.close()
        answers = stream.rest()
        self.assertEqual(len(answers), 40)
        for value, answer in enumerate(answers):
            self.check_answer(answer, value)

    def test_requests_that_wait_for_memory(self):
        """What waits for a segment to be added is copied later, from where it lies."""
        daemon, stub = self.serve(synthetic(
            "m", [{"name": "x", "datatype": "FP32", "shape": [-1, -1]}], max_batch_size=0,
            parameters={"delay": "1s"}, queue={"requests": 16}))
        first = daemon.metric("mpsd_slab_segment_bytes")
        width = int(first) // 12 // 4
        stream = Stream(stub)
        for value in range(14):
            stream.send(calls.request("m", {"x": calls.row_of(value, width=width)},
                                      request_id=f"r{value}"))
        stream.close()
        wait_until(lambda: daemon.metric("mpsd_slab_segment_bytes") > first, LIMIT_S,
                   "a further segment")
        answers = stream.rest()
        self.assertEqual(len(answers), 14)
        for value, answer in enumerate(answers):
            self.check_answer(answer, value)

    def test_forty_streams_at_a_time(self):
        """More than are armed at first: each one that arrives arms another."""
        daemon, stub = self.serve(synthetic("m"))
        streams = [Stream(stub) for _ in range(40)]
        for value, stream in enumerate(streams):
            stream.send(number(value))
        for value, stream in enumerate(streams):
            self.check_answer(stream.next(), value)
        self.assertGreaterEqual(daemon.metric("mpsd_open_calls"), 40)
        for stream in streams:
            stream.close()
        for stream in streams:
            self.assertEqual(stream.rest(), [])
        wait_until(lambda: daemon.metric("mpsd_open_calls") == 0, LIMIT_S, "the end of all streams")

    def test_stop_with_an_idle_stream(self):
        """It ends with its server, and does not hold it up."""
        daemon, stub = self.serve(synthetic("m"))
        stream = Stream(stub)
        stream.send(number(1))
        self.check_answer(stream.next(), 1)
        begin = time.monotonic()
        daemon.terminate()
        self.assertTrue(stream.ended.wait(LIMIT_S))
        self.assertEqual(stream.error.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertIn("Server exiting", stream.error.details())
        self.assertEqual(daemon.wait(), 0)
        # Otherwise it would last as long as limits.drain_timeout.
        self.assertLess(time.monotonic() - begin, 15)

    def test_the_worker_dies(self):
        """The stream lives on, and its requests are run by the next worker."""
        daemon, stub = self.serve(synthetic("m", parameters={"delay": "50ms"}))
        stream = Stream(stub)
        for value in range(20):
            stream.send(number(value))
        stream.next()
        os.kill(daemon.workers()[0], signal.SIGKILL)
        for value in range(1, 20):
            self.check_answer(stream.next(), value)
        stream.close()
        self.assertEqual(stream.rest(), [])
        self.assertIsNone(stream.error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
