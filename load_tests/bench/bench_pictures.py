"""bench.py's figures as a page of HTML: the sweeps of T8, the closed loops, and the table."""

import page
from bench_figures import COLUMNS, cells
from chart import Axis, Line, line_chart

CLIENTS = (1, 16, 64, 128, 256)
OFFERED = Axis("offered, calls a second")


def goodput_chart(sweep):
    """Good answers over offered load, beside the forecast and the bound of all schedules."""
    def line(name, value, **more):
        return Line(name, [(point["offered"], value(point)) for point in sweep.points], **more)

    return line_chart(f"{sweep.name}: good answers under {sweep.slo_us / 1e3:.1f} ms", OFFERED,
                      Axis("good answers a second"),
                      [line("measured", lambda point: point["goodput"]),
                       line("foretold by the simulator", lambda point: point["foretold"],
                            is_dashed=True),
                       line("the most that any schedule reaches", lambda point: point["bound"],
                            is_dashed=True, colour=7)])


def latency_lines(points, x):
    """The percentiles of these reports, drawn at x(report)."""
    return [Line(name, [(x(point), point["latency_us"][key] / 1e3) for point in points])
            for name, key in (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p99_9"))]


def latency_chart(sweep):
    """Latencies of answers over offered load."""
    return line_chart(f"{sweep.name}: latency of answers, deadline {sweep.slo_us / 1e3:.1f} ms", OFFERED,
                      Axis("latency, ms", is_log=True),
                      latency_lines(sweep.points, lambda point: point["offered"]))


def closed_loop_charts(bench):
    """The MLP's throughput of every round, and latencies of the last, over the number of
    clients."""
    counts = [count for count in CLIENTS if bench.has(f"mlp_c{count}")]
    if len(counts) < 2:
        return []
    served = [Line(f"round {index + 1}", [(count, bench.samples[f"mlp_c{count}"][index]["throughput"])
                                          for count in counts])
              for index in range(len(bench.samples[f"mlp_c{counts[0]}"]))]
    last = [{**bench.samples[f"mlp_c{count}"][-1], "clients": count} for count in counts]
    clients = Axis("clients in a closed loop", is_log=True)
    return [line_chart("MLP: answers", clients, Axis("answers a second"), served),
            line_chart("MLP: latency in the last round", clients, Axis("latency, ms", is_log=True),
                       latency_lines(last, lambda point: point["clients"]))]


def write(path, bench, rows, sweeps, head):
    """Writes the page."""
    sections = [page.section("Figures", "Each quantity beside its ceiling of the same round. The "
                             "ratio is the median of the rounds' own; the range is theirs.",
                             tables=[page.table(COLUMNS, map(cells, rows))])]
    if sweeps:
        sections.append(page.section(
            "Poisson arrivals with a deadline (T8)", "One measurement at each load.",
            [draw(sweep) for sweep in sweeps for draw in (goodput_chart, latency_chart)]))
    closed = closed_loop_charts(bench)
    if closed:
        sections.append(page.section("Closed loops (S1, T6)", "Calls of one row.", closed))
    page.write(path, "The daemon beside this machine's ceilings", head, sections)
