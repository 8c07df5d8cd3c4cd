#!/usr/bin/env python3
"""Envoy shares calls by the hosts' load reports: a host with a slow model gets fewer."""
import contextlib
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy/fleet"))
import story  # noqa: E402
from models import synthetic, tensor  # noqa: E402


def model(delay):
    """A batch takes the longer, the more rows it has, so that a host has a most that it answers."""
    return synthetic("mlp", [tensor("x", [256])], max_batch_size=4,
                     parameters={"delay": "1ms", "delay_per_row": delay})


class LoadReports(unittest.TestCase):
    def shares(self, kind):
        """The calls that each host answers of 2000 and more; the first one is slow."""
        program = story.find("envoy")
        if program is None:
            self.skipTest("there is no envoy")
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            hosts = [stack.enter_context(story.Host(model(delay))) for delay in ("16ms", "4ms", "4ms")]
            proxy = kind(program, hosts, folder, retry_cut=False)
            stack.enter_context(story.running(proxy, folder / "log"))
            server = proxy.servers[self.protocol]
            story.wait_until(lambda: story.calls_reach_all(server, hosts), story.LIMIT_S, "calls")
            stack.enter_context(story.Load(server))
            # The reports follow the first loads.
            hosts[1].wait_answers(1000)
            before = [host.answered() for host in hosts]
            hosts[1].wait_answers(1000)
            return [host.answered() - was for host, was in zip(hosts, before)]

    protocol = "HTTP"

    def check(self, kind):
        slow, *others = self.shares(kind)
        print(f"{kind.__name__}, {self.protocol}: the slow host {slow:,.0f}, the others {others[0]:,.0f} and {others[1]:,.0f}")
        self.assertLess(slow, 0.6 * min(others))
        self.assertLess(max(others), 1.5 * min(others))

    def test_reports_come_with_answers_of_http(self):
        self.check(story.WeighingEnvoy)

    def test_reports_come_with_answers_of_grpc(self):
        self.protocol = "gRPC"
        self.check(story.WeighingEnvoy)

    def test_reports_come_out_of_band(self):
        self.protocol = "gRPC"
        self.check(story.OutOfBandEnvoy)


if __name__ == "__main__":
    unittest.main(verbosity=2)
