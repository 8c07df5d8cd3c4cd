"""What mpsd-simulate foretells of a model's loads, from what was measured of its parts.

The parts are the batches of a lane alone, what client and front end took of each call in the load,
and the round trip of a null model.
"""

import os

from bench_figures import median
from bench_processes import run_json

SIZES = (1, 2, 4, 8, 16, 24, 32, 48, 64)
NEEDS = ("null_c1",)  # beside the curve
# Of the client, with a connection each: one alone bears some 15,000 calls a second, and would be the
# first to fall behind where the cores are many.
OPEN_LOOP_THREADS = min(4, max(1, (os.cpu_count() or 1) // 4))


class Forecast:
    """mpsd-simulate with the parts of a run, which has measured NEEDS and this curve."""

    def __init__(self, bench, curve):
        self.rates = median_rates(bench, curve)
        hop_us = bench.value("null_c1", "p50_us")
        self.command = [f"{bench.arguments.binaries}/mpsd-simulate", "--curve",
                        ",".join(f"{rows}={rows / rate * 1e9:.0f}ns" for rows, rate in self.rates.items()),
                        "--return", f"{hop_us * 1e3:.0f}ns", "--lag", f"{hop_us * 500:.0f}ns"]

    def of(self, loads, threads, *load):
        """What the simulator says of a load, of which these are the reports; with their keys."""
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
        """The most good answers a second that any schedule reaches, if the lane alone took time."""
        return run_json([*self.command, "--clairvoyant", "--duration", "2s", "--rate", f"{rate:.1f}",
                         "--deadline", f"{slo_us:.0f}us"], 120)[0]["goodput"]


def door_us(loads):
    """The time of a call that no other call has meanwhile, outside of the lane."""
    client, front = (median([load["cpu_us"][who] for load in loads]) for who in ("client", "server"))
    # A lane keeps a core to itself; client and front end have the others.
    return client + front if (os.cpu_count() or 1) <= 2 else max(client, front)


def median_rates(bench, curve):
    """A lane's samples a second by batch size: the medians of the rounds."""
    rounds = bench.values(curve, "rates")
    return {rows: median([rates[rows] for rates in rounds]) for rows in rounds[0]}
