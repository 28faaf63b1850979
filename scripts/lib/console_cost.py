#!/usr/bin/env python3
"""Measures what open consoles cost the service.

    console_cost.py PROGRAM DIRECTORY STORE_URL RATE CONSOLES ROUNDS SECONDS
"""

import glob
import http.client
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench"))
import machine  # noqa: E402
from processes import Process, Quita  # noqa: E402

SETUP_PASSWORD = "quita-operator-development"
IDLE_AFTER_S = 25
SETTLE_SECONDS = 3
MERCHANT = "loja"
EMAIL = "ana@loja.example"
CREATED = 'quita_payments_created_total{method="pix"}'


def cpu_nanoseconds(pid):
    """Processor time of all threads, to the nanosecond."""
    return sum(int(machine.text_of(path).split()[0]) for path in glob.glob(f"/proc/{pid}/task/*/schedstat"))


def signed_in(port, root, fields, step="sign-in"):
    """The cookies of a session."""
    cookies = {}

    def ask(method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            cookies[name] = value
        return response.status, response.read().decode()

    _, form = ask("GET", f"{root}/sign-in")
    token = re.search(r'name="formToken" value="([^"]*)"', form).group(1)
    status, _ = ask("POST", f"{root}/{step}", urllib.parse.urlencode({"formToken": token, **fields}))
    if status != 303:
        sys.exit(f"signing in was answered with {status}")
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


class Console:
    """One page that is open: its stream, read until it is closed."""

    def __init__(self, port, path, cookies):
        self.events = 0
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.connection.request("GET", path, headers={"Cookie": cookies})
        self.response = self.connection.getresponse()
        if self.response.status != 200:
            sys.exit(f"{path} was answered with {self.response.status}")
        self.socket = self.connection.sock or self.response.fp.raw._sock
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            for line in self.response:
                self.events += line.startswith(b"event:")
        except (OSError, ValueError, http.client.HTTPException):
            pass

    def close(self):
        try:
            self.socket.shutdown(2)
        except OSError:
            pass
        self.thread.join(5)
        return self.events


def window(service, seconds, doors):
    """Microseconds of processor time a second, payments a second, live actors, events that the consoles got."""
    consoles = [Console(*door) for door in doors]
    time.sleep(SETTLE_SECONDS)
    cpu, paid, began = cpu_nanoseconds(service.pid), service.metric(CREATED), time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    cpu = (cpu_nanoseconds(service.pid) - cpu) / took / 1000
    paid = (service.metric(CREATED) - paid) / took
    return cpu, paid, service.live(), sum(console.close() for console in consoles)


def wait_for_live(service, wanted):
    deadline = time.monotonic() + 3 * IDLE_AFTER_S
    while service.live() < wanted and time.monotonic() < deadline:
        time.sleep(1)


def main(program, directory, url, rate, consoles, rounds, seconds):
    service = Quita("quita", program, os.path.join(directory, "service"), url)
    service.command += ["--idle-after", f"{IDLE_AFTER_S}s"]
    service.start()
    service.wait_until_up()
    made = subprocess.run(
        [program, "users", "create", "--merchant", MERCHANT, "--email", EMAIL],
        cwd=service.directory, env=service.environment, check=True, capture_output=True,
    )
    first = {"setup": SETUP_PASSWORD, "email": EMAIL, "password": "sete barcos azuis no quintal"}
    operator = signed_in(service.ops, "", first, "first-operator")
    merchant = signed_in(service.port, "/console", {"email": EMAIL, "password": made.stdout.decode().strip()})
    actors, payments = (service.ops, "/live", operator), (service.port, "/console/test/payments/stream", merchant)
    # As of so many merchants, or of one who has so many filters: no two share what the service looks at.
    lists = [(service.port, f"/console/test/payments/stream?to=2099-01-{day:02}", merchant) for day in range(1, 32)]
    kinds = {
        "none": [],
        f"{consoles} of the operator": [actors] * consoles,
        f"{consoles} on one list": [payments] * consoles,
        f"{consoles} on {consoles} lists": lists[:consoles],
    }
    duration = int(3 * IDLE_AFTER_S + rounds * len(kinds) * (seconds + SETTLE_SECONDS + 2) + 30)
    load = Process(os.path.join(directory, "load"), [
        program, "load", "--url", f"http://127.0.0.1:{service.port}", "--key", service.key, "--rate", str(rate),
        "--duration", f"{duration}s", "--mix", "pix=100",
    ])
    load.start()
    try:
        wait_for_live(service, min(rate * (IDLE_AFTER_S - 3), 10_000))
        measure(service, kinds, rounds, seconds)
    finally:
        load.stop()
        service.stop()


def measure(service, kinds, rounds, seconds):
    found = {name: [] for name in kinds}
    busy = machine.Busy()
    for number in range(rounds):
        # The order turns, so that none is always the first.
        names = list(kinds)
        for name in names[number % len(names):] + names[: number % len(names)]:
            found[name].append(window(service, seconds, kinds[name]))
    print(f"machine: {os.cpu_count()} cores, {busy.share():.0%} at work; {rounds} rounds of {seconds:g} s each\n")
    print(f"{'consoles open':22} {'CPU, ms/s':>10} {'spread':>13} {'more':>8} {'payments/s':>11} {'live':>7} {'events':>7}")
    base = statistics.median(cpu for cpu, *_ in found["none"])
    for name, windows in found.items():
        cpus = sorted(cpu / 1000 for cpu, *_ in windows)
        more = statistics.median(cpus) * 1000 / base - 1
        paid, live = (statistics.median(one[place] for one in windows) for place in (1, 2))
        events = sum(one[3] for one in windows)
        spread = f"{cpus[0]:.0f}–{cpus[-1]:.0f}"
        print(f"{name:22} {statistics.median(cpus):10.1f} {spread:>13} {more:8.1%} {paid:11.0f} {live:7.0f} {events:7}")


if __name__ == "__main__":
    [program_, directory_, url_, *numbers] = sys.argv[1:]
    rate_, consoles_, rounds_ = (int(number) for number in numbers[:3])
    main(program_, directory_, url_, rate_, consoles_, rounds_, float(numbers[3]))
