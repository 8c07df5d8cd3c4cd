#!/usr/bin/env python3
"""Runs load scenarios against the daemon, and checks each against the bars in its file.

Exit status 0 if every bar is passed, 1 if one is not, 2 if the run itself failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f"{HERE}/../bench", f"{HERE}/../pictures"]
import lab_bars  # noqa: E402
import lab_pictures  # noqa: E402
import lab_scenario  # noqa: E402
import page  # noqa: E402
from bench import commit, machine, model_file  # noqa: E402
from bench_figures import COLUMNS, failures, table  # noqa: E402
from lab_loads import LoadRunner  # noqa: E402


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", nargs="*",
                        help="names or files of scenarios; without any all that are here")
    parser.add_argument("--list", action="store_true", help="say which scenarios there are")
    parser.add_argument("--binaries", default=f"{HERE}/../../build/release/bin",
                        help="folder of the binaries (default build/release/bin)")
    parser.add_argument("--models", default=f"{HERE}/../../.deps/models",
                        help="folder of the models; what is missing there is made for the run")
    parser.add_argument("--rounds", type=int, default=3, help="of each scenario (default 3)")
    parser.add_argument("--seconds", type=float, default=3, help="of each load (default 3)")
    parser.add_argument("--json", metavar="FILE", help="write every report there")
    parser.add_argument("--html", metavar="FILE", help="write a page with pictures there")
    arguments = parser.parse_args()
    arguments.binaries = os.path.abspath(arguments.binaries)
    return arguments


class Lab:
    """One run of several scenarios."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.runner = LoadRunner(arguments.binaries, folder, arguments.seconds)

    def find_files(self, scenario):
        """Sets the paths of models that have files."""
        for phase in scenario.phases:
            for model in phase.models:
                if "path" in model and not os.path.isabs(model["path"]):
                    model["path"] = model_file(self.arguments, self.folder, model["path"])

    def round_of(self, scenario, index):
        """One phase after another: {"phase/load": report}."""
        done = {}
        for phase in scenario.phases:
            print(f"{scenario.name}, round {index + 1} of {self.arguments.rounds}: {phase.name}",
                  file=sys.stderr, flush=True)
            reports = self.runner.run(phase, scenario.tenants, done, seed=1 + 100 * index)
            done.update({f"{phase.name}/{name}": report for name, report in reports.items()})
        return done

    def foretold(self, scenario, rounds):
        """The simulator's reports of the sweeps' loads, round by round; empty if it cannot run
        them."""
        phases = [phase for phases in scenario.sweeps().values() for phase in phases]
        if not all(lab_scenario.can_be_simulated(phase.models, load)
                   for phase in phases for load in phase.loads.values()):
            return []
        return [{f"{phase.name}/{name}": self.runner.simulated(phase, name, done, 1 + 100 * index)
                 for phase in phases for name in phase.loads} for index, done in enumerate(rounds)]

    def run(self, scenario):
        """Runs a scenario; returns its rows, its JSON, and its part of a page."""
        self.find_files(scenario)
        rounds = [self.round_of(scenario, index) for index in range(self.arguments.rounds)]
        foretold = self.foretold(scenario, rounds)
        rows = lab_bars.rows_of(scenario, rounds)
        return rows, {"rounds": rounds, "foretold": foretold, "rows": [vars(row) for row in rows]}, \
            lab_pictures.section(scenario, rounds, foretold, rows)


def report(arguments, lab, results, head):
    """Prints the table and writes the wanted files; returns whether all bars are passed.

    `results` has the results of Lab.run(), by scenario.
    """
    rows = [row for rows, _, _ in results.values() for row in rows]
    print(f"{head}\n")
    print(table(rows, ["scenario", *COLUMNS[1:]]))
    print(failures(lab.runner.failed), end="")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "commit": commit(), "failed": lab.runner.failed,
                       "scenarios": {name: reports for name, (_, reports, _) in results.items()}},
                      file, indent=1)
    if arguments.html:
        page.write(arguments.html, "Load scenarios", head, [part for _, _, part in results.values()])
    return all(row.met is not False for row in rows)


def main():
    """Runs, reports, and exits with 0 if the bars are passed."""
    arguments = parse_arguments()
    begin = time.time()
    try:
        scenarios = [lab_scenario.read(name)
                     for name in arguments.scenario or lab_scenario.names_there()]
        if arguments.list:
            print("\n".join(f"{scenario.name:12}  {scenario.title}" for scenario in scenarios))
            return 0
        with tempfile.TemporaryDirectory(prefix="mpsd-lab-") as folder:
            lab = Lab(arguments, folder)
            results = {scenario.name: lab.run(scenario) for scenario in scenarios}
    except (lab_scenario.ScenarioFault, RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    head = (f"{machine()}; commit {commit()}; {time.strftime('%Y-%m-%d')}; {arguments.rounds} rounds "
            f"of {arguments.seconds:g} s a load, medians; {time.time() - begin:.0f} s in all")
    return 0 if report(arguments, lab, results, head) else 1


if __name__ == "__main__":
    sys.exit(main())
