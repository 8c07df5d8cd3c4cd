"""A real daemon for a test: free ports, a config of its own, and a close look at what it leaves."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import procfs

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("MPSD_BIN") or ROOT / "build/release/bin")
MODELS = pathlib.Path(os.environ.get("MPSD_MODELS") or ROOT / ".deps/models")
SERVERS = ("mpsd", "mpsd-worker", "mpsd-worker-synthetic", "mpsd-device-copier")
WITH_TORCH = os.environ.get("MPSD_TORCH", "ON") == "ON"

START_LIMIT_S = int(os.environ.get("MPSD_START_LIMIT_S") or 60)
STOP_LIMIT_S = 20
REST_LIMIT_S = 20
LOG_LIMIT_S = 20
# An environment for tests of memory: what the address sanitizer keeps of freed memory is not the
# daemon's growth.
KEEP_LITTLE = {"ASAN_OPTIONS": "quarantine_size_mb=8"}
# What must be zero when no call is inside.
GAUGES_AT_REST = ("mpsd_queue_requests", "mpsd_queue_bytes", "mpsd_running_batches",
                  "mpsd_output_leases", "mpsd_pinned_output_bytes", "mpsd_unread_copy_bytes",
                  "mpsd_inflated_request_bytes", "mpsd_http_body_bytes", "mpsd_step_requests",
                  "mpsd_step_copy_bytes")


def wait_until(condition, limit_s, what):
    """Asks `condition` often until it returns something true, which is returned."""
    until = time.monotonic() + limit_s
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > until:
            raise AssertionError(f"{what}: not within {limit_s} s")
        time.sleep(0.01)


def knows_localhost():
    """A bare root has no /etc/hosts."""
    with contextlib.suppress(OSError):
        return bool(socket.getaddrinfo("localhost", None))
    return False


def free_ports(count):
    """Ports that nobody has now."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def link_or_copy(source, target):
    """One file by two names; a copy of it on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def as_user(user):
    """The words in front of a command that is another user's.

    Popen's own `user` forks this process, and a fork in which gRPC has threads may abort.
    """
    if user is None or user == os.geteuid():
        return []
    return ["setpriv", "--reuid", str(user), "--"]


def mpsd(*arguments, binaries=BIN, limit_s=60):
    """Runs a verb to its end."""
    return subprocess.run([str(binaries / "mpsd"), *map(str, arguments)], capture_output=True,
                          text=True, timeout=limit_s, check=False)


class Successor:
    """A daemon that has taken over: as a Popen, but nobody here knows its exit code."""
    returncode = 0

    def __init__(self, pid):
        self.pid = pid

    def poll(self):
        return None if procfs.runs(self.pid) else self.returncode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            self.send_signal(signal.SIGKILL)

    def wait(self, limit_s=STOP_LIMIT_S):
        wait_until(lambda: not procfs.runs(self.pid), limit_s, "the end of the daemon")
        return self.returncode


class Daemon:
    """`with Daemon(models) as daemon:` has a daemon whose models have settled.

    At the end, when the test went well: nothing is inside, SIGTERM is answered with exit code 0,
    and no process and no temporary folder is left.
    """

    def __init__(self, models, listen=None, state_dir=None, binaries=BIN, environment=None,
                 gauges_at_rest=GAUGES_AT_REST, user=None, listen_more=None, **config):
        self._folder = tempfile.TemporaryDirectory(prefix="mpsd-test-")
        self.folder = pathlib.Path(self._folder.name)
        self.state_dir = pathlib.Path(state_dir or self.folder / "state")
        self.binaries = binaries
        self.environment = {**os.environ, **(environment or {})}
        self.config = {"listen": {"grpc": ["127.0.0.1:0", *(listen or [])],
                                  "http": "127.0.0.1:0", **(listen_more or {})},
                       "state_dir": str(self.state_dir), "models": models, **config}
        self.config_file = self.folder / "config.json"
        self.config_file.write_text(json.dumps(self.config, indent=1))
        self.log_file = self.folder / "log"
        self._gauges_at_rest = gauges_at_rest
        self._user = user
        if user is not None:
            os.chown(self.folder, user, -1)
            self.binaries = self._binaries_for(user)
        self.http_headers = {}
        self._process = None
        self._killed = False
        self._ready = threading.Event()
        self.table = ""

    def _binaries_for(self, user):
        """A folder of the binaries that `user` can enter: a clone may lie in a closed one."""
        if user == os.geteuid() or all(
                path.stat().st_mode & stat.S_IXOTH for path in self.binaries.resolve().parents):
            return self.binaries
        copies = self.folder / "bin"
        copies.mkdir()
        for program in SERVERS:
            if (self.binaries / program).exists():  # a build without torch has one worker program
                shutil.copy(self.binaries / program, copies)
        libraries = self.folder / "lib/mpsd"  # where an installed worker looks first
        libraries.mkdir(parents=True)
        for library in (ROOT / ".deps/libtorch/lib").glob("*.so*"):
            link_or_copy(library, libraries / library.name)
        return copies

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                self.check_and_end()
        except AssertionError:
            kind = AssertionError
            raise
        finally:
            if kind is not None:
                sys.stderr.write(f"the log's last lines:\n{self.log()[-6000:]}\n")
            self.discard()

    def discard(self):
        if self.running():
            self.kill()
        self._folder.cleanup()

    # The process.

    def start(self):
        """Returns when every model serves or has failed once."""
        self.launch()
        wait_until(lambda: self._ready.is_set() or not self.running(), START_LIMIT_S, "the start")
        assert self._ready.is_set(), f"exit {self._process.returncode}: {self.log()}"

    def arguments(self):
        """Of `mpsd serve`."""
        return ["--config", str(self.config_file)]

    def launch(self):
        """Returns at once: where it listens on a port that was free is not known yet."""
        self._ready.clear()
        with open(self.log_file, "ab") as log:
            self._process = subprocess.Popen(
                [*as_user(self._user), str(self.binaries / "mpsd"), "serve", *self.arguments()],
                stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment)
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def _read(self, stdout):
        self.table = ""
        for line in stdout:
            self.table += line
            where = re.search(r"takes gRPC calls on (.*), http on (.*)$", line)
            if where:
                self.listeners = where[1].split(", ")
                self.http_listeners = where[2].split(", ")
                self.address, self.http = self.listeners[0], self.http_listeners[0]
            if line.startswith("Try:"):
                self._ready.set()
        stdout.close()

    @property
    def pid(self):
        return self._process.pid

    def running(self):
        return self._process is not None and self._process.poll() is None

    def terminate(self):
        self._process.send_signal(signal.SIGTERM)

    def write_config(self, models, **config):
        self.config = {**self.config, "models": models, **config}
        fresh = self.config_file.with_suffix(".new")
        fresh.write_text(json.dumps(self.config, indent=1))
        fresh.replace(self.config_file)  # never half a file

    def reload(self, limit_s=START_LIMIT_S):
        """SIGHUP; how the reload went."""
        before = self.status().get("last_reload")
        self._process.send_signal(signal.SIGHUP)
        def after():
            report = self.status().get("last_reload")
            return report if report != before else None
        return wait_until(after, limit_s, "the end of the reload")

    def holder(self):
        """The process that has the lock of the state folder."""
        return int(((self.state_dir / "mpsd.lock").read_text() or "0").split()[0])

    def upgrade(self):
        """Hands over by the verb."""
        done = mpsd("upgrade", "--config", self.config_file, binaries=self.binaries)
        assert done.returncode == 0, done.stderr
        self.follow()

    def follow(self):
        """Returns when the old daemon has ended. From then on this is the daemon with the lock."""
        old = self._process
        wait_until(lambda: self.holder() not in (old.pid, 0), START_LIMIT_S, "a new daemon")
        self._process = Successor(self.holder())
        assert old.wait(START_LIMIT_S) == 0

    def wait(self, limit_s=STOP_LIMIT_S):
        """The exit code."""
        return self._process.wait(limit_s)

    def kill(self):
        """kill -9; its workers are its own to take along."""
        self._killed = True
        self._process.kill()
        self._process.wait()

    def wait_all_serving(self, limit_s=START_LIMIT_S):
        """Returns when every configured worker serves; start() does with the first of each model.

        Of deaths that the daemon does not know of yet this says nothing.
        """
        wait_until(lambda: self.metric("mpsd_workers_ready") ==
                   self.metric("mpsd_workers_configured"), limit_s, "all workers")

    def log(self):
        return self.log_file.read_text() if self.log_file.exists() else ""

    def wait_logged(self, pattern, limit_s=LOG_LIMIT_S):
        """Returns when the log has what `pattern` says.

        Lines are written by a thread of their own: what one tells of may be seen before it is
        there.
        """
        wait_until(lambda: re.search(pattern, self.log()), limit_s, f"{pattern!r} in the log")

    # What it says of itself.

    def status(self):
        where = self.config["listen"].get("control") or self.address
        done = mpsd("ps", "--json", "--address", where, binaries=self.binaries)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def ps(self):
        return {model["name"]: model for model in self.status()["models"]}

    def get(self, path):
        """(status, text) of an HTTP answer."""
        request = urllib.request.Request(f"http://{self.http}{path}", headers=self.http_headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name, **labels):
        """The sum of the series of that name which have these labels."""
        total = 0.0
        for line in self.get("/metrics")[1].splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if not match or match[1] != name:
                continue
            have = dict(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
            if labels.items() <= have.items():
                total += float(match[3])
        return total

    # What it is made of.

    def workers(self):
        """The pids of its workers, orphans too: told by their temporary folder."""
        return procfs.with_environment("TMPDIR", f"{self.state_dir}/workers")

    @contextlib.contextmanager
    def stopped_workers(self):
        """As long as the `with` statement lasts no worker does anything, nor one that starts."""
        stopped = []
        over = threading.Event()

        def stop_all():
            for pid in set(self.workers()).difference(stopped):
                stopped.append(pid)
                send(pid, signal.SIGSTOP)

        def send(pid, number):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

        def watch():  # another worker stands in for stopped ones, once it has loaded the model
            while not over.wait(0.005):
                stop_all()

        stop_all()
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
            for pid in stopped:
                send(pid, signal.SIGCONT)

    @property
    def left_folder(self):
        """Where what a killed daemon left behind waits for its removal."""
        return self.state_dir / "workers.left"

    def temporary_folders(self):
        # A daemon that has taken over uses the second one.
        folders = [self.state_dir / name for name in ("workers", "workers.other")]
        return sorted(path.name for folder in folders if folder.exists() for path in folder.iterdir())

    # The end.

    def check_at_rest(self):
        """Nothing is inside, nothing is held, and no wake-up was missed."""
        def busy():
            return {name: value for name in self._gauges_at_rest
                    if (value := self.metric(name)) != 0}
        try:
            wait_until(lambda: not busy(), REST_LIMIT_S, "rest")
        except AssertionError as error:
            raise AssertionError(f"{error}: {busy()}") from None
        assert self.metric("mpsd_timeout_wakeups_total") == 0, "a wake-up was missed"

    def check_nothing_left(self):
        wait_until(lambda: not self.workers(), STOP_LIMIT_S, "the end of the last worker")
        # Nobody is there to remove the folders of a daemon that was killed; the next one does.
        assert self._killed or not self.temporary_folders(), self.temporary_folders()
        assert self._killed or not self.left_folder.exists(), "what was found at the start"

    def check_and_end(self):
        if self.running():
            self.check_at_rest()
            self.terminate()
            code = self.wait()
            assert code == 0, f"exit code {code}"
        assert "does not wait on shared memory" not in self.log(), "lanes look each ms"
        self.check_nothing_left()
