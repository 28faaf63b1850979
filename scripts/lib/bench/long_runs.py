"""What takes long: a store that has grown, a start with many open payments, the memory of live ones."""

import os
import signal
import subprocess
import sys
import time
from threading import Thread

import machine
from bench import STORES
from verify import check_service

STARTS = 5
ROUNDS = 5
CONNECTIONS = 256


def say(text):
    print(text, file=sys.stderr, flush=True)


class Growth:
    """`ready`: so many stored, a tenth of them open, then a start; `growth`: twice as many, then creations."""

    def __init__(self, bench, stored):
        self.bench, self.stored, self.open = bench, stored, stored // 20

    def run(self, results):
        for name, store in STORES:
            grown = self.bench.quita_on(name, store, f"grown_{store}")
            os.makedirs(grown.directory, exist_ok=True)
            self.fill(grown, self.stored // 2, self.open)
            results["ready", name] = {"counts": [self.stored // 2, self.open], "values": self.starts(grown)}
            self.fill(grown, self.stored - self.stored // 2, 0)
            results["growth", name] = {"counts": [self.stored], "values": self.creations(name, store, grown)}
            self.bench.discard(grown)

    def fill(self, service, count, still_open):
        say(f"{service.name}: storing {count:,} payments, {still_open:,} of them open")
        url = service.environment["QUITA_STORE"]
        subprocess.run(
            [self.bench.fill_store, url, str(count), "60", str(still_open)], check=True, stdout=subprocess.DEVNULL
        )

    def starts(self, service):
        """Seconds from the start of the process until it says that it is ready; the one before was killed."""
        self.bench.start(service)
        values = []
        for _ in range(STARTS):
            self.bench.load(service, "--seconds", 0.5, "--create", self.bench.bodies.pix)
            service.stop(signal.SIGKILL)
            began = time.monotonic()
            service.start()
            service.wait_until_up()
            values.append(time.monotonic() - began)
            say(f"{service.name}: ready after {values[-1] * 1000:.0f} ms")
        self.bench.stop(service)
        return values

    def creations(self, name, store, grown):
        """The rate on the grown store ÷ the rate on one that was made for this round."""
        self.bench.start(grown)
        arguments = ["--seconds", self.bench.options.seconds, "--create", self.bench.bodies.pix]
        self.bench.load(grown, "--seconds", 1, "--create", self.bench.bodies.pix)
        values = []
        for number in range(1, (self.bench.options.rounds or ROUNDS) + 1):
            empty = self.bench.start(self.bench.quita_on(name, store, f"empty_{store}_{number}"))
            self.bench.load(empty, "--seconds", 1, "--create", self.bench.bodies.pix)
            first, second = (grown, empty) if number % 2 else (empty, grown)
            rates = {}
            for service in (first, second):
                cell = f"{self.stored:,} stored" if service is grown else "empty store"
                rates[service] = self.bench.measure(number, cell, service, *arguments)["rate"]
            values.append(rates[grown] / rates[empty])
            check_service(self.bench, empty)
            self.bench.discard(empty)
        check_service(self.bench, grown)
        return values


class Memory:
    """Growth of the resident memory ÷ payments that are live, when most of them are."""

    def __init__(self, bench, live):
        self.bench, self.live = bench, live

    def run(self, results):
        for place, (build, program) in enumerate(self.bench.builds.items()):
            for name, store in STORES:
                service = self.bench.quita_on(name + build, store, f"memory_{store}_{place}", program=program)
                results["memory", service.name] = self.measure(service)

    def measure(self, service):
        self.bench.start(service)
        self.bench.load(
            service, "--count", 2000, "--connections", CONNECTIONS, "--seconds", 60, "--create", self.bench.bodies.pix,
        )
        service.wait_until_forgotten()
        before = machine.resident_bytes(service.pid)
        live, resident = self.most_live(service)
        grown = resident - before
        kib = grown / max(live, 1) / 1024
        say(f"{service.name}: {live:,} live, {grown / 2**20:.0f} MiB more than before: {kib:.2f} KiB each")
        check_service(self.bench, service)
        self.bench.discard(service)
        return {"counts": [live], "values": [kib]}

    def most_live(self, service):
        """How many were live at most, and the resident memory at that moment."""
        creating = Thread(target=self.bench.load, args=(
            service, "--count", self.live, "--connections", CONNECTIONS, "--seconds", 300,
            "--create", self.bench.bodies.pix,
        ))
        creating.start()
        most = (0, machine.resident_bytes(service.pid))
        while creating.is_alive():
            time.sleep(0.25)
            live = service.live()
            if live > most[0]:
                most = (live, machine.resident_bytes(service.pid))
        creating.join()
        return most
