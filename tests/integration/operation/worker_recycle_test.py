"""A worker that has served long enough is replaced, and nobody notices."""
import unittest

import calls
from daemon import Daemon, wait_until
from models import placement, synthetic


class Recycle(unittest.TestCase):
    PROCESSES = 2

    def run_under_load(self, recycle, times, lines=("worker_replaced",)):
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
                       30, "the end of those that were replaced")
            self.assertEqual(sum(daemon.metric("mpsd_worker_exits_total", reason=reason)
                                 for reason in ("exit", "signal", "killed", "hang", "protocol")), 0)
            self.assertGreaterEqual(daemon.metric("mpsd_workers_ready"), self.PROCESSES)
            for line in lines:
                daemon.wait_logged(line)
            # In each round one worker starts and one ends, perhaps only in the next round.
            self.assertLessEqual(most, self.PROCESSES + 3)
            if times >= self.PROCESSES:
                self.assertFalse(first & set(daemon.workers()), "all of the first are gone")
            return daemon.log()

    def test_by_requests(self):
        self.run_under_load({"requests": 100}, 3)

    def test_by_age(self):
        log = self.run_under_load({"age": "1s"}, 2)
        self.assertNotIn("recycle_limit_too_small", log)

    def test_by_memory(self):
        log = self.run_under_load({"resident_memory": "1MiB"}, 1,
                                  ("worker_replaced", "recycle_limit_too_small"))
        self.assertEqual(log.count('"event":"recycle_limit_too_small"'), 1, "a fresh one has more")

    def test_without_limits_nobody_is_replaced(self):
        with Daemon([synthetic("m")]) as daemon:
            before = daemon.workers()
            with calls.Load(daemon.address, "m") as load:
                wait_until(lambda: load.answered() > 300, 20, "answers")
            self.assertEqual(daemon.workers(), before)
            self.assertEqual(daemon.metric("mpsd_worker_recycles_total"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
