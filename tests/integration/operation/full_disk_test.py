"""File systems without room, or that nobody may write to: what is told, and what serves on."""
import os
import signal
import unittest

import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

import calls
import mounts
from daemon import Daemon, wait_until
from models import synthetic, tensor

MIB = 1 << 20
ANY = synthetic("m", [tensor("x", [-1])], max_batch_size=0)
SMALL_SHM = "mount -t tmpfs -o size=16m none /dev/shm"
ROW_BYTES = 4096
CONFIG = 78


class SharedMemoryFolder(unittest.TestCase):
    """A /dev/shm without room: the daemon's own memory lies elsewhere, regions of clients there."""

    def setUp(self):
        self.daemon = self.enterContext(Daemon([ANY], limits={"client_shared_memory": "1MiB"},
                                               binaries=mounts.binaries_with(self, SMALL_SHM)))
        self.folder = mounts.seen_by(self.daemon.pid, "dev/shm")

    def fill(self):
        with self.assertRaises(OSError), open(self.folder / "fill", "wb") as file:
            while True:
                file.write(b"x" * MIB)
        self.assertEqual(os.statvfs(self.folder).f_bavail, 0)

    def test_the_daemon_needs_none_of_it(self):
        self.fill()
        with calls.stub(self.daemon.address) as stub:
            first = self.daemon.metric("mpsd_slab_segment_bytes")
            large = calls.row_of(7, width=(int(first) + 8 * MIB) // 4)[0]
            outcome = calls.answered(stub, calls.request("m", {"x": large}))
            self.daemon.write_config([ANY, synthetic("n")])
            self.assertTrue(self.daemon.reload()["ok"])
            calls.answered(stub, calls.request("n", {"x": calls.row_of(1)}))

    def test_an_answer_that_finds_no_page_in_its_region_is_refused(self):
        with open(self.folder / "region", "wb") as region:
            region.truncate(MIB)
            region.write(b"\1" * ROW_BYTES)  # the other pages are not there yet
        self.fill()
        client = triton.InferenceServerClient(self.daemon.address)
        self.addCleanup(client.close)
        client.register_system_shared_memory("region", "/region", MIB)
        self.infer(client, output_at=0)
        with self.assertRaises(InferenceServerException) as caught:
            self.infer(client, output_at=ROW_BYTES)
        self.assertEqual(caught.exception.status(), "StatusCode.RESOURCE_EXHAUSTED")
        self.assertEqual(caught.exception.message(),
                         "there is no memory for shared memory region 'region'")
        (self.folder / "fill").unlink()
        self.infer(client, output_at=ROW_BYTES)
        content = (self.folder / "region").read_bytes()
        self.assertEqual(content[:2 * ROW_BYTES], b"\1" * 2 * ROW_BYTES)

    @staticmethod
    def infer(client, output_at):
        tensor_input = triton.InferInput("x", [ROW_BYTES // 4], "FP32")
        tensor_input.set_shared_memory("region", ROW_BYTES)
        output = triton.InferRequestedOutput("OUTPUT0")
        output.set_shared_memory("region", ROW_BYTES, output_at)
        client.infer("m", [tensor_input], outputs=[output])


class StateDir(unittest.TestCase):
    def check_start(self, options, text):
        daemon = Daemon([synthetic("m")], binaries=mounts.binaries_with(
            self, f'mount -t tmpfs -o mode=700,{options} none "$0"'))
        self.addCleanup(daemon.discard)
        daemon.state_dir = daemon.binaries / "mount"
        daemon.write_config([synthetic("m")], state_dir=str(daemon.state_dir))
        daemon.launch()
        self.assertEqual(daemon.wait(), CONFIG)
        self.assertRegex(daemon.log(), text)

    def test_a_start_where_nobody_may_write(self):
        self.check_start("ro", r"cannot open .*/mpsd\.lock: Read-only file system")

    def test_a_start_without_room(self):
        self.check_start("nr_inodes=2", r"cannot make the folder .*/workers: No space left on device")

    def test_without_it_no_worker_starts_and_with_it_the_next_one_does(self):
        with Daemon([synthetic("m"), synthetic("other")],
                    binaries=mounts.binaries_with(self, ":")) as daemon, \
                calls.stub(daemon.address) as stub:
            workers = daemon.state_dir / "workers"
            mounts.run_in(daemon.pid, "mount", "-t", "tmpfs", "-o", "ro,mode=700", "none", workers)
            os.kill(daemon.ps()["m"]["workers"][0]["pid"], signal.SIGKILL)
            daemon.wait_logged(r"worker_not_started.*cannot make the folder .*Read-only file system")
            self.assertRegex(daemon.ps()["m"]["state"], "unavailable: .*Read-only file system")
            calls.answered(stub, calls.request("other", {"x": calls.row_of(1)}))
            daemon.write_config([synthetic("m"), synthetic("other"), synthetic("new")])
            self.assertFalse(daemon.reload()["ok"])
            mounts.run_in(daemon.pid, "umount", workers)
            wait_until(lambda: daemon.ps()["m"]["ready"], 60, "the worker's return")


if __name__ == "__main__":
    unittest.main(verbosity=2)
