"""Files that are no good model: a clear text, the old one serves on, and no neighbour is hurt."""
import contextlib
import json
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import textwrap
import unittest
import zipfile

import grpc
import numpy as np

import calls
import family_folders
import procfs
from daemon import BIN, Daemon, MODELS, WITH_TORCH, wait_until
from models import huggingface, placement, synthetic, tensor

BOMB_BYTES = 256 << 20


def rows_of(*values):
    return np.repeat(np.array(values, np.float32)[:, None], 4, axis=1)


class BadModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not WITH_TORCH:
            raise unittest.SkipTest("built without torch")
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-bad-"))
        cls.folder = pathlib.Path(folder)
        subprocess.run([str(BIN / "mpsd-make-models"), str(cls.folder), "--faulty"], check=True)
        whole = (cls.folder / "training.pt").read_bytes()
        (cls.folder / "truncated.pt").write_bytes(whole[:len(whole) // 2])
        (cls.folder / "no_model.pt").write_bytes(b"no archive at all" * 99)
        (cls.folder / "empty.pt").write_bytes(b"")

    def file(self, name, **more):
        return {"name": name, "path": str(self.folder / f"{name}.pt"), "device": "cpu", **more}

    @contextlib.contextmanager
    def serving(self, *models):
        with Daemon(list(models)) as daemon, calls.stub(daemon.address) as stub:
            yield daemon, stub

    def infer(self, stub, model, rows):
        return calls.infer(stub, calls.request(model, {"x": rows}))

    def check_answer(self, outcome, wanted):
        self.assertEqual(outcome.code, calls.OK, outcome.text)
        (answer,) = calls.arrays(outcome.response).values()
        np.testing.assert_array_equal(answer, wanted)

    def check_failure(self, outcome, text):
        self.assertEqual(outcome.code, grpc.StatusCode.INTERNAL, outcome.text)
        self.assertIn(text, outcome.text)
        self.assertNotIn(str(self.folder), outcome.text)


def write_bomb(source, target, member, byte):
    """The archive, with BOMB_BYTES of that byte in place of a member, packed to a thousandth."""
    with zipfile.ZipFile(source) as whole, zipfile.ZipFile(target, "w") as bomb:
        for entry in whole.infolist():
            if not entry.filename.endswith(member):
                bomb.writestr(entry.filename, whole.read(entry))
                continue
            packed = zipfile.ZipInfo(entry.filename)
            packed.compress_type = zipfile.ZIP_DEFLATED
            with bomb.open(packed, "w") as file:
                for _ in range(BOMB_BYTES >> 20):
                    file.write(byte * (1 << 20))


class ZipBombs(BadModels):
    """A file of a few megabytes that unpacks to much more costs its own worker, and nobody else."""

    def test_the_front_end_and_other_models_do_not_notice(self):
        bombs = {"weights": ("data/0", b"\0"), "pickle": ("data.pkl", b"(")}
        for name, (member, byte) in bombs.items():
            file = self.folder / f"bomb_{name}.pt"
            write_bomb(MODELS / "mlp_256x512x4.pt", file, member, byte)
            self.assertLess(file.stat().st_size, BOMB_BYTES // 32)
        models = [self.file(f"bomb_{name}", load_timeout="60s") for name in bombs]
        with self.serving(synthetic("good", [tensor("x", [4])]), *models) as (daemon, stub):
            self.check_answer(self.infer(stub, "good", rows_of(1)), rows_of(1))
            for name in bombs:
                self.assertEqual(self.infer(stub, f"bomb_{name}", rows_of(1)).code,
                                 grpc.StatusCode.UNAVAILABLE)
                self.assertRegex(daemon.ps()[f"bomb_{name}"]["state"],
                                 rf"model 'bomb_{name}': its .* unpack to 25\d.* MiB")
            status = pathlib.Path(f"/proc/{daemon.pid}/status").read_text()
            most_kb = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
            self.assertLess(most_kb << 10, BOMB_BYTES)


class Pickles(BadModels):
    def test_a_program_that_a_pickle_names_is_not_started(self):
        folder, mark = self.folder / "pickle", self.folder / "mark"
        family_folders.write("bert_mean", folder, is_torch=True)
        command = f"touch {mark}"
        with zipfile.ZipFile(folder / "pytorch_model.bin", "w") as file:
            file.writestr("m/data.pkl", b"\x80\x02cposix\nsystem\n" +
                          family_folders.pickled(command) + b"\x85R.")
        bad = {**huggingface("bad", folder), "sandbox": "off"}
        with self.serving(synthetic("m"), bad) as (daemon, _):
            state = lambda: daemon.ps()["bad"]["state"]
            wait_until(lambda: "names 'posix.system', which is no tensor's" in state(), 60, "the reason")
        self.assertFalse(mark.exists())


class Names(BadModels):
    def test_a_name_that_is_longer_than_a_message(self):
        folder = self.folder / "long"
        family_folders.write("bert_mean", folder)
        header = json.dumps({"x" * (5 << 20): {}}).encode()
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
        with self.serving(synthetic("m"), huggingface("bad", folder)) as (daemon, _):
            state = lambda: daemon.ps()["bad"]["state"]
            wait_until(lambda: "model.safetensors: tensor 'xxx" in state(), 60, "the reason")


class BadWarmUps(BadModels):
    """The model loads, and its first run fails."""

    def test_requests_do_not_wait_for_it(self):
        outputs = [tensor(name, [4]) for name in ("y", "z")]
        bad = self.file("throws_for_a_row", inputs=[tensor("x", [4])], outputs=outputs,
                        max_batch_size=8)
        with self.serving(bad) as (daemon, stub):
            wait_until(lambda: daemon.ps()[bad["name"]]["state"].startswith("unavailable"), 60,
                       "the failure")
            outcome = self.infer(stub, bad["name"], rows_of(1))
            self.assertEqual(outcome.code, grpc.StatusCode.UNAVAILABLE, outcome.text)
            self.assertIn("is not at ready state", outcome.text)


class BadFiles(BadModels):
    """Each takes the place of a file that is served; the old contents go on serving."""

    def check_not_loaded(self, name, text, **more):
        served = self.folder / "served.pt"
        shutil.copy(self.folder / "throws_for_a_row.pt", served)
        stanza = {"name": "m", "path": str(served), "device": "cpu"}
        with self.serving(stanza) as (daemon, stub):
            self.check_answer(self.infer(stub, "m", rows_of(3)), rows_of(3))
            shutil.copy(self.folder / f"{name}.pt", served)
            daemon.write_config([{**stanza, **more}])
            report = daemon.reload()
            self.assertFalse(report["ok"], report)
            self.assertIn(text, report["text"])
            self.check_answer(self.infer(stub, "m", rows_of(4)), rows_of(4))
            self.assertEqual(daemon.get("/readyz")[0], 200)

    def test_a_file_that_is_no_model(self):
        self.check_not_loaded("no_model", "it is no TorchScript archive, or is cut short")

    def test_an_empty_file(self):
        self.check_not_loaded("empty", "it is no TorchScript archive, or is cut short")

    def test_a_truncated_file(self):
        self.check_not_loaded("truncated", "it is no TorchScript archive, or is cut short")

    def test_a_module_in_training_mode(self):
        self.check_not_loaded("training", "it was saved in training mode")

    def test_a_device_that_is_not_there(self):
        self.check_not_loaded("throws_for_a_row", "device 'cuda:7'", device="cuda:7")

    def test_a_device_that_nobody_knows(self):
        self.check_not_loaded("throws_for_a_row", "there is no 'toaster' here", device="toaster")

    def test_a_load_that_hangs(self):
        """Its trial run never ends, since the file does not tell its outputs."""
        self.check_not_loaded("hangs", "the model was not loaded within 2s", load_timeout="2s")

    def test_a_module_whose_construction_never_ends(self):
        self.check_not_loaded("never_built", "the model was not loaded within 2s",
                              load_timeout="2s")


# What an archive's code says in the place of forward's only line.
FORK = """def __forked_function():
  _0 = torch.__not__(bool(torch.any(torch.eq(x, 13))))
  if _0:
    pass
  else:
    ops.prim.RaiseException("AssertionError: a thirteen")
  return torch.mul(x, 1)
part = fork(__forked_function)
"""
FORK_A_THOUSAND = f"""    parts = annotate(List[Future[Tensor]], [])
    for i in range(1000):
{textwrap.indent(FORK, " " * 6)}      _1 = torch.append(parts, part)
    sum = torch.mul(x, 0)
    for j in range(1000):
      sum = torch.add(sum, torch.wait(parts[j]))
    return torch.div(sum, 1000)
"""
FORK_AND_LEAVE = f"""{textwrap.indent(FORK, " " * 4)}    _1 = bool(torch.any(torch.eq(x, 99)))
    if _1:
      y = torch.wait(part)
    else:
      y = torch.mul(x, 1)
    return y
"""


class Forks(BadModels):
    """Forwards that fork, in parts that raise, and that nobody waits for."""

    def write(self, name, lines):
        """The model `writes`, with these lines in its forward."""
        with zipfile.ZipFile(self.folder / "writes.pt") as whole, \
                zipfile.ZipFile(self.folder / f"{name}.pt", "w") as changed:
            for entry in whole.infolist():
                content = whole.read(entry)
                if entry.filename.endswith("__torch__.py"):
                    head, _, _ = content.partition(b"    return ")
                    content = head + lines.encode()
                if not entry.filename.endswith("debug_pkl"):
                    changed.writestr(entry.filename, content)

    def test_a_fault_in_a_forked_part_is_its_requests_alone(self):
        codes = {"thousand": FORK_A_THOUSAND, "leave": FORK_AND_LEAVE}
        for name, lines in codes.items():
            self.write(name, lines)
        models = [self.file(name, warmup="none", placement=placement()) for name in codes]
        with self.serving(*models) as (daemon, stub):
            for value in (1, 13, 2):
                outcome = self.infer(stub, "thousand", rows_of(value))
                if value == 13:
                    self.check_failure(outcome, "a thirteen")
                else:
                    self.check_answer(outcome, rows_of(value))
                self.check_answer(self.infer(stub, "leave", rows_of(value)), rows_of(value))
            for worker in daemon.workers():
                self.assertLess(len(procfs.threads(worker)), 32)
            self.assertEqual(daemon.metric("mpsd_worker_restarts_total"), 0)


class BadBehaviour(BadModels):
    """Models that load. One daemon, so that each has the others as its neighbours."""

    NAMES = ("nothing", "wrong_type", "wrong_batch", "gives_nan", "writes", "writes_some",
             "throws_for_a_row", "out_of_memory")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        models = [{"name": name, "path": str(cls.folder / f"{name}.pt"), "device": "cpu",
                   "warmup": "none", "placement": {"processes": 1, "lanes": 1, "threads": 1}}
                  for name in cls.NAMES]
        cls.daemon = cls.enterClassContext(Daemon(models))
        cls.stub = cls.enterClassContext(calls.stub(cls.daemon.address))

    def tearDown(self):
        self.assertEqual(self.daemon.metric("mpsd_worker_restarts_total"), 0)

    def ask(self, model, *values):
        return self.infer(self.stub, model, rows_of(*values))

    def test_returns_nothing(self):
        self.check_failure(self.ask("nothing", 1), "forward returned NoneType")

    def test_returns_another_type(self):
        self.check_failure(self.ask("wrong_type", 1), "output 'y' is of the type Long, not FP32")

    def test_returns_another_batch_dim(self):
        self.check_failure(self.ask("wrong_batch", 1, 2),
                           "output 'y' has the shape [4,4] for a batch of 2 rows")

    def test_returns_nan(self):
        self.check_answer(self.ask("gives_nan", 1), np.full((1, 4), np.nan, np.float32))

    def test_writes_its_input(self):
        for value in (1, 2):
            self.check_answer(self.ask("writes", value), rows_of(value + 1))

    def test_writes_its_input_for_some_data_only(self):
        self.check_answer(self.ask("writes_some", 1), rows_of(1))
        self.check_answer(self.ask("writes_some", 6), rows_of(7))

    def test_throws_for_one_row(self):
        """Of a batch of sixty, made of one request and of many."""
        messages = [calls.request("throws_for_a_row", {"x": rows_of(value)}) for value in range(60)]
        for value, outcome in enumerate(calls.infer_all(self.stub, messages)):
            if value == 13:
                self.check_failure(outcome, "a thirteen")
            else:
                self.check_answer(outcome, rows_of(value))
        self.check_failure(self.ask("throws_for_a_row", 1, 13, 2), "a thirteen")

    def test_out_of_device_memory(self):
        """Four rows at once are too many, and three are not: all are answered."""
        values = range(1, 33)
        self.check_answer(self.ask("out_of_memory", *values), rows_of(*values) + 1)
        self.check_answer(self.ask("out_of_memory", *values), rows_of(*values) + 1)
        self.daemon.wait_logged("memory did not suffice")


class Hangs(BadModels):
    def test_a_batch_that_never_ends(self):
        # On one lane: a worker with several lanes compares them first, and that would hang.
        model = self.file("hangs", warmup="none", run_timeout="1s", outputs=[tensor("y", [4])],
                          placement=placement())
        with self.serving(model, synthetic("good")) as (daemon, stub):
            outcome = self.infer(stub, "hangs", rows_of(1))
            self.assertEqual(outcome.code, grpc.StatusCode.INTERNAL, outcome.text)
            calls.answered(stub, calls.request("good", {"x": calls.row_of(1)}))
            wait_until(lambda: daemon.metric("mpsd_worker_restarts_total") == 1, 30, "another try")
            wait_until(lambda: daemon.ps()["hangs"]["ready"], 30, "its worker's return")
            (worker,) = daemon.ps()["hangs"]["workers"]
            self.assertIn("lane 0 made no progress", worker["last_exit"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
