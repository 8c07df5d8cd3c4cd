"""What the crash tests share: a daemon that is looked at closely, and a load that is checked."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

# pylint: disable=wrong-import-position
import procfs
from daemon import BIN, GAUGES_AT_REST, ROOT, Daemon, wait_until

TESTS = pathlib.Path(os.environ.get("MPSD_TESTS") or BIN.parent / "tests")
WITH_FAILPOINTS = os.environ.get("MPSD_FAILPOINTS", "ON") == "ON"
SANITIZED = bool(os.environ.get("MPSD_SANITIZE"))
# I4, in time that the host gave us at all, with room for the client where every instruction is
# watched.
OVERDUE_MS = 1500 if SANITIZED else 250

# The shortest budgets there are, and no rest for a model whose workers keep dying.
SUPERVISION = {"run_timeout": "1s", "load_timeout": "5s", "warmup_timeout": "5s",
               "circuit": {"deaths": 0}}

POINT = re.compile(r'MPSD_FAILPOINT\w*\(\s*"([\w.]+)"')
ACTED = re.compile(r"failpoint ([\w.]+): (\w+) at pass (\d+)")
WORKER_LOST = "UNAVAILABLE: worker lost"
NOT_READY = "UNAVAILABLE: Request for model '{}' is not at ready state"
UNLOADED = "NOT_FOUND: Request for unknown model: '{}' has no available versions"
CRASHED_IT = "INTERNAL: request crashed its worker"
TIMED_OUT = "DEADLINE_EXCEEDED: Request timeout expired"
CANCELLED = "CANCELLED: CANCELLED"
QUEUE_FULL = "RESOURCE_EXHAUSTED: Exceeds maximum queue size"
TOO_LATE = "RESOURCE_EXHAUSTED: no lane is free in time for the request's deadline"


def in_step(model, step, member, ending):
    """A pattern of what a call of a model of steps ends with when one of them ends so."""
    code, text = ending.split(": ", 1)
    return fr"{code}: in ensemble '{model}', steps\[{step}\] \(model '{member}'\): {text}"


def failpoints(prefix):
    """The names of the failpoints in the sources that begin so."""
    names = set()
    for folder in ("proto", "server", "worker"):
        for path in (ROOT / folder).rglob("*.cc"):
            names.update(POINT.findall(path.read_text()))
    return sorted(name for name in names if name.startswith(prefix))


def lying_binaries(folder):
    """Puts the daemon into that folder, and in its worker's place the one that lies."""
    for source, name in ((BIN / "mpsd", "mpsd"), (BIN / "mpsd-worker", "mpsd-worker-honest"),
                         (TESTS / "mpsd-lying-worker", "mpsd-worker")):
        shutil.copy(source, pathlib.Path(folder) / name)
    return pathlib.Path(folder)


class Caller:
    """A mpsd-crash-caller; its report is there when it was stopped."""

    def __init__(self, address, model, door="grpc", **options):
        self.model = model
        self.door = door
        self._command = [str(TESTS / "mpsd-crash-caller"), "--address", address, "--model", model,
                         "--door", door]
        for name, value in options.items():
            self._command += ["--" + name.replace("_", "-"), str(value)]
        self._process = None
        self.report = None

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind, *unused):
        if kind is None:
            self.stop()
        elif self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    @property
    def pid(self):
        return self._process.pid

    def stop(self):
        if self.report is None:
            out, _ = self._process.communicate(timeout=120)
            assert self._process.returncode == 0, f"the caller: exit {self._process.returncode}"
            self.report = json.loads(out)
        return self.report

    def check(self, allowed=(), overdue_ms=OVERDUE_MS):
        """Each call ended exactly once, in time, with its own bytes or an error that may be."""
        report = self.stop()
        assert report["open"] == 0, f"calls that never ended: {report}"
        assert report["ended"] == report["sent"], report
        assert report["wrong"] == 0, f"{report['complaints']}"
        assert report["overdue_ms"] < overdue_ms, f"late by {report['overdue_ms']:.0f} ms: {report}"
        self._check_endings(allowed)
        return report

    def _check_endings(self, allowed):
        report = self.report
        strange = [ending for ending in report["endings"]
                   if ending != "OK" and not any(re.match(wanted, ending) for wanted in allowed)]
        assert not strange, (f"endings that must not be: {strange[:5]} of "
                             f"{len(report['endings'])} kinds")


class CrashDaemon(Daemon):
    """A daemon with failpoints, which is the same at its end as it was when it had settled."""

    def __init__(self, models, arm="", seed=1, environment=None, **options):
        environment = {**(environment or {}), "MPSD_FAILPOINTS": arm,
                       "MPSD_FAILPOINTS_SEED": str(seed)}
        super().__init__(models, environment=environment, **options)
        self._models = models

    def acts(self, name=None):
        """{(failpoint, action): how often it said so}."""
        acts = collections.Counter()
        for point, action, _ in ACTED.findall(self.log()):
            if name in (None, point):
                acts[(point, action)] += 1
        return acts

    def descriptors_when_serving(self):
        """What to compare with later: before all workers serve, some are still to be opened."""
        self.wait_all_serving()
        return self.descriptors()

    def killings(self, model):
        """Why workers of that model were killed, in order."""
        lines = [json.loads(line) for line in self.log().splitlines()
                 if '"event":"worker_killed"' in line]
        return [line["reason"] for line in lines if line["model"] == model]

    def requests(self, model):
        """How many of a model's requests have ended."""
        return self.metric("mpsd_requests_total", model=model)

    def descriptors(self):
        """How many descriptors of each kind the front end holds; connections not counted."""
        kinds = collections.Counter()
        for fd in pathlib.Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                target = os.readlink(fd)
            except OSError:
                continue
            if not target.startswith("socket:"):
                kinds[re.sub(r".*/|[\d.]+|\(deleted\)|\W", "", target)] += 1
        return kinds

    def zombies(self):
        """Children of the front end that nobody has waited for."""
        found = []
        for pid in procfs.pids():
            try:
                fields = (procfs.PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self.pid and fields[0] == "Z":
                found.append(pid)
        return found

    def check_same_as(self, before):
        """All workers serve again, and the front end holds what it held before.

        One that died at its start several times in a row is waited for up to 30 s each time."""
        self.wait_all_serving(150)
        self.check_at_rest()
        wait_until(lambda: not self.zombies(), 20, "the end of the zombies")
        configured = self.metric("mpsd_workers_configured")
        wait_until(lambda: len(self.workers()) == configured, 20, "as many workers as configured")
        wait_until(lambda: len(self.temporary_folders()) == configured, 20, "a folder a worker")
        try:
            wait_until(lambda: self.descriptors() == before, 20, "as many descriptors as before")
        except AssertionError:
            raise AssertionError(f"descriptors: {before} before, {self.descriptors()}") from None
        self.check_log()

    def check_log(self):
        """Nobody found a false belief, nor a sanitizer a fault, in the front end."""
        for word in ("check failed", "ERROR: AddressSanitizer", "runtime error:",
                     "ERROR: LeakSanitizer"):
            lines = [line for line in self.log().splitlines()
                     if word in line and '"event":"worker_' not in line]
            assert not lines, lines[:3]


__all__ = ["BIN", "CANCELLED", "CRASHED_IT", "CrashDaemon", "Caller", "GAUGES_AT_REST",
           "NOT_READY", "OVERDUE_MS", "QUEUE_FULL", "SANITIZED", "SUPERVISION", "TESTS", "TIMED_OUT",
           "WITH_FAILPOINTS", "WORKER_LOST", "failpoints", "in_step", "lying_binaries", "procfs",
           "wait_until"]
