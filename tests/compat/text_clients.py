"""What tests of applications' clients share: their environment, and a server of texts.

Each of these tests is a program that asks for its package by need() before it imports it. They use
the packages of .deps/clients-venv (tests/compat/requirements.txt) whichever Python they start in.
"""
import http.client
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from daemon import Daemon  # noqa: E402
from encoders import EMBEDDING, RANKING, encoder, numbers_of, tokens_of, unit  # noqa: E402

VENV = ROOT / ".deps/clients-venv"
# Nothing that these clients do besides may ask another host, and none may take the server for one
# that a proxy reaches.
QUIET = {"HAYSTACK_TELEMETRY_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1",
         "LANGSMITH_TRACING": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "*"}
OUTPUTS = {"e": EMBEDDING, "r": RANKING}


def skip(what):
    """Ends the program in such a way that ctest counts its test as skipped."""
    print(f"skipped 'there is no {what}'")
    sys.exit(0)


def need(package):
    """Goes on in the environment of the clients, which has that package."""
    python = VENV / "bin/python"
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        if not python.exists():
            skip(f"{VENV.name} in {VENV.parent}: ./run setup makes it, where it can")
        # Only what the tests import is compiled, and stays so beside the packages.
        environment = {name: value for name, value in os.environ.items()
                       if name != "PYTHONDONTWRITEBYTECODE"}
        os.execve(python, [str(python), *sys.argv], {
            **environment, **QUIET, "PYTHONPYCACHEPREFIX": str(VENV / "compiled")})
    if importlib.util.find_spec(package) is None:
        skip(f"{package} in {VENV}")


class TextClientTest(unittest.TestCase):
    """A daemon that serves the embedder "e" and the reranker "r", or those of `models`."""

    models = ("e", "r")

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        cls.daemon = cls.enterClassContext(Daemon([
            encoder(name, OUTPUTS[name], pathlib.Path(folder)) for name in cls.models]))
        cls.url = f"http://{cls.daemon.http}"

    def post(self, path, **body):
        """The answer to a request over plain HTTP."""
        connection = http.client.HTTPConnection(self.daemon.http, timeout=30)
        self.addCleanup(connection.close)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        read = answer.read()
        self.assertEqual(answer.status, 200, read)
        return json.loads(read)

    def check_close(self, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for one, other in zip(got, wanted):
            self.assertAlmostEqual(one, other, delta=1e-6)

    def check_vector(self, got, text, dimensions=8):
        """It is the vector of the text, as the model computes it and as plain HTTP gives it."""
        self.check_close(got, unit(numbers_of(tokens_of(text))[:dimensions]))
        answer = self.post("/v1/embeddings", model="e", input=text, dimensions=dimensions)
        self.check_close(got, answer["data"][0]["embedding"])

    def ranking(self, query, documents, top_n=None):
        """(index, score) of the documents in the order in which they must come."""
        scores = [numbers_of(tokens_of(query, document), 1)[0] for document in documents]
        ranked = sorted(enumerate(scores), key=lambda one: (-one[1], one[0]))[:top_n]
        answer = self.post("/rerank", model="r", query=query, texts=documents)
        self.assertEqual([(one["index"], one["score"]) for one in answer][:top_n], ranked)
        return ranked
