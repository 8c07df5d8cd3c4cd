"""Scenario files: the models to serve, the loads of each phase, and the bars to pass.

README.md lists the keys. Reads and checks; starts nothing.
"""

import copy
import json
import os
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = f"{HERE}/scenarios"

SCENARIO_KEYS = {"title", "remark", "models", "tenants", "trace", "loads", "phases", "bars"}
PHASE_KEYS = {"name", "loads", "models", "simulate", "sweep"}
LOAD_KEYS = {"model", "skew", "inputs", "lengths", "tenant", "clients", "streams", "rate", "cv", "burst",
             "on", "off", "trace", "deadline", "slo", "threads", "channels"}
TRACE_KEYS = {"make", "bin"}
BAR_KEYS = {"what", "figure", "of", "to", "at_least", "at_most"}
# Figures for bars: of one load, or of several loads together.
FIGURES = {"throughput", "goodput", "offered", "good_share", "p50_us", "p99_us", "mean_batch"}
FIGURES_OF_SEVERAL = {"jain"}
FIGURES_OF_SWEEPS = {"knee"}


class ScenarioFault(Exception):
    """A scenario that cannot be run, and why."""


@dataclass
class Phase:
    """Loads that come at once, to a daemon started for them."""

    name: str
    loads: dict  # by name
    models: list
    simulate: list | None = None  # flags; mpsd-simulate then runs the phase
    share: float | None = None  # in a sweep: the factor of its rates
    sweep: str | None = None  # the name of its sweep


@dataclass
class Scenario:
    """A scenario file's content."""

    name: str
    title: str
    remark: str
    tenants: list
    phases: list
    bars: list = field(default_factory=list)

    def sweeps(self):
        """The phases of each sweep, by its name."""
        found = {}
        for phase in self.phases:
            if phase.sweep is not None:
                found.setdefault(phase.sweep, []).append(phase)
        return found


def check_keys(where, value, known, needed=()):
    """Checks that a mapping has only known keys, and all needed ones."""
    if not isinstance(value, dict):
        raise ScenarioFault(f"{where}: not an object")
    for key in value:
        if key not in known:
            raise ScenarioFault(f"{where}: unknown key '{key}'; there are {', '.join(sorted(known))}")
    for key in needed:
        if key not in value:
            raise ScenarioFault(f"{where}: '{key}' is missing")


def check_load(where, load, models, tenants):
    """Checks one load: its keys, its kind of arrival, and that its model and tenant exist."""
    check_keys(where, load, LOAD_KEYS, ("model", "inputs"))
    ways = [key for key in ("clients", "rate", "trace") if key in load]
    if len(ways) != 1:
        raise ScenarioFault(f"{where}: needs one of clients, rate and trace, and has "
                            f"{' and '.join(ways) or 'none'}")
    for key, way in (("streams", "clients"), ("cv", "rate"), ("burst", "rate"), ("on", "rate"),
                     ("off", "rate")):
        if key in load and way not in load:
            raise ScenarioFault(f"{where}: '{key}' goes with '{way}' alone")
    for name in models_of(load):
        if name not in models:
            raise ScenarioFault(f"{where}: there is no model '{name}'")
    if "tenant" in load and load["tenant"] not in tenants:
        raise ScenarioFault(f"{where}: there is no tenant '{load['tenant']}'")
    if tenants and "tenant" not in load:
        raise ScenarioFault(f"{where}: 'tenant' is missing, as there are tenants")
    if "trace" in load:
        check_keys(f"{where}.trace", load["trace"], TRACE_KEYS | {"where"}, TRACE_KEYS)
    if isinstance(load.get("rate"), dict):
        check_keys(f"{where}.rate", load["rate"], {"times", "of"}, ("times", "of"))


def models_of(load):
    """The names of a load's models, one or several."""
    return [load["model"]] if isinstance(load["model"], str) else load["model"]


def merged(models, changes):
    """The models with a phase's changes, such as {"batching": {…}}, in each model."""
    result = copy.deepcopy(models)
    for model in result:
        for key, value in changes.items():
            old = model.get(key)
            model[key] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def times(load, share):
    """The load with its rate times `share`."""
    if "rate" not in load:
        raise ScenarioFault("a sweep needs loads with a rate")
    rate = load["rate"]
    if isinstance(rate, dict):
        return {**load, "rate": {**rate, "times": rate["times"] * share}}
    return {**load, "rate": rate * share}


def phase_name(sweep, share):
    """The name of a sweep's phase: "sweep@1.5"."""
    return f"{sweep}@{share:g}"


def phases_of(where, text, scenario):
    """The phases of one entry in the file: several for a sweep."""
    check_keys(where, text, PHASE_KEYS, ("name",))
    known = scenario["loads"]
    asked = text.get("loads", {name: {} for name in known})
    for name in asked:
        if name not in known:
            raise ScenarioFault(f"{where}: there is no load '{name}'")
    models = merged(scenario["models"], text.get("models", {}))
    loads = {name: {**known[name], **changes} for name, changes in asked.items()}
    for load in loads.values():
        if "trace" in load:
            load["trace"] = {**scenario.get("trace", {}), **load["trace"]}
    names = {model["name"] for model in models}
    for name, load in loads.items():
        check_load(f"{where}.{name}", load, names, scenario.get("tenants", []))
    if "simulate" in text and (len(loads) != 1 or not can_be_simulated(models, *loads.values())):
        raise ScenarioFault(f"{where}: only one load of one synthetic model can be simulated")
    if "sweep" not in text:
        return [Phase(text["name"], loads, models, text.get("simulate"))]
    return [Phase(phase_name(text["name"], share), {name: times(load, share)
                                                   for name, load in loads.items()},
                  models, text.get("simulate"), share, text["name"]) for share in text["sweep"]]


def is_identity(model):
    """Whether a model gives back its input, so that each byte can be checked."""
    return model.get("format") == "synthetic" and not {"encode", "repeat"} & set(
        model.get("parameters", {}))


def can_be_simulated(models, load):
    """Whether mpsd-simulate can run the load: it knows only one model, with a known curve."""
    named = [model for model in models if model["name"] in models_of(load)]
    return (len(named) == 1 and is_identity(named[0]) and "trace" not in load
            and not {"cv", "burst", "on", "streams"} & set(load))


def check_bar(where, bar, scenario):
    """Checks a bar: a known figure, loads that exist, and one limit."""
    check_keys(where, bar, BAR_KEYS, ("what", "figure", "of"))
    several = bar["figure"] in FIGURES_OF_SEVERAL
    if bar["figure"] not in FIGURES | FIGURES_OF_SEVERAL | FIGURES_OF_SWEEPS:
        raise ScenarioFault(f"{where}: no figure '{bar['figure']}'")
    if several != isinstance(bar["of"], list):
        raise ScenarioFault(f"{where}: {bar['figure']} is of {'several loads' if several else 'one load'}")
    if ("at_least" in bar) == ("at_most" in bar):
        raise ScenarioFault(f"{where}: needs one of at_least and at_most")
    for place in bar["of"] if several else [bar["of"]]:
        check_place(where, place, scenario, bar["figure"] in FIGURES_OF_SWEEPS)
    if "to" in bar:
        check_place(where, bar["to"], scenario)


def check_place(where, place, scenario, is_sweep=False):
    """Checks that a "phase/load" exists."""
    phase_of, _, load = place.partition("/")
    found = (scenario.sweeps().get(phase_of, []) if is_sweep
             else [phase for phase in scenario.phases if phase.name == phase_of])
    if not any(load in phase.loads for phase in found):
        raise ScenarioFault(f"{where}: there is no '{place}'")


def check_rates(scenario):
    """Checks that a rate which is a multiple of another load's refers to an earlier load."""
    before = []
    for phase in scenario.phases:
        for name, load in phase.loads.items():
            rate = load.get("rate")
            if isinstance(rate, dict) and rate["of"] not in before:
                raise ScenarioFault(f"{phase.name}.{name}.rate: '{rate['of']}' has not run before")
        before += [f"{phase.name}/{name}" for name in phase.loads]


def parse(name, text):
    """The scenario of a file's content."""
    check_keys(name, text, SCENARIO_KEYS, ("title", "models", "loads", "phases", "bars"))
    phases = [phase for index, entry in enumerate(text["phases"])
              for phase in phases_of(f"{name}: phases[{index}]", entry, text)]
    scenario = Scenario(name, text["title"], text.get("remark", ""), text.get("tenants", []), phases,
                        text["bars"])
    names = [phase.name for phase in phases]
    if len(names) != len(set(names)):
        raise ScenarioFault(f"{name}: two phases have the same name")
    check_rates(scenario)
    for index, bar in enumerate(scenario.bars):
        check_bar(f"{name}: bars[{index}]", bar, scenario)
    return scenario


def names_there():
    """The scenarios of this folder."""
    return sorted(file.removesuffix(".json") for file in os.listdir(FOLDER)
                  if file.endswith(".json"))


def read(name):
    """A scenario of this folder by its name, or of any file by its path."""
    path = name if name.endswith(".json") else f"{FOLDER}/{name}.json"
    if not os.path.exists(path):
        raise ScenarioFault(f"no scenario '{name}'; there are {', '.join(names_there())}")
    with open(path, encoding="utf-8") as file:
        try:
            return parse(os.path.basename(path).removesuffix(".json"), json.load(file))
        except json.JSONDecodeError as error:
            raise ScenarioFault(f"{path}: {error}") from None
