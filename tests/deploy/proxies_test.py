#!/usr/bin/env python3
"""The configs of proxies: calls reach all hosts, and none that is not ready.

proxies_test.py Envoy|HAProxy
Ports and addresses are the test's, and HAProxy has no TLS here; all else is as deploy/ has it.
"""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy/fleet"))
import story  # noqa: E402


class ProxyTest(unittest.TestCase):
    def check(self, kind):
        program = story.find(kind)
        if program is None:
            self.skipTest(f"there is no {kind}")
        with story.fleet(kind, program) as (hosts, proxy):
            for server in proxy.servers.values():
                answer = story.mpsd("infer", "mlp", "--input", "x=random", "--server", server)
                self.assertEqual(answer.returncode, 0, answer.stderr)
            # It drains, and still takes calls itself: only the proxy turns away.
            hosts[0].write_config([story.MODEL], limits={"lame_duck": "1h"})
            hosts[0].reload()
            hosts[0].terminate()
            story.wait_until(lambda: self.turns_away(proxy, hosts[0]), story.LIMIT_S,
                             "calls to the others alone")
            hosts[0].terminate()  # a second SIGTERM ends the drain
            self.assertEqual(hosts[0].wait(), 0)
            # It comes again, and one of its models loads.
            hosts[0].write_config([story.MODEL, story.SLOW_TO_LOAD], limits={})
            hosts[0].launch()
            story.wait_until(lambda: story.accepts(hosts[0].http_port), story.LIMIT_S, "the host")
            self.assertTrue(self.turns_away(proxy, hosts[0]))
            self.assertTrue(hosts[0].ps()["slow_to_load"]["state"].startswith("loading"), "too soon")

    def turns_away(self, proxy, host):
        """Whether twice as many calls as there are hosts left this one out, and all went well."""
        before = host.answered()
        for _ in range(2 * story.DAEMONS):
            for server in proxy.servers.values():
                answer = story.mpsd("infer", "mlp", "--input", "x=random", "--server", server)
                self.assertEqual(answer.returncode, 0, answer.stderr)
        return host.answered() == before


class Envoy(ProxyTest):
    def test_calls_reach_all_hosts_that_are_ready(self):
        self.check("envoy")

    def test_the_example_is_right_as_it_stands(self):
        program = story.find("envoy")
        if program is None:
            self.skipTest("there is no envoy")
        config = story.ROOT / "deploy/envoy/mpsd.yaml"
        done = subprocess.run([program, "--mode", "validate", "-c", config], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class HAProxy(ProxyTest):
    def test_calls_reach_all_hosts_that_are_ready(self):
        self.check("haproxy")


if __name__ == "__main__":
    unittest.main(verbosity=2)
