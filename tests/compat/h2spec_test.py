"""h2spec as it is: every case of HTTP/2, over plain TCP and TLS."""
import pathlib
import re
import subprocess
import tempfile
import unittest

import programs
from certificates import Authority
from daemon import Daemon
from models import synthetic

# This path reads a body before its answer, so that a case about bodies meets no answer before its
# last frame.
PATH = "/v2/logging"
# A port that speaks HTTP/1.1 as well tells a client that speaks neither so, by HTTP/1.1.
ALLOWED_PLAIN = {"Sends invalid connection preface"}


class H2Spec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = programs.client("h2spec")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        pair = Authority(pathlib.Path(folder.name), "authority").issue("server")
        tls = {"grpc": ["127.0.0.1:0"], "http": ["127.0.0.1:0"], "certificate": str(pair[0]),
               "key": str(pair[1])}
        cls.daemon = cls.enterClassContext(Daemon([synthetic("a")], listen_more={"tls": tls}))

    def failures(self, address, *flags):
        """The cases that fail, by their names. One that is skipped is none that passed."""
        host, port = address.rsplit(":", 1)
        done = subprocess.run([self.program, "-h", host, "-p", port, "-P", PATH, "-o", "10", *flags],
                              capture_output=True, text=True, timeout=250, check=False)
        counts = re.search(r"(\d+) tests, \d+ passed, (\d+) skipped, \d+ failed", done.stdout)
        self.assertEqual(counts and counts.groups(), ("145", "0"), done.stdout)
        return set(re.findall(r"× \d+: (.*)", done.stdout))

    def test_plain(self):
        self.assertLessEqual(self.failures(self.daemon.http), ALLOWED_PLAIN)

    def test_tls(self):
        self.assertEqual(self.failures(self.daemon.http_listeners[-1], "-t", "-k"), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
