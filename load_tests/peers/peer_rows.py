"""The tables of peers_bench.py: its measurements as medians of the rounds. Pure."""

from bench_figures import median
from peer_servers import OURS, WAYS

FEW, MANY = 1, 64  # clients, or rows of the loop's batch
LOOP_WAY, LOOP = "no server", "libtorch in a loop, one thread"
CLOSED_HEADS = ["way in", "model", "server", "c=1, a second", "p50", "mpsd has", "c=64, a second",
                "p50", "p99", "mpsd has"]
EQUAL_HEADS = ["way in", "model", "server", "calls a second", "its p99", "mpsd's p99", "shorter",
               "its p99, c=64", "a second", "mpsd's within that p99", "mpsd has"]


class Figures:
    """The reports of all rounds, each {"throughput", "p50_us", "p99_us"} or a part of it."""

    def __init__(self):
        self.closed = {}  # {(way, model, server, clients): [report]}
        self.equal = {}   # {(way, model, server whose rate it is, server): [report]}

    def median(self, key, figure):
        """The median of a closed loop's rounds."""
        return median([report[figure] for report in self.closed[key]])

    def cases(self):
        """All (way, model, server) that answered, in the order of the table."""
        ways = [LOOP_WAY, *WAYS]
        return sorted({key[:3] for key in self.closed}, key=lambda case: (
            ways.index(case[0]), case[1], case[2] != OURS.title, case[2]))

    def ours_within(self, way, model, p99_us):
        """The daemon's most answers a second with a p99 no longer than this; None: no such load."""
        rates = [self.median(key, "throughput") for key in self.closed
                 if key[:3] == (our_way(way), model, OURS.title)
                 and self.median(key, "p99_us") <= p99_us]
        return max(rates, default=None)


def our_way(way):
    """The daemon's way in for clients of this way."""
    return "json" if way == "own" else way


def times(value):
    """The factor as text; "–" if nothing is compared."""
    return f"{value:.1f} ×" if value else "–"


def milliseconds(microseconds):
    """Milliseconds as text; "–" if nothing was measured."""
    return f"{microseconds / 1e3:.2f} ms" if microseconds else "–"


def markdown(heads, rows):
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def closed_cells(figures, case, clients):
    """The figures of a closed loop, and the daemon's factor."""
    way, model, server = case
    key = (*case, clients)
    rate, p50 = figures.median(key, "throughput"), figures.median(key, "p50_us")
    cells = [f"{rate:,.0f}", milliseconds(p50)]
    if clients == MANY:
        cells.append(milliseconds(figures.median(key, "p99_us")))
    ours = (our_way(way), model, OURS.title, clients)
    compared = server not in (OURS.title, LOOP) and ours in figures.closed
    return [*cells, times(compared and figures.median(ours, "throughput") / rate)]


def closed_table(figures):
    """Closed loops of one client and of many, by way and model; and the loop without a server."""
    return markdown(CLOSED_HEADS, [
        [{LOOP_WAY: LOOP_WAY, **WAYS}[case[0]], *case[1:], *closed_cells(figures, case, FEW),
         *closed_cells(figures, case, MANY)] for case in figures.cases()])


def equal_cells(figures, case):
    """The daemon at this server's load, and within this server's p99."""
    way, model, server = case
    theirs, ours = (figures.equal[(*case, title)] for title in (server, OURS.title))
    p99 = [median([report["p99_us"] for report in reports]) for reports in (theirs, ours)]
    rate = median([report["rate"] for report in theirs])
    loaded = (*case, MANY)
    bound, answered = figures.median(loaded, "p99_us"), figures.median(loaded, "throughput")
    within = figures.ours_within(way, model, bound)
    return [f"{rate:,.0f}", *map(milliseconds, p99), times(p99[0] / p99[1]), milliseconds(bound),
            f"{answered:,.0f}", f"{within:,.0f}" if within else "–",
            times(within and within / answered)]


def equal_table(figures):
    """Each server beside the daemon: p99 at one load, and answers a second within one p99."""
    return markdown(EQUAL_HEADS, [
        [WAYS[case[0]], *case[1:], *equal_cells(figures, case)] for case in figures.cases()
        if (*case, OURS.title) in figures.equal])
