"""`mpsd embed`, `rerank` and `tokenize` with a real server."""
import contextlib
import io
import json
import os
import pathlib
import pty
import socket
import subprocess
import tempfile
import unittest

import numpy as np

from daemon import BIN, Daemon, MODELS, ROOT, START_LIMIT_S, WITH_TORCH, mpsd, wait_until
from models import huggingface, synthetic, tensor

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]
CLS, SEP = 2, 3
TOKENS = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64"),
          {**tensor("token_type_ids", [-1], "INT64"), "optional": True}]


def tokens_of(text, pair=None):
    ids = [CLS, *(WORDS.index(word) for word in text.split()), SEP]
    return ids if pair is None else [*ids, *tokens_of(pair)[1:]]


def numbers_of(ids, width):
    """What a synthetic encoder gives for a row of tokens."""
    return [float(sum(one * (place + 3) % 17 - 8 for one in ids)) for place in range(width)]


def unit(ids, width=8):
    numbers = np.array(numbers_of(ids, width), np.float32)
    return numbers / np.linalg.norm(numbers)


class TextVerbs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def serve(self, *names):
        """A daemon with the embedder "e", the reranker "r" or others of `names`."""
        vocab = self.folder / "vocab.txt"
        vocab.write_text("".join(f"{word}\n" for word in WORDS))

        def model(name, output):
            return synthetic(name, TOKENS, max_batch_size=4, outputs=[output],
                             text={"tokenizer": str(vocab), "max_tokens": 6},
                             parameters={"encode": "true"})

        outputs = {"e": tensor("sentence_embedding", [8]), "e2": tensor("embedding", [8]),
                   "r": tensor("scores", [1])}
        self.daemon = self.enterContext(Daemon(
            [model(name, outputs[name]) for name in names or ("e", "r")]))

    def run_verb(self, verb, *words, code=0, stdin=b"", server=None):
        server = server or f"http://{self.daemon.http}"
        done = subprocess.run([str(BIN / "mpsd"), verb, "--server", server, *map(str, words)],
                              input=stdin, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout, done.stderr.decode()

    def test_embeds_words_and_says_which_model(self):
        self.serve()
        out, err = self.run_verb("embed", "a b", "c", "--json")
        self.assertEqual(err, "mpsd: model e\n")
        report = json.loads(out)
        self.assertEqual(report["tokens"], 7)
        for row, text in zip(report["embeddings"], ("a b", "c"), strict=True):
            self.assertEqual(row["text"], text)
            np.testing.assert_allclose(row["embedding"], unit(tokens_of(text)), atol=1e-6)
        out, err = self.run_verb("embed", "--model", "e", "--", "a b")
        self.assertIn("model e, 4 tokens", out.decode())
        self.assertEqual(err, "")

    def test_embeds_behind_a_prompt_of_the_models(self):
        (self.folder / "config_sentence_transformers.json").write_text(
            json.dumps({"prompts": {"query": "c d "}}))
        self.serve()
        out, _ = self.run_verb("embed", "a", "--prompt", "query", "--json")
        report = json.loads(out)
        self.assertEqual(report["embeddings"][0]["text"], "a")
        np.testing.assert_allclose(report["embeddings"][0]["embedding"],
                                   unit(tokens_of("c d a")), atol=1e-6)
        _, err = self.run_verb("embed", "a", "--prompt", "none", code=1)
        self.assertIn("query", err)

    def test_a_long_file_becomes_one_array_in_its_order(self):
        self.serve()
        texts = [" ".join(WORDS[4 + (row + place) % 8] for place in range(row % 5))
                 for row in range(150)]
        wanted = np.array([unit(tokens_of(" ".join(text.split()[:4]))) for text in texts])
        file = self.folder / "texts"
        file.write_text("".join(f"{text}\r\n" for text in texts))
        out, _ = self.run_verb("embed", "--file", file, "--npy")
        array = np.load(io.BytesIO(out))
        self.assertEqual((array.shape, array.dtype), ((150, 8), np.float32))
        np.testing.assert_allclose(array, wanted, atol=1e-6)
        kept = self.folder / "kept.npy"
        out, err = self.run_verb("embed", "--file", "-", "--npy", "--output-file", kept,
                                 stdin="\n".join(texts).encode())
        self.assertEqual((out, err), (b"", "mpsd: model e\n"))
        np.testing.assert_array_equal(np.load(kept), array)

    def test_texts_that_the_server_cuts_are_told(self):
        self.serve()
        _, err = self.run_verb("embed", "a b c d e", "a", "a b c d e f")
        self.assertIn("mpsd: the server has cut 2 of 3 texts", err)

    def test_reranks_a_file(self):
        self.serve()
        documents = [WORDS[4 + row % 8] for row in range(70)]
        scores = [numbers_of(tokens_of("a", document), 1)[0] for document in documents]
        order = sorted(range(70), key=lambda row: (-scores[row], row))
        file = self.folder / "documents"
        file.write_text("\n".join(documents))
        out, err = self.run_verb("rerank", "a", "--documents", file, "--json")
        self.assertEqual(err, "mpsd: model r\n")
        self.assertEqual([(one["index"], one["score"]) for one in json.loads(out)["results"]],
                         [(row, scores[row]) for row in order])
        out, _ = self.run_verb("rerank", "a", "--top-n", 1, "--model", "r", *documents[:8])
        best = max(range(8), key=lambda row: (scores[row], -row))
        self.assertEqual(out.decode().splitlines()[1].split()[1:3],
                         [str(best + 1), f"{scores[best]:.5g}"])

    def test_tokenizes_uncut(self):
        self.serve("e")
        out, err = self.run_verb("tokenize", "a b c d e f g h", "--json")
        self.assertEqual(err, "mpsd: model e\n")
        tokens = json.loads(out)["rows"][0]["tokens"]
        self.assertEqual([token["id"] for token in tokens], tokens_of("a b c d e f g h"))
        self.assertEqual([token["piece"] for token in tokens], ["[CLS]", *"abcdefgh", "[SEP]"])
        self.assertEqual([token["special"] for token in tokens], [True, *[False] * 8, True])
        out, _ = self.run_verb("tokenize", "b x")
        self.assertEqual([line.split() for line in out.decode().splitlines()[1:5]],
                         [["1", "1", "2", "[CLS]", "yes"], ["1", "2", "5", "b"],
                          ["1", "3", "1", "[UNK]"], ["1", "4", "3", "[SEP]", "yes"]])

    def test_errors_have_their_exit_codes(self):
        self.serve("e", "e2")
        _, err = self.run_verb("embed", "a", code=64)
        self.assertIn("--model must name one of those of the task embedding: e, e2", err)
        _, err = self.run_verb("rerank", "a", "b", code=1)
        self.assertIn("there are no models of the task rerank", err)
        _, err = self.run_verb("embed", "--model", "x", "a", code=1)
        self.assertIn("NOT_FOUND: ", err)
        self.run_verb("embed", "--file", self.folder / "none", code=66)
        self.run_verb("embed", "--model", "e", "a", "--output-file", "/none/x", code=73)
        self.run_verb("embed", "a", code=69, server="http://127.0.0.1:1")
        self.run_verb("embed", "a", code=64, server="unix:/none")

    def test_the_server_may_be_written_without_its_scheme(self):
        self.serve("e")
        self.run_verb("embed", "a", server=self.daemon.http)

    def test_a_model_that_loads_is_waited_for(self):
        self.serve("e")
        slow = {**self.daemon.config["models"][0], "name": "slow"}
        slow["parameters"] = {**slow["parameters"], "load_delay": "2s"}
        with Daemon([slow]) as daemon:
            daemon.terminate()
            daemon.wait()
            port = daemon.http.rsplit(":", 1)[1]
            daemon.config["listen"]["http"] = f"127.0.0.1:{port}"
            daemon.write_config([slow])
            daemon.launch()
            wait_until(lambda: self.answers(daemon.http), START_LIMIT_S, "its first answer")
            for words in (["a"], ["a", "--model", "slow"]):
                _, err = self.run_verb("embed", *words, server=daemon.http)
                waited = "mpsd: waits for model slow, which loads (--wait 60s)\n"
                self.assertTrue(err.startswith(waited) or "waits" not in err, err)
                if words == ["a"]:
                    self.assertEqual(err, waited + "mpsd: model slow\n")

    @staticmethod
    def answers(address):
        host, port = address.split(":")
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
            return True
        return False

    def test_an_array_does_not_go_to_a_terminal(self):
        self.serve("e")
        ours, theirs = pty.openpty()
        done = subprocess.run(
            [str(BIN / "mpsd"), "embed", "a", "--npy", "--server",
             f"http://{self.daemon.http}"],
            stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(theirs)
        os.close(ours)
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"not for a terminal", done.stderr)


@unittest.skipUnless(WITH_TORCH and (MODELS / "minilm/config.json").exists(), "there is no minilm")
class MiniLm(unittest.TestCase):
    def test_the_demos_vectors_are_those_of_sentence_transformers(self):
        entries = json.loads((ROOT / "tests/compat/minilm/reference.json").read_text())
        with Daemon([huggingface("minilm")]) as daemon:
            done = mpsd("embed", "--server", f"http://{daemon.http}", "--json", "--",
                        *(entry["text"] for entry in entries))
            self.assertEqual(done.returncode, 0, done.stderr)
        for one, entry in zip(json.loads(done.stdout)["embeddings"], entries, strict=True):
            np.testing.assert_allclose(one["embedding"], entry["embedding"], atol=1e-5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
