"""Stored payments sent through other routes: how long `quita routing replay` takes for all of them, and its memory."""

import json
import os
import subprocess
import sys
import time

import machine
import report
from bench import EMBEDDED, MONGODB, QUIET_SECONDS
from figures import Spread

STORES = ((MONGODB, "mongodb"), (EMBEDDED, "sqlite"))
ROUNDS = 3
# They are spread over six days, so that all of them are of the last seven.
AGE_SECONDS = 6 * 86_400
HEAD = ["", "payments", "seconds: median (least–greatest)", "a second", "processor s", "mongod s", "memory MiB", "load"]

# As `fill_store` routes them, and with the shares the other way round.
ROUTES = """
[[acquirer]]
name = "norte"
adapter = "sandbox"
weight = {norte}

[[acquirer]]
name = "sul"
adapter = "sandbox"
weight = {sul}

[[cost]]
acquirer = "norte"
rate = "1.99%"

[[cost]]
acquirer = "sul"
rate = "0.99%"
fixed = 10
"""


class Replays:
    """So many payments in each store, replayed by the routes that they had, and by others."""

    def __init__(self, bench, stored):
        self.bench, self.stored = bench, stored
        self.same = self.routes("same.toml", norte=7, sul=3)
        self.other = self.routes("other.toml", norte=3, sul=7)

    def routes(self, name, **weights):
        path = self.bench.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(ROUTES.format(**weights))
        return path

    def run(self, results):
        for name, store in STORES:
            service = self.bench.quita_on(name, store, f"replay_{store}")
            os.makedirs(service.directory, exist_ok=True)
            print(f"{name}: storing {self.stored:,} payments", file=sys.stderr, flush=True)
            url = service.environment["QUITA_STORE"]
            filled = [self.bench.fill_store, url, str(self.stored), str(AGE_SECONDS), str(self.stored // 10), "routed"]
            subprocess.run(filled, check=True, stdout=subprocess.DEVNULL)
            self.check(name, self.replayed(service, self.same), is_moved=False)
            results["replay", name] = [self.measure(name, service) for _ in range(ROUNDS)]
            self.bench.discard(service)

    def measure(self, name, service):
        machine.wait_until_quiet(QUIET_SECONDS)
        found = self.replayed(service, self.other)
        self.check(name, found, is_moved=True)
        print(f"{name}: {found['seconds']:.1f} s", file=sys.stderr, flush=True)
        return found

    def check(self, name, found, is_moved):
        told = found["told"]
        if told["payments"] != self.stored or (told["moved"] > 0) != is_moved or "unreadable" in told:
            self.bench.failures.append(f"{name}: a replay of {self.stored} payments told {told}")

    def replayed(self, service, routes):
        """Seconds, and what the process took of processors and memory."""
        command = [self.bench.quita, "routing", "replay", "--since", "7d", "--json"]
        command += ["--config", self.same, "--with", routes]
        mongod = self.bench.mongod_pid if service.uses_mongod else None
        mongod_before = machine.cpu_seconds(mongod) if mongod else None
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=service.directory, env=service.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        with process.stdout as output:
            told = output.read()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{service.name}: a replay failed")
        return {
            "told": json.loads(told), "seconds": seconds, "processor_seconds": used.ru_utime + used.ru_stime,
            "mongod_seconds": machine.cpu_seconds(mongod) - mongod_before if mongod else None,
            "memory_mib": used.ru_maxrss / 1024, "load": float(machine.text_of("/proc/loadavg").split()[0]),
        }


def table_rows(results):
    rows = []
    for name, _ in STORES:
        found = results.get(("replay", name))
        if not found:
            continue
        stored = found[0]["told"]["payments"]
        seconds = Spread(one["seconds"] for one in found)
        one_of = lambda what: report.median(found, lambda one: one[what])
        rows.append([
            name, f"{stored:,}", report.with_spread(seconds), report.number(stored / seconds.median),
            one_of("processor_seconds"), one_of("mongod_seconds"), one_of("memory_mib"), one_of("load"),
        ])
    return rows
