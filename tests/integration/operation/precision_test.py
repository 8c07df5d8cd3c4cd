"""What a model computes in: as its config says, as `auto` finds out, and as operators are told."""
import pathlib
import tempfile
import unittest

import numpy as np

import calls
import family_folders
from daemon import Daemon, WITH_TORCH, mpsd
from models import huggingface, placement, synthetic, torchscript

CPU = pathlib.Path("/proc/cpuinfo")
HAS_INT8 = CPU.exists() and {"avx2", "fma"} <= set(CPU.read_text().split())


class Told(unittest.TestCase):
    def test_ps_and_metrics_say_what_was_taken_and_why(self):
        with Daemon([synthetic("usual"), synthetic("m", precision="auto")]) as daemon:
            self.assertEqual(daemon.ps()["usual"]["precision"], "as_saved")
            self.assertEqual(daemon.ps()["usual"]["precision_note"], "")
            self.assertEqual(daemon.ps()["m"]["precision"], "as_saved")
            self.assertIn("computes nothing", daemon.ps()["m"]["precision_note"])
            self.assertEqual(
                daemon.metric("mpsd_model_precision", model="m", precision="as_saved"), 1)
            self.assertIn("\nm 1: as_saved: a synthetic model computes nothing",
                          mpsd("ps", "--address", daemon.address).stdout)


@unittest.skipUnless(WITH_TORCH, "built without torch")
class Converted(unittest.TestCase):
    def answer(self, stub, model):
        rows = np.linspace(-1, 1, 4 * 256, dtype=np.float32).reshape(4, 256)
        return calls.only_array(stub, model, {"input": rows})

    def test_clients_get_floats_that_are_near(self):
        models = [torchscript(name, "mlp_256x512x4", precision=name)
                  for name in ("as_saved", "fp32", "bf16", "fp16")]
        with Daemon(models) as daemon, calls.stub(daemon.address) as stub:
            fp32 = self.answer(stub, "fp32")
            self.assertEqual(fp32.dtype, np.float32)
            np.testing.assert_array_equal(self.answer(stub, "as_saved"), fp32)
            for name, farthest in (("bf16", 0.02), ("fp16", 0.003)):
                self.assertEqual(daemon.ps()[name]["precision"], name)
                given = self.answer(stub, name)
                self.assertEqual(given.dtype, np.float32)
                self.assertGreater(np.abs(given - fp32).max(), 0)
                self.assertLess(np.abs(given - fp32).max(), farthest * np.abs(fp32).max())

    def test_all_workers_of_a_model_take_the_same(self):
        model = torchscript("m", "mlp_256x512x4", precision="auto",
                            placement=placement(processes=2))
        with Daemon([model]) as daemon:
            self.assertIn(daemon.ps()["m"]["precision"], ("fp32", "bf16"))
            self.assertNotEqual(daemon.ps()["m"]["precision_note"], "")
            self.assertEqual(daemon.ps()["m"]["state"], "ready")

    def test_what_the_device_has_not_is_refused_by_name(self):
        with Daemon([torchscript("m", "mlp_256x512x4", precision="tf32")]) as daemon:
            self.assertIn("precision 'tf32' is of cuda devices alone", daemon.ps()["m"]["state"])
            daemon.wait_logged('"starts_again":"after a reload"')

    def test_inspect_tries_it_out(self):
        file = torchscript("mlp_256x512x4")["path"]
        done = mpsd("inspect", file, "--precision", "bf16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nprecision: bf16\n", done.stdout)
        done = mpsd("inspect", file, "--precision", "auto")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "\nprecision: (fp32|bf16); ")


@unittest.skipUnless(WITH_TORCH, "built without torch")
class Int8(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "bert"
        self.rows = family_folders.write("bert_mean", self.path)

    def embeddings(self, stub, rows):
        """Of rows of one length, in one request."""
        arrays = {name: np.array([row[name] for row in rows], dtype=np.int64)
                  for name in ("input_ids", "token_type_ids")}
        arrays["attention_mask"] = np.ones_like(arrays["input_ids"])
        outcome = calls.answered(stub, calls.request("m", arrays))
        (answer,) = calls.arrays(outcome.response).values()
        return answer

    @unittest.skipUnless(HAS_INT8, "this processor has no int8")
    def test_a_folder_answers_nearly_alike_and_says_how_nearly(self):
        with Daemon([huggingface("m", self.path, precision="int8")]) as daemon, \
                calls.stub(daemon.address) as stub:
            self.assertEqual(daemon.ps()["m"]["precision"], "int8")
            self.assertIn("its cosine to fp32 is ", daemon.ps()["m"]["precision_note"])
            self.assertEqual(daemon.metric("mpsd_model_precision", model="m", precision="int8"), 1)
            for row in self.rows:
                answer, wanted = self.embeddings(stub, [row])[0], np.array(row["answer"])
                cosine = answer @ wanted / np.linalg.norm(answer) / np.linalg.norm(wanted)
                self.assertGreater(cosine, 0.99)
                self.assertGreater(np.abs(answer - wanted).max(), 1e-5)
                both = self.embeddings(stub, [row, dict(row, input_ids=row["input_ids"][::-1])])
                np.testing.assert_allclose(both[0], answer, atol=1e-6)

    @unittest.skipUnless(HAS_INT8, "this processor has no int8")
    def test_inspect_tries_it_out(self):
        done = mpsd("inspect", str(self.path), "--precision", "int8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nprecision: int8; its cosine to fp32 is ", done.stdout)

    @unittest.skipIf(HAS_INT8, "this processor has int8")
    def test_a_processor_that_has_not_refuses(self):
        with Daemon([huggingface("m", self.path, precision="int8")]) as daemon:
            self.assertIn("precision 'int8' needs a cpu", daemon.ps()["m"]["state"])

    def test_a_torchscript_module_is_refused(self):
        model = torchscript("m", "mlp_256x512x4", precision="int8")
        with Daemon([model]) as daemon:
            self.assertIn("cannot compute in int8", daemon.ps()["m"]["state"])


if __name__ == "__main__":
    unittest.main()
