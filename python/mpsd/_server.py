"""serve(): a daemon of its own for a test or a notebook."""
from __future__ import annotations

import atexit
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Optional, Union

from . import _programs, _wire
from ._client import Client

_READY = re.compile(r"takes gRPC calls on (\S+?),? .*http on (\S+?)(?:,|$)", re.MULTILINE)
# A config may have comments, as in C++; what looks like one in a text is none.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
# The config's keys of files. A path of a model may be a hub's name instead.
_WRITTEN = {"file", "requests"}
_PATHS = {"path", "tokenizer", "model_repository", "tokens", "certificate", "key", "client_ca",
          *_WRITTEN}
_WITHOUT_PATHS = {"parameters", "rules"}  # a rule's certificate is a name
_LAST_LINES = 20
_STOP_LIMIT_S = 60.0

Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class StartError(RuntimeError):
    """The daemon did not come to serve. The text has the last lines of its log."""


class Server:
    """A daemon that serves. `with` ends it, and so does the end of Python."""

    def __init__(self, arguments: list[str], folder: "tempfile.TemporaryDirectory[str]",
                 environment: dict[str, str]) -> None:
        self._folder = folder
        self._out = pathlib.Path(folder.name, "out")
        self._log = pathlib.Path(folder.name, "log")
        self._client: Optional[Client] = None
        self.grpc = ""  # HOST:PORT of gRPC
        self.http = ""  # HOST:PORT of HTTP
        with open(self._out, "wb") as out, open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [str(_programs.daemon()), "serve", *arguments], stdin=subprocess.DEVNULL,
                stdout=out, stderr=log, env=environment,
                start_new_session=True)  # a notebook interrupts a cell by a signal to its group
        atexit.register(self.stop)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        return f"http://{self.http}"

    @property
    def client(self) -> Client:
        """A client of this daemon, which ends with it."""
        if self._client is None:
            self._client = Client(self.url)
        return self._client

    def log(self) -> str:
        """What the daemon has logged so far."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def stop(self) -> None:
        """Lets calls end, then the daemon; kills it after a minute."""
        atexit.unregister(self.stop)
        if self._client is not None:
            self._client.close()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                pass
            finally:  # also where the wait is interrupted
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stop()

    def _wait_ready(self, timeout: float) -> None:
        until = time.monotonic() + timeout
        while "\nTry:" not in (told := self._told()):
            code = self._process.poll()
            if code is not None:
                raise StartError(self._failure(f"mpsd ended with {code} before it served"))
            if time.monotonic() > until:
                raise StartError(self._failure(f"mpsd did not serve within {timeout:g} s"))
            time.sleep(0.01)
        where = _READY.search(told)
        if where is None:
            raise StartError(self._failure("mpsd does not say where it listens"))
        self.grpc, self.http = where[1], where[2]
        try:
            status = self.client._call(_wire.ready(None)).status
        except OSError as fault:
            raise StartError(self._failure(f"mpsd does not answer: {fault}")) from None
        # With rules of access the answer is a 401: whether all is ready is not for us to know.
        if status not in (200, 401, 403):
            raise StartError(self._failure("a model cannot be served"))

    def _told(self) -> str:
        return self._out.read_text("utf-8", "replace")  # the last letter may be half written

    def _failure(self, what: str) -> str:
        lines = (self._told() + self.log()).splitlines()
        return "\n".join([what, *lines[-_LAST_LINES:]])


def serve(model: Source, *more: Union[str, "os.PathLike[str]"], timeout: float = 300.0,
          env: Optional[Mapping[str, str]] = None, **options: Any) -> Server:
    """Starts a daemon on free ports of this host and returns once its models take requests.

    `model` is what `mpsd serve` takes: a folder of Hugging Face's, a model's file, ORG/NAME of the
    hub; `more` are further ones. `options` are that verb's: device="cpu" for --device cpu,
    input=["x:FP32[-1,16]"], keep_going=True. Or `model` is a config: a dict, or a file *.json. It
    gets free ports unless it says where to listen; relative paths count from here, or from the
    file. `env` has further variables for the daemon.

    StartError has the log's last lines if no model is served after `timeout` seconds or the daemon
    ends.
    """
    objection = _programs.objection()
    if objection:
        raise StartError(objection)
    folder = tempfile.TemporaryDirectory(prefix="mpsd-")
    try:
        arguments = _arguments(model, more, options, folder.name)
        # The daemon keeps its state there, so it is not in the way of another one.
        variables = {**_programs.environment(), "XDG_RUNTIME_DIR": folder.name, **(env or {})}
        server = Server(arguments, folder, variables)
    except BaseException:
        folder.cleanup()
        raise
    try:
        server._wait_ready(timeout)
    except BaseException:
        server.stop()
        raise
    return server


def _arguments(model: Source, more: tuple[Any, ...], options: Mapping[str, Any],
               folder: str) -> list[str]:
    config = _config_of(model)
    if config is None:
        models = [os.fspath(one) for one in (model, *more)]
        return [*models,
                *_flags({"host": "127.0.0.1", "port": 0, "http_port": 0, **options})]
    if more or options:
        raise TypeError("a config has its models and options in it")
    config.setdefault("state_dir", os.path.join(folder, "state"))
    config["listen"] = {"grpc": ["127.0.0.1:0"], "http": "127.0.0.1:0", **config.get("listen", {})}
    file = pathlib.Path(folder, "mpsd.json")
    file.write_text(json.dumps(config, indent=1))
    return ["--config", str(file)]


def _config_of(model: Source) -> Optional[dict[str, Any]]:
    """The config, with absolute paths; None where `model` names a model."""
    if isinstance(model, Mapping):
        base, config = os.getcwd(), dict(model)
    elif os.fspath(model).endswith(".json"):
        base = os.path.dirname(os.path.abspath(model))
        config = json.loads(_COMMENT.sub(lambda found: found[1] or "",
                                         pathlib.Path(model).read_text()))
    else:
        return None
    config.setdefault("models", [])
    return {key: _from(base, key, value) for key, value in config.items()}


def _from(base: str, key: str, value: Any) -> Any:
    """The value with absolute paths of the files that it names."""
    if isinstance(value, Mapping):
        return {name: inner if name in _WITHOUT_PATHS else _from(base, name, inner)
                for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_from(base, key, one) for one in value]
    if not isinstance(value, str) or key not in _PATHS:
        return value
    path = os.path.join(base, value)
    return path if key in _WRITTEN or os.path.exists(path) else value


def _flags(options: Mapping[str, Any]) -> list[str]:
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not False and value is not None:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                flags += [flag, str(one)]
    return flags
