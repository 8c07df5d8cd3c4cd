"""What changes the models of a daemon again and again while they serve."""
import contextlib
import copy
import json
import os
import signal
import subprocess
import time

import grpc

from harness import wait_until
import calls

CALL_LIMIT_S = 60
RELOAD_LIMIT_S = 120


class Reloads:
    """Configs, good and bad, with a SIGHUP behind each; loads and unloads that a client asks for.

    `unloadable` are the models whose callers are prepared to find them gone.
    """

    def __init__(self, daemon, models, unloadable, counts):
        self._daemon = daemon
        self._models = models
        self._unloadable = unloadable
        self._counts = counts
        self._turn = 0

    def act(self, draw):
        kind = draw.choice(("reload", "reload", "reloads at once", "wrong config", "load",
                            "unload and load"))
        self._counts[kind] += 1
        if kind == "reload":
            self._write(draw)
            self._reload()
        elif kind == "reloads at once":
            for _ in range(3):
                self._write(draw)
                os.kill(self._daemon.pid, signal.SIGHUP)
            self._reload()
        elif kind == "wrong config":
            self._daemon.write_config([*self._models, {**self._models[0], "max_batchsize": 4}])
            self._reload()
        elif kind == "load":
            self._load(draw.choice(self._models)["name"], self._fresh_delay())
        else:
            self._unload_and_load(draw)

    def settle(self):
        """The models are those of the beginning again, and all of them are served."""
        self._daemon.write_config(self._models)
        wait_until(self._reload, CALL_LIMIT_S, "a reload that succeeds")
        for model in self._models:
            wait_until(lambda model=model: self._load(model["name"]), CALL_LIMIT_S, "a load")
        wait_until(lambda: not self._others(), CALL_LIMIT_S, "the end of the old generations")

    def swapped(self):
        """(generations that took another's place or came anew, those that could not)."""
        log = self._daemon.log()
        return log.count('"event":"model_loaded"'), log.count('"event":"model_not_loaded"')

    def _fresh_delay(self):
        self._turn += 1
        return f"{self._turn}us"

    def _write(self, draw):
        """Some models are another one than before, as far as the daemon can know."""
        models = copy.deepcopy(self._models)
        for model in draw.sample(models, draw.randrange(1, len(models))):
            model["parameters"]["load_delay"] = self._fresh_delay()
        self._daemon.write_config(models)

    def _reload(self):
        """Whether the reload went well; waits for its end."""
        before = self._last_reload()
        os.kill(self._daemon.pid, signal.SIGHUP)
        until = time.monotonic() + RELOAD_LIMIT_S
        while (report := self._last_reload()) == before:
            assert time.monotonic() < until, "a reload does not end"
            time.sleep(0.1)
        return report["ok"]

    def _last_reload(self):
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired, json.JSONDecodeError):
            return self._daemon.status().get("last_reload")
        assert self._daemon.running(), "the front end has ended"
        return None

    def _others(self):
        return [worker for model in self._daemon.status()["models"] for worker in model["workers"]
                if worker["generation"]]

    def _load(self, model, load_delay=None):
        with calls.stub(self._daemon.address) as stub:
            request = calls.service_pb2.RepositoryModelLoadRequest(model_name=model)
            if load_delay is not None:
                request.parameters["config"].string_param = json.dumps(
                    {"parameters": {"load_delay": {"string_value": load_delay}}})
            return self._ended(stub.RepositoryModelLoad, request)

    def _unload_and_load(self, draw):
        model = draw.choice(self._unloadable)
        with calls.stub(self._daemon.address) as stub:
            request = calls.service_pb2.RepositoryModelUnloadRequest(model_name=model)
            assert self._ended(stub.RepositoryModelUnload, request), "an unload is refused"
        time.sleep(draw.random() * 0.3)
        wait_until(lambda: self._load(model), CALL_LIMIT_S, "a load after an unload")

    def _ended(self, method, request):
        """Whether the call succeeded; that a load fails is no fault while workers die."""
        try:
            method(request, timeout=CALL_LIMIT_S)
            return True
        except grpc.RpcError as error:
            assert error.code() != grpc.StatusCode.DEADLINE_EXCEEDED, f"{request} does not end"
            return False
