"""`mpsd logs` and `mpsd token`: an operator's verbs for the daemon of this host."""
import json
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

from daemon import BIN, Daemon, mpsd
from models import synthetic

USAGE = 64
NO_INPUT = 66


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        self.config = self.folder / "mpsd.json"

    def write(self, **config):
        self.config.write_text("// mine\n" + json.dumps(config))

    def here(self, *words):
        return subprocess.run([str(BIN / "mpsd"), *words], cwd=self.folder, text=True,
                              capture_output=True, timeout=60, check=False)


class Logs(Folder):
    def test_the_file_that_a_config_names(self):
        (self.folder / "log").write_text("one\ntwo\nthree\n")
        self.write(log={"file": "log"}, models="this is a mistake")
        self.assertEqual(self.here("logs").stdout, "one\ntwo\nthree\n")
        self.assertEqual(self.here("logs", "-n", "1").stdout, "three\n")
        done = mpsd("logs", "--config", self.config)
        self.assertEqual((done.returncode, done.stdout), (0, "one\ntwo\nthree\n"))

    def test_following_shows_what_comes(self):
        log = self.folder / "log"
        log.write_text("one\n")
        self.write(log={"file": "log"})
        process = subprocess.Popen([str(BIN / "mpsd"), "logs", "--follow"], cwd=self.folder,
                                   stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "one\n")
            with open(log, "a", encoding="utf-8") as file:
                file.write("two\n")
            self.assertEqual(process.stdout.readline(), "two\n")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_a_log_that_is_not_there(self):
        self.write(log={"file": "none"})
        done = self.here("logs")
        self.assertEqual(done.returncode, NO_INPUT)
        self.assertEqual(done.stderr, f"mpsd: the log {self.folder}/none cannot be read: No such file "
                         "or directory\n")
        done = mpsd("logs", "--config", self.folder / "other.json")
        self.assertEqual(done.returncode, NO_INPUT)
        self.config.write_text("{")
        self.assertEqual(self.here("logs").returncode, USAGE)


class Token(Folder):
    def create(self, name, *words):
        done = self.here("token", "create", name, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_it_lets_a_client_in_until_it_is_revoked(self):
        tokens = self.folder / "tokens"
        first = self.create("first", "--file", str(tokens)).stdout.strip()
        self.assertEqual(stat.S_IMODE(tokens.stat().st_mode), 0o600)
        self.assertNotIn(first, tokens.read_text())

        def access(*names):
            return {"tokens": str(tokens), "open": ["health", "metrics"],
                    "rules": [{"token": name, "roles": ["infer"]} for name in names]}

        with Daemon([synthetic("m")], access=access("first")) as daemon:
            config = ("--config", str(daemon.config_file))

            def answers(token):
                file = self.folder / "shown"
                file.write_text(token)
                done = mpsd("infer", "m", "--input", "x=random", "--address", daemon.address,
                            "--token-file", file)
                return done.returncode == 0

            second = self.create("second", *config).stdout.strip()
            self.assertTrue(answers(first))
            self.assertFalse(answers(second))
            daemon.write_config([synthetic("m")], access=access("first", "second"))
            self.assertTrue(daemon.reload()["ok"])
            self.assertTrue(answers(second))
            daemon.write_config([synthetic("m")], access=access("first"))
            self.assertEqual(self.here("token", "revoke", "second", *config).returncode, 0)
            self.assertTrue(daemon.reload()["ok"])
            self.assertFalse(answers(second))
            self.assertTrue(answers(first))

    def test_the_list_has_names_and_no_token(self):
        self.write(access={"tokens": "tokens"})
        made = json.loads(self.create("one", "--json").stdout)
        self.assertEqual((made["name"], made["file"]), ("one", str(self.folder / "tokens")))
        self.create("two")
        (first, second) = json.loads(self.here("token", "list", "--json").stdout)
        self.assertEqual((first["name"], second["name"]), ("one", "two"))
        self.assertEqual(len(first["sha256"]), 64)
        listed = self.here("token", "list").stdout
        self.assertRegex(listed, r"^one  [0-9a-f]{12}…\ntwo  ")
        self.assertNotIn(made["token"], listed)

    @unittest.skipUnless(sys.platform == "linux", "a Mac has no such names")
    def test_a_path_of_any_bytes_loses_no_token(self):
        done = subprocess.run([BIN / "mpsd", "token", "create", "one", "--json", "--file", b"t\xff"],
                              cwd=self.folder, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["token"]), 64)

    def test_a_rule_that_names_the_token_is_told_of(self):
        self.write(access={"tokens": "tokens", "rules": [{"token": "one", "roles": ["infer"]}]})
        self.assertNotIn("it may do nothing yet", self.create("one").stderr)
        self.assertIn("it may do nothing yet", self.create("two").stderr)
        self.assertIn("still names 'one'", self.here("token", "revoke", "one").stderr)
        self.assertNotIn("still names", self.here("token", "revoke", "two").stderr)

    def test_what_cannot_be(self):
        done = self.here("token", "list", "--config", str(self.folder / "none"))
        self.assertEqual(done.returncode, NO_INPUT)
        self.write(access={})
        self.assertIn("--file FILE", self.here("token", "list").stderr)
        self.write(access={"tokens": "tokens"})
        self.create("one")
        for words in (["create"], ["create", "one"], ["create", "a b"], ["list", "one"], ["revoke"],
                      ["forge", "one"]):
            done = self.here("token", *words)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), words)
        self.assertEqual(self.here("token", "revoke", "none").returncode, NO_INPUT)


if __name__ == "__main__":
    unittest.main(verbosity=2)
