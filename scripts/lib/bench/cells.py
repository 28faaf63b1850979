"""What is measured in each round, and what after the rounds."""

import itertools
import statistics
import time
import uuid

import machine
import server
from bench import EMBEDDED, FLOOR, MONGODB, OTHER, PLAIN, STORES, TUNED, Meter
from processes import Spinners
from verify import check_service

OLD_AFTER_SECONDS = 15
RECENT = 2000
STORED = 100_000
OLD_AT_MOST = 400_000
ARRIVAL_PATIENCE_SECONDS = 60
OPEN_CONNECTIONS = 256
# So that it also holds what a service does with payments ten seconds later.
OPEN_LONGER = 3
# Half of what each created at most on the machine of 2026-11-21; fixed since, so that figures can be compared. The floor at
# the rate of the embedded store: what the machine and the generator take by themselves.
OPEN_RATES = {FLOOR: 8232, MONGODB: 5935, EMBEDDED: 8232}

CREATE_64, CREATE_256 = "create PIX, 64 connections", "create PIX, 256 connections"
CARD, MIXED = "create card", "mixed"
GET_RECENT, GET_OLD = "GET, recent", "GET, old"
TOLD = "create, paid, both events confirmed"
BUSY = "create PIX, both cores taken"
OPEN_CREATE, OPEN_TOLD = "create PIX at a fixed rate", "create and events at half rate"
ORDER = [CREATE_64, CREATE_256, CARD, MIXED, GET_RECENT, GET_OLD, TOLD, BUSY, OPEN_CREATE, OPEN_TOLD]


class Rounds:
    """All cells, side by side, for every service that takes part in them.

    Quita has a new store in each cell: a payment that nobody pays is asked about after a minute, and those of one cell must
    not be asked about in another.
    """

    places = itertools.count(1)

    def __init__(self, bench):
        self.bench, self.options = bench, bench.options
        self.peers = {
            FLOOR: bench.start(bench.floor()),
            PLAIN: bench.start(bench.plain(PLAIN, "plain")),
            TUNED: bench.start(bench.plain(TUNED, "tuned", "maxPoolSize=100")),
        }
        # The store and the program of each.
        self.quitas = {name + build: (store, program) for build, program in bench.builds.items() for name, store in STORES}
        self.anything = self.ids_of_nothing()

    def run(self):
        for peer in self.peers.values():
            self.bench.load(peer, "--seconds", 1, "--create", self.bench.bodies.pix)
        for number in range(1, self.options.rounds + 1):
            self.closed(number)
        for number in range(1, self.options.rounds + 1):
            self.open(number)

    def closed(self, number):
        bench, bodies, seconds = self.bench, self.bench.bodies, ["--seconds", self.options.seconds]
        quitas, everybody = list(self.quitas), [*self.peers, *self.quitas]
        for cell, connections in ((CREATE_64, 64), (CREATE_256, 256)):
            for service in self.turn(number, everybody):
                bench.measure(number, cell, service, *seconds, "--connections", connections, "--create", bodies.pix)
        for service in self.turn(number, [name for name in quitas if name.startswith(EMBEDDED)]):
            with Spinners(bench.path("spinners")):
                bench.measure(number, BUSY, service, *seconds, "--create", bodies.pix)
        for service in self.turn(number, quitas):
            bench.measure(number, CARD, service, *seconds, "--create", bodies.card)
        mix = [f"--create=60={bodies.pix}", f"--create=20={bodies.boleto}", f"--create=20={bodies.card}"]
        for service in self.turn(number, quitas):
            bench.measure(number, MIXED, service, *seconds, *mix, "--read-recent", 100)
        for service in self.turn(number, quitas):
            self.told(number, TOLD, service, "--connections", 64, "--seconds", 600, "--count", self.options.told)
        for cell, ids in ((GET_RECENT, self.recent), (GET_OLD, self.old)):
            for service in self.turn(number, everybody):
                bench.measure(number, cell, service, *seconds, "--get", ids(service))

    def open(self, number):
        """Latency from the time at which a request was due."""
        for service in self.turn(number, [FLOOR, *self.quitas]):
            seconds, rate = self.options.seconds * OPEN_LONGER, OPEN_RATES[service.name.removesuffix(OTHER)]
            arguments = ["--seconds", seconds, "--connections", OPEN_CONNECTIONS, "--rate", rate]
            self.bench.measure(number, OPEN_CREATE, service, *arguments, "--create", self.bench.bodies.pix)
        for service in self.turn(number, list(self.quitas)):
            rate = self.median_rate(TOLD, service.name) / 2
            arguments = ["--seconds", self.options.told / rate / 2, "--connections", OPEN_CONNECTIONS, "--rate", int(rate)]
            self.told(number, OPEN_TOLD, service, *arguments)

    def turn(self, number, names):
        """One after the other; who is first differs from round to round."""
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            if name in self.peers:
                yield self.peers[name]
            else:
                service = self.new_service(name)
                yield service
                check_service(self.bench, service)
                self.bench.discard(service)

    def new_service(self, name):
        """Quita on a new store, warm."""
        store, program = self.quitas[name]
        place = f"{store}_{next(self.places)}"
        service = self.bench.start(self.bench.quita_on(name, store, place, program=program))
        self.bench.load(service, "--count", RECENT, "--create", self.bench.bodies.pix)
        return service

    def median_rate(self, cell, name):
        return statistics.median(
            found["rate"] for found in self.bench.measurements if found["cell"] == cell and found["service"] == name
        )

    # --- payments with events -----------------------------------------------------------------------------------

    def told(self, number, cell, service, *arguments):
        """Creates payments that get paid, and waits until both events of each have been received and confirmed."""
        bench, receiver = self.bench, self.bench.receiver
        receiver.reset()
        machine.wait_until_quiet(3)
        work = server.Work(service.store) if service.uses_mongod else None
        meter = Meter(bench, service)
        report = bench.load(service, *arguments, "--create", bench.bodies.told, name="told")
        self.wait_for_events(receiver, 2 * report["created"])
        self.wait_for_confirmations(service)
        costs = meter.read(report["created"], report["own_cpu_seconds"])
        seen = receiver.report()
        took = ((seen["last_us"] or 0) - report["begun_us"]) / 1e6
        report.update(took_seconds=took, events=seen, stored=work and work.read(report["created"]))
        if cell == TOLD:
            report.update(create_rate=report["rate"], rate=report["created"] / took)
        self.check_events(cell, service, report, receiver.events())
        bench.keep(number, cell, service, report, costs)

    @staticmethod
    def wait_for_events(receiver, expected):
        """Until all are there, or none has come for a while."""
        count, since = receiver.count(), time.monotonic()
        while count < expected and time.monotonic() - since < ARRIVAL_PATIENCE_SECONDS:
            time.sleep(0.1)
            now = receiver.count()
            if now > count:
                count, since = now, time.monotonic()

    @staticmethod
    def wait_for_confirmations(service):
        deadline = time.monotonic() + ARRIVAL_PATIENCE_SECONDS
        while service.undelivered() and time.monotonic() < deadline:
            time.sleep(0.1)

    def check_events(self, cell, service, report, events):
        expected = {1: "pending", 2: "paid"}
        with open(report["ids"], "rb") as file:
            ids = file.read()
        created = {ids[start:start + 16].hex() for start in range(0, len(ids), 16)}
        missing = [transaction for transaction in created if events.get(transaction) != expected]
        unknown = events.keys() - created
        where = f"{cell}, {service.name}"
        if missing:
            told = events.get(missing[0], {})
            self.bench.failures.append(f"{where}: {len(missing)} payments without both events; {missing[0]}: {told}")
        if unknown:
            self.bench.failures.append(f"{where}: {len(unknown)} payments had events but no 201")
        if service.undelivered():
            self.bench.failures.append(f"{where}: deliveries are left that were never confirmed")
        if report["events"]["unreadable"]:
            self.bench.failures.append(f"{where}: {report['events']['unreadable']} events could not be read")

    # --- what is read -------------------------------------------------------------------------------------------

    def ids_of_nothing(self):
        path = self.bench.path("anything")
        with open(path, "wb") as file:
            file.write(b"".join(uuid.uuid4().bytes for _ in range(RECENT)))
        return path

    def recent(self, service):
        if service.name == FLOOR:
            return self.anything
        return self.bench.load(service, "--count", RECENT, "--create", self.bench.bodies.pix)["ids"]

    def old(self, service):
        """Ids of payments that have left the service's memory since."""
        if service.name == FLOOR:
            return self.anything
        if service.name in self.quitas:
            self.bench.load(service, "--count", STORED, "--seconds", 60, "--create", self.bench.bodies.pix)
        files = [file for file in self.bench.ids[service] if file[2] > RECENT] or self.bench.ids[service]
        wait = files[0][0] + OLD_AFTER_SECONDS - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        path, ids = self.bench.path("old"), b""
        for at, created, _ in files:
            if at + OLD_AFTER_SECONDS <= time.monotonic() and len(ids) < OLD_AT_MOST * 16:
                with open(created, "rb") as file:
                    ids += file.read()
        with open(path, "wb") as file:
            file.write(ids)
        return path
