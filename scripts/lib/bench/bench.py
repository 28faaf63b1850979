"""The stage: services that are up, and one measurement at a time on it."""

import json
import os
import shutil
import subprocess
import sys
import time

import machine
from bodies import Bodies
from processes import Peer, Quita, Receiver, die_with_parent

QUIET_SECONDS = 3
# The profile of Cargo.toml that scripts/bench builds.
PROFILE = "dist"
FLOOR, PLAIN, TUNED = "floor", "plain", "plain, pool of 100"
MONGODB, EMBEDDED = "Quita on MongoDB", "Quita embedded"
STORES = ((MONGODB, "mongodb"), (EMBEDDED, "sqlite"))
# What stands behind the name of a service that is another build.
THIS, OTHER = "", ", the other build"


def built(options, program):
    """Where the profile that is measured put a program."""
    return os.path.join(options.target, PROFILE, program)


class Bench:
    """Programs, directories, ids of everything that was created, and every measurement."""

    def __init__(self, options):
        self.options = options
        self.profile = options.profile
        self.directory = os.path.abspath(options.directory)
        self.generator = built(options, "generator")
        self.fill_store = built(options, "fill-store")
        self.quita = options.quita
        self.builds = {THIS: self.quita, **({OTHER: options.beside} if options.beside else {})}
        self.receiver = Receiver(self.generator, self.path("receiver"))
        os.makedirs(self.path("ids"), exist_ok=True)
        self.bodies = Bodies(self.directory, f"http://127.0.0.1:{self.receiver.port}/")
        self.mongod_pid = self.find_mongod()
        self.measurements, self.ids, self.failures, self.warnings = [], {}, [], []
        self.up = []

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def find_mongod(self):
        directory = os.environ.get("QUITA_TEST_MONGOD_DIR")
        return int(machine.text_of(os.path.join(directory, "node0", "pid"))) if directory else None

    def mongodb(self, name):
        """The URL of a database of this run's own."""
        address, _, options = os.environ["QUITA_TEST_MONGODB_URI"].partition("?")
        hosts = address.removeprefix("mongodb://").partition("/")[0]
        return f"mongodb://{hosts}/quita_bench_{name}_{os.getpid()}" + (f"?{options}" if options else "")

    def mongod_host(self):
        return self.mongodb("").removeprefix("mongodb://").partition("/")[0].partition(",")[0]

    # --- services -----------------------------------------------------------------------------------------------

    def floor(self):
        return Peer(FLOOR, built(self.options, "floor"), self.path("floor"))

    def plain(self, name, place, more=""):
        """`more` is put behind the URL of its database."""
        url = self.mongodb(place)
        url += more and ("&" if "?" in url else "?") + more
        return Peer(name, built(self.options, "plain"), self.path(place), url)

    def quita_on(self, name, store, place, node=None, program=None):
        """A service with a store of its own, which it shares if it is one of several: `store` is `mongodb` or `sqlite`."""
        url = self.mongodb(place) if store == "mongodb" else f"sqlite:{self.path(place, 'quita.db')}"
        return Quita(name, program or self.quita, self.path(node or place), url)

    def start(self, process):
        self.up.append(process)
        process.start()
        process.wait_until_up()
        return process

    def stop(self, process):
        process.stop()
        if process in self.up:
            self.up.remove(process)

    def discard(self, service):
        """Ends a service whose payments have been checked, and deletes what it stored on this disk."""
        self.stop(service)
        self.ids.pop(service, None)
        shutil.rmtree(service.directory, ignore_errors=True)

    def stop_all(self):
        for process in reversed(list(self.up)):
            self.stop(process)

    # --- one measurement ----------------------------------------------------------------------------------------

    def load(self, service, *arguments, name="ids"):
        """Runs the generator, and keeps the ids of what it created."""
        path = self.path("ids", f"{len(os.listdir(self.path('ids')))}-{name}")
        command = [self.generator, "load", "--target", f"127.0.0.1:{service.port}", "--key", service.key, "--ids", path]
        ran = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False, preexec_fn=die_with_parent)
        if ran.returncode != 0:
            sys.exit(f"the generator failed against {service.name}: {ran.stderr.strip()}")
        report = json.loads(ran.stdout)
        report["ids"] = path
        self.ids.setdefault(service, []).append((time.monotonic(), path, report["created"]))
        return report

    def measure(self, round_number, cell, service, *arguments):
        """The generator's report with the cost of each process and the load of the machine."""
        machine.wait_until_quiet(QUIET_SECONDS)
        meter = Meter(self, service)
        report = self.load(service, *arguments)
        return self.keep(round_number, cell, service, report, meter.read(report["good"], report["own_cpu_seconds"]))

    def keep(self, round_number, cell, service, report, costs):
        measurement = {"round": round_number, "cell": cell, "service": service.name, **report, **costs}
        self.measurements.append(measurement)
        bad = {status: count for status, count in report["by_status"].items() if status not in ("200", "201")}
        if bad or report["errors"]:
            self.warnings.append(f"{cell}, {service.name}, round {round_number}: {bad or ''} {report['errors'] or ''}")
        self.tell(measurement)
        return measurement

    def tell(self, measurement):
        costs = "  ".join(f"{name} {value:.0f}" for name, value in measurement["cpu_us"].items() if value is not None)
        print(
            f"{measurement['round']:>3}  {measurement['cell']:<34} {measurement['service']:<17}"
            f"{measurement['rate']:>9,.0f}/s   µs: {costs}",
            file=sys.stderr, flush=True,
        )


class Meter:
    """What each process used of the processors since this was made."""

    def __init__(self, bench, service, more=None):
        """`more` processes by their names."""
        self.pids = {"service": service.pid, "receiver": bench.receiver.pid, **(more or {})}
        if service.uses_mongod and bench.mongod_pid:
            self.pids["mongod"] = bench.mongod_pid
        self.began = {name: machine.cpu_seconds(pid) for name, pid in self.pids.items()}
        self.busy = machine.Busy()

    def read(self, count, generator_seconds):
        """Microseconds for each request."""
        used = {name: machine.cpu_seconds(pid) - self.began[name] for name, pid in self.pids.items()}
        used["generator"] = generator_seconds
        return {
            "cpu_us": {name: seconds * 1e6 / max(count, 1) for name, seconds in used.items()},
            "busy": self.busy.share(),
            "loadavg": machine.text_of("/proc/loadavg").split()[0],
        }
