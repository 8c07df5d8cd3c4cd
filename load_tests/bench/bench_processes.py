"""The processes of a benchmark run: starts each one, bounds its time, and stops it."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def free_port():
    """A port on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pin(pid, cores):
    """Binds every thread of a process to the cores; later threads inherit that."""
    if cores and hasattr(os, "sched_setaffinity"):
        for task in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(task), cores)


def children(pid):
    """The living child processes of a process, on systems with /proc."""
    found = []
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(entry))
    return found


def cpu_seconds(pid):
    """The processor time of a process so far, on systems with /proc; 0 elsewhere."""
    if not os.path.isdir("/proc/self"):
        return 0
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def metric(page, name):
    """The sum of a family's series on a metrics page."""
    return sum(float(value) for value in
               re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", page, re.MULTILINE))


def resident_mb(pid):
    """A process's resident memory in megabytes, on systems with /proc."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return int(re.search(r"^VmRSS:\s+(\d+) kB$", file.read(), re.MULTILINE)[1]) * 1024 / 1e6


def own_mb(pid):
    """A process's resident megabytes without the shared segments."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        sizes = re.findall(r"^Rss(?:Anon|File):\s+(\d+) kB$", file.read(), re.MULTILINE)
    return sum(map(int, sizes)) * 1024 / 1e6


class Process:
    """A process that ends with its `with` block, together with the processes that it started."""

    def __init__(self, command, log_path, env=None):
        self.command = command
        self.log = open(log_path, "w+", encoding="utf-8")
        self.popen = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, env=env, start_new_session=True)
        self.pid = self.popen.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Asks the process to end. After fifteen seconds kills it and what it leaves behind."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
            try:
                self.popen.wait(15)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.log.close()

    def output(self):
        """The process's output so far."""
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, ready, seconds, what, poll_s=0.05):
        """Waits until `ready()` is true, returns its value; raises if the process ends or hangs."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            result = ready()
            if result:
                return result
            if self.popen.poll() is not None:
                raise RuntimeError(f"{self.command[0]} ended with {self.popen.returncode} before it "
                                   f"could {what}:\n{self.output()}")
            time.sleep(poll_s)
        raise RuntimeError(f"{self.command[0]} did not {what} within {seconds} s:\n{self.output()}")


class Listening(Process):
    """A process that prints "listening ADDRESS"."""

    def __init__(self, command, log_path):
        super().__init__(command, log_path)
        try:
            self.address = self.wait_for(self._address, 15, "listen")
        except RuntimeError:
            self.stop()
            raise

    def _address(self):
        match = re.search(r"^listening (\S+)$", self.output(), re.MULTILINE)
        return match[1] if match else None


class Echo(Listening):
    """mpsd-echo, listening."""

    def __init__(self, binaries, folder, address="127.0.0.1:0", name="echo"):
        super().__init__([f"{binaries}/mpsd-echo", "--listen", address], f"{folder}/{name}.log")


class HttpEcho(Listening):
    """mpsd-http-echo, listening; it answers everything with the content of a file."""

    def __init__(self, binaries, folder, answer_path, threads, cores=None):
        super().__init__([f"{binaries}/mpsd-http-echo", "--threads", str(threads), "--answer",
                          answer_path], f"{folder}/http_echo.log")
        pin(self.pid, cores and cores[1])


class Daemon(Process):
    """A ready `mpsd serve` with these models and its own ports and folder."""

    def __init__(self, binaries, folder, models, name="mpsd", patience_s=180, listen_more=None,
                 http_listeners=1, **config):
        self.grpc = f"127.0.0.1:{free_port()}"
        self.all_http = [f"127.0.0.1:{free_port()}" for _ in range(http_listeners)]
        self.http = self.all_http[0]
        self.unix = f"unix:{folder}/{name}.sock"
        config_path = f"{folder}/{name}.json"
        with open(config_path, "w", encoding="utf-8") as file:
            json.dump({"listen": {"grpc": [self.grpc, self.unix], "http": self.all_http,
                                  **(listen_more or {})},
                       "state_dir": f"{folder}/{name}.state", "models": models, **config},
                      file, indent=1)
        begin = time.monotonic()
        super().__init__([f"{binaries}/mpsd", "serve", "--config", config_path],
                         f"{folder}/{name}.log")
        try:
            self.wait_for(self.ready, patience_s, "become ready", poll_s=0.005)
        except RuntimeError:
            self.stop()
            raise
        self.ready_s = time.monotonic() - begin

    def ready(self):
        """Whether /readyz says that the daemon is ready."""
        try:
            with urllib.request.urlopen(f"http://{self.http}/readyz", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def metrics(self):
        """The metrics page."""
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=10) as answer:
            return answer.read().decode()


def run_json(command, timeout_s, cores=None, env=None):
    """Runs a program that prints one JSON object; returns it, and whether the exit code was 0."""
    before = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s,
                          stdin=subprocess.DEVNULL, preexec_fn=before, check=False,
                          env={**os.environ, **(env or {})})
    try:
        return json.loads(done.stdout), done.returncode == 0
    except json.JSONDecodeError:
        sys.stderr.write(done.stdout + done.stderr)
        raise RuntimeError(f"{' '.join(command)} exited with {done.returncode}") from None
