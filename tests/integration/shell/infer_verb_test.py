"""`mpsd infer` with a real server: what it prints by gRPC it prints by HTTP."""
import hashlib
import json
import pathlib
import tempfile
import unittest

import numpy as np

from certificates import Authority
from daemon import Daemon, mpsd
from models import repeating, synthetic, tensor

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]
MODELS = [
    synthetic("m"),
    synthetic("half", [tensor("x", [4], "FP16")]),
    synthetic("brain", [tensor("x", [4], "BF16")]),
    synthetic("bytes", [tensor("x", [2], "BYTES")]),
    synthetic("image", [tensor("x", [1], "BYTES")]),
    synthetic("open", [tensor("x", [-1], "INT64")], max_batch_size=0),
    synthetic("two", [tensor("a", [2]), tensor("b", [3], "BOOL")],
              outputs=[tensor("a", [2]), tensor("b", [3], "BOOL")]),
    synthetic("slow", parameters={"delay": "2s"}),
    synthetic("bad", parameters={"throw_if": "7"}),
    repeating("many"),
]


def without_times(report):
    return {key: value for key, value in json.loads(report).items() if key != "latency_ms"}


class InferVerb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        vocab = cls.folder / "vocab.txt"
        vocab.write_text("".join(f"{word}\n" for word in WORDS))
        tokens = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64")]
        encoder = synthetic("e", tokens, outputs=[tensor("embedding", [8])],
                            text={"tokenizer": str(vocab), "max_tokens": 4},
                            parameters={"encode": "true"})
        cls.daemon = cls.enterClassContext(Daemon([encoder, *MODELS]))

    def both(self, *words, code=0):
        """What the verb writes, [stdout, stderr], by gRPC and by HTTP."""
        done = [mpsd("infer", *words, "--address", address)
                for address in (self.daemon.address, f"http://{self.daemon.http}")]
        for one in done:
            self.assertEqual(one.returncode, code, one.stderr)
        return [(one.stdout, one.stderr) for one in done]

    def same(self, *words):
        """The report as JSON, which both print."""
        by_grpc, by_http = self.both(*words, "--json")
        self.assertEqual(without_times(by_http[0]), without_times(by_grpc[0]))
        self.assertEqual(by_http[1], by_grpc[1])
        return without_times(by_http[0])

    def same_error(self, text, *words, code=1):
        by_grpc, by_http = self.both(*words, code=code)
        self.assertEqual(by_http, by_grpc)
        self.assertEqual(by_http[0], "")
        self.assertIn(text, by_http[1])

    def file_of(self, array):
        path = self.folder / f"{self.id()}.npy"
        np.save(path, array)
        return path

    def test_numbers_come_back(self):
        array = np.arange(32, dtype=np.float32).reshape(2, 16)
        kept = self.folder / "kept.npy"
        report = self.same("m", "--input", f"x=@{self.file_of(array)}", "--id", "seven",
                           "--output", f"OUTPUT0=@{kept}")
        self.assertEqual((report["model"], report["version"], report["id"]), ("m", "1", "seven"))
        self.assertEqual(report["outputs"][0]["data"], array.ravel().tolist())
        np.testing.assert_array_equal(np.load(kept), array)

    def test_people_see_the_same_table(self):
        (by_grpc, _), (by_http, _) = self.both("m", "--input", "x=random", "--batch", 3)
        *rows, last = by_http.splitlines()
        self.assertEqual(rows, by_grpc.splitlines()[:-1])
        self.assertIn("[3,16]", rows[1])
        self.assertIn("m", last)

    def test_small_floats_need_no_json(self):
        half = np.array([[0, -2, 65504, np.inf]], np.float16)
        report = self.same("half", "--input", f"x=@{self.file_of(half)}")
        self.assertEqual(report["outputs"][0]["data"], [0, -2, 65504, None])
        report = self.same("brain", "--input", "x=random", "--seed", 5)
        self.assertEqual(report["outputs"][0]["datatype"], "BF16")
        self.assertTrue(all(0 < one < 1 for one in report["outputs"][0]["data"]))

    def test_bytes_that_are_no_text_come_back(self):
        report = self.same("bytes", "--input", f"x=@{self.file_of(np.array([[b'a', b'xyz']]))}")
        self.assertEqual(report["outputs"][0]["data"], ["a", "xyz"])
        kept = self.folder / "bytes.npy"
        array = np.array([[b"\xff\x00\xfe", b'{"']])
        self.same("bytes", "--input", f"x=@{self.file_of(array)}", "--output", f"OUTPUT0=@{kept}")
        np.testing.assert_array_equal(np.load(kept), array)

    def test_a_file_of_bytes_goes_as_it_is(self):
        image, kept = self.folder / "image.png", self.folder / "image.npy"
        image.write_bytes(b"\x89PNG\r\n\x1a\n\0,1")
        self.same("image", "--input", f"x=@{image}", "--output", f"OUTPUT0=@{kept}")
        self.assertEqual(np.load(kept)[0][0], image.read_bytes())
        self.same_error("only an input of BYTES takes a file as it is; this one takes FP32[-1,16]",
                        "m", "--input", f"x=@{image}", code=64)

    def test_texts_and_how_many_are_cut(self):
        by_grpc, by_http = self.both("e", "--text", "a b", "--text", "a b c d e")
        self.assertEqual(by_http[0].splitlines()[:6], by_grpc[0].splitlines()[:6])
        self.assertEqual(by_http[1], by_grpc[1])
        self.assertIn("1 of 2 texts had too many tokens", by_http[1])
        self.same("e", "--text", 'a "b"', "--text", "é")

    def test_inputs_outputs_and_versions_are_named(self):
        words = ("two", "--input", "b=random", "--input", "a=random", "--batch", 2,
                 "--model-version", 1)
        self.assertEqual([one["name"] for one in self.same(*words)["outputs"]], ["a", "b"])
        report = self.same(*words, "--output", "b", "--output", "a")
        self.assertEqual([one["datatype"] for one in report["outputs"]], ["BOOL", "FP32"])

    def test_a_tensor_of_no_elements(self):
        report = self.same("open", "--input", "x=random", "--shape", "x=0")
        self.assertEqual(report["outputs"][0]["shape"], [0])

    def test_errors_are_those_of_grpc(self):
        self.same_error("unknown model: 'é? #%' is not found", "é? #%", "--input", "x=random")
        self.same_error("NOT_FOUND: Request for unknown model: 'none' is not found",
                        "none", "--input", "x=random")
        self.same_error("version 9 is not found", "m", "--model-version", 9, "--input", "x=random")
        self.same_error("INVALID_ARGUMENT: unexpected shape for input 'x'",
                        "m", "--input", "x=random", "--shape", "x=1,15")
        self.same_error("unexpected inference output 'z'", "m", "--input", "x=random",
                        "--output", "z")
        sevens = self.file_of(np.full((1, 16), 7, np.float32))
        self.same_error("INTERNAL: ", "bad", "--input", f"x=@{sevens}")
        # The server's end of the time comes shortly before the client's, and has another text.
        for _, text in self.both("slow", "--input", "x=random", "--timeout", "500ms", code=1):
            self.assertIn("DEADLINE_EXCEEDED: ", text)
        self.same_error("decoupled", "many", "--input", "IN=random", "--input", "DELAY=random",
                        "--input", "WAIT=random")
        self.same_error("model 'm' has none of this name", "m", "--input", "y=random", code=64)

    def test_an_address_that_is_no_server(self):
        def fails(address, code):
            done = mpsd("infer", "m", "--input", "x=random", "--address", address)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        self.assertIn("no server is reachable at 127.0.0.1:1", fails("http://127.0.0.1:1", 69))
        self.assertIn("http://HOST:PORT", fails("http://127.0.0.1:1/v2", 64))
        self.assertIn("no server is reachable", fails(f"https://{self.daemon.http}", 69))

    def test_either_protocol_at_either_address(self):
        for address in (f"http://{self.daemon.address}", self.daemon.http):
            done = mpsd("infer", "m", "--input", "x=random", "--address", address)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_ps_and_list_take_both_forms_of_an_address(self):
        for verb in ("ps", "list"):
            told = []
            for server in (self.daemon.address, f"http://{self.daemon.http}"):
                done = mpsd(verb, "--server", server, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                told.append(done.stdout)
            by_grpc, by_http = (json.loads(text) for text in told)
            if verb == "list":
                self.assertEqual(by_grpc, by_http)
                continue
            self.assertEqual(by_grpc.keys(), by_http.keys())
            for one, other in zip(by_grpc["models"], by_http["models"], strict=True):
                self.assertEqual(one.keys(), other.keys())
                self.assertEqual((one["name"], one["spec"]), (other["name"], other["spec"]))


class WithTls(unittest.TestCase):
    def test_tokens_and_certificates(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        authority = Authority(folder, "authority")
        stranger = Authority(folder, "stranger")
        certificate, key = authority.issue("server")
        tokens, token, wrong = (folder / name for name in ("tokens", "token", "wrong"))
        tokens.write_text(f"app {hashlib.sha256(b'secret').hexdigest()}\n")
        tokens.chmod(0o600)
        token.write_text("secret\n")
        wrong.write_text("other\n")
        daemon = Daemon([synthetic("m")],
                        listen_more={"tls": {"http": ["127.0.0.1:0"], "grpc": ["127.0.0.1:0"],
                                             "certificate": str(certificate), "key": str(key)}},
                        access={"tokens": str(tokens), "rules": [
                            {"token": "app", "roles": ["infer", "metrics"]}]})
        daemon.http_headers = {"authorization": "Bearer secret"}
        self.enterContext(daemon)

        def fails(code, text, *words, address=None):
            done = mpsd("infer", "m", "--input", "x=random", *words,
                        "--address", address or f"https://{daemon.http_listeners[1]}")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)

        fails(0, "", "--tls-ca", authority.pem, "--token-file", token)
        fails(1, "UNAUTHENTICATED: ", "--tls-ca", authority.pem, "--token-file", wrong)
        fails(1, "UNAUTHENTICATED: ", "--tls-ca", authority.pem)
        fails(69, "certificate", "--tls-ca", stranger.pem, "--token-file", token)
        fails(66, "none", "--token-file", folder / "none")
        fails(64, "options of TLS are for https://", "--tls", address=f"http://{daemon.http}")
        fails(0, "", "--token-file", token, address=f"http://{daemon.http}")
        fails(64, "a token is not sent", "--token-file", token, address="http://192.0.2.1:8000")


if __name__ == "__main__":
    unittest.main(verbosity=2)
