"""A worker whose model tries everything that a sandbox is there to deny, under a real daemon."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import calls
from daemon import BIN, Daemon, WITH_TORCH
from models import placement, synthetic, tensor, torchscript

TESTS = BIN.parent / "tests"
EVERYBODY, BASIC, NOBODY = range(3)


def attempts():
    """[(name, who may, whether it takes privileges)], in the order of the model's answers."""
    done = subprocess.run([TESTS / "sandbox_probe", "off"], capture_output=True, text=True,
                          check=True, timeout=30)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [(name, int(reach), privileged == "1") for name, reach, privileged, _, _ in lines]


class Sandbox(unittest.TestCase):
    """In one folder: the daemon, and the misbehaving worker under the worker's name."""

    @classmethod
    def setUpClass(cls):
        cls.attempts = attempts()
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        cls.binaries = pathlib.Path(folder)
        shutil.copy(BIN / "mpsd", cls.binaries)
        (cls.binaries / "mpsd-worker").symlink_to(TESTS / "misbehaving/mpsd-worker")

    def misbehave(self, level, more_runs=20):
        """[(name, who may, privileged, outcome at load, outcome in a run)]; it serves on after."""
        model = synthetic("m", [tensor("x", [1])], max_batch_size=0, sandbox=level)
        with Daemon([model], binaries=self.binaries) as daemon, calls.stub(daemon.address) as stub:
            message = calls.request("m", {"x": np.zeros(1, np.float32)})
            for _ in range(more_runs):
                outcome = calls.answered(stub, message)
            got = calls.arrays(outcome.response)
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)
            self.assertEqual(daemon.ps()["m"]["workers"][0]["state"], "serving")
        self.assertEqual(len(got["at_load"]), len(self.attempts))
        return [(*attempt, at_load, at_run) for attempt, at_load, at_run
                in zip(self.attempts, got["at_load"], got["at_run"], strict=True)]

    def check_denied_beyond(self, reach_allowed, level):
        for name, reach, _, at_load, at_run in self.misbehave(level):
            with self.subTest(name, level=level):
                self.assertEqual((at_load != 0, at_run != 0), (reach > reach_allowed,) * 2,
                                 [os.strerror(outcome) for outcome in (at_load, at_run)])

    def test_basic(self):
        self.check_denied_beyond(BASIC, "basic")

    def test_strict(self):
        self.check_denied_beyond(EVERYBODY, "strict")

    def test_off_denies_nothing(self):
        """So that the others can fail."""
        for name, _, privileged, at_load, at_run in self.misbehave("off", more_runs=1):
            if not privileged:
                self.assertEqual((at_load, at_run), (0, 0), name)

    def test_basic_is_the_default(self):
        model = synthetic("m", [tensor("x", [1])], max_batch_size=0)
        with Daemon([model], binaries=self.binaries) as daemon:
            status = pathlib.Path(f"/proc/{daemon.workers()[0]}/status").read_text()
        self.assertRegex(status, r"NoNewPrivs:\s+1")
        self.assertRegex(status, r"Seccomp:\s+2")
        self.assertRegex(status, r"CapEff:\s+0000000000000004|CapEff:\s+0000000000000000")

    def test_a_models_own_level_goes_before_the_daemons(self):
        models = [synthetic("tight"), synthetic("loose", sandbox="off")]
        with Daemon(models, sandbox="strict") as daemon:
            seals = {}
            for name in ("tight", "loose"):
                pid = daemon.ps()[name]["workers"][0]["pid"]
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                seals[name] = status.split("Seccomp:")[1].split()[0]
            self.assertEqual(seals, {"tight": "2", "loose": "0"})

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_torch_models_serve_inside(self):
        models = [torchscript("mlp_1024x6", sandbox=level) | {"name": level}
                  for level in ("off", "basic", "strict")]
        models[2]["placement"] = placement(lanes=2, threads=2)
        # A process that binds the threads of all others cannot bind a worker's.
        bound = {"OMP_PROC_BIND": "true", "GOMP_CPU_AFFINITY": "0"}
        with Daemon(models, environment=bound) as daemon, calls.stub(daemon.address) as stub:
            answers = {}
            for model in models:
                row = np.linspace(-1, 1, 1024, dtype=np.float32).reshape(1, 1024)
                outcome = calls.answered(stub, calls.request(model["name"], {"input": row}))
                answers[model["name"]] = next(iter(calls.arrays(outcome.response).values()))
            np.testing.assert_allclose(answers["basic"], answers["off"], rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(answers["strict"], answers["off"], rtol=1e-4, atol=1e-5)
            self.assertNotIn("sandbox:", daemon.log())

    def test_workers_die_in_their_sandbox_and_come_back(self):
        model = synthetic("m", parameters={"crash_if": 13}, sandbox="strict")
        with Daemon([model]) as daemon, calls.stub(daemon.address) as stub:
            bad = calls.infer(stub, calls.request("m", {"x": calls.row_of(13)}))
            self.assertEqual(bad.text, "request crashed its worker")
            calls.answered(stub, calls.request("m", {"x": calls.row_of(1)}))
            daemon.wait_all_serving()

    def test_memory_is_hidden(self):
        """The kernel gives /proc/PID/mem of a process that hides its memory to root."""
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        models = [synthetic("tight", sandbox="strict"), synthetic("basic")]
        with Daemon(models, user=user) as daemon, calls.stub(daemon.address) as stub:
            for name in ("tight", "basic"):
                calls.answered(stub, calls.request(name, {"x": calls.row_of(1)}))
            pids = {name: model["workers"][0]["pid"] for name, model in daemon.ps().items()}
            owners = [os.stat(f"/proc/{pid}/mem").st_uid
                      for pid in (daemon.pid, pids["tight"], pids["basic"])]
            self.assertEqual(owners, [0, 0, user])


if __name__ == "__main__":
    unittest.main(verbosity=2)
