"""Creations at a bank over mutual TLS that takes its time for each answer, beside those that the sandbox issues."""

import http.client
import json
import os
import time
import urllib.parse

import machine
import report
from bench import EMBEDDED, MONGODB, Meter, built
from bodies import STAYS_PENDING
from figures import Figure, Spread
from processes import Process, free_port
from verify import read_back

STORES = ((MONGODB, "mongodb"), (EMBEDDED, "sqlite"))
ANSWERS_AFTER_MS = 50
CONNECTIONS = (64, 256)
SANDBOX, BANK = "sandbox", "bank"
REACH_RATE = 500
WARM_UP_SECONDS = 2
# What was answered before its bank did is complete after this time at the latest.
COMPLETE_WITHIN_S = 60
PIX_KEY = "123e4567-e12b-12d1-a456-426655440000"
PROCESSES = ["service", "mongod", "bank", "generator"]
TABLE = """
[[acquirer]]
name = "bank"
adapter = "api_pix"
dialect = "bacen"
base-url = "{url}"
token-url = "{url}/oauth/token"
client-id = "id"
client-secret-file = "client-secret"
certificate-file = "{certificates}/client.pem"
private-key-file = "{certificates}/client.key"
ca-file = "{certificates}/ca.pem"
pix-key = "{pix_key}"
receiver-name = "Loja"
receiver-city = "Sao Paulo"
"""


class Acquirers:
    """Each store with each acquirer in turn, at each number of connections, every time with a new store and new books."""

    def __init__(self, bench, rounds):
        self.bench, self.rounds = bench, rounds

    def run(self):
        for number in range(1, self.rounds + 1):
            for connections in CONNECTIONS:
                for name, store in turned(STORES, number):
                    for through in turned((SANDBOX, BANK), number):
                        self.measure(number, connections, name, store, through)

    def measure(self, number, connections, name, store, through):
        bench, place = self.bench, f"acquirers_{number}_{connections}_{through}_{store}"
        service, bank = bench.quita_on(name, store, place), None
        if through == BANK:
            bank = bench.start(Bank(bench, bench.path(place, "bank")))
            service.configure(TABLE.format(pix_key=PIX_KEY, **bank.where()), {"client-secret": "secret"}, "live")
        bench.start(service)
        load = ["--connections", connections, "--create", bench.bodies.pix]
        machine.wait_until_quiet(3)
        # What is measured goes on at once, so that it finds token and connections; they are kept for seconds.
        reports = [bench.load(service, "--seconds", WARM_UP_SECONDS, *load)]
        calls = bank.calls() if bank else 0
        meter = Meter(bench, service, {"bank": bank.pid} if bank else {})
        reports.append(bench.load(service, "--seconds", bench.options.seconds, *load))
        found = reports[-1]
        costs = meter.read(found["good"], found["own_cpu_seconds"])
        found["bank_calls"] = (bank.calls() - calls) / max(found["created"], 1) if bank else None
        bench.keep(number, cell(through, connections), service, found, costs)
        self.check(service, reports, bank)
        bench.discard(service)
        if bank:
            bench.stop(bank)

    def check(self, service, reports, bank):
        """Each payment has its code and is one charge in the bank's books; or it is declined, and not in them."""
        failures = self.bench.failures
        created = set().union(*(ids_of(path) for _, path, _ in self.bench.ids[service]))
        deadline = time.monotonic() + COMPLETE_WITHIN_S
        while True:
            books = bank.books() if bank else dict.fromkeys(created)
            missing = created - books.keys()
            found = [self.read(service, created & books.keys(), "pending", "--with-code"), self.read(service, missing, "declined")]
            misses = [one for one in found if one["missed"]]
            if not misses or time.monotonic() > deadline:
                break
            time.sleep(1)
        for one in misses:
            failures.append(f"{service.name}: {one['missed']} of {one['checked']}: {one['misses']}")
        if bank is None:
            return
        if missing:
            # The way to the bank took longer than it may, as on a machine with too much to do: nothing was sent.
            self.bench.warnings.append(f"{service.name}: {len(missing)} of {len(created)} payments were declined")
        unknown = books.keys() - created
        # What was asked for and not answered with 201 may be a charge all the same.
        others = sum(sum(one["by_status"].values()) + sum(one["errors"].values()) - one["created"] for one in reports)
        if len(unknown) > others:
            failures.append(f"{service.name}: {len(unknown)} charges in the bank's books are of no payment")
        wrong = [txid for txid in created & books.keys() if not is_one_charge(books[txid])]
        if wrong:
            failures.append(f"{service.name}: {len(wrong)} charges are wrong in the bank's books; {books[wrong[0]]}")
        sent = bank.call_counts().get("PUT /cob/{txid}", 0)
        if sent != len(books):
            self.bench.warnings.append(f"{service.name}: {len(books)} charges took {sent} calls that create")

    def read(self, service, names, status, *more):
        """Reads these payments back, which have to have this status."""
        if not names:
            return {"missed": 0}
        path = self.bench.path("names")
        with open(path, "wb") as file:
            file.write(b"".join(map(bytes.fromhex, names)))
        return read_back(self.bench, service, "--status", status, *more, path)


class Bank(Process):
    """A bank with books of its own, which lets in who has a certificate of its authority."""

    def __init__(self, bench, directory):
        self.certificates, self.told = os.path.join(directory, "certificates"), None
        program = built(bench.options, "quita-banks")
        reached = ["--tls", "mutual", "--certificates", self.certificates, "--port", str(free_port())]
        super().__init__(directory, [program, "api-pix", *reached, "--delay-ms", str(ANSWERS_AFTER_MS)])

    def is_up(self):
        line, is_whole, _ = machine.text_of(os.path.join(self.directory, "log")).partition("\n")
        if is_whole:
            self.told = json.loads(line)
        return bool(is_whole)

    def where(self):
        return {"url": self.told["url"], "certificates": self.certificates}

    def control(self):
        """A connection to the path on which it is told what to do."""
        address = urllib.parse.urlsplit(self.told["control"])
        return http.client.HTTPConnection(address.hostname, address.port, timeout=60)

    def ask(self, path):
        connection = self.control()
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def books(self):
        """{txid: account}"""
        return self.ask("/books")

    def call_counts(self):
        return self.ask("/calls")

    def calls(self):
        return sum(self.call_counts().values())


def turned(pairs, number):
    """Who is first differs from round to round."""
    shift = number % len(pairs)
    return pairs[shift:] + pairs[:shift]


def cell(through, connections):
    where = {SANDBOX: "sandbox", BANK: f"bank that answers in {ANSWERS_AFTER_MS} ms"}[through]
    return f"{where}, {connections} connections"


def ids_of(path):
    """The payments of a file, by their names at the bank."""
    with open(path, "rb") as file:
        ids = file.read()
    return {ids[start:start + 16].hex() for start in range(0, len(ids), 16)}


def is_one_charge(account):
    amount = f"{STAYS_PENDING // 100}.{STAYS_PENDING % 100:02}"
    return (account["charged"], account["status"], account["key"]) == (amount, "ATIVA", PIX_KEY)


def figures(measured):
    cpu = lambda one: one["cpu_us"]["service"]
    found = []
    for service, _ in STORES:
        for connections in CONNECTIONS:
            name = cell(BANK, connections)
            rate = measured.spread(name, service, lambda one: one["rate"])
            found.append(Figure(f"charges a second, {name}: {service}", rate, REACH_RATE, None))
    for service, _ in STORES:
        for connections in CONNECTIONS:
            ratio = measured.ratio((cell(BANK, connections), service), (cell(SANDBOX, connections), service), cpu)
            found.append(Figure(f"CPU of the service, {connections} connections: {service}, bank ÷ sandbox", ratio, None, None))
    return found


def table(measured):
    head = ["what", "a second: median (least–greatest)", "p50 ms", "p99 ms", *(f"{name} µs" for name in PROCESSES)]
    rows = []
    for connections in CONNECTIONS:
        for service, _ in STORES:
            for through in (SANDBOX, BANK):
                found = measured.of(cell(through, connections), service)
                if found:
                    rows.append(row(f"{cell(through, connections)}: {service}", found))
    return report.table([*head, "bank's calls", "busy", "load"], rows)


def row(name, found):
    quantile = lambda part: report.median(found, lambda one: one["create_us"][part] / 1000)
    used = lambda process: report.median(found, lambda one: one["cpu_us"].get(process))
    return [
        name, report.with_spread(Spread(one["rate"] for one in found)), quantile("p50"), quantile("p99"),
        *map(used, PROCESSES), report.median(found, lambda one: one["bank_calls"]),
        f"{Spread(one['busy'] for one in found).median:.0%}", f"{Spread(float(one['loadavg']) for one in found).median:.1f}",
    ]
