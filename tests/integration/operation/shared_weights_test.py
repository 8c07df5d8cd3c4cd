"""Workers of one model that have one copy of its weights: on a cpu, in a memory file."""
import os
import re
import signal
import unittest

import numpy as np

import calls
import procfs
from daemon import Daemon, WITH_TORCH, wait_until
from models import placement, synthetic, torchscript

LIMIT_S = 60
PROCESSES = 3


def weights_of(daemon, model):
    """The memory file, as large as the log says that weights are, which all workers map."""
    told = re.findall(f'"weights_shared","model":"{model}".*"bytes":([0-9]+)', daemon.log())
    page = os.sysconf("SC_PAGE_SIZE")
    sizes = {-(-int(bytes) // page) * page for bytes in told}
    files = [{inode for inode, bytes, modes in procfs.mapped_memory_files(worker["pid"])
              if bytes in sizes and "w" not in modes}
             for worker in daemon.ps()[model]["workers"]]
    return set.intersection(*files)


def wait_told(daemon, event, times):
    wait_until(lambda: daemon.log().count(f'"{event}"') == times, LIMIT_S, f"{times} × {event}")


def kill_all(daemon, model):
    """And waits until others have taken their places."""
    before = {worker["pid"] for worker in daemon.ps()[model]["workers"]}
    for pid in before:
        os.kill(pid, signal.SIGKILL)

    def replaced():
        workers = daemon.ps()[model]["workers"]
        return all(worker["state"] == "serving" and worker["pid"] not in before
                   for worker in workers)
    wait_until(replaced, LIMIT_S, "other workers")


class OfAnyModel(unittest.TestCase):
    BYTES = (3 << 20) + 12345  # no slab is so large

    def model(self, **parameters):
        return synthetic("m", parameters={"weights": str(self.BYTES), **parameters},
                         placement=placement(processes=PROCESSES))

    def test_all_map_one_file_and_so_do_those_that_come_after_them(self):
        with Daemon([self.model()]) as daemon:
            daemon.wait_all_serving()
            wait_told(daemon, "weights_shared", PROCESSES)
            files = weights_of(daemon, "m")
            self.assertEqual(len(files), 1)
            kill_all(daemon, "m")
            self.assertEqual(weights_of(daemon, "m"), files)
            wait_told(daemon, "weights_shared", 2 * PROCESSES)
            wait_told(daemon, "weights_not_shared", 0)

    def test_one_alone_keeps_its_own(self):
        with Daemon([synthetic("m", parameters={"weights": str(self.BYTES)})]) as daemon:
            daemon.wait_all_serving()
            wait_told(daemon, "weights_shared", 0)

    def test_a_reload_shares_anew(self):
        with Daemon([self.model()]) as daemon:
            daemon.wait_all_serving()
            wait_told(daemon, "weights_shared", PROCESSES)
            files = weights_of(daemon, "m")
            daemon.write_config([self.model(delay="1ms")])
            daemon.reload()
            daemon.wait_all_serving()
            wait_told(daemon, "weights_shared", 2 * PROCESSES)
            self.assertNotEqual(weights_of(daemon, "m"), files)


@unittest.skipUnless(WITH_TORCH, "built without torch")
class OfAModule(unittest.TestCase):
    def answer(self, stub, model):
        rows = np.linspace(-1, 1, 8 * 1024, dtype=np.float32).reshape(8, 1024)
        return calls.only_array(stub, model, {"input": rows})

    def test_answers_are_those_of_weights_of_its_own(self):
        models = [torchscript(name, "mlp_1024x6", placement=placement(processes=PROCESSES),
                              parameters={"shared_weights": name, "panels": "off"})
                  for name in ("on", "off")]
        with Daemon(models) as daemon, calls.stub(daemon.address) as stub:
            daemon.wait_all_serving()
            wait_told(daemon, "weights_shared", PROCESSES)
            expected = self.answer(stub, "off")
            self.assertNotIn('"weights_shared","model":"off"', daemon.log())
            files = weights_of(daemon, "on")
            self.assertEqual(len(files), 1)
            for _ in range(2 * PROCESSES):
                np.testing.assert_array_equal(self.answer(stub, "on"), expected)
            kill_all(daemon, "on")
            self.assertEqual(weights_of(daemon, "on"), files)
            for _ in range(2 * PROCESSES):
                np.testing.assert_array_equal(self.answer(stub, "on"), expected)


if __name__ == "__main__":
    unittest.main()
