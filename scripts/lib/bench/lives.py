"""What lives of several kinds cost on MongoDB: a payer who takes longer, a card, a PIX at a bank with books of its own."""

import json
import sys
import time

import machine
import report
import server
from acquirers import PIX_KEY, TABLE, Bank
from bench import MONGODB, Meter
from cells import Rounds
from processes import READY_SECONDS
from verify import check_service

# Longer than a confirmation waits for its payment's next write.
SLOW_SECONDS = 10
CALLBACKS_AT_ONCE = 64
FIRST_TABLE = 'public-url = "https://pay.example"\n'
SANDBOX, BANK = "sandbox", "bank"
HEAD = ["a life on MongoDB", "payments", *report.STORED, "service µs", "mongod µs"]


class Lives:
    """So many payments of each kind, created as fast as they can be, until both events of each are confirmed and stored."""

    def __init__(self, bench, count):
        self.bench, self.count = bench, count

    def run(self, results):
        bodies = self.bench.bodies
        kinds = (
            ("PIX, its payer takes 2 s", bodies.told, None),
            (f"PIX, its payer takes {SLOW_SECONDS} s", bodies.told, SANDBOX),
            ("card, captured at once", bodies.told_card, None),
            (f"PIX at a bank, its payer takes {SLOW_SECONDS} s", bodies.told, BANK),
        )
        for number, (name, body, through) in enumerate(kinds, 1):
            results["life", name] = self.measure(f"life_{number}", name, body, through)
            print(f"{name}: {results['life', name]}", file=sys.stderr, flush=True)

    def measure(self, place, name, body, through):
        bench, receiver = self.bench, self.bench.receiver
        service, bank = bench.quita_on(f"{MONGODB}, {name}", "mongodb", place), None
        if through == BANK:
            bank = bench.start(CallingBank(bench, bench.path(place, "bank"), service))
            table = FIRST_TABLE + TABLE.format(pix_key=PIX_KEY, **bank.where())
            service.configure(table, {"client-secret": "secret"}, "live")
        elif through == SANDBOX:
            service.command += ["--sandbox-settle-after", f"{SLOW_SECONDS}s"]
        bench.start(service)
        if bank:
            bank.wait_until_registered()
        receiver.reset()
        machine.wait_until_quiet(3)
        work, meter = server.Work(service.store), Meter(bench, service)
        begun = time.monotonic()
        load = bench.load(service, "--count", self.count, "--seconds", 600, "--create", body, name="told")
        if bank:
            bank.pay(load["ids"], begun + SLOW_SECONDS, load["seconds"])
        Rounds.wait_for_events(receiver, 2 * load["created"])
        Rounds.wait_for_confirmations(service)
        costs = meter.read(load["created"], load["own_cpu_seconds"])["cpu_us"]
        stored, seen = work.read(load["created"]), receiver.report()
        if (seen["distinct"], seen["by_status"].get("paid")) != (2 * load["created"], load["created"]):
            bench.failures.append(f"{name}: {load['created']} payments had {seen['by_status']}")
        check_service(bench, service)
        bench.discard(service)
        if bank:
            bench.stop(bank)
        return {"created": load["created"], **stored, "service": costs["service"], "mongod": costs["mongod"]}


class CallingBank(Bank):
    """A bank that calls back, and at which payers pay."""

    def __init__(self, bench, directory, service):
        super().__init__(bench, directory)
        # A callback is answered once the bank has answered in turn, so few at once would measure small batches.
        self.command += ["--forward", f"http://127.0.0.1:{service.port}", "--senders", str(CALLBACKS_AT_ONCE)]

    def wait_until_registered(self):
        deadline = time.monotonic() + READY_SECONDS
        while not self.call_counts().get("PUT /webhook/{chave}"):
            if time.monotonic() > deadline:
                sys.exit("the bank was not told where to call back")
            time.sleep(0.1)

    def pay(self, ids, at, within_seconds):
        """Each payment of the file, one after the other, from a time on and at an even pace."""
        connection = self.control()
        with open(ids, "rb") as file:
            names = file.read()
        for start in range(0, len(names), 16):
            time.sleep(max(0, at + within_seconds * start / len(names) - time.monotonic()))
            body = json.dumps({"txid": names[start:start + 16].hex()})
            connection.request("POST", "/pay", body, {"Content-Type": "application/json"})
            paid = json.loads(connection.getresponse().read())
            if "error" in paid:
                sys.exit(f"the bank took no payment: {paid}")
        connection.close()


def table_rows(results):
    rows = []
    for (kind, name), found in results.items():
        if kind == "life":
            of = lambda what: report.number(found[what]) if found[what] is not None else "–"
            costs = [of(what) for what in ("documents", "oplog_bytes", "index_moves", "service", "mongod")]
            rows.append([name, f"{found['created']:,}", *costs])
    return rows
