"""Line charts as SVG, by text alone: no library, no script, no network.

A chart's colours are classes of its page (page.py), for a light and a dark screen.
"""

import math
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 34, 48  # margins of the plot
LEGEND_LINE = 18
COLOURS = 8  # number of colours in page.py
TICKS = 6
CHARACTER = 7  # rough width of a letter


@dataclass
class Axis:
    """A title with its unit. A logarithmic axis leaves out values that are not above 0."""

    title: str
    is_log: bool = False


@dataclass
class Line:
    """A named line of points; a point without a number interrupts it."""

    name: str
    points: list  # a list of (x, y)
    is_dashed: bool = False
    colour: int | None = None  # index in the page; None: the chart's next one


@dataclass
class Scale:
    """Maps an axis's values to pixels."""

    axis: Axis
    low: float
    high: float
    first: float  # pixels of `low` and `high`
    last: float

    def at(self, value):
        low, high = self.low, self.high
        if self.axis.is_log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return self.first + (value - low) / (high - low) * (self.last - self.first)

    def ticks(self):
        """Round values, from the lowest to the highest of the scale."""
        return log_ticks(self.low, self.high) if self.axis.is_log else ticks(self.low, self.high)


def step_of(low, high):
    """A round step between ticks: 1, 2 or 5 times a power of ten."""
    rough = (high - low) / TICKS
    power = 10 ** math.floor(math.log10(rough))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)


def ticks(low, high):
    """The round values of a linear scale."""
    step = step_of(low, high)
    return [index * step for index in range(math.ceil(low / step - 1e-9),
                                            math.floor(high / step + 1e-9) + 1)]


def log_ticks(low, high):
    """The values of a logarithmic scale that begin with 1; for few decades others too."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for starts in ((1,), (1, 2, 5), range(1, 10)):
        found = [start * 10.0 ** power for power in powers for start in starts
                 if low * 0.999 <= start * 10.0 ** power <= high * 1.001]
        if len(found) >= 4:
            return found
    return found


def number(value):
    """A value as a tick's text."""
    if value == 0:
        return "0"
    if abs(value) >= 10000:
        return f"{value / 1000:,.4g}k"
    return f"{value:.4g}"


def can_be_drawn(axis, value):
    """Whether the axis has a place for the value."""
    return value is not None and math.isfinite(value) and (value > 0 or not axis.is_log)


def runs_of(line, x_axis, y_axis):
    """The line's points that can be drawn, in runs without a gap."""
    runs = [[]]
    for x, y in line.points:
        if can_be_drawn(x_axis, x) and can_be_drawn(y_axis, y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def scale_of(axis, values, first, last):
    """A scale that fits all values; a linear one begins at 0."""
    low, high = (min(values), max(values)) if values else (1, 2)
    if axis.is_log:
        low, high = low / 1.1, high * 1.1
    else:
        low, high = min(low, 0), max(high, 0) * 1.05
    return Scale(axis, low, high if high > low else low + 1, first, last)


@dataclass
class Drawing:
    """The elements of one chart, in the order in which they are drawn."""

    x: Scale
    y: Scale
    parts: list = field(default_factory=list)

    def text(self, x, y, words, kind, more=""):
        """Words at a place; `kind` is a class of the page."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{more}>{escape(words)}'
                          "</text>")

    def rule(self, x1, y1, x2, y2, kind):
        """A straight line."""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'class="{kind}"/>')

    def axes(self):
        """Grid, ticks and titles."""
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for value in self.y.ticks():
            self.rule(LEFT, self.y.at(value), right, self.y.at(value), "grid")
            self.text(LEFT - 6, self.y.at(value) + 4, number(value), "tick end")
        for value in self.x.ticks():
            self.rule(self.x.at(value), bottom, self.x.at(value), bottom + 4, "axis")
            self.text(self.x.at(value), bottom + 18, number(value), "tick middle")
        self.rule(LEFT, bottom, right, bottom, "axis")
        self.text((LEFT + right) / 2, HEIGHT - 8, self.x.axis.title, "label middle")
        middle = (TOP + bottom) / 2
        self.text(14, middle, self.y.axis.title, "label middle",
                  f' transform="rotate(-90 14 {middle:.1f})"')

    def line(self, line, colour):
        """A line with a dot at each point; a dot shows its values under the mouse."""
        dashed = " dashed" if line.is_dashed else ""
        runs = runs_of(line, self.x.axis, self.y.axis)
        for run in runs:
            places = " ".join(f"{self.x.at(x):.1f},{self.y.at(y):.1f}" for x, y in run)
            self.parts.append(f'<polyline points="{places}" class="line c{colour}{dashed}"/>')
        few = sum(map(len, runs)) <= 40
        for x, y in (point for run in runs for point in run if few):
            self.parts.append(f'<circle cx="{self.x.at(x):.1f}" cy="{self.y.at(y):.1f}" r="3" '
                              f'class="dot c{colour}"><title>{escape(line.name)}: {number(x)}, '
                              f"{number(y)}</title></circle>")

    def legend(self, names):
        """Writes the names of (line, colour) below the plot; returns the number of text lines."""
        x, y = LEFT, HEIGHT + 12
        for line, colour in names:
            width = 40 + CHARACTER * len(line.name)
            if x > LEFT and x + width > WIDTH:
                x, y = LEFT, y + LEGEND_LINE
            dashed = " dashed" if line.is_dashed else ""
            self.parts.append(f'<polyline points="{x},{y - 4} {x + 22},{y - 4}" '
                              f'class="line c{colour}{dashed}"/>')
            self.text(x + 28, y, line.name, "label")
            x += width
        return y + LEGEND_LINE - 6


def line_chart(title, x_axis, y_axis, lines):
    """The SVG of these lines. If no point can be drawn, the chart says so."""
    points = [point for line in lines for run in runs_of(line, x_axis, y_axis) for point in run]
    drawing = Drawing(scale_of(x_axis, [x for x, _ in points], LEFT, WIDTH - RIGHT),
                      scale_of(y_axis, [y for _, y in points], HEIGHT - BOTTOM, TOP))
    drawing.text(LEFT, 18, title, "title")
    drawing.axes()
    colours = [(line, index % COLOURS if line.colour is None else line.colour)
               for index, line in enumerate(lines)]
    for line, colour in colours:
        drawing.line(line, colour)
    if not points:
        drawing.text((LEFT + WIDTH) / 2, HEIGHT / 2, "nothing was measured", "label middle")
    height = drawing.legend(colours)
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
            f"{''.join(drawing.parts)}</svg>")
