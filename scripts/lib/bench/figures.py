"""What the measurements come to: medians with their spread, and the ratios that the service is held to."""

import math
import statistics

from bench import EMBEDDED, FLOOR, MONGODB, PLAIN, STORES, THIS, TUNED
from cells import BUSY, CARD, CREATE_64, CREATE_256, GET_OLD, GET_RECENT, OPEN_CREATE, OPEN_RATES, OPEN_TOLD, TOLD


class Spread:
    """The median of some values, the least and the greatest."""

    def __init__(self, values):
        self.values = list(values)
        self.median = statistics.median(self.values)
        self.least, self.greatest = min(self.values), max(self.values)


class Figure:
    """One line of what is to be reached. `is_ceiling`: less is better. `beside`: the same of the other build."""

    def __init__(self, name, spread, reach, aim, unit="", is_ceiling=False):
        self.name, self.spread, self.reach, self.aim = name, spread, reach, aim
        self.unit, self.is_ceiling = unit, is_ceiling
        self.beside = None

    def verdict(self):
        if self.spread is None:
            return "not measured"
        if self.reach is None and self.aim is None:
            return "–"
        for bound, word in ((self.aim, "aim"), (self.reach, "reach")):
            if bound is None:
                continue
            if self.spread.median <= bound if self.is_ceiling else self.spread.median >= bound:
                return word
        return "**no**"


class Measured:
    """The measurements by cell, service and round."""

    def __init__(self, measurements):
        self.found = {(one["cell"], one["service"], one["round"]): one for one in measurements}
        self.rounds = sorted({number for _, _, number in self.found})

    def of(self, cell, service):
        return [self.found[cell, service, number] for number in self.rounds if (cell, service, number) in self.found]

    def spread(self, cell, service, value):
        values = [value(one) for one in self.of(cell, service)]
        return Spread(values) if values else None

    def ratio(self, over, under, value=lambda one: one["rate"]):
        """Each round by itself, because both sides saw the same machine in it."""
        pairs = [
            (self.found.get((*over, number)), self.found.get((*under, number))) for number in self.rounds
        ]
        values = [value(one) / value(other) for one, other in pairs if one and other and value(other)]
        return Spread(values) if values else None


def latency(quantile, kind="create_us"):
    return lambda one: one[kind][quantile] / 1000


def beside(figures, others):
    """The figures, each with that of the other build, as far as it was measured."""
    for other in others:
        for one in figures:
            if one.name == other.name:
                one.beside = other.spread
    return figures


def main_figures(measured, build=THIS):
    ratio, spread = measured.ratio, measured.spread
    mongodb, embedded = MONGODB + build, EMBEDDED + build
    p99 = latency("p99")
    figures = []
    whole_life = lambda unit, name, value, reach, aim: figures.append(
        Figure(f"{TOLD}: {name}", spread(TOLD, mongodb, value), reach, aim, unit, is_ceiling=True)
    )
    figures.append(Figure(
        f"{TOLD}: MongoDB ÷ plain's creations", ratio((TOLD, mongodb), (CREATE_64, PLAIN)), 1.0, 1.4
    ))
    whole_life(" µs", "mongod", lambda one: one["cpu_us"]["mongod"], 320, 220)
    whole_life(" µs", "service on MongoDB", lambda one: one["cpu_us"]["service"], 160, 120)
    whole_life(" bytes", "oplog", lambda one: one["stored"]["oplog_bytes"] or math.nan, 5500, 3500)
    whole_life("", "writes of documents", lambda one: one["stored"]["documents"], 3.2, 3.0)
    figures.append(Figure(
        f"{TOLD}: embedded ÷ floor's creations", ratio((TOLD, embedded), (CREATE_64, FLOOR)), 0.05, 0.08
    ))
    for cell, reach, aim in ((CREATE_64, 3.5, 5.0), (CREATE_256, 5.0, 7.0)):
        figures.append(Figure(f"{cell}: MongoDB ÷ plain", ratio((cell, mongodb), (cell, PLAIN)), reach, aim))
        figures.append(Figure(f"{cell}: MongoDB ÷ {TUNED}", ratio((cell, mongodb), (cell, TUNED)), None, None))
        figures.append(Figure(
            f"{cell}: p99, MongoDB ÷ plain", ratio((cell, mongodb), (cell, PLAIN), p99), None, 1.0, is_ceiling=True
        ))
    figures.append(Figure(
        f"{CARD}: MongoDB ÷ plain's creations of PIX", ratio((CARD, mongodb), (CREATE_64, PLAIN)), 2.5, 3.5
    ))
    for cell, reach, aim in ((GET_RECENT, 3.0, 5.0), (GET_OLD, 3.0, 4.0)):
        figures.append(Figure(f"{cell}: MongoDB ÷ plain", ratio((cell, mongodb), (cell, PLAIN)), reach, aim))
    for cell, reach in ((CREATE_64, 0.18), (CREATE_256, 0.2)):
        figures.append(Figure(f"{cell}: embedded ÷ floor", ratio((cell, embedded), (cell, FLOOR)), reach, 0.3))
    for cell, reach, aim in ((GET_RECENT, 0.6, 0.8), (GET_OLD, 0.3, 0.5)):
        figures.append(Figure(f"{cell}: embedded ÷ floor", ratio((cell, embedded), (cell, FLOOR)), reach, aim))
    figures.append(Figure(
        f"{BUSY} by another program: embedded ÷ quiet", ratio((BUSY, embedded), (CREATE_64, embedded)), 0.25, 0.4
    ))
    for service, reach, aim in ((MONGODB, 20, 10), (EMBEDDED, 10, 5)):
        figures.append(Figure(
            f"p99 of create, {OPEN_RATES[service]:,} a second: {service}",
            spread(OPEN_CREATE, service + build, p99), reach, aim, " ms", is_ceiling=True,
        ))
    for service, _ in STORES:
        lag = spread(OPEN_TOLD, service + build, lambda one: one["events"]["lag_us"]["p99"] / 1000)
        figures.append(Figure(
            f"p99 from status to first byte of its webhook at half rate: {service}", lag, 50, 10, " ms", is_ceiling=True
        ))
    return figures


def long_figures(results, build=THIS):
    """Of `--growth` and `--memory`: {name: [values]} as they were measured."""
    figures = []
    for service, _ in STORES:
        for kind, name, reach, aim, unit, is_ceiling in (
            ("growth", "create with {:,} stored ÷ empty store", 0.8, 0.95, "", False),
            ("ready", "ready again with {:,} stored, {:,} of them open", 2.0, 0.5, " s", True),
            ("memory", "memory per live payment", 3.5, 2.5, " KiB", True),
        ):
            found = results.get((kind, service + build))
            if found:
                figure = Figure(
                    f"{name.format(*found['counts'])}: {service}", Spread(found["values"]), reach, aim, unit, is_ceiling
                )
                figures.append(figure)
    return figures
