"""What one creation makes the processor do, counted by valgrind: steadier than time where the machine's speed varies."""

import os
import shutil
import subprocess
import sys

from bench import EMBEDDED
from processes import Quita
from verify import check_service

CONNECTIONS = 64
# Threads, connections and statements are made by the first ones.
WARM = 500
EVENTS = {
    "instructions": ("Ir",), "L1 misses, code": ("I1mr",), "L1 misses, data": ("D1mr", "D1mw"),
    "L2 misses, code": ("ILmr",), "L2 misses, data": ("DLmr", "DLmw"), "mispredicted": ("Bcm", "Bim"),
}
HEAD = ["one creation, embedded store", *EVENTS]
# valgrind knows two levels. The second one is as large as that of one core of a server, not as what cores share.
VALGRIND = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", "--branch-sim=yes", "--LL=524288,8,64"]


class Counted(Quita):
    """A service under valgrind, which runs it some fifty times slower, one thread at a time."""

    def __init__(self, name, program, directory, store):
        super().__init__(name, program, directory, store)
        self.counts = os.path.join(directory, "counts")
        self.command = [*VALGRIND, f"--callgrind-out-file={self.counts}", *self.command]

    def count(self, is_on):
        subprocess.run(
            ["callgrind_control", "-i", "on" if is_on else "off", str(self.pid)], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def counted(self):
        """{event: how often}, once the service has ended."""
        with open(self.counts, encoding="utf-8") as file:
            lines = dict(line.split(": ", 1) for line in file if line.startswith(("events: ", "totals: ")))
        return dict(zip(lines["events"].split(), map(int, lines["totals"].split())))


class Instructions:
    """So many creations by each method, on each build."""

    def __init__(self, bench, count):
        if not shutil.which("valgrind"):
            sys.exit("--instructions needs valgrind: install the package valgrind")
        self.bench, self.count = bench, count

    def run(self, results):
        for method, body in (("PIX", self.bench.bodies.pix), ("card", self.bench.bodies.card)):
            for place, (build, program) in enumerate(self.bench.builds.items()):
                results["instructions", f"{method}{build}"] = found = self.measure(program, f"{method}_{place}", body)
                print(f"{method}{build}: {found}", file=sys.stderr, flush=True)

    def measure(self, program, place, body):
        store = f"sqlite:{self.bench.path('counted_' + place, 'quita.db')}"
        service = self.bench.start(Counted(EMBEDDED, program, self.bench.path("counted_" + place), store))
        load = lambda count: self.bench.load(
            service, "--connections", CONNECTIONS, "--seconds", 600, "--count", count, "--create", body
        )
        load(WARM)
        service.count(True)
        created = load(self.count)["created"]
        service.count(False)
        check_service(self.bench, service)
        self.bench.stop(service)
        counted = service.counted()
        self.bench.discard(service)
        return {name: sum(counted[event] for event in events) / created for name, events in EVENTS.items()}


def table_rows(results):
    """A line for each method and build."""
    return [
        [name, *(f"{value:,.0f}" for value in found.values())]
        for (kind, name), found in results.items() if kind == "instructions"
    ]
