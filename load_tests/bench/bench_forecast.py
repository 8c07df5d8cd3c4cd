"""Forecasts of a model's loads by mpsd-simulate, from measurements of its parts.

The parts are: the batches of a lane alone, the time of client and front end for each call in the
load, and the round trip of a null model.
"""

import os

from bench_figures import median
from bench_processes import run_json

SIZES = (1, 2, 4, 8, 16, 24, 32, 48, 64)
NEEDS = ("null_c1",)  # besides the curve
# The client's threads, with a connection each. One thread can send some 15,000 calls a second, and
# would be the first to fall behind on many cores.
OPEN_LOOP_THREADS = min(4, max(1, (os.cpu_count() or 1) // 4))


class Forecast:
    """mpsd-simulate with the parts of a run that has measured NEEDS and this curve."""

    def __init__(self, bench, curve):
        self.rates = median_rates(bench, curve)
        hop_us = bench.value("null_c1", "p50_us")
        self.command = [f"{bench.arguments.binaries}/mpsd-simulate", "--curve",
                        ",".join(f"{rows}={rows / rate * 1e9:.0f}ns" for rows, rate in self.rates.items()),
                        "--return", f"{hop_us * 1e3:.0f}ns", "--lag", f"{hop_us * 500:.0f}ns"]

    def of(self, loads, threads, *load):
        """The simulator's report of a load; `loads` are the measured reports and have the same
        keys."""
        door_ns = door_us(loads) * 1e3 / threads
        return run_json([*self.command, "--door", f"{door_ns:.0f}ns", *load], 120)[0]

    def of_clients(self, clients, loads):
        """A closed loop."""
        return self.of(loads, 1, "--clients", str(clients))

    def of_arrivals(self, rate, slo_us, loads):
        """Poisson arrivals under a deadline."""
        return self.of(loads, OPEN_LOOP_THREADS, "--rate", f"{rate:.1f}", "--deadline",
                       f"{slo_us:.0f}us")

    def bound_of_arrivals(self, rate, slo_us):
        """The most good answers a second that any schedule reaches, if only the lane took time."""
        return run_json([*self.command, "--clairvoyant", "--duration", "2s", "--rate", f"{rate:.1f}",
                         "--deadline", f"{slo_us:.0f}us"], 120)[0]["goodput"]


def door_us(loads):
    """A call's time outside of the lane in which no other call can be served."""
    client, front = (median([load["cpu_us"][who] for load in loads]) for who in ("client", "server"))
    # A lane keeps a core to itself; client and front end have the others.
    return client + front if (os.cpu_count() or 1) <= 2 else max(client, front)


def median_rates(bench, curve):
    """A lane's samples a second by batch size: the medians of the rounds."""
    rounds = bench.values(curve, "rates")
    return {rows: median([rates[rows] for rates in rounds]) for rows in rounds[0]}
