"""Connect's client of gRPC-Web in a page that Chromium shows: HTTP/1.1, and HTTP/2 over TLS."""
import http.server
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import programs
import browser
from certificates import Authority
from daemon import Daemon, wait_until
from fetched import fetched
from models import synthetic, tensor

LIMIT_S = 80
SCRIPT = programs.ROOT / "tests/compat/page/grpc_web.mjs"
NOT_FOUND, DEADLINE_EXCEEDED, UNKNOWN = 5, 4, 2


def import_map(modules):
    """Where a page finds the modules that scripts name, by what each package says."""
    found = {}
    for package in ("@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"):
        exports = json.loads((modules / package / "package.json").read_text())["exports"]
        found.update({package + name[1:]: f"/{package}/{paths['import'][2:]}"
                      for name, paths in exports.items() if "import" in paths})
    return json.dumps({"imports": found})


class Site:
    """`with Site(modules) as site:` serves the page at `origin`."""

    def __init__(self, modules):
        page = (f'<script type="importmap">{import_map(modules)}</script>'
                '<script type="module" src="/script.mjs"></script>')
        descriptors = subprocess.run(
            ["protoc", f"-I{programs.ROOT}", "--descriptor_set_out=/dev/stdout",
             "--include_imports", "proto/inference.proto"], cwd=programs.ROOT, check=True,
            capture_output=True).stdout
        own = {"/": page.encode(), "/script.mjs": SCRIPT.read_bytes(),
               "/descriptors": descriptors}

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            extensions_map = {".js": "text/javascript"}

            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(modules))

            def do_GET(self):
                body = own.get(self.path)
                if body is None:
                    return super().do_GET()
                kind = {"/": "text/html", "/script.mjs": "text/javascript"}.get(self.path)
                self.send_response(200)
                self.send_header("Content-Type", kind or "application/octet-stream")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                return self.wfile.write(body)

            def log_message(self, *unused):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *unused):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@unittest.skipUnless(browser.program(), "there is no Chromium")
@unittest.skipUnless(shutil.which("protoc"), "there is no protoc")
class GrpcWebPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        modules = fetched("node_clients", "node_modules")
        listed, cls.unlisted = (cls.enterClassContext(Site(modules)) for _ in range(2))
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpsd-test-"))
        pair = Authority(pathlib.Path(folder), "authority").issue("server")
        cls.daemon = cls.enterClassContext(Daemon(
            [synthetic("m", [tensor("x", [-1])]),
             synthetic("slow", [tensor("x", [-1])], parameters={"delay": "3s"})],
            listen_more={"cors": [listed.origin],
                         "tls": {"http": ["127.0.0.1:0"], "certificate": str(pair[0]),
                                 "key": str(pair[1])}}))
        cls.page = cls.enterClassContext(browser.Browser("--ignore-certificate-errors"))
        cls.listed = listed

    def ask(self, site, url):
        self.page.open(site.origin)
        wait_until(lambda: self.page.run("typeof window.ask") == "function", LIMIT_S, "the page")
        return self.page.run(f"window.ask({json.dumps(url)})")

    def check(self, url):
        got = self.ask(self.listed, url)
        self.assertEqual(got["live"], {"live": True})
        self.assertEqual(got["answer"], {"values": [1, 2]})
        self.assertEqual(got["large"], {"same": True})
        self.assertEqual(got["unknown"], {
            "code": NOT_FOUND, "text": "Request for unknown model: 'b\u00fc%' is not found"})
        self.assertEqual(got["late"]["code"], DEADLINE_EXCEEDED)

    def test_plain(self):
        self.check(f"http://{self.daemon.http}")

    def test_tls(self):
        self.check(f"https://{self.daemon.http_listeners[-1]}")

    def test_another_site_learns_nothing(self):
        got = self.ask(self.unlisted, f"http://{self.daemon.http}")
        self.assertEqual({name: answer["code"] for name, answer in got.items()},
                         dict.fromkeys(got, UNKNOWN))


if __name__ == "__main__":
    unittest.main(verbosity=2)
