"""`mpsd pull` and `mpsd serve ORG/NAME`, from a hub of our own that fails in every way it can."""
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import unittest

import grpc

import calls
import family_folders
from daemon import BIN, MODELS, WITH_TORCH, Daemon, mpsd, wait_until
from fake_hub import COMMIT, FakeHub
from models import synthetic

MEBIBYTE = 1 << 20


def files(weights=100):
    return {"config.json": b"{}", "tokenizer.json": b'{"a": 1}', "1_Pooling/config.json": b"{ }",
            "model.safetensors": random.Random(weights).randbytes(weights),
            "pytorch_model.bin": b"x", "onnx/model.onnx": b"x", "README.md": b"x"}


NEEDED = {"config.json", "tokenizer.json", "1_Pooling/config.json", "model.safetensors"}


class Pull(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-hub-")))
        self.folder = self.home / "hub/models--ORG--NAME"

    def hub(self, contents=None):
        hub = self.enterContext(FakeHub(contents or files()))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "HF_ENDPOINT": hub.url,
                            "HF_HOME": str(self.home)}
        return hub

    def run_verb(self, *words, **environment):
        return subprocess.run([BIN / "mpsd", *words], capture_output=True, text=True, timeout=120,
                              check=False, env={**self.environment, **environment})

    def pull(self, model="ORG/NAME", **environment):
        return self.run_verb("pull", model, **environment)

    def check_pulled(self, hub, done, needed=frozenset(NEEDED)):
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"{self.folder}/snapshots/{COMMIT}\n"), done.stderr)
        snapshot = self.folder / "snapshots" / COMMIT
        there = {str(path.relative_to(snapshot)) for path in snapshot.rglob("*") if path.is_file()}
        self.assertEqual(there, needed & set(hub.files))
        for path in there:
            self.assertEqual((snapshot / path).read_bytes(), hub.files[path], path)
            self.assertTrue((snapshot / path).is_symlink())
        self.assertEqual((self.folder / "refs/main").read_text(), COMMIT)
        self.check_nothing_half_done()

    def check_nothing_half_done(self):
        left = [path.name for path in self.folder.rglob("*.incomplete")]
        self.assertEqual(left, [])

    def check_refused(self, done, code, text):
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(text, done.stderr)
        self.assertFalse((self.folder / "refs/main").exists())

    # Successful pulls.

    def test_only_what_is_needed_comes_and_only_once(self):
        hub = self.hub()
        self.check_pulled(hub, self.pull())
        self.assertEqual(len(hub.fetched()), len(NEEDED))
        self.check_pulled(hub, self.pull())
        self.assertEqual(len(hub.fetched()), len(NEEDED), "nothing came twice")

    def test_weights_of_torch_come_where_a_folder_has_no_safetensors(self):
        contents = files() | {"2_Dense/pytorch_model.bin": b"dense", "training_args.bin": b"x",
                              "3_Dense/pytorch_model.bin": b"x", "3_Dense/model.safetensors": b"y"}
        del contents["model.safetensors"]
        hub = self.hub(contents)
        needed = {"config.json", "tokenizer.json", "1_Pooling/config.json", "pytorch_model.bin",
                  "2_Dense/pytorch_model.bin", "3_Dense/model.safetensors"}
        self.check_pulled(hub, self.pull(), needed)
        self.assertEqual(self.pull(HF_HUB_OFFLINE="1").returncode, 0)

    def test_the_settings_of_a_sentence_encoder_come_by_each_name(self):
        names = {f"sentence_{family}_config.json" for family in ("bert", "xlm-roberta")}
        hub = self.hub(files() | {name: b"{}" for name in names} | {"x/sentence_bert_config.json": b"x"})
        self.check_pulled(hub, self.pull(), NEEDED | names)

    def test_shards_of_torch(self):
        shards = [f"pytorch_model-0000{part}-of-00002.bin" for part in (1, 2)]
        contents = {"config.json": b"{}", "pytorch_model.bin.index.json": b"{}",
                    **{shard: b"x" for shard in shards}}
        self.check_pulled(self.hub(contents), self.pull(), set(contents))
        (self.folder / "snapshots" / COMMIT / shards[1]).unlink()
        self.assertIn("1 of its 2 files of weights are missing",
                      self.pull(HF_HUB_OFFLINE="1").stderr)

    def test_shards_of_two_numbers(self):
        """As a model has that was cut anew; its list of weights says which are read."""
        shards = [f"model-0000{part}-of-0000{count}.safetensors"
                  for count in (2, 3) for part in range(1, count + 1)]
        contents = {"config.json": b"{}", "model.safetensors.index.json": b"{}",
                    **{shard: b"x" for shard in shards}}
        self.check_pulled(self.hub(contents), self.pull(), set(contents))
        self.assertEqual(self.pull(HF_HUB_OFFLINE="1").returncode, 0)
        (self.folder / "snapshots" / COMMIT / shards[1]).unlink()
        self.assertIn("1 of its 2 files of weights are missing",
                      self.pull(HF_HUB_OFFLINE="1").stderr)

    def test_a_path_may_begin_with_a_tilde(self):
        hub = self.hub()
        self.check_pulled(hub, self.pull(HF_HOME="~"))
        self.folder = self.home / "other/models--ORG--NAME"
        self.check_pulled(hub, self.pull(HF_HUB_CACHE="~/other"))

    def test_a_branch_may_have_slashes(self):
        self.hub()
        done = self.pull("ORG/NAME@a/b")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "refs/a/b").read_text(), COMMIT)

    def test_a_large_file_comes_in_parts(self):
        hub = self.hub(files(20 * MEBIBYTE + 7))
        self.check_pulled(hub, self.pull())
        ranges = {wanted for _, wanted, _ in hub.fetched("model.safetensors")}
        self.assertEqual(len(ranges), 3, ranges)

    def test_a_hub_that_knows_no_ranges(self):
        hub = self.hub(files(20 * MEBIBYTE))
        hub.ranges = False
        self.check_pulled(hub, self.pull())

    def test_events_for_programs(self):
        hub = self.hub(files(20 * MEBIBYTE))
        done = self.run_verb("pull", "ORG/NAME", "--json")
        *_, last = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((last["event"], last["commit"], last["path"]),
                         ("done", COMMIT, f"{self.folder}/snapshots/{COMMIT}"))
        self.assertEqual(last["bytes"], sum(len(hub.files[path]) for path in NEEDED))

    def test_the_token_is_shown_to_the_hub(self):
        hub = self.hub()
        hub.token = "secret"
        self.check_refused(self.pull(), 1, "gives it only with a token in HF_TOKEN")
        self.check_refused(self.pull(HF_TOKEN="wrong"), 1, "gives it only with another HF_TOKEN")
        (self.home / "token").write_text("secret\n")
        self.check_pulled(hub, self.pull())

    def test_models_and_rm(self):
        hub = self.hub()
        self.assertIn("no models in", self.run_verb("models").stdout)
        self.pull()
        (kept,) = json.loads(self.run_verb("models", "--json").stdout)
        self.assertEqual((kept["model"], kept["commit"], kept["bytes"]),
                         ("ORG/NAME", COMMIT, sum(len(hub.files[path]) for path in NEEDED)))
        self.assertIn("ORG/NAME", self.run_verb("models").stdout)
        self.assertEqual(self.run_verb("rm", "ORG/NAME@v1").returncode, 64)
        self.assertTrue(self.folder.exists(), "no other revision goes with it")
        self.assertEqual(self.run_verb("rm", "ORG/NAME").stdout, "removed ORG/NAME\n")
        self.assertFalse(self.folder.exists())
        self.assertEqual(self.run_verb("rm", "ORG/NAME").returncode, 66)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_what_would_be_served_is_told_from_the_small_files(self):
        content = family_folders.read("bert_mean")["files"]
        hub = self.hub(files() | {path: json.dumps(file).encode() for path, file in content.items()})
        told = "embeddings of 16 numbers: /v1/embeddings, /embed, /api/embed"
        done = self.run_verb("inspect", "ORG/NAME")
        self.assertRegex(done.stdout, rf"^ORG/NAME, \S+( \w+)?: {told}\n$", done.stderr)
        self.assertEqual({path for path, _, _ in hub.fetched()}, {f"/cdn/{path}" for path in content})
        self.assertFalse((self.home / "hub").exists())
        self.pull()
        (kept,) = json.loads(self.run_verb("models", "--json").stdout)
        self.assertEqual((kept["task"], kept["serves"]), ("embedding", told))
        self.assertIn(told, self.run_verb("inspect", "ORG/NAME", HF_HUB_OFFLINE="1").stdout)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_weights_in_shards_tell_the_labels_too(self):
        config = dict(family_folders.read("bert_mean")["files"]["config.json"])
        config |= {"architectures": ["BertForSequenceClassification"]}
        header = json.dumps({"classifier.weight": {"dtype": "F16", "shape": [1, 1],
                                                   "data_offsets": [0, 2]}}).encode()
        shard = "model-00001-of-00001.safetensors"
        self.hub({"config.json": json.dumps(config).encode(), "tokenizer.json": b"{}",
                  "model.safetensors.index.json":
                      json.dumps({"weight_map": {"classifier.weight": shard}}).encode(),
                  shard: len(header).to_bytes(8, "little") + header + bytes(2)})
        self.assertEqual(self.pull().returncode, 0)
        (kept,) = json.loads(self.run_verb("models", "--json").stdout)
        self.assertEqual(kept["task"], "rerank", kept)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_what_would_not_be_served_is_told_with_the_reason(self):
        hub = self.hub()
        done = self.run_verb("inspect", "ORG/NAME", "--json")
        told = json.loads(done.stdout)
        self.assertEqual((told["task"], told["routes"]), ("", []))
        self.assertRegex(told["serves"], "^not served: config.json: ")
        self.pull()
        self.assertIn(told["serves"], self.run_verb("models").stdout)
        del hub.files["model.safetensors"], hub.files["pytorch_model.bin"]
        done = self.run_verb("inspect", "ORG/NAME")
        self.assertEqual(done.returncode, 66)
        self.assertIn("it has no weights as safetensors or pytorch_model.bin", done.stderr)

    # Faults on the way.

    def test_an_answer_that_is_cut_again_and_again(self):
        """At every tenth of the file."""
        hub = self.hub(files(MEBIBYTE))
        hub.cut_at = MEBIBYTE // 10
        self.check_pulled(hub, self.pull())
        self.assertGreaterEqual(len(hub.fetched("model.safetensors")), 10)

    def test_a_list_that_is_cut_is_asked_for_again_from_its_beginning(self):
        hub = self.hub()
        hub.cut_lists = 2
        done = self.pull()
        self.check_pulled(hub, done)
        self.assertIn("the next try is in 2s", done.stderr, "each try waits longer")
        self.assertEqual([wanted for path, wanted, _ in hub.requests if path.startswith("/api/")],
                         3 * [None])

    def test_a_hub_that_fails_for_a_while(self):
        for status in (429, 503, 500):
            hub = self.hub()
            hub.fails = [(status, 1)]
            done = self.pull()
            self.check_pulled(hub, done)
            self.assertIn(f"the hub answers {status}", done.stderr)
            self.run_verb("rm", "ORG/NAME")

    def test_what_the_hub_refuses(self):
        for what, code, text in ((401, 1, "UNAUTHENTICATED"), (403, 1, "is gated"),
                                 (404, 1, "NOT_FOUND"), ("loop", 1, "redirects")):
            hub = self.hub()
            hub.fails = [(what, 100)]
            self.check_refused(self.pull(), code, text)

    def test_a_model_a_revision_and_a_hub_that_are_not_there(self):
        self.hub()
        self.check_refused(self.pull("ORG/OTHER"), 1, "the hub has no model ORG/OTHER")
        self.check_refused(self.pull("ORG/NAME@none"), 1, "ORG/NAME has no such revision")
        self.check_refused(self.pull("NAME"), 64, "is no ORG/NAME")
        self.check_refused(self.pull("ORG/../NAME"), 64, "is no ORG/NAME")

    def test_content_that_is_not_what_is_listed(self):
        hub = self.hub(files(9 * MEBIBYTE))
        for path in ("config.json", "model.safetensors"):
            hub.listed = {path: {"id": ("0" * 64)[:64 if hub.is_large(path) else 40]}}
            self.check_refused(self.pull(), 1, f"{path} is not what the hub lists")
            self.check_nothing_half_done()
        hub.listed = {}
        self.check_pulled(hub, self.pull())

    def test_a_size_that_is_not_what_is_listed(self):
        hub = self.hub()
        hub.listed = {"model.safetensors": {"size": 50}}
        self.check_refused(self.pull(), 1, "sends more of ORG/NAME than it lists")

    def test_a_beginning_that_is_wrong_is_fetched_again(self):
        hub = self.hub(files(9 * MEBIBYTE))
        hub.listed = {}
        entry = hub.entry("model.safetensors")
        (self.folder / "blobs").mkdir(parents=True)
        part = self.folder / "blobs" / f"{entry['blobId']}.incomplete"
        part.write_bytes(b"wrong" * 100)
        self.check_pulled(hub, self.pull())

    def test_a_killed_pull_is_continued(self):
        hub = self.hub(files(40 * MEBIBYTE))
        running = subprocess.Popen([BIN / "mpsd", "pull", "ORG/NAME"], env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        parts = lambda: [path for path in self.folder.rglob("*.incomplete")
                         if path.stat().st_size > 0]
        wait_until(lambda: parts() or running.poll() is not None, 60, "the first bytes")
        running.send_signal(signal.SIGKILL)
        running.wait()
        self.assertFalse((self.folder / "refs/main").exists() and parts())
        self.check_pulled(hub, self.pull())

    def test_two_at_once_wait_for_each_other(self):
        hub = self.hub()
        entry = hub.entry("config.json")
        locks = self.home / "hub/.locks/models--ORG--NAME"
        locks.mkdir(parents=True)
        with open(locks / f"{entry['blobId']}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = subprocess.Popen([BIN / "mpsd", "pull", "ORG/NAME"], env=self.environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertIn("another process fetches config.json", waiting.stderr.readline())
        waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 0)

    def test_a_disk_without_room(self):
        hub = self.hub()
        for size in (1 << 60, (1 << 64) - 1):
            hub.listed = {"model.safetensors": {"size": size}}
            self.check_refused(self.pull(), 73, " are needed in ")

    def test_names_that_lead_out(self):
        for name in ("../out", "a/../../out", "/etc/passwd", "a//b", "", "a\\b", "a\nb", "." ):
            hub = self.hub()
            hub.listed = {"config.json": {"path": name}}
            self.check_refused(self.pull(), 1, "names a file that cannot be kept")
            self.assertEqual(hub.fetched(), [])

    def test_a_model_that_mpsd_cannot_read(self):
        for left_out, text in ((["config.json"], "it has no config.json"),
                               (["model.safetensors", "pytorch_model.bin"], "it has no weights")):
            hub = self.hub({path: text for path, text in files().items() if path not in left_out})
            self.check_refused(self.pull(), 66, text)
            self.assertEqual(hub.fetched(), [])

    # Serving.

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_model_is_served_by_its_name(self):
        hub = self.minilm_hub()
        self.check_served()
        fetched = len(hub.fetched())
        self.check_served()
        hub.is_busy = True
        self.check_served()
        self.assertEqual(len(hub.fetched()), fetched)

        self.environment["HF_ENDPOINT"] = "http://127.0.0.1:1"
        self.check_served()

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_model_of_a_config_is_fetched_while_others_serve(self):
        hub = self.minilm_hub()
        hub.flows.clear()
        hub.fails = [(403, 1)]
        with self.daemon() as daemon:
            why = lambda: daemon.ps()["minilm"]["state"]
            wait_until(lambda: "is gated" in why(), 60, "the fault")
            self.assertEqual(daemon.metric("mpsd_pull_failures_total"), 1)
            self.assertTrue(daemon.reload()["ok"], "tries again at once")
            arrived = lambda: 0 < daemon.metric("mpsd_pull_bytes", source="ORG/NAME") \
                < daemon.metric("mpsd_pull_expected_bytes", source="ORG/NAME")
            wait_until(arrived, 60, "half of the weights")
            wait_until(lambda: re.match(r"loading: fetches ORG/NAME: .* of ", why()), 60, "how far it is")
            self.assertIn("minilm", daemon.get("/readyz")[1])
            self.assertEqual(self.infer(daemon, "m").code, calls.OK)
            self.assertEqual(self.infer(daemon, "minilm").code, grpc.StatusCode.UNAVAILABLE)
            self.log_level(daemon, 3)
            hub.flows.set()
            wait_until(lambda: daemon.get("/readyz")[0] == 200, 60, "the model")
            self.assertEqual(self.log_level(daemon), 3, "its arrival is no reload")
            done = mpsd("embed", "hello", "--server", f"http://{daemon.http}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(arrived())
            self.assertIn("2 kept", daemon.reload()["text"])
        fetched = len(hub.fetched())
        self.environment["HF_ENDPOINT"] = "http://127.0.0.1:1"
        with self.daemon() as daemon:
            self.assertEqual(daemon.get("/readyz")[0], 200, "from the cache")
        self.assertEqual(len(hub.fetched()), fetched)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_daemon_that_ends_ends_its_pull(self):
        hub = self.minilm_hub()
        hub.flows.clear()
        with self.daemon() as daemon:
            wait_until(lambda: daemon.metric("mpsd_pull_bytes") > 0, 60, "the first bytes")
        hub.flows.set()
        self.assertFalse((self.folder / "refs/main").exists())
        with self.daemon() as daemon:
            wait_until(lambda: daemon.get("/readyz")[0] == 200, 60, "the rest")

    def test_half_a_snapshot_is_no_model(self):
        """Of a revision that is a commit there is no ref, which would be the last to come."""
        self.hub()
        self.pull(f"ORG/NAME@{COMMIT}")
        offline = lambda: self.pull(f"ORG/NAME@{COMMIT}", HF_HUB_OFFLINE="1")
        self.assertEqual(offline().returncode, 0)
        snapshot = self.folder / "snapshots" / COMMIT
        (snapshot / "model.safetensors").rename(snapshot / "model-00001-of-00002.safetensors")
        self.assertIn("1 of its 2 files of weights are missing", offline().stderr)
        (snapshot / "model-00001-of-00002.safetensors").unlink()
        self.assertIn("it has no weights", offline().stderr)

    def minilm_hub(self):
        folder = MODELS / "minilm"
        return self.hub({str(path.relative_to(folder)): path.read_bytes()
                         for path in folder.rglob("*") if path.is_file() and path.name[0] != "."})

    def daemon(self):
        models = [synthetic("m"), {"name": "minilm", "path": "hf:ORG/NAME"}]
        return Daemon(models, environment=self.environment)

    @staticmethod
    def log_level(daemon, level=None):
        request = calls.service_pb2.LogSettingsRequest()
        if level is not None:
            request.settings["log_verbose_level"].uint32_param = level
        with calls.stub(daemon.address) as stub:
            return stub.LogSettings(request).settings["log_verbose_level"].uint32_param

    @staticmethod
    def infer(daemon, model):
        with calls.stub(daemon.address) as stub:
            return calls.outcome_of(stub.ModelInfer.future(calls.request(model, {"x": calls.row_of(1)})))

    def test_neither_a_folder_nor_a_model(self):
        self.hub()
        done = self.run_verb("serve", "ORG/OTHER")
        self.assertEqual((done.returncode, done.stderr),
                         (78, "mpsd: there is no folder 'ORG/OTHER' here, and the hub has no model "
                              "ORG/OTHER\n"))
        done = self.run_verb("serve", "ORG/OTHER", HF_ENDPOINT="http://127.0.0.1:1")
        self.assertEqual(done.returncode, 78)
        self.assertIn("the hub cannot be reached", done.stderr)

    def check_served(self):
        with subprocess.Popen([BIN / "mpsd", "serve", "ORG/NAME", "--port", "0", "--http-port", "0"],
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as server:
            try:
                line = next(line for line in server.stdout if "takes gRPC calls" in line)
                http = line.split("http on ")[1].split(",")[0].strip()
                done = mpsd("embed", "hello", "--server", f"http://{http}", "--wait", "60s")
                self.assertEqual((done.returncode, done.stderr), (0, "mpsd: model NAME\n"))
            finally:
                server.terminate()
                server.communicate(timeout=60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
