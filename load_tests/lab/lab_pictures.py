"""A scenario as a part of a page: its lines over time and over load, its bars, and all figures."""

import page
from bench_figures import COLUMNS, cells, median, number_text
from chart import COLOURS, Axis, Line, line_chart
from lab_bars import offered

PERCENTILES = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99_9", "p99.9"))
HEADS = ["phase", "load", "offered /s", "answered /s", "good /s", "p50 ms", "p90 ms", "p99 ms",
         "p99.9 ms", "mean batch", "not answered", "client late by, p99 ms"]


def per_second(report, event):
    """(seconds, events a second) for each whole span of a report's window."""
    span_s, counts = report["timeline"]["span_s"], report["timeline"][event]
    whole = int(report["seconds"] / span_s)
    counts = [*counts, *[0] * (whole - len(counts))][:whole]
    return [((index + 0.5) * span_s, count / span_s) for index, count in enumerate(counts)]


def time_chart(phase, done):
    """Good answers a second over time, by load, beside the calls that were due."""
    lines = []
    for colour, name in enumerate(phase.loads):
        report = done[f"{phase.name}/{name}"]
        if "timeline" not in report:
            continue
        lines.append(Line(f"{name}: good answers", per_second(report, "good"),
                          colour=colour % COLOURS))
        if report["timeline"]["due"]:
            lines.append(Line(f"{name}: due", per_second(report, "due"), is_dashed=True,
                              colour=colour % COLOURS))
    return line_chart(f"{phase.name}: good answers over time", Axis("time, s"),
                      Axis("answers a second"), lines)


def medians(phases, name, rounds, value):
    """(offered, value) of each phase of a sweep: medians of the rounds."""
    return [tuple(median([pick(done[f"{phase.name}/{name}"]) for done in rounds])
                  for pick in (offered, value)) for phase in phases]


def sweep_charts(sweep, phases, rounds, foretold):
    """Goodput and latencies over offered load, by load of the sweep."""
    charts = []
    for name in phases[0].loads:
        lines = [Line("good answers", medians(phases, name, rounds, lambda report: report["goodput"])),
                 Line("all that is offered", medians(phases, name, rounds, offered), is_dashed=True,
                      colour=7)]
        if foretold:
            lines.append(Line("foretold by the simulator", medians(
                phases, name, foretold, lambda report: report["goodput"]), is_dashed=True, colour=1))
        charts.append(line_chart(f"{sweep}: good answers over offered load, {name}",
                                 Axis("offered, calls a second"), Axis("good answers a second"), lines))
        charts.append(line_chart(
            f"{sweep}: latency over offered load, {name}", Axis("offered, calls a second"),
            Axis("latency of answers, ms", is_log=True),
            [Line(text, medians(phases, name, rounds,
                                lambda report, key=key: report["latency_us"].get(key, 0) / 1e3))
             for key, text in PERCENTILES]))
    return charts


def load_cells(phase, name, rounds):
    """The figures of a load: medians of the rounds, and the errors of all rounds."""
    reports = [done[f"{phase.name}/{name}"] for done in rounds]

    def middle(value):
        values = [value(report) for report in reports]
        return "–" if None in values else number_text(median(values))

    def quantile(group, key):
        return middle(lambda report: report[group][key] / 1e3 if key in report.get(group, {}) else None)

    errors = {}
    for report in reports:
        for code, count in {**report["errors"], "not sent": report.get("not_sent", 0)}.items():
            errors[code] = errors.get(code, 0) + count
    return [phase.name, name, middle(offered), middle(lambda report: report["throughput"]),
            middle(lambda report: report["goodput"]),
            *(quantile("latency_us", key) for key, _ in PERCENTILES),
            middle(lambda report: report.get("mean_batch")),
            ", ".join(f"{count:,} {code}" for code, count in errors.items() if count) or "–",
            quantile("lateness_us", "p99")]


def section(scenario, rounds, foretold, rows):
    """The scenario's part of the page. `foretold` has the forecasts of sweeps, by rounds; or is
    empty."""
    charts = []
    for sweep, phases in scenario.sweeps().items():
        charts += sweep_charts(sweep, phases, rounds, foretold)
    charts += [time_chart(phase, rounds[0]) for phase in scenario.phases
               if phase.sweep is None and phase.simulate is None]
    figures = [load_cells(phase, name, rounds) for phase in scenario.phases for name in phase.loads]
    return page.section(f"{scenario.name}: {scenario.title}", scenario.remark, charts,
                        [page.table(["scenario", *COLUMNS[1:]], map(cells, rows)),
                         page.table(HEADS, figures)])
