"""Robots test cards on the pages of payment links while buyers pay. To be started by `scripts/card_testing`.

    card_testing.py PROGRAM DIRECTORY CARDS NETWORKS LINKS
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

PATIENCE_SECONDS = 60
ROBOTS = 16
TRIES_PER_LINK = 5
TRIES_PER_NETWORK = 10
BUYERS = 20
PAYER = {
    "name": "Maria da Silva", "document": "529.982.247-25", "email": "maria@example.com", "tel": "11987654321",
    "postal-code": "01304-000", "street": "Rua Augusta", "number": "100", "neighborhood": "Consolação",
    "city": "São Paulo", "state": "SP",
}
FORM_NUMBER = re.compile(r'name="form" value="([^"]+)"')


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def luhn(digits):
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def stolen_cards(count):
    """Numbers that the sandbox declines: 400000, six other digits, and 0002."""
    found = (number for middle in range(1_000_000) if luhn(number := f"400000{middle:06}0002"))
    return [next(found) for _ in range(count)]


class Service:
    """The program, on a store of its own, behind a proxy that tells where payers come from."""

    def __init__(self, program, directory):
        self.port, ops = free_port(), free_port()
        store = f"sqlite:{directory}/quita.db"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("QUITA_")}
        flags = ["--store", store, "--listen", str(self.port), "--ops-listen", str(ops), "--behind-proxy", "true",
                 "--log-level", "warn"]
        self.log = open(f"{directory}/log", "wb")
        self.process = subprocess.Popen([program, "serve", *flags], env=environment, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.status_of(ops) != 200:
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.stop()
                sys.exit("the service does not start:\n" + open(f"{directory}/log").read())
            time.sleep(0.05)
        made = [program, "keys", "create", "--merchant", "shop", "--store", store]
        self.key = subprocess.run(made, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    @staticmethod
    def status_of(port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)
        self.log.close()


class Visitor:
    """Somebody on one connection, who may say that they come from any network."""

    def __init__(self, service):
        self.service = service
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_SECONDS)

    def send(self, method, path, body=None, headers=()):
        data = body.encode() if isinstance(body, str) else body
        self.connection.request(method, path, data, dict(headers))
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode()

    def api(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.service.key}", "Content-Type": "application/json"}
        status, text = self.send(method, path, json.dumps(body) if body else None, headers)
        if status not in (200, 201):
            sys.exit(f"{method} {path}: {status} {text}")
        return json.loads(text)

    def make_link(self, **more):
        made = self.api("POST", "/pay/links", {"amount": 5000, "currency": "BRL", "title": "Aula", **more})
        return urllib.parse.urlsplit(made["url"]).path

    def form_number(self, link, address):
        status, page = self.send("GET", link, headers={"X-Forwarded-For": address})
        found = FORM_NUMBER.search(page)
        if status != 200 or not found:
            sys.exit(f"{link}: {status}, no form: {page}")
        return found[1]

    def pay_by_card(self, link, number, address, form):
        card = {"number": number, "holderName": "MARIA", "expiry": "12/49", "code": "123"}
        body = {**PAYER, "form": form, "method": "credit_card", "installments": "1", "card": card}
        headers = {"X-Forwarded-For": address, "Content-Type": "application/json"}
        status, text = self.send("POST", link, json.dumps(body), headers)
        return status, json.loads(text)

    def pay_by_pix(self, link, address):
        body = urllib.parse.urlencode({**PAYER, "form": self.form_number(link, address), "method": "pix"})
        headers = {"X-Forwarded-For": address, "Content-Type": "application/x-www-form-urlencoded"}
        return self.send("POST", link, body, headers)[0]


class Attack:
    """Cards that robots send to links from networks, and what became of them."""

    def __init__(self, service, links, networks):
        self.service, self.links, self.networks = service, links, networks
        self.lock = threading.Lock()
        self.answers = {"declined": 0, "limited": 0}

    def run(self, cards):
        shares = [cards[place::ROBOTS] for place in range(ROBOTS)]
        robots = [threading.Thread(target=self.robot, args=(place, share)) for place, share in enumerate(shares)]
        for robot in robots:
            robot.start()
        return robots

    def robot(self, place, cards):
        visitor, forms = Visitor(self.service), {}
        for step, number in enumerate(cards):
            turn = step * ROBOTS + place
            link, address = self.links[turn % len(self.links)], self.networks[turn * 7 % len(self.networks)]
            # A form whose card was not sent serves again, and each decline comes with the number of the next one.
            form = forms.get(link) or visitor.form_number(link, address)
            status, answer = visitor.pay_by_card(link, number, address, form)
            forms[link] = answer.get("form") or form
            self.count({200: "declined", 429: "limited"}.get(status, f"{status} {answer}"), link, forms)

    def count(self, outcome, link, forms):
        # Of several robots at a link for one payment one is faster; the others try again with a new form.
        if outcome.startswith(("409", "503")):
            forms.pop(link)
            outcome = "raced"
        with self.lock:
            self.answers[outcome] = self.answers.get(outcome, 0) + 1


def buy(service, links, outcomes):
    """Buyers pay by card at links of their own and by PIX at those that the robots have, from networks of their own."""
    visitor = Visitor(service)
    for place in range(BUYERS):
        address = f"198.51.{place}.7"
        own = visitor.make_link()
        status, answer = visitor.pay_by_card(own, "4242424242424242", address, visitor.form_number(own, address))
        outcomes.append(("card", (status, answer.get("status")) == (200, "paid")))
        outcomes.append(("PIX", visitor.pay_by_pix(links[place % len(links)], address) == 303))


def declined_payments(service):
    """The number of cards that an acquirer declined, counted in the payments."""
    visitor, count, query = Visitor(service), 0, "?status=declined&limit=100"
    while True:
        page = visitor.api("GET", f"/pay/payments{query}")
        count += len(page["data"])
        if not page["hasMore"]:
            return count
        query = f"?status=declined&limit=100&cursor={page['nextCursor']}"


def attack(service, name, cards, networks, links):
    before, begun, outcomes = declined_payments(service), time.monotonic(), []
    assault = Attack(service, links, networks)
    robots = assault.run(cards)
    # Only a link for several is open to a buyer's PIX while a robot's card is under way.
    buy(service, links[1::2], outcomes)
    for robot in robots:
        robot.join()
    seconds, through = time.monotonic() - begun, declined_payments(service) - before
    most = min(TRIES_PER_LINK * len(links), TRIES_PER_NETWORK * len(networks))
    paid = {kind: sum(fine for known, fine in outcomes if known == kind) for kind in ("card", "PIX")}
    print(f"{name}: {len(cards)} cards from {len(networks)} networks at {len(links)} links in {seconds:.0f} s")
    print(f"    reached an acquirer: {through} (at most {most}); answers: {assault.answers}")
    print(f"    buyers who paid: {paid['card']} of {BUYERS} by card, {paid['PIX']} of {BUYERS} by PIX", flush=True)
    others = set(assault.answers) - {"declined", "limited", "raced"}
    return 0 < through <= most and not others and all(fine for _, fine in outcomes)


def main():
    program, directory, cards, networks, links = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    service = Service(program, directory)
    try:
        visitor = Visitor(service)

        def some_links(count):
            return [visitor.make_link(uses=1 if place % 2 == 0 else 1000) for place in range(count)]

        everywhere = [f"10.{place // 256}.{place % 256}.9" for place in range(networks)]
        stolen = stolen_cards(cards + cards // 10)
        wide = attack(service, "wide", stolen[:cards], everywhere, some_links(links))
        narrow = attack(service, "narrow", stolen[cards:], ["203.0.113.9"], some_links(links))
    finally:
        service.stop()
    sys.exit(0 if wide and narrow else 1)


main()
