"""`mpsd completion` and `mpsd man`, read by the programs that they are for."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import unittest

from daemon import BIN, ROOT, mpsd, wait_until

USAGE = 64
CANNOT_WRITE = 73
VERBS = "serve doctor check infer ps list bench tune embed pull inspect completion man help".split()


def needs(program):
    return unittest.skipIf(shutil.which(program) is None, f"there is no {program}")


def script(shell):
    done = mpsd("completion", shell)
    assert done.returncode == 0, done.stderr
    return done.stdout


def schema_keys(value, schema, prefix=""):
    """The whole name of each key of the config."""
    if "$ref" in value:
        value = schema["$defs"][value["$ref"].rsplit("/", 1)[1]]
    for name, inner in value.get("properties", {}).items():
        yield prefix + name
        yield from schema_keys(inner, schema, f"{prefix}{name}.")
        if isinstance(inner.get("items"), dict):
            yield from schema_keys(inner["items"], schema, f"{prefix}{name}[].")


@needs("bash")
class Bash(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "completion").write_text(script("bash"))

    def complete(self, *words):
        """What bash offers for the last word, with `mpsd` in front of them all."""
        line = ('source ./completion; COMP_WORDS=(mpsd "$@"); COMP_CWORD=$#; _mpsd; '
                'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-uc", line, "bash", *words], cwd=self.folder, text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1]

    def test_verbs(self):
        self.assertLessEqual(set(VERBS), set(self.complete("")))
        self.assertEqual(self.complete("se"), ["serve"])
        self.assertEqual(self.complete("help", "se"), ["serve"])
        self.assertEqual(self.complete("--v"), ["--version"])

    def test_flags_are_those_of_the_verb(self):
        self.assertEqual(self.complete("serve", "--max"), ["--max-batch-size"])
        self.assertEqual(self.complete("ps", "--max"), [""])
        self.assertEqual(self.complete("serve", "--host", "a", "--plain"), ["--plaintext"])

    def test_values(self):
        self.assertEqual(self.complete("tune", "m", "--precision", "b"), ["bf16"])
        self.assertEqual(self.complete("tune", "m", "--precision", "=", "b"), ["bf16"])
        self.assertEqual(self.complete("tune", "m", "--precision", "="), self.complete(
            "tune", "m", "--precision", ""))
        self.assertEqual(self.complete("completion", "z"), ["zsh"])
        self.assertEqual(self.complete("serve", "--port", ""), [""])

    def test_paths(self):
        (self.folder / "my folder").mkdir()
        (self.folder / "my file.json").touch()
        self.assertEqual(sorted(self.complete("serve", "--config", "my")),
                         ["my file.json", "my folder"])
        self.assertEqual(self.complete("serve", "--model-repository", "my"), ["my folder"])
        self.assertEqual(sorted(self.complete("serve", "my")), ["my file.json", "my folder"])
        self.assertEqual(self.complete("serve", "--conf"), ["--config"])

    def test_no_shell_but_the_three(self):
        self.assertEqual(mpsd("completion", "csh").returncode, USAGE)


class OtherShells(unittest.TestCase):
    @needs("fish")
    def test_fish(self):
        def complete(line):
            with tempfile.TemporaryDirectory() as folder:  # fish completes names of files, too
                sourced = pathlib.Path(folder) / "mpsd.fish"
                sourced.write_text(script("fish"))
                done = subprocess.run(
                    ["fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', str(sourced), line],
                    cwd=folder, text=True, capture_output=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return [row.split("\t")[0] for row in done.stdout.splitlines()]

        self.assertLessEqual(set(VERBS), set(complete("mpsd ")))
        self.assertEqual(complete("mpsd serve --plain"), ["--plaintext"])
        self.assertEqual(complete("mpsd ps --plain"), [])
        self.assertEqual(complete("mpsd tune m --precision b"), ["bf16"])

    @needs("zsh")
    def test_zsh(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "_mpsd").write_text(script("zsh"))
            with Zsh(folder) as shell:
                shell.type("fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; echo re''ady\n",
                           "ready")
                shell.type("mpsd serve --plain\t", "--plaintext")
                shell.type("\x15mpsd tune m --precision bf\t", "bf16")
                shell.type("\x15mpsd doct\t", "doctor")


class Zsh:
    """A zsh at a terminal: it completes at no other place."""

    def __init__(self, folder):
        self.terminal, self.inside = pty.openpty()
        self.process = subprocess.Popen(["zsh", "-fi"], cwd=folder, stdin=self.inside,
                                        stdout=self.inside, stderr=self.inside,
                                        start_new_session=True, env={**os.environ, "TERM": "dumb"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        os.close(self.inside)

    def type(self, keys, wanted):
        """Types, and waits for a text on the terminal."""
        os.write(self.terminal, keys.encode())
        said = ""

        def has_come():
            nonlocal said
            if select.select([self.terminal], [], [], 0)[0]:
                said += os.read(self.terminal, 4096).decode(errors="replace")
            return wanted in said
        wait_until(has_come, 20, f"{wanted} behind {keys!r}")


class Man(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        done = subprocess.run([str(BIN / "mpsd"), "man", "--into", str(cls.folder)], check=True,
                              env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
        assert done.returncode == 0

    def test_each_verb_has_a_page(self):
        pages = {file.name for file in self.folder.iterdir()}
        self.assertLessEqual({"mpsd.1", "mpsd.json.5", *(f"mpsd-{verb}.1" for verb in VERBS)}, pages)
        for verb in VERBS:
            self.assertIn(f"\n.SH NAME\nmpsd\\-{verb} ", mpsd("man", verb).stdout)
        self.assertIn(" 1970-01-02 ", (self.folder / "mpsd.1").read_text())

    @needs("mandoc")
    def test_mandoc_finds_no_fault(self):
        for file in sorted(self.folder.iterdir()):
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(file)], text=True,
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    @needs("mandoc")
    def test_each_key_of_the_config_has_its_text(self):
        page = subprocess.run(["mandoc", "-Tascii", str(self.folder / "mpsd.json.5")], text=True,
                              capture_output=True, timeout=60, check=True).stdout
        text = re.sub(".\x08", "", page)
        schema = json.loads((ROOT / "config/schema.json").read_text())
        keys = list(schema_keys(schema, schema))
        self.assertIn("models[].queue.requests", keys)
        for key in keys:
            self.assertRegex(text, rf"(?m)^ +{re.escape(key)}(?: |$)")

    def test_what_cannot_be(self):
        done = mpsd("man", "srve")
        self.assertEqual((done.returncode, done.stderr),
                         (USAGE, "mpsd: there is no page 'srve'; did you mean 'serve'?\n"))
        done = mpsd("man", "--into", self.folder / "none")
        self.assertEqual(done.returncode, CANNOT_WRITE)
        self.assertIn("none/mpsd.1", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
