"""`mpsd inspect` of a folder says what the daemon will make of its tokenizer."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import calls
import family_folders
import procfs
from daemon import BIN, Daemon, MODELS, WITH_TORCH, mpsd, wait_until
from models import huggingface


def text_request(name, text):
    request = calls.request(name, {})
    content = request.inputs.add(name="text", datatype="BYTES", shape=[1, 1]).contents
    content.bytes_contents.append(text.encode())
    return request


@unittest.skipUnless(WITH_TORCH, "built without torch")
class Inspect(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def folder(self, family, name="model"):
        """A folder of tests' text families."""
        family_folders.write_text_family(family, self.root / name)
        return self.root / name

    def inspect(self, folder, *flags):
        done = mpsd("inspect", folder, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def inspect_json(self, folder):
        return json.loads(self.inspect(folder, "--json"))

    def change(self, file, change):
        """Has `change` alter what a file of JSON holds."""
        content = json.loads(file.read_text())
        change(content)
        file.write_text(json.dumps(content))

    def test_people_read_each_fact(self):
        folder = self.folder("xlm_roberta")
        for line in ("words: 385",
                     "tokens: at most 32 a row, as tokenizer_config.json says",
                     "tokenizer: Unigram, 385 pieces, of tokenizer.json",
                     "special tokens: <s> 0, </s> 2; a text becomes <s> A </s>, "
                     "a pair <s> A </s> </s> B </s>",
                     "truncation: on: a longer row is cut on the right",
                     "prompts: 2; a request that names none gets 'document'",
                     "PROMPT    TEXT",
                     "document  'passage: '",
                     "query     'query: '"):
            self.assertIn(f"\n{line}\n", self.inspect(folder))

    def test_programs_read_each_fact(self):
        folder = self.folder("qwen3")
        self.change(folder / "tokenizer.json", lambda json: json.update(
            truncation={"max_length": 7, "strategy": "LongestFirst", "stride": 0}))
        self.change(folder / "tokenizer_config.json",
                    lambda json: json.update(truncation_side="left"))
        read = self.inspect_json(folder)
        self.assertEqual(read["facts"]["words"], "381")
        self.assertEqual(read["facts"]["tokens"],
                         "at most 32 a row, as tokenizer_config.json says")
        end = read["tokenizer"]["special_tokens"][0]
        self.assertEqual(end["token"], "<|endoftext|>")
        self.assertEqual(read["tokenizer"], {
            "file": str(folder / "tokenizer.json"), "kind": "BPE", "pieces": 381, "id_bound": 381,
            "special_tokens": [end], "text_row": "A <|endoftext|>",
            "pair_row": read["tokenizer"]["pair_row"], "long_input": "truncate",
            "cut_side": "left", "unheeded_length": 7,
            "prompts": {"document": "",
                        "query": "Instruct: find the documents that answer it\nQuery:"},
            "default_prompt": None, "ids_beyond_model": 0})

    def test_a_folder_may_be_named_with_a_slash_or_from_where_one_is(self):
        folder = self.folder("bert")
        for name in (f"{folder}/", f"{folder}/../model"):
            self.assertEqual(self.inspect_json(name)["tokenizer"]["file"],
                             str(folder / "tokenizer.json"))

    def test_what_is_refused_is_what_the_daemon_refuses(self):
        broken = self.folder("bert", "broken")
        (broken / "tokenizer.json").write_text('{"model": ')
        unknown = self.folder("bert", "unknown")
        self.change(unknown / "tokenizer.json",
                    lambda json: json["normalizer"].update(type="Nmt"))
        disagrees = self.folder("bert", "disagrees")
        self.change(disagrees / "tokenizer_config.json",
                    lambda json: json.update(do_lower_case=False))
        prompts = self.folder("bert", "prompts")
        self.change(prompts / "config_sentence_transformers.json",
                    lambda json: json.update(prompts=["query: "]))
        folders = (broken, unknown, disagrees, prompts)
        with Daemon([huggingface(one.name, one) for one in folders]) as daemon:
            log = daemon.log()
        for folder in folders:
            with self.subTest(folder.name):
                refused = self.inspect_json(folder)["tokenizer"]["refused"]
                self.assertIn(str(folder / "tokenizer.json"), refused)
                self.assertIn(f"tokenizer: refused, so the model is not served: {refused}\n",
                              self.inspect(folder))
                self.assertIn(json.dumps(refused)[1:-1], log)

    def test_without_a_tokenizer_it_takes_tokens(self):
        folder = self.folder("bert")
        (folder / "tokenizer.json").unlink()
        self.assertIn("No such file", self.inspect_json(folder)["tokenizer"]["refused"])
        (folder / "tokenizer_config.json").unlink()
        self.assertIsNone(self.inspect_json(folder)["tokenizer"])
        self.assertIn("\ntokenizer: none, since there is no tokenizer.json and no vocab.txt",
                      self.inspect(folder))

    def test_the_vocabulary_may_be_larger_than_the_models(self):
        folder = self.folder("bert")
        self.change(folder / "tokenizer.json",
                    lambda json: json["model"]["vocab"].update(zzzz=385))
        self.assertEqual(self.inspect_json(folder)["tokenizer"]["ids_beyond_model"], 1)
        self.assertIn("\nwarning: its ids go up to 385, but the model has 385 words: "
                      "a text with a token beyond them fails\n", self.inspect(folder))
        with Daemon([huggingface("model", folder)]) as daemon, calls.stub(daemon.address) as stub:
            outcome = calls.infer(stub, text_request("model", "zzzz"))
            self.assertIn("the token id 385 is outside of the model's 385 words", outcome.text)

    def test_a_model_that_is_refused_is_refused_as_before(self):
        folder = self.folder("bert")
        self.change(folder / "config.json", lambda json: json.update(model_type="gpt2"))
        done = mpsd("inspect", folder)
        self.assertEqual(done.returncode, 66)
        self.assertEqual(done.stdout, "")
        self.assertIn("gpt2", done.stderr)

    @unittest.skipUnless((MODELS / "mlp_1024x6.pt").exists(), "there are no demo models")
    def test_what_reads_the_file_goes_with_it(self):
        """A model may run for ever while its outputs are learned."""
        subprocess.run([BIN / "mpsd-make-models", self.root, "--faulty"], check=True,
                       stdout=subprocess.DEVNULL)
        inspect = subprocess.Popen([BIN / "mpsd", "inspect", self.root / "hangs.pt"])
        (reader,) = wait_until(lambda: procfs.children(inspect.pid), 30, "its worker")
        wait_until(lambda: any("torch" in name for name in procfs.mapped_files(reader)), 30, "torch")
        inspect.kill()
        inspect.wait()
        wait_until(lambda: not procfs.runs(reader), 30, "the worker's end")

    def test_of_a_model_file_no_tokenizer_is_told(self):
        self.assertNotIn("tokenizer", self.inspect_json(MODELS / "mlp_1024x6.pt"))
        self.assertNotIn("tokenizer", self.inspect(MODELS / "mlp_1024x6.pt"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
