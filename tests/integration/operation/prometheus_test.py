"""A real Prometheus scrapes a host that much happens to: it finds exemplars, each panel of the dashboard
has something to show, and alerts fire."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import numpy as np

import calls
from certificates import Authority
from daemon import BIN, ROOT, Daemon, free_ports, wait_until
from drowsy import drowsy
from fake_hub import FakeHub
from models import placement, synthetic, tensor

LIMIT_S = 60
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
SAMPLED = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
TYPE = "application/openmetrics-text"
# Alerts that the story below makes fire. alerts_test.yml has when all of them fire, and when they are silent.
FIRE = {"MpsdCertificateEnds", "MpsdCertificateRefused", "MpsdConfigNotTaken", "MpsdErrors",
        "MpsdGpuMemoryShort", "MpsdModelDown", "MpsdModelRests", "MpsdPullFails", "MpsdRefusals",
        "MpsdSaturated", "MpsdWorkerRestarts", "MpsdWorkersMissing"}
# The same of a second story.
FIRE_LATER = {"MpsdClientsTurnedAway", "MpsdDescriptorsShort", "MpsdLate", "MpsdLogLinesDropped", "MpsdModelRefused",
              "MpsdQueueSlow", "MpsdSequencesRefused", "MpsdStuck", "MpsdWorkerGrows", "MpsdWorkerSlow"}
# The same of a host that restarts, and ends.
FIRE_WITHOUT = {"MpsdDown", "MpsdRestarts"}
# Only a Mac's kernel tells of the first, and only a fault of mpsd makes the second.
ONLY_REPLAYED = {"MpsdMemoryShort", "MpsdTimeoutWakeups"}


class Prometheus:
    """One that scrapes the daemon each second, and knows its rules."""

    def __init__(self, test, daemon, rules=""):
        program = shutil.which("prometheus")
        if program is None:
            test.skipTest("there is no prometheus")
        port, = free_ports(1)
        self._url = f"http://127.0.0.1:{port}/api/v1"
        (daemon.folder / "rules.yml").write_text(rules or "groups: []")
        config = daemon.folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": "mpsd", "static_configs": [{"targets": [daemon.http]}]}]}))
        process = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={daemon.folder}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--enable-feature=exemplar-storage"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        test.addCleanup(process.wait)
        test.addCleanup(process.terminate)

    def ask(self, path, **query):
        """The answer; None while it starts."""
        url = f"{self._url}/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return None
            raise AssertionError(f"{query}: {error.read().decode()}") from None
        except OSError:
            return None

    def shows(self, expression):
        """Whether there are samples."""
        found = self.ask("query", query=expression)
        return found is not None and len(found["result"]) > 0

    def fired(self):
        """Alerts that fire or have fired."""
        found = self.ask("query", query='last_over_time(ALERTS{alertstate="firing"}[10m])') or {"result": []}
        return {alert["metric"]["alertname"] for alert in found["result"]}


def hasty(rules):
    """The rules with seconds instead of minutes and hours, and megabytes instead of gigabytes."""
    for long, short in ((r"for: \d+m", "for: 1s"), (r"\[\d+m\]", "[20s]"), ("offset 1h", "offset 5s"), ("> 1e9", "> 1e6")):
        rules = re.sub(long, short, rules)
    return rules


def expressions():
    """(panel, expression) of the dashboard, with all hosts and models."""
    dashboard = json.loads((ROOT / "deploy/grafana/mpsd.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            text = target["expr"].replace("$__rate_interval", "20s")
            yield panel["title"], re.sub(r"\$(instance|model)", ".*", text)


class Exemplars(unittest.TestCase):
    def serve(self):
        daemon = self.enterContext(Daemon([synthetic("m")], trace={"file": "traces"},
                                          compat="triton"))
        stub = self.enterContext(calls.stub(daemon.address))
        for metadata in ([], [("traceparent", SAMPLED)]):
            call = stub.ModelInfer.future(calls.request("m", {"x": calls.row_of(1)}),
                                          timeout=LIMIT_S, metadata=metadata)
            self.assertEqual(calls.outcome_of(call).code, calls.OK)
        return daemon

    def test_only_who_accepts_openmetrics_gets_it(self):
        daemon = self.serve()
        status, text = daemon.get("/metrics")
        self.assertEqual((status, "# EOF" in text, "trace_id" in text), (200, False, False))
        daemon.http_headers = {"Accept": f"{TYPE};version=1.0.0,text/plain;q=0.5"}
        status, text = daemon.get("/metrics")
        self.assertEqual(status, 200)
        self.assertTrue(text.endswith("\n# EOF\n"))
        self.assertIn(f'# {{trace_id="{TRACE_ID}"}}', text)

    def test_prometheus_finds_them(self):
        prometheus = Prometheus(self, self.serve())

        def exemplars():
            found = prometheus.ask("query_exemplars", query="mpsd_stage_seconds_bucket",
                                   start=time.time() - 3600, end=time.time() + 3600) or []
            return {(series["seriesLabels"]["stage"], exemplar["labels"]["trace_id"])
                    for series in found for exemplar in series["exemplars"]}

        stages = {(stage, TRACE_ID) for stage in ("queue", "dispatch", "execute", "respond")}
        wait_until(lambda: stages <= exemplars(), LIMIT_S, "the exemplars")
        target, = prometheus.ask("targets")["activeTargets"]
        self.assertEqual((target["health"], target["lastError"]), ("up", ""))


class Story(unittest.TestCase):
    """One host that all kinds of things happen to."""

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        self.authority = Authority(folder, "authority")
        self.files = self.authority.issue("server")
        self.gpus = folder / "gpus"
        self.gpus.write_text("40 98 100\n")
        self.models = [
            synthetic("m", slo={"p99": "1s"}, response_cache="shared"),
            synthetic("throws", parameters={"throw_if": 13}),
            synthetic("narrow", max_batch_size=1, parameters={"delay": "2s"}, queue={"requests": 2}),
            synthetic("tokens", [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64")],
                      max_batch_tokens=512),
            synthetic("turns", [tensor("x", [1])], max_batch_size=4, sequences={}),
            synthetic("sharing", rate_limiter={"resources": [{"name": "R", "count": 1}]}),
            synthetic("dies"), synthetic("rests", circuit={"deaths": 2, "period": "60s"}),
            {"name": "fetched", "path": "hf:ORG/NAME"}]
        hub = self.enterContext(FakeHub({}))
        hub.token = "another"
        certificate, key = self.files
        tls = {"http": ["127.0.0.1:0"], "certificate": str(certificate), "key": str(key)}
        self.daemon = self.enterContext(Daemon(
            self.models, listen_more={"tls": tls},
            environment={"LD_LIBRARY_PATH": str(BIN.parent / "tests/fake_nvml"), "FAKE_NVML": str(self.gpus),
                         "HF_ENDPOINT": hub.url, "HF_HOME": str(folder)}))
        self.stub = self.enterContext(calls.stub(self.daemon.address))

    def call(self, model, value=1, limit_s=LIMIT_S, **more):
        return self.stub.ModelInfer.future(calls.request(model, {"x": calls.row_of(value)}, **more), timeout=limit_s)

    def happen(self):
        """One turn of the story; rates need several."""
        begins = {"sequence_id": 1, "sequence_start": True, "sequence_end": True}
        ones = np.ones((1, 3), np.int64)
        x = {"x": np.ones((1, 1), np.float32)}
        asked = [self.call("m"), self.call("throws", 13), self.call("sharing"),
                 *(self.call("narrow", limit_s=0.5) for _ in range(5)),
                 *(self.stub.ModelInfer.future(request, timeout=LIMIT_S) for request in (
                     calls.request("tokens", {"input_ids": ones, "attention_mask": ones}),
                     calls.request("turns", x, parameters=begins),
                     calls.request("turns", x, parameters={"sequence_id": 7})))]
        for call in asked:
            calls.outcome_of(call)
        host, port = self.daemon.http_listeners[1].rsplit(":", 1)
        socket.create_connection((host, int(port)), timeout=LIMIT_S).close()  # the daemon looks at its certificate
        models = self.daemon.ps()
        for worker in models["dies"]["workers"] + models["rests"]["workers"]:
            if worker["state"] == "serving":
                os.kill(worker["pid"], signal.SIGSEGV)

    def spoil(self):
        """Faults of an operator."""
        certificate, key = self.files
        key.write_text(self.authority.issue("other")[1].read_text())
        certificate.touch()
        self.daemon.config_file.write_text("{")
        self.assertFalse(self.daemon.reload()["ok"])

    def tell_gpus(self):
        """Each worker holds something on the gpu."""
        held = " ".join(f"{pid}:10" for pid in self.daemon.workers())
        self.gpus.write_text(f"40 98 100 {held}\n")

    def test_each_panel_shows_something_and_alerts_fire(self):
        rules = (ROOT / "deploy/prometheus/alerts.yml").read_text()
        prometheus = Prometheus(self, self.daemon, hasty(rules))
        wait_until(lambda: prometheus.shows("mpsd_certificates_refused_total"), LIMIT_S, "a scrape")
        self.daemon.reload()  # tries the pull again
        self.spoil()
        empty, silent = set(expressions()), set(FIRE)

        def all_is_seen():
            self.happen()
            self.tell_gpus()
            empty.difference_update({each for each in empty if prometheus.shows(each[1])})
            silent.difference_update(prometheus.fired())
            return not empty and not silent

        try:
            wait_until(all_is_seen, 2 * LIMIT_S, "all panels and alerts")
        except AssertionError:
            self.fail(f"panels without data: {sorted(empty)}; alerts that do not fire: {sorted(silent)}")
        known = set(re.findall(r"alert: (\w+)", rules))
        self.assertEqual(known, FIRE | FIRE_LATER | FIRE_WITHOUT | ONLY_REPLAYED)
        names = subprocess.run([sys.executable, str(ROOT / "tests/deploy/metrics_names_test.py"),
                                f"http://{self.daemon.http}/metrics"], capture_output=True, text=True, check=False)
        self.assertEqual(names.returncode, 0, names.stderr)
        print(f"{len(set(expressions()))} expressions have data, {len(FIRE)} alerts fire")


class LaterStory(unittest.TestCase):
    """Hosts to which happens what the first story has no room for."""

    def setUp(self):
        self.rules = hasty((ROOT / "deploy/prometheus/alerts.yml").read_text())

    def serve(self):
        repository = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="mpsd-test-")))
        (repository / "faulty/1").mkdir(parents=True)
        (repository / "faulty/config.pbtxt").write_text("platform: 7")
        self.daemon = self.enterContext(Daemon(
            [synthetic("waits", max_batch_size=1, parameters={"delay": "1200ms"}),
             synthetic("stuck", parameters={"delay": "1h"}, run_timeout="2h", queue={"timeout": "1s"}),
             synthetic("full", [tensor("x", [1])], sequences={"max_candidates": 1}, queue={"requests": 2}),
             synthetic("grows", [tensor("x", [-1])], max_batch_size=1),
             synthetic("drowsy", parameters={"delay": "5ms"}, placement=placement(processes=2))],
            model_repository=str(repository), limits={"calls": 16, "drain_timeout": "1s"},
            log={"file": "/dev/full"}))
        self.daemon.wait_all_serving()
        self.stub = self.enterContext(calls.stub(self.daemon.address))
        return Prometheus(self, self.daemon, self.rules)

    def send(self, model, count=1, x=calls.row_of(1), **more):
        return [self.stub.ModelInfer.future(calls.request(model, {"x": x}, **more), timeout=LIMIT_S)
                for _ in range(count)]

    def happen(self):
        one = np.ones((1, 1), np.float32)
        asked = self.send("stuck", 2) + self.send("waits", 3)
        for number in range(1, 7):
            asked += self.send("full", x=one, parameters={"sequence_id": number, "sequence_start": True})
        for _ in range(150):
            calls.outcome_of(*self.send("drowsy"))
        for call in asked:
            calls.outcome_of(call)
        for call in self.send("drowsy", 60):  # more than one client may have open
            calls.outcome_of(call)

    def grow(self, numbers):
        for call in self.send("grows", x=np.ones((1, numbers), np.float32)):
            self.assertEqual(calls.outcome_of(call).code, calls.OK)

    def kill(self, model):
        for worker in self.daemon.ps()[model]["workers"]:
            if worker["state"] == "serving":
                os.kill(worker["pid"], signal.SIGKILL)

    def test_the_other_alerts_of_a_host_that_runs(self):
        prometheus = self.serve()
        wait_until(lambda: prometheus.shows("mpsd_workers_ready"), LIMIT_S, "a scrape")
        hanging, = self.send("stuck")
        self.grow(1)
        silent = set(FIRE_LATER)
        before = resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE)

        def all_is_seen():
            self.happen()
            self.grow(1 << 22)
            self.grow(1 << 23)  # in the place of the first worker
            resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE,
                             (int(1.1 * self.daemon.metric("process_open_fds")), before[1]))
            silent.difference_update(prometheus.fired())
            return not silent

        with drowsy(self.daemon.ps()["drowsy"]["workers"][0]["pid"]):
            try:
                wait_until(all_is_seen, 2 * LIMIT_S, "all alerts")
            except AssertionError:
                self.fail(f"alerts that do not fire: {sorted(silent)}")
        resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, before)
        wait_until(lambda: self.kill("stuck") or hanging.done(), LIMIT_S, "the end of a batch")
        print(f"{len(FIRE_LATER)} alerts fire")

    def test_a_host_that_restarts_and_ends(self):
        with Daemon([synthetic("m")]) as daemon:
            daemon.write_config([synthetic("m")], listen={**daemon.config["listen"], "http": daemon.http})
            prometheus = Prometheus(self, daemon, self.rules)
            silent = set(FIRE_WITHOUT)

            def restarts():
                began = daemon.metric("process_start_time_seconds")
                wait_until(lambda: prometheus.shows(f"process_start_time_seconds == {began}"), LIMIT_S, "a scrape")
                daemon.terminate()
                self.assertEqual(daemon.wait(), 0)
                daemon.start()
                silent.difference_update(prometheus.fired())
                return "MpsdRestarts" not in silent

            wait_until(restarts, LIMIT_S, "MpsdRestarts")
            daemon.terminate()
            daemon.wait()
            wait_until(lambda: "MpsdDown" in prometheus.fired(), LIMIT_S, "MpsdDown")


if __name__ == "__main__":
    unittest.main(verbosity=2)
