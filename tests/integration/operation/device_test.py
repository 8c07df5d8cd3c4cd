"""A gpu that is not used: the log and `mpsd ps` say which and why, and nobody tries for ever."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from daemon import BIN, Daemon, WITH_TORCH, mpsd, wait_until
from models import torchscript

# A host with a driver, as far as its device files show: another /dev for this process alone.
WITH_DRIVER = """#!/bin/sh
exec unshare --mount sh -ec '
  mount -t tmpfs none "$0" && mkdir "$0/upper" "$0/work" && : >"$0/upper/nvidiactl"
  mount -t overlay -o "lowerdir=/dev,upperdir=$0/upper,workdir=$0/work" none /dev
  exec "$@"' {mount} {program} "$@"
"""


@unittest.skipUnless(WITH_TORCH, "built without torch")
@unittest.skipIf(os.path.exists("/dev/nvidiactl"), "this host has a gpu")
class NoDevice(unittest.TestCase):
    def binaries_with_driver(self):
        """A folder with an `mpsd` that sees the driver's device file."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-gpu-")))
        (folder / "mount").mkdir()
        program = folder / "mpsd"
        program.write_text(WITH_DRIVER.format(mount=folder / "mount", program=BIN / "mpsd"))
        program.chmod(0o755)
        tried = subprocess.run([program, "version"], capture_output=True, text=True, timeout=60,
                               check=False)
        if tried.returncode != 0:
            self.skipTest(f"no mount namespace here: {tried.stderr}")
        return folder

    def test_a_gpu_that_is_passed_over_is_told_with_the_reason(self):
        models = [torchscript("mlp", "mlp_256x512x4", device="auto"),
                  torchscript("asked", "mlp_256x512x4", device="cpu")]
        with Daemon(models, binaries=self.binaries_with_driver()) as daemon:
            daemon.wait_logged(r'"device_passed_over","device":"cpu","reason":"cuda: ')
            self.assertTrue(daemon.ps()["mlp"]["ready"])
            self.assertRegex(daemon.ps()["mlp"]["device_note"], "^passed over cuda: .")
            self.assertEqual(daemon.ps()["asked"]["device_note"], "")
            text = mpsd("ps", "--address", daemon.address).stdout
            self.assertIn(f"\nmlp: {daemon.ps()['mlp']['device_note']}\n", text)

    def test_a_device_that_is_not_there_is_tried_once(self):
        with Daemon([torchscript("mlp", "mlp_256x512x4", device="cuda")]) as daemon:
            def worker():
                return daemon.ps()["mlp"]["workers"][0]
            wait_until(lambda: worker()["state"] == "failed", 20, "the end of the worker")
            self.assertEqual(worker()["restarts"], 0)
            self.assertIn("device 'cuda': ", daemon.ps()["mlp"]["state"])
            self.assertEqual(daemon.log().count('"worker_died"'), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
