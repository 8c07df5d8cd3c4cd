"""The daemon runs CUDA's Multi-Process Service, or what stands in its place, for its workers."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import procfs
from daemon import BIN, Daemon, wait_until
from models import synthetic

CONFIG_ERROR = 78
SERVICE = "#!/bin/sh\ntouch $CUDA_MPS_PIPE_DIRECTORY/control\nexec sleep 600\n"


class CudaService(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-")))

    def path_with(self, script):
        program = self.folder / "nvidia-cuda-mps-control"
        program.write_text(script)
        program.chmod(0o755)
        return f"{self.folder}:{os.environ['PATH']}"

    def test_it_lives_as_long_as_the_daemon_and_workers_know_it(self):
        with Daemon([synthetic("m")], cuda_mps="on",
                    environment={"PATH": self.path_with(SERVICE)}) as daemon:
            pipe = f"{daemon.state_dir}/cuda-mps/pipe"
            known = procfs.with_environment("CUDA_MPS_PIPE_DIRECTORY", pipe)
            (worker,) = daemon.workers()
            self.assertIn(worker, known)
            self.assertEqual(len(known), 2, "the worker and the service")
        wait_until(lambda: not procfs.with_environment("CUDA_MPS_PIPE_DIRECTORY", pipe), 30,
                   "the service's end")

    def test_the_next_daemon_ends_that_of_one_that_was_killed(self):
        state = self.folder / "state"
        environment = {"PATH": self.path_with(SERVICE)}

        def services():
            return set(procfs.with_environment("CUDA_MPS_PIPE_DIRECTORY", str(state)))

        with Daemon([synthetic("m")], cuda_mps="on", state_dir=state,
                    environment=environment) as daemon:
            daemon.kill()
            wait_until(lambda: len(services()) == 1, 30, "the end of its worker")
            (left,) = services()
        with Daemon([synthetic("m")], cuda_mps="on", state_dir=state, environment=environment):
            self.assertNotIn(left, services())

    def test_without_the_program_it_does_not_start(self):
        config = self.folder / "c.json"
        config.write_text('{"cuda_mps": "on", "state_dir": "state", "listen": {"http": "", "grpc": '
                          '["127.0.0.1:0"]}, "models": [{"name": "m", "format": "synthetic", '
                          '"inputs": [{"name": "x", "datatype": "FP32", "shape": [1]}]}]}')
        done = subprocess.run([str(BIN / "mpsd"), "serve", "--config", str(config)], text=True,
                              capture_output=True, timeout=30, check=False,
                              env={**os.environ, "PATH": str(self.folder)})
        self.assertEqual(done.returncode, CONFIG_ERROR, done.stderr)
        self.assertIn("cuda_mps is 'on', but there is no nvidia-cuda-mps-control", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
