#!/usr/bin/env python3
"""The cost of the gate: the same daemon without rules, with rules, and with rules and TLS.

The three serve the same model and are loaded in turn, round by round, over loopback. The client
sends a token to each of them, so that it costs the same. Medians of the rounds are compared. Exit
status 2 if the run failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{HERE}/../bench")
from bench_figures import median, spread  # noqa: E402
from bench_processes import Daemon, free_port, run_json  # noqa: E402
from bench_tokens import write_tokens  # noqa: E402

MODEL = {"name": "identity", "format": "synthetic", "max_batch_size": 64,
         "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [256]}],
         "placement": {"processes": 1, "lanes": 1}}
TOKEN = "a-token-of-the-usual-length-0123456789abcdef"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", default=f"{HERE}/../../build/release/bin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of each load")
    parser.add_argument("--concurrency", type=int, default=64)
    return parser.parse_args()


def write_secrets(folder):
    """Writes a file of ten tokens, ours last, our token, and a self-signed certificate."""
    tokens = [*(f"other-{i}" for i in range(9)), TOKEN]
    write_tokens(f"{folder}/tokens", {f"t{i}": token for i, token in enumerate(tokens)})
    with open(f"{folder}/token", "w", encoding="utf-8") as file:
        file.write(TOKEN)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=bench",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/key",
                    "-out", f"{folder}/certificate"], check=True, capture_output=True, timeout=60)
    os.chmod(f"{folder}/key", 0o600)


def rules(folder):
    limited = [{"token": f"t{number}", "roles": ["infer"], "models": ["identity"]}
               for number in range(10)]
    return {"tokens": f"{folder}/tokens", "open": ["health", "metrics"], "rules": limited}


def load(arguments, folder, daemon, target, *more):
    command = [f"{arguments.binaries}/mpsd-bench", "--json", "--target", target, "--model",
               "identity", "--input", "INPUT0:FP32[1,256]", "--concurrency",
               str(arguments.concurrency), "--duration", f"{arguments.seconds * 1000:.0f}ms",
               "--warmup", "500ms", "--verify-identity", "--pid", f"server={daemon.pid}",
               "--token-file", f"{folder}/token", *more]
    figures, right = run_json(command, arguments.seconds + 60)
    if not right:
        raise RuntimeError(f"calls failed: {figures}")
    return figures["throughput"], figures["processes"][0]["cpu_us"]


def measure(arguments, folder):
    """{name: [(calls a second, CPU us a call) of each round]}."""
    write_secrets(folder)
    tls_address = f"127.0.0.1:{free_port()}"
    tls = {"grpc": [tls_address], "certificate": f"{folder}/certificate", "key": f"{folder}/key"}
    samples = {"no rules": [], "rules": [], "rules, TLS": []}
    with Daemon(arguments.binaries, folder, [MODEL], name="plain") as plain, \
            Daemon(arguments.binaries, folder, [MODEL], name="guarded", access=rules(folder),
                   listen_more={"tls": tls}) as guarded:
        for _ in range(arguments.rounds):
            samples["no rules"].append(load(arguments, folder, plain, plain.grpc))
            samples["rules"].append(load(arguments, folder, guarded, guarded.grpc))
            samples["rules, TLS"].append(load(arguments, folder, guarded, tls_address, "--tls-ca",
                                              f"{folder}/certificate"))
    return samples


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="mpsd-gate-bench-") as folder:
        try:
            samples = measure(arguments, folder)
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError) as error:
            print(f"gate_bench: {error}", file=sys.stderr)
            return 2
    base_rate, base_cpu = (median(column) for column in zip(*samples["no rules"], strict=True))
    print("| c=%d, 1 kB | calls a second | to no rules | front-end CPU a call | to no rules | range |"
          % arguments.concurrency)
    print("|---|---|---|---|---|---|")
    for name, pairs in samples.items():
        rates, cpu = zip(*pairs, strict=True)
        print(f"| {name} | {median(rates):,.0f} | {median(rates) / base_rate:.2f} | "
              f"{median(cpu):.1f} us | {median(cpu) / base_cpu:.2f} | {spread(rates) * 100:.0f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
