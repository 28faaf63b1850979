"""Receivers that take connections and never answer, beside as many that answer: what another one notices of them."""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import machine
from bench import EMBEDDED, MONGODB
from bodies import IS_PAID, STAYS_PENDING, creation
from processes import Receiver

STORES = ((MONGODB, "mongodb"), (EMBEDDED, "sqlite"))
RECEIVERS = 100
MERCHANTS = (1, 10)
# As much as a creation may hold, about 150 KB: in characters of four bytes.
ITEMS, NAME_CHARACTERS, NOTES, NOTE_CHARACTERS = 100, 255, 20, 500
PROBES_A_SECOND, SECONDS_AFTER = 10, 30
# Of each of the two loads that run at once. At a rate of their own, receivers that hang would only see payments come
# faster, for nothing is delivered: more of them would be in memory at once.
PAYMENTS_A_SECOND = 60
ARRIVES_WITHIN_S = 60
HEAD = ["", "merchants", "100 receivers", "payments", "event p50 ms", "p99 ms", "lost", "RSS + MiB", "busy"]


class Hanging:
    """So many payments for each of the receivers, and one event after the other for one that is well."""

    def __init__(self, bench, of_each):
        self.bench, self.of_each = bench, of_each

    def run(self, results):
        for name, store in STORES:
            for merchants in MERCHANTS:
                for kind, make in (("answer", Answering), ("hang", Silent)):
                    place = f"hanging_{store}_{merchants}_{kind}"
                    service = self.bench.start(self.bench.quita_on(name, store, place))
                    crowd = make(self.bench, self.bench.path(place, "crowd"))
                    try:
                        found = self.measure(service, crowd, merchants)
                    finally:
                        crowd.stop()
                    results["hanging", f"{name}, {merchants}, {kind}"] = [name, merchants, kind, found]
                    print(f"{name}, {merchants} merchants, receivers {kind}: {found}", file=sys.stderr, flush=True)
                    self.bench.discard(service)

    def measure(self, service, crowd, merchants):
        keys = [self.key(service, f"merchant-{number}") for number in range(merchants)]
        before, busy, well = machine.resident_bytes(service.pid), machine.Busy(), Well()
        probing = Probes(service.port, keys[0], well)
        probing.start()
        most = Most(service.pid)
        most.start()
        load = lambda number: self.load(service, keys[number % merchants], crowd.url(number), number)
        with ThreadPoolExecutor(2) as threads:
            created = sum(threads.map(load, range(RECEIVERS)))
        time.sleep(SECONDS_AFTER)
        asked = probing.stop()
        latencies = sorted(well.wait_for(asked).values())
        share = busy.share()
        at = lambda part: latencies[min(len(latencies) - 1, int(len(latencies) * part))] * 1000 if latencies else 0.0
        found = {
            "created": created, "p50_ms": at(0.5), "p99_ms": at(0.99), "lost": len(asked) - len(latencies),
            "rss_mib": (most.stop() - before) / 2**20, "busy": share,
        }
        well.stop()
        return found

    def key(self, service, merchant):
        made = subprocess.run(
            [service.command[0], "keys", "create", "--merchant", merchant],
            cwd=service.directory, env=service.environment, check=True, capture_output=True,
        )
        return made.stdout.decode().strip()

    def load(self, service, key, url, number):
        items = [{"name": "\U0001f600" * NAME_CHARACTERS, "quantity": 1, "price": 1} for _ in range(ITEMS)]
        notes = {f"note-{note}": "\U0001f600" * NOTE_CHARACTERS for note in range(NOTES)}
        heavy = creation("pix", IS_PAID, {"postbackUrl": url, "items": items, "metadata": notes})
        body = self.bench.bodies.write(f"heavy-{number}", heavy)
        command = [
            self.bench.generator, "load", "--target", f"127.0.0.1:{service.port}", "--key", key, "--create", body,
            "--count", str(self.of_each), "--connections", "4", "--rate", str(PAYMENTS_A_SECOND), "--seconds", "300",
        ]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"the generator failed against {service.name}: {ran.stderr.strip()}")
        os.remove(body)
        report = json.loads(ran.stdout)
        if report["created"] != self.of_each:
            sys.exit(f"{service.name} created {report['created']} of {self.of_each}: {report['by_status']}")
        return report["created"]


class Answering:
    """As many addresses of one receiver that answers."""

    def __init__(self, bench, directory):
        self.process = Receiver(bench.generator, directory)
        self.process.command[-1] = f"0.0.0.0:{self.process.port}"
        self.process.start()
        self.process.wait_until_up()

    def url(self, number):
        return f"http://127.0.1.{number + 1}:{self.process.port}/"

    def stop(self):
        self.process.stop()


class Silent:
    """As many addresses of one that takes connections and is silent."""

    def __init__(self, _bench, _directory):
        self.listener = socket.create_server(("0.0.0.0", 0), backlog=4096)
        self.taken = []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            try:
                self.taken.append(self.listener.accept()[0])
            except OSError:
                return

    def url(self, number):
        return f"http://127.0.1.{number + 1}:{self.listener.getsockname()[1]}/"

    def stop(self):
        self.listener.close()
        for connection in self.taken:
            connection.close()


class Well:
    """A receiver that answers at once, and notes when what came."""

    def __init__(self):
        arrived = self.arrived = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                now = time.monotonic()
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                arrived.setdefault(event["transactionId"], now)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/"

    def wait_for(self, asked):
        """Seconds from the request to the event, for each that arrived."""
        deadline = time.monotonic() + ARRIVES_WITHIN_S
        while time.monotonic() < deadline and not asked.keys() <= self.arrived.keys():
            time.sleep(0.1)
        return {id: self.arrived[id] - at for id, at in asked.items() if id in self.arrived}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Probes(threading.Thread):
    """Payments for the receiver that is well, one after the other at a steady rate."""

    def __init__(self, port, key, well):
        super().__init__(daemon=True)
        self.port, self.key, self.asked, self.is_over = port, key, {}, threading.Event()
        self.body = json.dumps(creation("pix", STAYS_PENDING, {"postbackUrl": well.url}))

    def run(self):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        next_at = time.monotonic()
        while not self.is_over.wait(max(0.0, next_at - time.monotonic())):
            connection.request("POST", "/pay/payments", self.body, headers)
            answer = json.loads(connection.getresponse().read())
            # From when it should have been asked, so that a stall is not hidden.
            self.asked[answer["transactionId"]] = next_at
            next_at += 1 / PROBES_A_SECOND
        connection.close()

    def stop(self):
        self.is_over.set()
        self.join()
        return self.asked


class Most(threading.Thread):
    """The most resident memory of a process."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.is_over = pid, 0, threading.Event()

    def run(self):
        while not self.is_over.wait(0.25):
            self.most = max(self.most, machine.resident_bytes(self.pid))

    def stop(self):
        self.is_over.set()
        self.join()
        return self.most


def table_rows(results):
    """A line for each store, number of merchants and kind of receivers."""
    return [
        [
            name, str(merchants), kind, f"{found['created']:,}", f"{found['p50_ms']:,.0f}", f"{found['p99_ms']:,.0f}",
            str(found["lost"]), f"{found['rss_mib']:,.0f}", f"{found['busy']:.0%}",
        ]
        for (what, _), (name, merchants, kind, found) in (pair for pair in results.items() if pair[0][0] == "hanging")
    ]
