#!/usr/bin/env python3
"""Tests of the charts and pages of load_tests/pictures."""

import os
import re
import sys
import unittest
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "../../load_tests/pictures"))
import chart  # noqa: E402
import page  # noqa: E402
from chart import Axis, Line  # noqa: E402


def drawn(*lines, x=Axis("load, calls a second"), y=Axis("latency, ms")):
    return xml.fromstring(chart.line_chart("a & b", x, y, list(lines)))


def points(svg, kind):
    """The places of the lines of a class, without those of the legend."""
    found = []
    for line in svg.iter("polyline"):
        places = [tuple(map(float, place.split(","))) for place in line.get("points").split()]
        if kind in line.get("class").split() and places[0][1] < chart.HEIGHT:
            found.append(places)
    return found


def texts(svg):
    return ["".join(text.itertext()) for text in svg.iter("text")]


class Ticks(unittest.TestCase):
    def test_are_round_and_within_the_scale(self):
        self.assertEqual(chart.ticks(0, 100), [0, 20, 40, 60, 80, 100])
        self.assertEqual(chart.ticks(0, 7), [0, 2, 4, 6])
        self.assertEqual([round(tick, 9) for tick in chart.ticks(0, 0.3)],
                         [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3])

    def test_of_a_logarithmic_scale_begin_with_1_and_are_some(self):
        self.assertEqual(chart.log_ticks(3, 300), [5, 10, 20, 50, 100, 200])
        self.assertEqual(chart.log_ticks(40, 110), [40, 50, 60, 70, 80, 90, 100])
        self.assertEqual(chart.log_ticks(1, 1e6), [1, 10, 100, 1e3, 1e4, 1e5, 1e6])

    def test_are_short(self):
        self.assertEqual([chart.number(value) for value in (0, 0.05, 20.0, 2500, 15000, 1e6)],
                         ["0", "0.05", "20", "2500", "15k", "1,000k"])


class Charts(unittest.TestCase):
    def test_points_lie_where_their_values_are(self):
        svg = drawn(Line("p50", [(0, 0), (50, 5), (100, 10)]))
        (low, middle, high), = points(svg, "c0")
        self.assertEqual(low, (chart.LEFT, chart.HEIGHT - chart.BOTTOM))
        self.assertAlmostEqual(middle[0], (low[0] + high[0]) / 2, delta=0.1)
        self.assertAlmostEqual(middle[1], (low[1] + high[1]) / 2, delta=0.1)
        self.assertLess(high[1], low[1])

    def test_a_logarithmic_axis_has_decades_of_one_length(self):
        svg = drawn(Line("p99", [(1, 1), (2, 10), (3, 100)]), y=Axis("ms", is_log=True))
        (low, middle, high), = points(svg, "c0")
        self.assertAlmostEqual(low[1] - middle[1], middle[1] - high[1], delta=0.2)

    def test_all_points_lie_within_the_plot(self):
        svg = drawn(Line("a", [(7, 3e5), (1e6, 1e-3)]), Line("b", [(2, 4)]),
                    x=Axis("x", is_log=True), y=Axis("y", is_log=True))
        for places in points(svg, "line"):
            for x, y in places:
                self.assertTrue(chart.LEFT <= x <= chart.WIDTH - chart.RIGHT, x)
                self.assertTrue(chart.TOP <= y <= chart.HEIGHT - chart.BOTTOM, y)

    def test_what_is_no_number_interrupts_the_line(self):
        values = [(1, 1), (2, None), (3, float("nan")), (4, 2), (5, float("inf")), (6, 3), (7, 4)]
        self.assertEqual([len(run) for run in points(drawn(Line("a", values)), "c0")], [1, 1, 2])
        zeros = drawn(Line("a", [(1, 0), (2, 1), (3, 2)]), y=Axis("y", is_log=True))
        self.assertEqual([len(run) for run in points(zeros, "c0")], [2])

    def test_nothing_is_said_to_be_nothing(self):
        for lines in ([], [Line("a", [])], [Line("a", [(1, None)])]):
            self.assertIn("nothing was measured", texts(drawn(*lines)))
        self.assertNotIn("nothing was measured", texts(drawn(Line("a", [(0, 0)]))))

    def test_titles_units_and_names_can_be_read(self):
        svg = drawn(Line("<p50>", [(1, 2)]), Line("bound", [(1, 3)], is_dashed=True))
        for words in ("a & b", "load, calls a second", "latency, ms", "<p50>", "bound"):
            self.assertIn(words, texts(svg))
        self.assertEqual(svg.get("aria-label"), "a & b")
        self.assertEqual(len(points(svg, "dashed")), 1)
        self.assertIn("<p50>: 1, 2", ["".join(title.itertext()) for title in svg.iter("title")])

    def test_a_line_has_the_colour_that_it_asks_for(self):
        svg = drawn(Line("a", [(1, 1), (2, 2)]), Line("told", [(1, 2), (2, 3)], colour=0))
        self.assertEqual(len(points(svg, "c0")), 2)

    def test_many_names_take_several_lines_of_text(self):
        few = drawn(Line("a", [(1, 1)]))
        many = drawn(*(Line(f"a long name of line {index}", [(1, 1)]) for index in range(12)))
        heights = [float(svg.get("viewBox").split()[3]) for svg in (few, many)]
        self.assertGreater(heights[1], heights[0])
        for text in many.iter("text"):
            self.assertLessEqual(float(text.get("y")), heights[1])


class Pages(unittest.TestCase):
    def text(self):
        svg = chart.line_chart("t", Axis("x"), Axis("y"), [Line("l", [(1, 1)])])
        table = page.table(["what", "verdict"], [["a < b", "met"], ["c", "NOT MET"]])
        return page.page("A page", "of <tests>", [page.section("Part", "one", [svg], [table])])

    def test_is_well_formed(self):
        text = self.text().replace("<!DOCTYPE html>", "")
        xml.fromstring(re.sub(r"<meta [^>]*>", "", text))

    def test_needs_nothing_else(self):
        for word in ("http:", "https:", "<script", "<link", "<img", "url(", "@import"):
            self.assertNotIn(word, self.text())

    def test_has_the_colours_of_all_lines_in_light_and_dark(self):
        for index in range(chart.COLOURS):
            self.assertEqual(page.STYLE.count(f"--c{index}: "), 2)
            self.assertIn(f"svg .c{index} ", page.STYLE)

    def test_a_verdict_stands_out(self):
        self.assertIn('<td class="missed">NOT MET</td>', self.text())
        self.assertIn('<td class="met">met</td>', self.text())
        self.assertIn("<td>a &lt; b</td>", self.text())


if __name__ == "__main__":
    unittest.main()
