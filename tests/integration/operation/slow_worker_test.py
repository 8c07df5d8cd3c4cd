"""A worker that is sick but not dead: it answers late, is told of, passed over, and comes back."""
import statistics
import time
import unittest

import calls
from daemon import Daemon
from drowsy import SLEEPS_S, drowsy
from models import placement, synthetic

MOST_CALLS = 2000


class SlowWorker(unittest.TestCase):
    def setUp(self):
        model = synthetic("m", parameters={"delay": "10ms"}, placement=placement(processes=2))
        self.daemon = self.enterContext(Daemon([model]))
        self.daemon.wait_all_serving()
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def call(self):
        """How long it took."""
        begun = time.monotonic()
        calls.answered(self.stub, calls.request("m", {"x": calls.row_of(1)}))
        return time.monotonic() - begun

    def times(self, count=200):
        return [self.call() for _ in range(count)]

    def slowness(self, worker):
        return self.daemon.metric("mpsd_worker_slowness", model="m", worker=str(worker))

    def call_until(self, condition, what):
        for _ in range(MOST_CALLS // 20):
            self.times(20)
            if condition():
                return
        self.fail(f"{what}: not within {MOST_CALLS} calls")

    def test_it_is_passed_over_until_it_has_recovered(self):
        usual = statistics.median(self.times(300))
        self.assertEqual([self.slowness(0), self.slowness(1)], [1, 1])
        with drowsy(self.daemon.ps()["m"]["workers"][0]["pid"]):
            self.call_until(lambda: self.slowness(0) >= 2, "it is slow")
            self.daemon.wait_logged("worker_slow")
            self.assertGreaterEqual(self.daemon.ps()["m"]["workers"][0]["slowness"], 2)
            meanwhile = self.times()
            self.assertEqual(self.slowness(1), 1)
        print(f"  median {usual * 1e3:.1f} ms before, {statistics.median(meanwhile) * 1e3:.1f} ms"
              " while one is slow", flush=True)
        self.assertLess(statistics.median(meanwhile), 2 * usual)
        late = sum(took > usual + SLEEPS_S / 3 for took in meanwhile)
        self.assertLess(late, len(meanwhile) / 20, "more than its probes")
        self.call_until(lambda: self.slowness(0) == 1, "it has recovered")
        self.daemon.wait_logged("worker_not_slow")


if __name__ == "__main__":
    unittest.main(verbosity=2)
