"""The same load on one process, on two, on three, with one database: what a payment costs must not grow."""

import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

import machine
from bench import MONGODB, THIS
from cells import Rounds
from figures import Figure, Spread
from verify import check_service

ROUNDS = 3
SECONDS = 10
CONNECTIONS = 64


class Nodes:
    """Payments that are paid, with both events confirmed, at a fixed rate over all processes (open model)."""

    def __init__(self, bench, most, rate):
        self.bench, self.most, self.rate = bench, most, rate

    def run(self, results):
        for count in range(1, self.most + 1):
            for place, (build, program) in enumerate(self.bench.builds.items()):
                found = results[f"nodes{build}", count] = self.measure(count, f"{count}_{place}", program)
                print(f"{count} nodes{build}: {found}", file=sys.stderr, flush=True)

    def measure(self, count, place, program):
        services = [
            self.bench.start(self.bench.quita_on(
                f"{MONGODB}, node {node}", "mongodb", f"nodes_{place}", f"{place}_{node}", program=program
            ))
            for node in range(1, count + 1)
        ]
        self.round(services, 2)
        rounds = [self.round(services, SECONDS) for _ in range(ROUNDS)]
        for service in services:
            check_service(self.bench, service)
            self.bench.discard(service)
        return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}

    def round(self, services, seconds):
        bench, receiver = self.bench, self.bench.receiver
        receiver.reset()
        machine.wait_until_quiet(3)
        pids = [service.pid for service in services]
        mongod = lambda: machine.cpu_seconds(bench.mongod_pid) if bench.mongod_pid else 0.0
        used = lambda: (sum(map(machine.cpu_seconds, pids)), mongod())
        conflicts = lambda: sum(service.metric("quita_store_conflicts_total") for service in services)
        began, before, busy = used(), conflicts(), machine.Busy()
        arguments = ["--seconds", seconds, "--connections", CONNECTIONS, "--rate", self.rate // len(services)]
        load = lambda place: bench.load(
            services[place], *arguments, "--create", bench.bodies.told, name=f"{len(services)}-{place}-told"
        )
        with ThreadPoolExecutor(len(services)) as threads:
            reports = list(threads.map(load, range(len(services))))
        created = sum(report["created"] for report in reports)
        Rounds.wait_for_events(receiver, 2 * created)
        Rounds.wait_for_confirmations(services[0])
        share = busy.share()
        ended, seen = used(), receiver.report()
        if seen["distinct"] != 2 * created:
            bench.failures.append(f"{len(services)} nodes: {seen['distinct']} events of {created} payments arrived")
        return {
            "rate": created / seconds,
            "services": (ended[0] - began[0]) * 1e6 / created,
            "mongod": (ended[1] - began[1]) * 1e6 / created,
            "conflicts": (conflicts() - before) / created,
            "repeats": seen["repeats"] / created,
            "lag_ms": seen["lag_us"]["p99"] / 1000,
            "busy": share,
        }


def figures(results, most, build=THIS):
    """What the most processes take for a payment ÷ what one does."""
    one, many = results[f"nodes{build}", 1], results[f"nodes{build}", most]
    return [
        Figure(f"{most} processes ÷ 1: {name} µs", Spread([many[name] / one[name]]), reach, 1.05, is_ceiling=True)
        for name, reach in (("services", 1.15), ("mongod", 1.1))
    ]


def table_rows(results):
    """A line for each number of processes."""
    rows = []
    for (kind, count), found in results.items():
        if kind.startswith("nodes"):
            rows.append([
                str(count) + kind.removeprefix("nodes"), f"{found['rate']:,.0f}", f"{found['services']:,.0f}", f"{found['mongod']:,.0f}",
                f"{found['conflicts']:.3f}", f"{found['repeats']:.3f}", f"{found['lag_ms']:,.0f}", f"{found['busy']:.0%}",
            ])
    return rows


HEAD = [
    "processes", "payments a second", "services µs", "mongod µs", "conflicts", "repeated events", "lag p99 ms", "busy",
]
DOCUMENT = os.path.join("docs", "SCALING.md")
