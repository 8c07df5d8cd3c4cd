"""The arithmetic of bench.py: medians, metrics, ceilings and the table. Starts no process."""

import re
from dataclasses import dataclass

DIFFERENT = 0.1  # two ratios of the same figures are both shown if they differ by this share


def median(values):
    """The median; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


class Samples:
    """The results of each measurement, round by round: {name: [figures of a round]}."""

    def __init__(self):
        self.samples = {}

    def values(self, name, *keys):
        """One figure from every round."""
        values = self.samples.get(name, [])
        for key in keys:
            values = [value[key] for value in values]
        return values

    def value(self, name, *keys):
        """The median of the rounds."""
        return median(self.values(name, *keys))

    def has(self, *names):
        """Whether all of these were measured."""
        return all(name in self.samples for name in names)


def spread(values):
    """The range of the values as a share of their median; 0 for fewer than two values."""
    middle = median(values)
    return (max(values) - min(values)) / middle if len(values) > 1 and middle else 0


def metric(page, name, model=None):
    """The sum of a metric's samples on a Prometheus page, for one model if given."""
    total = 0.0
    for line in page.splitlines():
        match = re.fullmatch(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)(?: \d+)?", line)
        if not match or match[1] != name:
            continue
        labels = dict(re.findall(r'(\w+)="((?:\\.|[^"\\])*)"', match[2] or ""))
        if model is None or labels.get("model") == model:
            total += float(match[3])
    return total


def mean_batch(before, after, model):
    """The mean batch size between two metrics pages; None when no batch ran."""
    batches = metric(after, "mpsd_batch_rows_count", model) - metric(
        before, "mpsd_batch_rows_count", model)
    rows = metric(after, "mpsd_batch_rows_sum", model) - metric(
        before, "mpsd_batch_rows_sum", model)
    return rows / batches if batches else None


def bare_rate(rates, rows):
    """Samples a second of the bare loop at a mean of `rows` rows a batch.

    `rates` has whole batch sizes. Between two sizes the time of a batch is taken as linear.
    """
    sizes = sorted(rates)
    low = max((size for size in sizes if size <= rows), default=sizes[0])
    high = min((size for size in sizes if size >= rows), default=sizes[-1])
    if low == high:
        return rates[low]
    share = (rows - low) / (high - low)
    seconds = (1 - share) * low / rates[low] + share * high / rates[high]
    return rows / seconds


def mixed_rate(rates):
    """The rate of a sequence that draws evenly from kinds of work with these rates."""
    return len(rates) / sum(1 / rate for rate in rates)


@dataclass
class Row:
    """One line of the table. `met` is None for a figure without a target.

    `range` is the range of the rounds' ratios, or of the measured figure if there is no ratio.
    """

    number: str
    quantity: str
    measured: str
    ceiling: str = "–"
    ratio: str = "–"
    target: str = "–"
    met: bool | None = None
    range: str = "–"


def number_text(value):
    """A number, with its significant digits."""
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def range_text(values):
    """The range of the rounds; "–" for a single value."""
    if len(values) < 2:
        return "–"
    return f"{number_text(min(values))} to {number_text(max(values))}"


def paired_ratios(measured, ceilings):
    """The rounds' ratios; both figures of a ratio come from the same round."""
    return [value / ceiling for value, ceiling in zip(measured, ceilings, strict=True)]


def paired_ratio(measured, ceilings):
    """The median of the rounds' ratios."""
    return median(paired_ratios(measured, ceilings))


def ratio_text(measured, ceilings):
    """The median of the rounds' ratios; also the ratio of the medians if it differs."""
    ratio, of_medians = paired_ratio(measured, ceilings), median(measured) / median(ceilings)
    text = f"{ratio:.2f}"
    if abs(of_medians - ratio) <= DIFFERENT * ratio:
        return text
    return f"{text} ({of_medians:.2f} of the medians)"


def beside(number, quantity, measured, ceilings, unit="", target="–", met=None):
    """A row of a measured value and its ceiling, by rounds; no ratio if one ceiling is 0."""
    row = Row(number, quantity, f"{number_text(median(measured))}{unit}",
              f"{number_text(median(ceilings))}{unit}", target=target, met=met)
    if all(ceilings):
        row.ratio = ratio_text(measured, ceilings)
        row.range = range_text(paired_ratios(measured, ceilings))
    return row


def alone(number, quantity, values, text, target="–", met=None):
    """A row of a figure without a ceiling: its rounds, and their text in the table."""
    return Row(number, quantity, text, target=target, met=met, range=range_text(values))


def at_least(number, quantity, measured, ceilings, target, unit=""):
    """A row whose ratio of measured value to ceiling, round by round, must reach the target."""
    ratio = paired_ratio(measured, ceilings) if all(ceilings) else 0
    return beside(number, quantity, measured, ceilings, unit, f"≥ {target:g}", ratio >= target)


def at_most(number, quantity, measured, ceilings, target, unit=""):
    """A row whose ratio of measured value to ceiling must not exceed the target. 0 means no
    value."""
    ratio = paired_ratio(measured, ceilings) if all(ceilings) and all(measured) else float("inf")
    row = beside(number, quantity, measured, ceilings, unit, f"≤ {target:g}", ratio <= target)
    if not all(measured):
        row.ratio = "–"
    return row


def within(number, quantity, measured, foretold, share, unit=""):
    """A row whose measured value must lie within a share of the forecast."""
    ratio = measured / foretold if foretold else float("inf")
    return beside(number, quantity, [measured], [foretold], unit, f"1 ± {share:g}",
                  abs(ratio - 1) <= share)


def jain(shares):
    """Jain's index of fairness: 1 if all have the same, 1/n if one has all."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 0


COLUMNS = ["#", "quantity", "measured", "ceiling", "ratio", "range", "target", "verdict"]
VERDICTS = {True: "met", False: "NOT MET", None: "–"}


def cells(row):
    """The texts of a row, by COLUMNS."""
    return [row.number, row.quantity, row.measured, row.ceiling, row.ratio, row.range, row.target,
            VERDICTS[row.met]]


def table(rows, heads=COLUMNS):
    """The rows as Markdown, in aligned columns."""
    lines = [heads, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    padded = [[cell.ljust(width) for cell, width in zip(line, widths)] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def failures(failed):
    """Text about failed loads for below a table: their errors, wrong answers, commands."""
    return "".join(f"\nfailed: {load['errors']}, {load['wrong']} wrong: {' '.join(load['command'])}\n"
                   for load in failed)
