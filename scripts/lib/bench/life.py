"""A whole life of payments, created, paid, and both events confirmed: on this build beside another one."""

import report
from bench import EMBEDDED, MONGODB
from cells import TOLD, Rounds
from figures import Spread

ROUNDS = 5
STORES = ((MONGODB, "mongodb"), (EMBEDDED, "sqlite"))
HEAD = ["", "a second: median (least–greatest)", "service µs", "mongod µs", *report.STORED]


class Lives(Rounds):
    """The same cell, in turns, for both builds on both stores."""

    def __init__(self, bench, other):  # pylint: disable=super-init-not-called
        self.bench, self.options = bench, bench.options
        self.services = {}
        own = bench.quita
        for build, program in (("this build", own), ("the other", other)):
            bench.quita = program
            for name, store in STORES:
                place = f"life_{store}_{build.replace(' ', '_')}"
                self.services[f"{name}, {build}"] = bench.start(bench.quita_on(f"{name}, {build}", store, place))
        bench.quita = own

    def run(self):
        for service in self.services.values():
            self.bench.load(service, "--seconds", 1, "--create", self.bench.bodies.pix)
        for number in range(1, ROUNDS + 1):
            for service in self.turn(number, list(self.services)):
                self.told(number, TOLD, service, "--connections", 64, "--seconds", 600, "--count", self.options.told)


def table(measured):
    """A line for each store and build."""
    rows = []
    for name, _ in STORES:
        for build in ("the other", "this build"):
            found = measured.of(TOLD, f"{name}, {build}")
            if found:
                cpu = lambda process: report.median(found, lambda one: one["cpu_us"].get(process))
                rate = report.with_spread(Spread(one["rate"] for one in found))
                rows.append([f"{name}, {build}", rate, cpu("service"), cpu("mongod"), *report.stored(found)])
    return report.table(HEAD, rows)
