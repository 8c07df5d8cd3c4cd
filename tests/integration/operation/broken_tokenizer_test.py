"""A model that takes texts is not ready without its tokenizer: not at the start, and not after a
reload, which leaves the model that serves."""
import json
import os
import pathlib
import socket
import tempfile
import unittest

import numpy as np
import tritonclient.grpc as triton

import family_folders
from daemon import Daemon, WITH_TORCH
from models import huggingface, synthetic, tensor
from streams import input_of

TOKENS = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64")]
LARGEST_BYTES = 64 << 20


def tokenizer(**model):
    """The content of a tokenizer.json that can be used, but for what `model` changes."""
    words = {"[UNK]": 0, "a": 1, "b": 2}
    return {"pre_tokenizer": {"type": "WhitespaceSplit"}, "added_tokens": [],
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": words} | model}


def without_model():
    return {"pre_tokenizer": {"type": "WhitespaceSplit"}}


def frame_of(one_id):
    return {"type": "BertProcessing", "sep": ["[SEP]", one_id], "cls": ["[CLS]", one_id]}


# Parts of a tokenizer.json.
CONTENTS = {
    "empty": b"",
    "half": json.dumps(tokenizer()).encode()[:60],
    "no_object": b"[1, 2]",
    "no_utf8": json.dumps(tokenizer()).encode().replace(b'"a"', b'"\xff\xfe"'),
    "deep": b'{"model": ' + b"[" * 200 + b"]" * 200 + b"}",
    "not_a_number": json.dumps(tokenizer(vocab={"[UNK]": float("nan")})).encode(),
    "infinite_score": b'{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 1e999]]}}',
    "no_model": json.dumps(without_model()).encode(),
    "unknown_type": json.dumps(tokenizer(type="Morse")).encode(),
    "wrong_type": json.dumps(tokenizer(unk_token=7)).encode(),
    "no_vocabulary": json.dumps(tokenizer(vocab=None)).encode(),
    "wrong_id": json.dumps(tokenizer(vocab={"[UNK]": -1})).encode(),
    "no_unknown_word": json.dumps(tokenizer(vocab={"a": 0})).encode(),
    "unknown_key": json.dumps(tokenizer(colour="red")).encode(),
    "unknown_step": json.dumps(tokenizer() | {"normalizer": {"type": "Nmt"}}).encode(),
    "id_of_no_token": json.dumps(tokenizer() | {"post_processor": frame_of(99)}).encode(),
}


def remove(path):
    path.unlink()


def make_huge(path):
    os.truncate(path, LARGEST_BYTES + 1)


def make_folder(path):
    path.unlink()
    path.mkdir()


def make_fifo(path):
    path.unlink()
    os.mkfifo(path)


def make_socket(path):
    path.unlink()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def make_link(target):
    def link(path):
        path.unlink()
        path.symlink_to(target)
    return link


def forbid(path):
    path.chmod(0)


def contradict(path):
    (path.parent / "tokenizer_config.json").write_text('{"do_lower_case": "perhaps"}')


def break_prompts(path):
    (path.parent / "config_sentence_transformers.json").write_text('{"prompts": ["query: "]}')


# Changes of a folder's files.
CHANGES = {
    "missing": remove,
    "huge": make_huge,
    "folder": make_folder,
    "fifo": make_fifo,
    "socket": make_socket,
    "link_to_nothing": make_link("nothing"),
    "link_to_itself": make_link("tokenizer.json"),
    "link_to_another_file": make_link("/etc/passwd"),
    "link_to_a_device": make_link("/dev/zero"),
    "settings": contradict,
    "prompts": break_prompts,
} | ({"unreadable": forbid} if os.geteuid() != 0 else {})


def ids(client, model, text):
    words = input_of("text", np.array([[text]], dtype=object), "BYTES")
    return client.infer(model, [words])


class BrokenTokenizers(unittest.TestCase):
    def folder(self):
        made = tempfile.TemporaryDirectory(prefix="mpsd-test-")
        return pathlib.Path(self.enterContext(made))

    def model(self, name, content):
        file = self.folder() / "tokenizer.json"
        file.write_bytes(content)
        return file, synthetic(name, TOKENS, text={"tokenizer": str(file)})

    def check_says_why(self, said, folder):
        self.assertIn("its tokenizer cannot be used: ", said)
        self.assertIn(str(folder), said)

    def test_at_the_start_such_a_model_is_not_ready(self):
        models = {name: self.model(name, content) for name, content in CONTENTS.items()}
        good = self.model("good", json.dumps(tokenizer()).encode())
        daemon = self.enterContext(Daemon([good[1], *(model for _, model in models.values())]))
        client = self.enterContext(triton.InferenceServerClient(daemon.address))
        self.assertEqual(daemon.get("/readyz")[0], 503)
        self.assertTrue(client.is_model_ready("good"))
        self.assertEqual(ids(client, "good", "b a").as_numpy("OUTPUT0").tolist(), [[2, 1]])
        for name, (file, _) in models.items():
            with self.subTest(name):
                self.assertFalse(client.is_model_ready(name))
                self.check_says_why(str(daemon.ps()[name]), file.parent)
                with self.assertRaises(triton.InferenceServerException) as caught:
                    ids(client, name, "a")
                self.assertEqual(caught.exception.status(), "StatusCode.UNAVAILABLE")
                self.assertNotIn(str(file.parent), caught.exception.message())

    def test_a_reload_of_its_content_leaves_the_old_one(self):
        good = json.dumps(tokenizer()).encode()
        file, model = self.model("m", good)
        daemon = self.enterContext(Daemon([model]))
        client = self.enterContext(triton.InferenceServerClient(daemon.address))
        for name, content in CONTENTS.items():
            with self.subTest(name):
                file.write_bytes(content)
                report = daemon.reload()
                self.assertFalse(report["ok"], report)
                self.check_says_why(report["text"], file.parent)
                self.assertEqual(daemon.get("/readyz")[0], 200)
                self.assertEqual(ids(client, "m", "b a").as_numpy("OUTPUT0").tolist(), [[2, 1]])
        file.write_bytes(json.dumps(tokenizer(vocab={"[UNK]": 0, "b": 1, "a": 2})).encode())
        self.assertTrue(daemon.reload()["ok"])
        self.assertEqual(ids(client, "m", "b a").as_numpy("OUTPUT0").tolist(), [[1, 2]])

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_a_reload_of_a_folder_leaves_the_old_one(self):
        folder = self.folder() / "m"
        family_folders.write_text_family("bert", folder)
        kept = {path: path.read_bytes() for path in folder.iterdir() if path.suffix == ".json"}
        daemon = self.enterContext(Daemon([huggingface("m", folder)]))
        client = self.enterContext(triton.InferenceServerClient(daemon.address))
        wanted = ids(client, "m", "a b").as_numpy("sentence_embedding").tolist()
        for name, change in CHANGES.items():
            with self.subTest(name):
                change(folder / "tokenizer.json")
                report = daemon.reload()
                self.assertFalse(report["ok"], report)
                self.check_says_why(report["text"], folder)
                self.assertEqual(daemon.get("/readyz")[0], 200)
                self.assertEqual(
                    ids(client, "m", "a b").as_numpy("sentence_embedding").tolist(), wanted)
            self.restore(folder, kept)

    def restore(self, folder, kept):
        place = folder / "tokenizer.json"
        if place.is_dir() and not place.is_symlink():
            place.rmdir()
        else:
            place.unlink(missing_ok=True)
        for path, content in kept.items():
            path.write_bytes(content)

    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_at_the_start_such_a_folder_is_not_ready(self):
        """A name that is there is not passed over for vocab.txt, and opening it never waits."""
        names = ("missing", "fifo", "link_to_nothing", "folder")
        folders = {name: self.folder() / name for name in names}
        for name, folder in folders.items():
            family_folders.write_text_family("bert", folder)
            CHANGES[name](folder / "tokenizer.json")
            if name != "missing":
                (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n")
        daemon = self.enterContext(Daemon([huggingface(*one) for one in folders.items()]))
        for name, folder in folders.items():
            with self.subTest(name):
                self.check_says_why(str(daemon.ps()[name]), folder / "tokenizer.json")
                self.assertEqual(daemon.metric("mpsd_workers_ready", model=name), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
