"""T8: goodput of a model under Poisson arrivals with a deadline, at 50 to 300 % of its capacity.

SweepLoads is a part of bench.py's Bench. The MLP's rows are so cheap that client, front end and
lane together want more than two cores. So the client is one that costs little (mpsd-bench --frames,
over the Unix socket), as if it were on another host. MiniLM's calls cost a twentieth of their rows,
so there the schedule alone decides.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from bench_forecast import OPEN_LOOP_THREADS, Forecast

OFFERED = (50, 75, 90, 100, 125, 150, 200, 300)  # percent of a closed loop's rate


@dataclass(frozen=True)
class SweptModel:
    """A model to sweep, and the measurements that must come before."""

    name: str  # for people
    model: str
    inputs: tuple  # inputs of one row
    closed_loop: str  # the measurement of its capacity
    curve: str  # the measurement of its lane's times by rows
    deadlines_us: Callable  # microseconds of one row to the deadlines

    @property
    def needs(self):
        """The measurements."""
        return self.closed_loop, self.curve


MLP = SweptModel("MLP", "mlp", ("input:FP32[1,1024]=-1..1",), "mlp_c128", "mlp_curve",
                 lambda alone_us: (5 * alone_us, 15_000, 30_000))
MINILM = SweptModel("MiniLM", "minilm",
                    ("input_ids:INT64[1,30]=0..20000", "attention_mask:INT64[1,30]=1"),
                    "minilm_c64", "minilm_curve",
                    lambda alone_us: (5 * alone_us, 15 * alone_us, 30 * alone_us))


@dataclass
class Sweep:
    """Poisson arrivals under one deadline: the points of bench.py's sweep, by rising load."""

    name: str  # the model's
    slo_us: float
    points: list  # each with percent, and goodput as measured, forecast and bounded

    def at(self, percent):
        """The point at this share of a closed loop's rate."""
        return next(point for point in self.points if point["percent"] == percent)


class SweepLoads:
    """The sweeps of a model, one for each deadline."""

    def offered(self, swept, rate, slo_us, seed):
        """The report of a load with `rate` calls a second."""
        threads = str(OPEN_LOOP_THREADS)
        return self.load_daemon(
            "--frames", "--rate", f"{rate:.1f}", "--seed", str(seed), "--threads", threads,
            "--channels", threads, "--slo", f"{slo_us:.0f}us", "--deadline", f"{slo_us:.0f}us",
            model=swept.model, inputs=swept.inputs, target=self.daemon.unix, allow_errors=True)

    def sweep(self, swept, forecast, slo_us):
        """Goodput under one deadline, by share of a closed loop's rate."""
        points = []
        for percent in OFFERED:
            print(f"sweep of {swept.name} under {slo_us / 1e3:.1f} ms: {percent} %", file=sys.stderr,
                  flush=True)
            rate = self.value(swept.closed_loop, "throughput") * percent / 100
            report = self.offered(swept, rate, slo_us, percent)
            points.append({"percent": percent,
                           "foretold": forecast.of_arrivals(rate, slo_us, [report])["goodput"],
                           "bound": forecast.bound_of_arrivals(rate, slo_us), **report})
        return Sweep(swept.name, slo_us, points)

    def sweeps(self, swept):
        """The sweeps of one model, by deadline."""
        forecast = Forecast(self, swept.curve)
        alone_us = 1e6 / forecast.rates[1]
        return [self.sweep(swept, forecast, slo_us) for slo_us in swept.deadlines_us(alone_us)]
