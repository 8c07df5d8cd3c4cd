"""The tables of text_peers.py, from its measurements. Pure.

`samples` is bench_figures.Samples by (load, threads, server).
"""

from dataclasses import replace

from bench_figures import Row, at_least, at_most
from text_servers import BARE, INFINITY, LOOP, MPSD, PLACED

FARTHEST_MAX = 1e-4
SHORT, MIXED, MANY = "short_c1", "mixed_c64", "many_c4"
NOT_OVER_HTTP = (LOOP, BARE)
OURS = (MPSD, PLACED)


def best_of(samples, load, threads, figure, titles=None):
    """The server with the best median, among servers that were measured in each of our rounds; or
    None. Looks at these titles, by default at all other servers over HTTP."""
    rounds = max((len(rounds) for (name, count, title), rounds in samples.samples.items()
                  if (name, count) == (load, threads) and title in OURS), default=0)
    found = [title for (name, count, title), figures in samples.samples.items()
             if (name, count) == (load, threads) and len(figures) == rounds
             and (title in titles if titles else title not in NOT_OVER_HTTP + OURS)]
    sign = -1 if figure == "texts_a_second" else 1
    return min(found, key=lambda title: sign * samples.value((load, threads, title), figure),
               default=None)


def _compare(row, samples, quantity, load, threads, ours, target, titles=None, unit=""):
    """A list with one row: our server and the best of the others. Empty if either is missing."""
    figure = "p50_ms" if row is at_most else "texts_a_second"
    best = best_of(samples, load, threads, figure, titles)
    if best is None or not samples.has((load, threads, ours)):
        return []
    return [row("–", f"{quantity} {best}", samples.values((load, threads, ours), figure),
                samples.values((load, threads, best), figure), target, unit)]


def peer_rows(samples):
    """Rows against the best server over HTTP."""
    rows = _compare(at_least, samples, "mixed lengths, c=64: mpsd to", MIXED, 2, MPSD, 1.3,
                    unit=" texts/s")
    many = _compare(at_least, samples, "32 texts a request, c=4: mpsd to", MANY, 2, MPSD, 0,
                    unit=" texts/s")
    rows += [replace(row, target="–", met=None) for row in many]
    for threads in (1, 2):
        rows += _compare(at_most, samples, f"16 tokens, c=1, threads: {threads}, p50: mpsd to",
                         SHORT, threads, PLACED, 1, unit=" ms")
    return rows


def infinity_rows(samples):
    """Rows against infinity, under every load."""
    rows = []
    for load, threads, ours in ((SHORT, 1, PLACED), (SHORT, 2, MPSD), (MIXED, 2, MPSD),
                                (MANY, 2, MPSD)):
        rows += _compare(at_least, samples, f"{load}, threads: {threads}: mpsd to", load, threads,
                         ours, 2, INFINITY, " texts/s")
    return rows


def bare_rows(samples):
    """Rows against the same lanes without a front end."""
    return _compare(at_least, samples, "mixed lengths, c=64: mpsd to the", MIXED, 2, MPSD, 0.9,
                    (BARE,), " texts/s")


def answer_rows(farthest):
    """A row for the distance of the daemon's numbers from sentence-transformers'; `farthest` is by
    server."""
    ours = [value for title, value in farthest.items() if title in OURS]
    if not ours or LOOP not in farthest:
        return []
    return [Row("–", "farthest number of mpsd from sentence-transformers'", f"{max(ours):.1e}",
                target=f"≤ {FARTHEST_MAX:g}", met=max(ours) <= FARTHEST_MAX)]


def all_rows(samples, farthest):
    """All rows with measurements."""
    return (peer_rows(samples) + infinity_rows(samples) + bare_rows(samples)
            + answer_rows(farthest))


COLUMNS = ((SHORT, 1, "p50_ms", "16 tokens, c=1, one thread: p50, ms"),
           (SHORT, 2, "p50_ms", "two threads: p50, ms"),
           (MIXED, 2, "texts_a_second", "mixed lengths, c=64: texts/s"),
           (MIXED, 2, "p50_ms", "p50, ms"), (MIXED, 2, "p99_ms", "p99, ms"),
           (MANY, 2, "texts_a_second", "32 texts a request, c=4: texts/s"),
           (MANY, 2, "p50_ms", "p50, ms"))


def servers_table(samples, farthest, titles):
    """The medians of each server in Markdown."""
    lines = ["| server | " + " | ".join(column[-1] for column in COLUMNS) + " | farthest number |",
             "|" + "---|" * (len(COLUMNS) + 2)]
    for title in titles:
        cells = []
        for load, threads, figure, _ in COLUMNS:
            rounds = samples.samples.get((load, threads, title), [])
            # The loop gets all texts of 64 clients at once, so no single time is known.
            has = rounds and figure in rounds[0] and not (
                title == LOOP and load == MIXED and figure != "texts_a_second")
            cells.append(f"{samples.value((load, threads, title), figure):,.1f}" if has else "–")
        if set(cells) != {"–"}:
            distance = f"{farthest[title]:.1e}" if title in farthest else "–"
            lines.append(f"| {' | '.join([title, *cells, distance])} |")
    return "\n".join(lines)
