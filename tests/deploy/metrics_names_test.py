#!/usr/bin/env python3
"""Dashboards and alerts use only metrics that the daemon has.

  metrics_names_test.py            against the names in the daemon's source
  metrics_names_test.py URL|FILE   against a scrape, live or saved
Also: each dashboard is valid, with one id and one place a panel, and no metric of the source is
forgotten.
"""
import itertools
import json
import pathlib
import re
import sys
import urllib.request

ROOT = pathlib.Path(__file__).parents[2]
SOURCES = ("server/telemetry/metric_families.cc",)
NAME = re.compile(r"\b(?:mpsd|process)_[a-z0-9_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")
# What no dashboard and no alert needs, and why.
UNSHOWN = {"mpsd_certificates_taken_total": "the time left of the certificate rises"}


def names_of_source():
    text = "".join((ROOT / source).read_text() for source in SOURCES)
    return set(re.findall(r'"((?:mpsd|process)_[a-z0-9_]+)"', text))


def names_of_scrape(place):
    """The families that the text declares and that have a series: a HELP alone is no metric."""
    if place.startswith(("http://", "https://")):
        with urllib.request.urlopen(place, timeout=10) as answer:
            text = answer.read().decode()
    else:
        text = pathlib.Path(place).read_text()
    histograms = set(re.findall(r"^# TYPE (\w+) histogram$", text, re.M))
    series = set(re.findall(r"^([a-zA-Z_:][\w:]*)[{ ]", text, re.M))
    return {PARTS.sub("", name) if PARTS.sub("", name) in histograms else name for name in series}


def overlapping(panels):
    """The titles of two panels that have a place in common; None where there are no such two."""
    places = {}
    for panel in panels:
        at = panel["gridPos"]
        for place in itertools.product(range(at["x"], at["x"] + at["w"]),
                                       range(at["y"], at["y"] + at["h"])):
            if place in places:
                return places[place], panel["title"]
            places[place] = panel["title"]
    return None


def expressions_of_dashboard(path):
    dashboard = json.loads(path.read_text())
    panels = dashboard["panels"]
    ids = [panel["id"] for panel in panels]
    assert len(ids) == len(set(ids)), f"{path.name}: two panels have one id"
    titles = [panel["title"] for panel in panels]
    assert len(titles) == len(set(titles)), f"{path.name}: two panels have one title"
    assert overlapping(panels) is None, f"{path.name}: {overlapping(panels)} overlap"
    assert dashboard["uid"] and dashboard["title"], f"{path.name}: uid and title must be there"
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    assert "model" in variables, f"{path.name}: no variable for the model"
    for variable in variables.values():
        yield variable["query"]["query"] if isinstance(variable["query"], dict) else ""
    for panel in panels:
        assert panel["targets"], f"{path.name}: {panel['title']}: no query"
        for target in panel["targets"]:
            yield target["expr"]


def used():
    """(where, metric) of each metric that something under deploy/ looks at."""
    for path in sorted((ROOT / "deploy/grafana").glob("*.json")):
        for expression in expressions_of_dashboard(path):
            yield from ((path.name, name) for name in NAME.findall(expression))
    alerts = ROOT / "deploy/prometheus/alerts.yml"
    lines = [line for line in alerts.read_text().splitlines() if not line.lstrip().startswith("#")]
    yield from ((alerts.name, name) for name in NAME.findall("\n".join(lines)))


def forgotten(shown):
    """Complaints about metrics of the source that neither `shown` nor UNSHOWN has, or both have."""
    known = names_of_source()
    shown = known & (shown | {PARTS.sub("", name) for name in shown})
    for name in sorted(known - shown - UNSHOWN.keys()):
        yield f"no dashboard and no alert has {name}, and UNSHOWN does not say why"
    for name in sorted(UNSHOWN.keys() - (known - shown)):
        yield f"UNSHOWN has {name}, which is shown or does not exist"


def main():
    known = names_of_scrape(sys.argv[1]) if len(sys.argv) > 1 else names_of_source()
    uses = set(used())
    missing = sorted((where, name) for where, name in uses
                     if name not in known and PARTS.sub("", name) not in known)
    for where, name in missing:
        print(f"{where}: the daemon has no metric {name}", file=sys.stderr)
    complaints = list(forgotten({name for _, name in uses}))
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    assert len(uses) > 20, "no metrics were found in dashboards and alerts"
    print(f"{len({name for _, name in uses})} metric names looked up among {len(known)}")
    sys.exit(1 if missing or complaints else 0)


if __name__ == "__main__":
    main()
