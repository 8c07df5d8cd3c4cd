"""A headless Chromium, driven over a pipe by the DevTools protocol; no client of it is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ANSWER_LIMIT_S = 60
# Root may run it in no sandbox of its own, nor may a user in a container; the pages are ours.
FLAGS = ("--no-sandbox", "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-extensions", "--disable-sync", "--hide-scrollbars",
         # It talks to the daemon of the test, and to nobody else.
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")


def program():
    """The path of a Chromium; None where there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """`with Browser() as browser:` has one page, and collects what its console complains of."""

    def __init__(self, *flags):
        self._flags = flags

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="mpsd-test-", ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # The protocol's pipes are the descriptors 3 and 4. Debian's sh takes no number above 9.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", program(), *FLAGS,
             *self._flags, f"--user-data-dir={self._folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(theirs_in, theirs_out))
        os.close(theirs_in)
        os.close(theirs_out)
        self._received = b""
        self._number = 0
        self._session = None
        self.complaints = []
        try:
            self._open_page()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._folder.cleanup()

    def _open_page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def _message(self, until):
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._in], [], [], max(0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser has ended"
            self._received += piece
        line, _, self._received = self._received.partition(b"\0")
        return json.loads(line)

    def _note(self, event):
        """Keeps errors of scripts, of the console, of the content policy and of requests."""
        told = event.get("params", {})
        method = event.get("method")
        if method == "Runtime.exceptionThrown":
            self.complaints.append(told["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(told["entry"]["text"])

    def call(self, method, **parameters):
        """The result of one command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + ANSWER_LIMIT_S
        while True:
            answer = self._message(until)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self._note(answer)

    def open(self, url):
        self.complaints.clear()
        self.call("Page.navigate", url=url)

    def run(self, expression):
        """The value of an expression of JavaScript, awaited if it is a promise."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                         awaitPromise=True)
        assert "exceptionDetails" not in done, (expression, done["exceptionDetails"])
        return done["result"].get("value")

    def text(self):
        """What a reader sees."""
        return self.run("document.body ? document.body.innerText : ''")

    def resize(self, width, height=800):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def set_script(self, enabled):
        self.call("Emulation.setScriptExecutionDisabled", value=not enabled)

    def picture(self):
        """The bytes of a PNG of what is visible."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
