#!/usr/bin/env python3
"""Makes a trace in the shape of a public cloud's functions: calls by bin, for mpsd-bench --trace.

Only the known shape of real traces is used: a few functions have most of the calls, the load rises
and falls with the day, and many functions are called by a timer, others in bursts. The same seed
gives the same trace.

  make_trace.py --functions 50 --bins 300 --calls 40 --seed 7 > trace.csv
"""

import argparse
import math
import random
import sys
from dataclasses import dataclass

HEADS = ("bin", "function", "model", "tenant", "calls")
SPREAD = 2.2  # sigma of the log-normal rates: a tenth of the functions has some three quarters
NIGHT = 0.4  # how far the wave rises and falls, as part of its mean
KINDS = ("steady", "timer", "bursts")
KIND_SHARES = (0.45, 0.3, 0.25)
BURST_SHARE = 0.1  # part of a bursty function's bins that have calls
BURST_STAYS = 0.7  # the chance that a burst goes on


@dataclass
class Shape:
    """The shape of a trace."""

    functions: int = 50
    bins: int = 300
    day: int = 0  # bins of a day; 0: the whole trace is one
    calls: float = 40  # mean calls of a bin, over all functions
    models: tuple = ("identity",)
    tenants: tuple = ("all",)
    seed: int = 1


def poisson(draw, mean):
    """A random number of calls with this mean."""
    if mean > 50:
        return max(0, round(draw.gauss(mean, math.sqrt(mean))))
    count, left = 0, math.exp(-mean)
    product = draw.random()
    while product > left:
        count, product = count + 1, product * draw.random()
    return count


def steady(_, bins):
    """Weights of the bins for a function that is always called."""
    return [1.0] * bins


def timer(draw, bins):
    """Weights for a function that is called once in a fixed number of bins."""
    period = draw.choice((1, 5, 10, 15, 30, 60))
    phase = draw.randrange(period)
    return [float(period) if index % period == phase else 0.0 for index in range(bins)]


def bursts(draw, bins):
    """Weights for a function that is called for a while, and then not for a longer while."""
    starts = BURST_SHARE * (1 - BURST_STAYS) / (1 - BURST_SHARE)
    is_on, weights = False, []
    for _ in range(bins):
        is_on = draw.random() < (BURST_STAYS if is_on else starts)
        weights.append(draw.expovariate(1) / BURST_SHARE if is_on else 0.0)
    return weights


def wave(index, day, phase):
    """The bin's load relative to the day's mean."""
    return 1 + NIGHT * math.sin(2 * math.pi * (index / day + phase))


def make(shape):
    """The rows (bin, function, model, tenant, calls), bin by bin, without rows of 0 calls."""
    draw = random.Random(shape.seed)
    rates = [draw.lognormvariate(0, SPREAD) for _ in range(shape.functions)]
    scale = shape.calls / sum(rates)
    day = shape.day or shape.bins
    rows = []
    for number, rate in enumerate(rates):
        kind = draw.choices(KINDS, KIND_SHARES)[0]
        weights = {"steady": steady, "timer": timer, "bursts": bursts}[kind](draw, shape.bins)
        phase = draw.gauss(0, 0.05)  # functions do not all rise at the same hour
        model, tenant = draw.choice(shape.models), draw.choice(shape.tenants)
        for index, weight in enumerate(weights):
            calls = poisson(draw, rate * scale * weight * wave(index, day, phase))
            if calls:
                rows.append((index, f"f{number}", model, tenant, calls))
    return sorted(rows, key=lambda row: row[0])


def csv(rows):
    """The trace as the text of a file."""
    return "\n".join([",".join(HEADS), *(",".join(map(str, row)) for row in rows)]) + "\n"


def main():
    """Writes a trace to the standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    standard = Shape()
    parser.add_argument("--functions", type=int, default=standard.functions)
    parser.add_argument("--bins", type=int, default=standard.bins)
    parser.add_argument("--day", type=int, default=standard.day, help="bins of a day; 0: all")
    parser.add_argument("--calls", type=float, default=standard.calls, help="of a bin in the mean")
    parser.add_argument("--models", type=lambda text: tuple(text.split(",")),
                        default=standard.models, help="what the functions call, comma-separated")
    parser.add_argument("--tenants", type=lambda text: tuple(text.split(",")),
                        default=standard.tenants, help="whose they are, comma-separated")
    parser.add_argument("--seed", type=int, default=standard.seed)
    sys.stdout.write(csv(make(Shape(**vars(parser.parse_args())))))


if __name__ == "__main__":
    main()
