"""A worker that lies, floods, attacks or keeps silent harms its own model's requests at most.

Each lie is told by the first worker of a model named after it, in its first two incarnations; its
second worker is honest, and so is another model on the same daemon (tests/fakes/lying_worker.cc).
"""
import tempfile
import unittest

import numpy as np

import calls
from harness import (CRASHED_IT, NOT_READY, SUPERVISION, WORKER_LOST, Caller, CrashDaemon,
                     lying_binaries, wait_until)
from models import placement, repeating, synthetic

LYING_EPOCHS = 2
# Each lie, and a word of why its worker was killed.
RECORD_LIES = {
    "batch_id": "batch id", "batch_id_of_the_past": "batch id", "outcome": "outcome",
    "outcome_none": "outcome", "row_count": "row count", "row_count_huge": "row count",
    "output_count": "output count", "output_count_none": "output count",
    "output_count_huge": "output count", "datatype": "datatype", "datatype_huge": "datatype",
    "rank": "shape", "rank_huge": "rank", "shape": "shape", "shape_negative": "shape",
    "shape_overflow": "shape", "batch_dim": "batch dim", "offset": "place of an output",
    "offset_huge": "place of an output", "offset_unaligned": "place of an output",
    "length": "byte count", "length_huge": "byte count", "needs_less": "bytes needed",
    "one_of_many": "outcome", "no_answer": "outcome",
}
# Of a decoupled model.
ANSWER_LIES = {
    "whole_answer": "outcome", "batch_id": "batch id", "batch_dim": "shape",
    "answers_twice": "completed a batch that it does not have|lies",
    "index_of_no_batch": "completed a batch that it does not have",
}
RING_LIES = {
    "index": "completed a batch that it does not have",
    "index_of_no_batch": "completed a batch that it does not have",
    "answers_twice": "completed a batch that it does not have|lies",
    "answers_for_another_lane": "tail is out of bounds|does not have|lies",
    "tail_beyond": "tail is out of bounds", "tail_backwards": "tail is out of bounds",
    "head_beyond": "head is out of bounds",
    "completions_flood": "tail is out of bounds|does not have|lies",
    "bell_flood": "rings without end",
}
CONTROL_LIES = {
    "message_garbage": "another version", "message_huge": "another version",
    "message_nested": "not JSON|malformed", "ready_before_attach": "out of turn",
    "report_twice": "out of turn", "ready_twice": "out of turn", "control_flood": "out of turn",
    "descriptor_flood": "out of turn|descriptors", "spec_of_too_much": "malformed",
    "spec_without_outputs": "output|malformed|not the one that is served",
}
# Not to be told from honesty, or not worth a death: nobody else is harmed, and nothing breaks.
HARMLESS_LIES = {
    "times": (), "tokens": (), "row_failed": ("INTERNAL: ",), "text_bytes": ("INTERNAL: ",),
    "needs_everything": ("INTERNAL: the model's outputs are larger",), "log_flood": (),
    "log_line_without_end": (), "changes_the_record": (WORKER_LOST, CRASHED_IT),
    "punches_holes": (WORKER_LOST, CRASHED_IT, "INTERNAL: "),
}
ATTACKS = ("truncates", "grows", "writes_the_mailbox", "writes_the_slabs")
# Killed for what they do not do in time.
SILENT = ("never_loads", "never_ready", "message_half", "never_answers")
# Killed for what they do not do: leave when they said so, or keep the socket.
LEAVERS = ("closes_the_socket", "failure_without_leaving")


def model_of(lie, supervision):
    return synthetic(f"lie-{lie}", parameters={"delay": "1ms"},
                     placement=placement(processes=2, lanes=2), **supervision)


class HostileWorker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        cls.binaries = lying_binaries(folder)

    def daemon(self, lies, supervision=SUPERVISION):
        models = [*(model_of(lie, supervision) for lie in lies),
                  synthetic("good", parameters={"delay": "1ms"})]
        return CrashDaemon(models, binaries=self.binaries)

    def check_lies(self, lies, reached, allowed):
        """All of them in one daemon, until `reached(daemon, lie)` of each."""
        with self.daemon(lies) as daemon:
            callers = {lie: Caller(daemon.address, f"lie-{lie}", concurrency=6, patience_ms=20000)
                       for lie in lies}
            for caller in callers.values():
                self.enterContext(caller)
            with Caller(daemon.address, "good", concurrency=4) as good:
                for lie in lies:
                    wait_until(lambda lie=lie: reached(daemon, lie), 60, lie)
                daemon.wait_all_serving()
                ended = {lie: daemon.requests(f"lie-{lie}") for lie in lies}
                for lie in lies:
                    wait_until(lambda lie=lie: daemon.requests(f"lie-{lie}") > ended[lie] + 20, 30,
                               f"{lie}: calls after it")
                for lie, caller in callers.items():
                    with self.subTest(lie=lie):
                        endings = caller.check(allowed(lie))["endings"]
                        self.assertGreater(endings.get("OK", 0), 0, endings)
                        print(f"  {lie}: {endings}", flush=True)
                good.check()
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total", model="good"), 0)
            daemon.check_same_as(self.honest_descriptors(len(lies)))

    honest = {}

    def honest_descriptors(self, count):
        """What a front end holds that serves so many honest models of the same shape."""
        if count not in self.honest:
            models = [synthetic(f"m{i}", placement=placement(processes=2, lanes=2))
                      for i in range(count)]
            with CrashDaemon([*models, synthetic("good")]) as daemon:
                daemon.wait_all_serving()
                self.honest[count] = daemon.descriptors()
        return self.honest[count]

    def check_killed(self, lies, epochs=LYING_EPOCHS):
        names = list(lies)
        for begin in range(0, len(names), 4):
            group = names[begin:begin + 4]
            with self.subTest(lies=group):
                self.check_killed_group(group, lies, epochs)

    def check_killed_group(self, group, lies, epochs):
        def reached(daemon, lie):
            return len(daemon.killings(f"lie-{lie}")) >= epochs

        self.check_lies(group, self.noting(reached, lies),
                        lambda lie: (WORKER_LOST, CRASHED_IT,
                                     NOT_READY.format(f"lie-{lie}")))

    def noting(self, reached, lies):
        """`reached`, which then also looks at why."""
        def check(daemon, lie):
            done = reached(daemon, lie)
            for reason in daemon.killings(f"lie-{lie}"):
                self.assertRegex(reason, lies[lie], lie)
            return done
        return check

    def test_records_that_lie(self):
        self.check_killed(RECORD_LIES)

    def ask(self, stub, lie):
        """Six requests at once; the elements that each got, and the errors of all."""
        tensors = {"IN": np.arange(5, dtype=np.int32), "DELAY": np.zeros(5, np.uint32),
                   "WAIT": np.zeros(1, np.uint32)}
        ids = [str(i) for i in range(6)]
        messages = [calls.request(f"lie-{lie}", tensors, request_id) for request_id in ids]
        elements, errors = {request_id: [] for request_id in ids}, {}
        for answer in stub.ModelStreamInfer(iter(messages), timeout=30):
            request_id = answer.infer_response.id
            self.assertNotIn(request_id, errors, "an answer after the end")
            if answer.error_message:
                errors[request_id] = answer.error_message
            else:
                elements[request_id] += calls.arrays(answer.infer_response)["OUT"].tolist()
        for request_id, taken in elements.items():
            self.assertEqual(taken, list(range(5))[:len(taken)])
            # A worker that dies while it is asked for a sixth leaves an error behind all five.
            if len(taken) < 5:
                self.assertIn(request_id, errors, taken)
        return errors

    def test_answers_of_decoupled_models_that_lie(self):
        models = [repeating(f"lie-{lie}", placement=placement(processes=2), **SUPERVISION)
                  for lie in ANSWER_LIES]
        with CrashDaemon(models, binaries=self.binaries) as daemon, \
                calls.stub(daemon.address) as stub:
            for lie, reason in ANSWER_LIES.items():
                with self.subTest(lie=lie):
                    def killed(lie=lie):
                        for text in self.ask(stub, lie).values():
                            self.assertIn(text, ("worker lost", "request crashed its worker"))
                        return len(daemon.killings(f"lie-{lie}")) >= LYING_EPOCHS
                    wait_until(killed, 60, lie)
                    for told in daemon.killings(f"lie-{lie}"):
                        self.assertRegex(told, reason)
                    daemon.wait_all_serving()
                    self.assertEqual(self.ask(stub, lie), {})

    def test_rings_that_lie(self):
        self.check_killed(RING_LIES)

    def test_control_messages_that_lie(self):
        self.check_killed(CONTROL_LIES)

    def test_lies_that_harm_nobody_else(self):
        names = list(HARMLESS_LIES)
        for begin in range(0, len(names), 3):
            group = names[begin:begin + 3]
            with self.subTest(lies=group):
                self.check_lies(group,
                                lambda daemon, lie: daemon.requests(f"lie-{lie}") > 200,
                                HARMLESS_LIES.get)

    def test_attacks_on_the_memory_are_refused(self):
        with self.daemon(ATTACKS, supervision={}) as daemon:  # none dies for being slow
            for lie in ATTACKS:
                with Caller(daemon.address, f"lie-{lie}") as caller:
                    wait_until(lambda lie=lie: daemon.requests(f"lie-{lie}") > 100, 30, "calls")
                    caller.check()
            for what in ("truncating its segment", "growing its segment", "truncating the mailbox",
                         "mapping the mailbox to write", "mapping the slabs to write",
                         "mapping the slabs opened anew"):
                daemon.wait_logged(f"lying worker: {what} was refused")
            self.assertNotIn("SUCCEEDED", daemon.log())
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)

    def test_a_flood_of_log_lines_is_limited(self):
        with self.daemon(["log_flood"]) as daemon, \
                Caller(daemon.address, "lie-log_flood") as caller:
            daemon.wait_logged("the flood")
            wait_until(lambda: daemon.metric("mpsd_log_lines_dropped_total") +
                       daemon.metric("mpsd_worker_lines_dropped_total") > 1000, 20, "a limit")
            wait_until(lambda: daemon.requests("lie-log_flood") > 500, 20, "calls meanwhile")
            caller.check()
            # 200 lines a second for the two seconds of the flood, and what was saved up before.
            self.assertLess(daemon.log().count("the flood"), 1500)

    def test_workers_that_keep_silent_are_killed(self):
        self.check_lies(SILENT,
                        lambda daemon, lie: daemon.metric("mpsd_worker_restarts_total",
                                                          model=f"lie-{lie}") >= LYING_EPOCHS,
                        lambda lie: (WORKER_LOST, NOT_READY.format(f"lie-{lie}")))

    def test_workers_that_do_not_leave_are_killed(self):
        for lie in LEAVERS:
            with self.subTest(lie=lie), self.daemon([lie]) as daemon, \
                    Caller(daemon.address, f"lie-{lie}") as caller:
                wait_until(lambda: daemon.metric("mpsd_worker_restarts_total",
                                                 model=f"lie-{lie}") >= LYING_EPOCHS, 30, lie)
                daemon.wait_all_serving()
                # It has settled when one worker failed, maybe before the other one serves.
                caller.check((WORKER_LOST, CRASHED_IT, NOT_READY.format(f"lie-{lie}")))
                wait_until(lambda: daemon.log().count('"event":"worker_died"') >= LYING_EPOCHS, 20,
                           "lines that say so")


if __name__ == "__main__":
    unittest.main(verbosity=2)
