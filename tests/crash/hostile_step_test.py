"""A lying worker of one step harms the requests that go through that step, and no other member.

Each graph has three steps: an honest member, then side by side one whose worker lies and another
honest one. The honest members are the same for all graphs. See tests/fakes/lying_worker.cc.
"""
import tempfile
import unittest

import calls
from harness import (CRASHED_IT, NOT_READY, SUPERVISION, WORKER_LOST, Caller, CrashDaemon, in_step,
                     lying_binaries, wait_until)
from models import placement, synthetic, tensor

LIAR_EPOCHS = 5
MAYBE_LOST = None  # an answer came before the lie
# Each lie, a word of why its worker was killed, and what a request alone ends with.
LIES = {
    "batch_id_of_the_past": ("batch id", WORKER_LOST), "row_count": ("row count", WORKER_LOST),
    "output_count_none": ("output count", WORKER_LOST), "datatype": ("datatype", WORKER_LOST),
    "shape": ("shape", WORKER_LOST), "offset_huge": ("place of an output", WORKER_LOST),
    "length": ("byte count", WORKER_LOST), "index_of_no_batch": ("does not have", MAYBE_LOST),
    "answers_twice": ("does not have|lies", MAYBE_LOST), "dies": ("never", CRASHED_IT),
}
HONEST = ("before", "beside")


def graph(lie):
    return {"name": f"graph-{lie}", "max_batch_size": 8, "inputs": [tensor("x", [16])],
            "outputs": [tensor("y", [16]), tensor("z", [16])],
            "steps": [{"model": "before", "inputs": {"x": "x"}, "outputs": {"OUTPUT0": "t"}},
                      {"model": f"liar-{lie}", "inputs": {"x": "t"}, "outputs": {"OUTPUT0": "y"}},
                      {"model": "beside", "inputs": {"x": "t"}, "outputs": {"OUTPUT0": "z"}}]}


def models():
    members = [*(f"liar-{lie}" for lie in LIES), *HONEST]
    return [*(graph(lie) for lie in LIES),
            *(synthetic(name, parameters={"delay": "1ms"}, placement=placement(), **SUPERVISION)
              for name in members)]


def of_liar(lie, ending):
    return in_step(f"graph-{lie}", 1, f"liar-{lie}", ending)


def allowed(lie):
    ends = [WORKER_LOST, NOT_READY.format(f"liar-{lie}")]
    return [of_liar(lie, ending) for ending in (*ends, *([CRASHED_IT] if lie == "dies" else []))]


class HostileStep(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        self.daemon = self.enterContext(CrashDaemon(models(), binaries=lying_binaries(folder)))

    def deaths(self, member):
        return self.daemon.metric("mpsd_worker_restarts_total", model=member)

    def check_alone(self):
        """One request meets lies only, and ends with an error that names the step."""
        with calls.stub(self.daemon.address) as stub:
            outcomes = calls.infer_all(stub, [calls.request(f"graph-{lie}", {"x": calls.row_of(i)})
                                              for i, lie in enumerate(LIES)])
        for outcome, (lie, (_, ending)) in zip(outcomes, LIES.items(), strict=True):
            with self.subTest(lie=lie):
                pattern = of_liar(lie, ending or WORKER_LOST)
                if ending == MAYBE_LOST:
                    pattern = f"(OK: |{pattern})"
                self.assertRegex(f"{outcome.code.name}: {outcome.text}", f"^{pattern}$")

    def check_under_load(self, callers):
        """Lies go on, and then the graph serves again."""
        for lie in LIES:
            wait_until(lambda lie=lie: self.deaths(f"liar-{lie}") >= LIAR_EPOCHS, 60, lie)
        answered = {lie: self.answered(lie) for lie in LIES}
        for lie in LIES:
            wait_until(lambda lie=lie: self.answered(lie) > answered[lie] + 20, 30,
                       f"{lie}: answers after it")
        for lie, caller in zip(LIES, callers, strict=True):
            with self.subTest(lie=lie):
                print(f"  {lie}: {caller.check(allowed(lie))['endings']}", flush=True)

    def answered(self, lie):
        return self.daemon.metric("mpsd_requests_total", model=f"graph-{lie}", code="OK")

    def check_the_others(self):
        for member in HONEST:
            self.assertEqual(self.deaths(member), 0, member)
            self.assertEqual(self.daemon.killings(member), [], member)
            self.assertEqual(self.daemon.ps()[member].get("refused_contents", []), [], member)
        for lie, (reason, _) in LIES.items():
            for told in self.daemon.killings(f"liar-{lie}"):
                self.assertRegex(told, reason, lie)

    def test_one_step_whose_worker_lies(self):
        before = self.daemon.descriptors_when_serving()
        self.check_alone()
        callers = [self.enterContext(Caller(self.daemon.address, f"graph-{lie}", concurrency=4,
                                            patience_ms=20000, outputs=2)) for lie in LIES]
        with Caller(self.daemon.address, "before", concurrency=2, patience_ms=20000) as honest:
            self.check_under_load(callers)
            honest.check()
        self.check_the_others()
        self.daemon.check_same_as(before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
