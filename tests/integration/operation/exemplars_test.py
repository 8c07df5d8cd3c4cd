"""Prometheus scrapes OpenMetrics, and finds the traces that the buckets name."""
import json
import subprocess
import shutil
import time
import unittest
import urllib.parse
import urllib.request

import calls
from daemon import Daemon, free_ports, wait_until
from models import synthetic

LIMIT_S = 60
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
SAMPLED = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
TYPE = "application/openmetrics-text"


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
        program = shutil.which("prometheus")
        if program is None:
            self.skipTest("there is no prometheus")
        daemon = self.serve()
        port, = free_ports(1)
        config = daemon.folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "mpsd", "static_configs": [{"targets": [daemon.http]}]}]}))
        process = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={daemon.folder}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--enable-feature=exemplar-storage"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

        def ask(path, **query):
            url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
            try:
                with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
                    return json.load(answer)["data"]
            except OSError:  # it starts
                return None

        def exemplars():
            found = ask("query_exemplars", query="mpsd_stage_seconds_bucket",
                        start=time.time() - 3600, end=time.time() + 3600) or []
            return {(series["seriesLabels"]["stage"], exemplar["labels"]["trace_id"])
                    for series in found for exemplar in series["exemplars"]}

        stages = {(stage, TRACE_ID) for stage in ("queue", "dispatch", "execute", "respond")}
        wait_until(lambda: stages <= exemplars(), LIMIT_S, "the exemplars")
        target, = ask("targets")["activeTargets"]
        self.assertEqual((target["health"], target["lastError"]), ("up", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
