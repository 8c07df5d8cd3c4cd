"""OpenAI's client for Node as it is. What it got is compared here."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import text_clients
from text_clients import ROOT

OLDEST_NODE = 20  # for openai's client
SCRIPT = ROOT / "tests/compat/node/openai.mjs"
FOLDERS = sorted(pathlib.Path(os.environ.get("MPSD_CLIENTS") or ROOT / ".deps/clients").glob(
    "openai_node-*/node_modules/openai"))


def node():
    program = shutil.which("node")
    version = program and subprocess.run([program, "--version"], capture_output=True, text=True,
                                         check=False).stdout
    found = re.match(r"v(\d+)\.", version or "")
    if not found or int(found[1]) < OLDEST_NODE:
        text_clients.skip(f"node of version {OLDEST_NODE} or newer")
    if not FOLDERS:
        text_clients.skip("openai for node: tests/compat/fetch_clients.sh fetches it, where it can")
    return program


class Node(text_clients.TextClientTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # A module from the standard input finds packages from the folder in which it runs.
        done = subprocess.run([PROGRAM, "--input-type=module"], input=SCRIPT.read_text(),
                              cwd=FOLDERS[-1].parents[1], env={**os.environ, "MPSD_URL": cls.url},
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        cls.got = json.loads(done.stdout)

    def check_answer(self, answer, texts, tokens, dimensions=8):
        self.assertEqual([one["index"] for one in answer["data"]], list(range(len(texts))))
        for one, text in zip(answer["data"], texts, strict=True):
            self.check_vector(one["embedding"], text, dimensions)
        self.assertEqual(answer["usage"], {"prompt_tokens": tokens, "total_tokens": tokens})

    def test_models(self):
        self.assertEqual(sorted(self.got["models"]), ["e", "r"])
        self.assertEqual((self.got["model"]["id"], self.got["model"]["task"]), ("e", "embedding"))

    def test_texts(self):
        self.check_answer(self.got["base64"], ["a b", "", "c"], 4 + 2 + 3)
        self.check_answer(self.got["float"], ["a b"], 4)

    def test_tokens(self):
        self.check_answer(self.got["tokens"], ["a", "b"], 6)

    def test_dimensions(self):
        self.check_answer(self.got["cut"], ["a"], 3, dimensions=3)

    def test_errors(self):
        self.assertEqual(self.got["unknown"], {
            "class": "NotFoundError", "status": 404, "type": "invalid_request_error",
            "code": "model_not_found"})
        self.assertEqual(self.got["empty"], {
            "class": "BadRequestError", "status": 400, "type": "invalid_request_error",
            "code": None})
        self.assertEqual((self.got["long"]["status"], self.got["long"]["code"]),
                         (413, "context_length_exceeded"))


if __name__ == "__main__":
    PROGRAM = node()
    unittest.main(verbosity=2)
