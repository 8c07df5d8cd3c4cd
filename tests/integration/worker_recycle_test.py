"""A worker that has served long enough is replaced, and nobody notices."""
import unittest

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic


class Recycle(unittest.TestCase):
    PROCESSES = 2

    def run_under_load(self, recycle, times):
        model = synthetic("m", parameters={"delay": "1ms"}, recycle=recycle,
                          placement=placement(processes=self.PROCESSES))
        most = 0
        with Daemon([model]) as daemon:
            first = set(daemon.workers())
            with calls.Load(daemon.address, "m", callers=8) as load:
                def replaced():
                    nonlocal most
                    most = max(most, len(daemon.workers()))
                    return daemon.metric("mpsd_worker_recycles_total") >= times
                wait_until(replaced, 60, f"{times} replacements")
            self.assertEqual({(outcome.code, outcome.text) for outcome in load.outcomes},
                             {(calls.OK, "")})
            self.assertEqual(len(load.outcomes), load.started)
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)
            wait_until(lambda: daemon.metric("mpsd_worker_exits_total", reason="asked") >= times,
                       10, "the end of those that were replaced")
            self.assertEqual(sum(daemon.metric("mpsd_worker_exits_total", reason=reason)
                                 for reason in ("exit", "signal", "killed", "hang", "protocol")), 0)
            self.assertGreaterEqual(daemon.metric("mpsd_workers_ready"), self.PROCESSES)
            self.assertIn("worker_replaced", daemon.log())
            # Each round one is on its way and one on its way out, and never more.
            self.assertLessEqual(most, self.PROCESSES + 2)
            if times >= self.PROCESSES:
                self.assertFalse(first & set(daemon.workers()), "all of the first are gone")

    def test_by_requests(self):
        self.run_under_load({"requests": 100}, 3)

    def test_by_age(self):
        self.run_under_load({"age": "1s"}, 2)

    def test_by_memory(self):
        self.run_under_load({"resident_memory": "1MiB"}, 2)

    def test_without_limits_nobody_is_replaced(self):
        with Daemon([synthetic("m")]) as daemon:
            before = daemon.workers()
            with calls.Load(daemon.address, "m") as load:
                wait_until(lambda: load.answered() > 300, 20, "answers")
            self.assertEqual(daemon.workers(), before)
            self.assertEqual(daemon.metric("mpsd_worker_recycles_total"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
