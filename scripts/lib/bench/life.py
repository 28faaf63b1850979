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
        self.bench, self.options, self.peers = bench, bench.options, {}
        builds = (("this build", bench.quita), ("the other", other))
        self.quitas = {f"{name}, {build}": (store, program) for build, program in builds for name, store in STORES}

    def run(self):
        for number in range(1, ROUNDS + 1):
            for service in self.turn(number, list(self.quitas)):
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
