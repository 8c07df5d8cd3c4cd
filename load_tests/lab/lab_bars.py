"""Evaluates a scenario's bars from its reports. Starts no process.

A round is {"phase/load": report}; a report is the output of mpsd-bench or mpsd-simulate.
"""

from bench_figures import Row, alone, at_least, at_most, jain, median, number_text

GOOD = 0.99  # least share of good answers below the knee
UNITS = {"throughput": " /s", "goodput": " /s", "offered": " /s", "knee": " /s", "p50_us": " us",
         "p99_us": " us"}


def offered(report):
    """Calls a second that were due; in a closed loop all that were answered."""
    return report.get("offered", report["throughput"])


def good_share(report):
    """The share of calls due in the window that got good answers, at any time.

    The simulator and closed loops have no such figure; for them it is goodput to offered calls.
    """
    if "good_share" in report:
        return report["good_share"]
    return report["goodput"] / offered(report) if offered(report) else 0


def figure_of(name, report):
    """One figure of a report."""
    if name in ("p50_us", "p99_us"):
        return report["latency_us"][name.removesuffix("_us")]
    if name in ("offered", "knee"):
        return offered(report)
    if name == "good_share":
        return good_share(report)
    return report[name] or 0


def knee(scenario, sweep, load, done):
    """The highest offered rate of a sweep at which nearly all calls got good answers."""
    reports = [done[f"{phase.name}/{load}"] for phase in scenario.sweeps()[sweep]]
    return max((offered(report) for report in reports if good_share(report) >= GOOD), default=0)


def value_of(scenario, bar, done):
    """A bar's figure in one round."""
    if bar["figure"] == "jain":
        return jain([done[place]["throughput"] for place in bar["of"]])
    if bar["figure"] == "knee":
        sweep, _, load = bar["of"].partition("/")
        return knee(scenario, sweep, load, done)
    return figure_of(bar["figure"], done[bar["of"]])


def limit_text(limit):
    """A bar's limit, as in its file."""
    return f"{limit:,g}"


def bar_row(scenario, bar, rounds):
    """The row of a bar: its figure, or the ratio to another load's."""
    values = [value_of(scenario, bar, done) for done in rounds]
    unit = UNITS.get(bar["figure"], "")
    if "to" in bar:
        figure = "throughput" if bar["figure"] == "knee" else bar["figure"]
        ceilings = [figure_of(figure, done[bar["to"]]) for done in rounds]
        held_to, target = ((at_least, bar["at_least"]) if "at_least" in bar
                           else (at_most, bar["at_most"]))
        return held_to(scenario.name, bar["what"], values, ceilings, target, unit)
    middle = median(values)
    if "at_least" in bar:
        target, met = f"≥ {limit_text(bar['at_least'])}{unit}", middle >= bar["at_least"]
    else:
        target, met = f"≤ {limit_text(bar['at_most'])}{unit}", middle <= bar["at_most"]
    return alone(scenario.name, bar["what"], values, f"{number_text(middle)}{unit}", target, met)


def honesty_rows(scenario, rounds):
    """Rows for faults that no scenario may have."""
    reports = [report for done in rounds for report in done.values()]
    wrong = sum(report["wrong"] for report in reports)
    # mpsd-bench cancels calls that have no answer in time.
    endless = sum(report["errors"].get("CANCELLED", 0) for report in reports)
    return [Row(scenario.name, "wrong answers; calls without an ending", f"{wrong}; {endless}",
                target="0; 0", met=wrong == endless == 0)]


def rows_of(scenario, rounds):
    """All rows of a scenario."""
    return ([bar_row(scenario, bar, rounds) for bar in scenario.bars]
            + honesty_rows(scenario, rounds))
