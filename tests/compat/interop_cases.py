"""gRPC's interop cases: the server that tests/compat/interop builds, and clients run against it."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import programs
from certificates import Authority

ROOT = programs.ROOT
SERVER = pathlib.Path(os.environ.get("MPSD_INTEROP_SERVER") or
                      ROOT / "build/release/tests/interop_server")
STOP_LIMIT_S = 20

# Cases that grpc-go's client and grpc-java's have. The cases of Google's credentials are left out.
CASES = (
    "empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong",
    "empty_stream", "custom_metadata", "status_code_and_message", "special_status_message",
    "unimplemented_method", "unimplemented_service", "cancel_after_begin",
    "cancel_after_first_response", "timeout_on_sleeping_server", "pick_first_unary", "rpc_soak",
    "channel_soak", "orca_per_rpc", "orca_oob")
# These need nothing but unary methods and conversations of the door's table of methods. Such a
# method takes no large request.
DOOR_CASES = (
    "empty_unary", "ping_pong", "empty_stream", "custom_metadata", "status_code_and_message",
    "special_status_message", "unimplemented_method", "unimplemented_service",
    "cancel_after_first_response", "pick_first_unary", "orca_oob")
# The soaks allow their calls a second each. A busy host needs more.
PATIENCE = ("soak_per_iteration_max_acceptable_latency_ms=20000", "soak_overall_timeout_seconds=50")
# These two look at load reports by a balancer of theirs.
LOAD_BALANCER = json.dumps({"loadBalancingConfig": [{"test_backend_metrics_load_balancer": {}}]})


class InteropServer:
    """`with InteropServer() as server:` has ports: `plain` and `tls` for the codec alone,
    `door_plain` and `door_tls` for the door's own tasks."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="mpsd-test-")
        authority = Authority(self._folder.name, "authority")
        self.authority = str(authority.pem)
        self._process = subprocess.Popen(
            [str(SERVER), *map(str, authority.issue("server"))], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.plain, self.tls, self.door_plain, self.door_tls = (
            self._process.stdout.readline().strip().rsplit(":", 1)[1] for _ in range(4))
        return self

    def __exit__(self, *unused):
        self._process.stdin.close()
        try:
            code = self._process.wait(STOP_LIMIT_S)
        finally:
            self._process.kill()
            self._process.stdout.close()
            self._folder.cleanup()
        assert code == 0, f"interop_server: exit {code}"


def go_command(client, port, case, authority=None):
    """The words that run a case by grpc-go's client, over TLS if there is an authority."""
    flags = [*PATIENCE, "server_host=127.0.0.1", f"server_port={port}", f"test_case={case}"]
    if case.startswith("orca"):
        flags.append(f"service_config_json={LOAD_BALANCER}")
    if authority:
        flags += ["use_tls", "use_test_ca", f"ca_file={authority}",
                  "server_host_override=localhost"]
    return [client, *(f"-{flag}" for flag in flags)]


class InteropTest(unittest.TestCase):
    """Each case of one client is a subtest. A client defines command(port, tls, case)."""

    more_cases = ()
    case_limit_s = 60

    @classmethod
    def setUpClass(cls):
        if not SERVER.exists():
            raise unittest.SkipTest(f"there is no {SERVER}")
        cls.server = cls.enterClassContext(InteropServer())

    def run_cases(self, port, tls=False, cases=None):
        for case in cases or (*CASES, *self.more_cases):
            with self.subTest(case):
                programs.run(*self.command(port, tls, case), limit_s=self.case_limit_s)
