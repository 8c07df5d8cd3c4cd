"""A gpu that is not used: the log and `mpsd ps` say which and why, and nobody tries for ever. A
model on several devices: each worker has one, and keeps it."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import hostile
import mounts
from daemon import BIN, Daemon, WITH_TORCH, mpsd, wait_until
from models import placement, torchscript

# A host with a driver, by its device files: another /dev for this process alone.
DRIVER = """mount -t tmpfs none "$0" && mkdir "$0/upper" "$0/work" && : >"$0/upper/nvidiactl"
  mount -t overlay -o "lowerdir=/dev,upperdir=$0/upper,workdir=$0/work" none /dev"""


# A host with two memory nodes of one core each, and a gpu beside the second: another /sys for this
# process alone, and two cores.
NODES = """taskset -cp {first},{second} $$ >/dev/null
  gpu="$0/bus/pci/devices/0000:1b:00.0" && mkdir -p "$0/node/node0" "$0/node/node1" "$gpu"
  echo {first} >"$0/node/node0/cpulist" && echo {second} >"$0/node/node1/cpulist"
  echo 1 >"$gpu/numa_node"
  mount --bind "$0/node" /sys/devices/system/node && mount --bind "$0/bus" /sys/bus"""


def binaries_with_driver(test, binaries=BIN):
    """A folder with an `mpsd` that sees the driver's device file, for one test."""
    return mounts.binaries_with(test, DRIVER, binaries)


@unittest.skipUnless(WITH_TORCH, "built without torch")
@unittest.skipIf(os.path.exists("/dev/nvidiactl"), "this host has a gpu")
class NoDevice(unittest.TestCase):
    def test_a_gpu_that_is_passed_over_is_told_with_the_reason(self):
        models = [torchscript("mlp", "mlp_256x512x4", device="auto"),
                  torchscript("asked", "mlp_256x512x4", device="cpu")]
        with Daemon(models, binaries=binaries_with_driver(self)) as daemon:
            daemon.wait_logged(r'"device_passed_over","device":"cpu","reason":"cuda: ')
            self.assertTrue(daemon.ps()["mlp"]["ready"])
            self.assertRegex(daemon.ps()["mlp"]["device_note"], "^passed over cuda: .")
            self.assertEqual(daemon.ps()["asked"]["device_note"], "")
            text = mpsd("ps", "--address", daemon.address).stdout
            self.assertIn(f"\nmlp: {daemon.ps()['mlp']['device_note']}\n", text)

    def test_a_device_that_is_not_there_is_tried_once(self):
        models = [torchscript(name, "mlp_256x512x4", device=device)
                  for name, device in (("first", "cuda"), ("all", "cuda:all"))]
        with Daemon(models) as daemon:
            def worker(name):
                workers = daemon.ps()[name]["workers"]
                self.assertEqual(len(workers), 1)
                return workers[0]
            for name in ("first", "all"):
                wait_until(lambda name=name: worker(name)["state"] == "failed", 20,
                           "the end of the worker")
                self.assertEqual(worker(name)["restarts"], 0)
                self.assertRegex(daemon.ps()[name]["state"],
                                 "device 'cuda': (CUDA's libraries are not beside|there are 0 )")
            self.assertEqual(daemon.log().count('"worker_died"'), 2)


class SeveralDevices(unittest.TestCase):
    """The workers pretend to serve where they are told to: the daemon is the real one."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-devices-"))
        self.binaries = hostile.binaries(folder)
        self.lost = self.binaries / "lost"
        self.lost.mkdir()

    def model(self, name, device, processes="auto", **more):
        file = self.binaries / f"{name}.pt"
        file.touch()
        return {"name": name, "path": str(file), "device": device, "circuit": {"deaths": 0},
                "placement": {**placement(), "processes": processes},
                "parameters": {"hostile": "serve_where_it_is_told_to", "lost": str(self.lost)},
                **more}

    def serve(self, *models, binaries=None, **environment):
        return Daemon(list(models), binaries=binaries or self.binaries,
                      environment={**hostile.ENVIRONMENT, **environment})

    @staticmethod
    def serving(daemon, model="m"):
        """The devices and pids of its workers, by their index, once all of them serve."""
        def all_serving():
            workers = daemon.ps()[model]["workers"]
            serve = all(worker["state"] == "serving" and not worker["generation"]
                        for worker in workers)
            return workers if serve else None
        return {worker["index"]: (worker["device"], worker["pid"])
                for worker in wait_until(all_serving, 20, "workers that serve")}

    def test_each_worker_keeps_its_device(self):
        with self.serve(self.model("m", "cuda:1,0", processes=3)) as daemon:
            before = self.serving(daemon)
            devices = {index: device for index, (device, _) in before.items()}
            self.assertEqual(devices, {0: "cuda:1", 1: "cuda:0", 2: "cuda:1"})
            self.assertEqual(daemon.ps()["m"]["device"], "cuda:1,0")
            self.assertRegex(mpsd("ps", "--address", daemon.address).stdout, r"serving +cuda:0")
            self.assertEqual(daemon.metric("mpsd_runtime_info", model="m", device="cuda:1"), 2)
            daemon.wait_logged(r'"worker_ready","model":"m","worker":1,.*"device":"cuda:0"')
            os.kill(before[1][1], signal.SIGKILL)
            daemon.wait_logged(r'"worker_died","model":"m","worker":1,.*"device":"cuda:0"')
            after = self.serving(daemon)
            self.assertEqual(after[1][0], "cuda:0")
            self.assertNotEqual(after[1][1], before[1][1])
            self.assertEqual((after[0], after[2]), (before[0], before[2]))

            daemon.write_config([self.model("m", "cuda:1,0", processes=3, queue={"requests": 9})])
            self.assertTrue(daemon.reload()["ok"])
            fresh = self.serving(daemon)
            self.assertEqual({index: device for index, (device, _) in fresh.items()}, devices)
            self.assertTrue({pid for _, pid in fresh.values()}.isdisjoint(
                {pid for _, pid in after.values()}))

    def test_a_lost_device_stops_no_worker_on_another_one(self):
        with self.serve(self.model("m", "cuda:0,1")) as daemon:
            before = self.serving(daemon)
            (self.lost / "cuda:1").touch()
            os.kill(before[1][1], signal.SIGKILL)
            daemon.wait_logged(r'"device_bad","device":"cuda:1"')
            self.assertTrue(daemon.ps()["m"]["ready"])
            self.assertEqual(daemon.ps()["m"]["workers"][0]["pid"], before[0][1])
            os.kill(before[0][1], signal.SIGKILL)

            def is_back():
                worker = daemon.ps()["m"]["workers"][0]
                return worker["state"] == "serving" and worker["pid"] != before[0][1]
            wait_until(is_back, 20, "the worker on the good device")
            self.assertNotEqual(daemon.ps()["m"]["workers"][1]["state"], "serving")
            (self.lost / "cuda:1").unlink()
            self.assertEqual(self.serving(daemon)[1][0], "cuda:1")
            daemon.wait_logged(r'"device_back","device":"cuda:1"')

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "this host has a gpu")
    def test_all_devices_are_those_that_a_worker_names(self):
        line = json.dumps({"devices": ["cuda:0", "cuda:1", "cuda:2", "cpu"]})
        with self.serve(self.model("m", "cuda:all"), self.model("two", "cuda:all", processes=2),
                        binaries=binaries_with_driver(self, self.binaries),
                        MPSD_DEVICES_LINE=line) as daemon:
            def devices(model):
                return [device for device, _ in self.serving(daemon, model).values()]
            self.assertEqual(devices("m"), ["cuda:0", "cuda:1", "cuda:2"])
            self.assertEqual(devices("two"), ["cuda:0", "cuda:1"])
            self.assertEqual(daemon.ps()["m"]["device"], "cuda:0,1,2")

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "this host has a gpu")
    def test_each_worker_keeps_to_the_memory_node_of_its_device(self):
        cores = sorted(os.sched_getaffinity(0))[:2]
        if len(cores) < 2:
            self.skipTest("one core has one memory node")
        host = "\n".join((DRIVER, NODES.format(first=cores[0], second=cores[1])))
        found = json.dumps({"devices": ["cuda:0", "cpu"], "gpu_addresses": ["0000:1B:00.0"]})
        with self.serve(self.model("all", "cpu"), self.model("gpu", "cuda"),
                        binaries=mounts.binaries_with(self, host, self.binaries),
                        MPSD_DEVICES_LINE=found) as daemon:
            def kept_by(model):
                return [os.sched_getaffinity(pid) for _, pid in self.serving(daemon, model).values()]
            self.assertEqual(kept_by("all"), [{cores[0]}, {cores[1]}])
            self.assertEqual(kept_by("gpu"), [{cores[1]}])
            self.assertEqual(os.sched_getaffinity(daemon.pid), set(cores))
            os.kill(self.serving(daemon, "all")[0][1], signal.SIGKILL)
            daemon.wait_logged("worker_died")
            self.assertEqual(kept_by("all"), [{cores[0]}, {cores[1]}])


if __name__ == "__main__":
    unittest.main(verbosity=2)
