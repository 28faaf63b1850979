"""Reads the metrics of a service while its MongoDB is stopped and started, and prints a test of the alerts.

    record_outage.py PROGRAM DIRECTORY CALM_SECONDS AWAY_SECONDS BACK_SECONDS
"""

import os
import subprocess
import sys
import time
import urllib.request

from restart_time import PAYMENT, Service, request, until

SCRAPE_SECONDS = 15
# Few: an outage of a quiet evening must be seen too.
PAYMENT_EVERY_SCRAPES = 2
METRICS = ("quita_store_up", "quita_ready", "quita_store_failures_total")
MONGOD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mongod")

TEST = """\
# What the program showed while MongoDB was stopped, from {stopped} s to {started} s, with {payments} creations in that time.
# Written by scripts/record_outage; not to be changed by hand.

rule_files:
  - ../alerts.yml

evaluation_interval: 15s

tests:
  - name: QuitaStoreFailing and QuitaNotReady fire in a recorded outage, and are over when the store is back
    interval: {interval}s
    input_series:
{series}
    alert_rule_test:
      - alertname: QuitaStoreFailing
        eval_time: {stopped}s
        exp_alerts: []
      - alertname: QuitaStoreFailing
        eval_time: {firing}s
        exp_alerts:
          - exp_labels: {{ severity: critical, job: quita, instance: "recorded:9090" }}
            exp_annotations:
              summary: "The store of recorded:9090 is unavailable"
              description: >-
                It has not answered, or has accepted no writes, for more than a minute: merchants get 503, and nothing
                is sent to an acquirer.
              runbook_url: docs/ops/RUNBOOK.md#quitastorefailing
      - alertname: QuitaNotReady
        eval_time: {firing}s
        exp_alerts:
          - exp_labels: {{ severity: critical, job: quita, instance: "recorded:9090" }}
            exp_annotations:
              summary: "Quita on recorded:9090 is not ready to take payments"
              description: >-
                /health/ready has not answered 200 for a minute. Its answer says which part is at fault.
              runbook_url: docs/ops/RUNBOOK.md#quitanotready
      - alertname: QuitaStoreCallsFail
        eval_time: {started}s
        exp_alerts: []
      - alertname: QuitaStoreFailing
        eval_time: {end}s
        exp_alerts: []
      - alertname: QuitaNotReady
        eval_time: {end}s
        exp_alerts: []
"""


def say(text):
    print(f"record_outage: {text}", file=sys.stderr, flush=True)


def mongod(verb, directory):
    called = [MONGOD, verb, "--dir", os.path.join(directory, "mongod")]
    return subprocess.run(called, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Recording:
    """Values of each series, one for each reading."""

    def __init__(self, service, key):
        self.service, self.key = service, key
        self.series = {}
        self.readings = 0
        self.payments = 0

    def read(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.service.ops}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        for line in lines:
            if not line.startswith("#") and line.split(" ")[0].split("{")[0] in METRICS:
                name, value = line.rsplit(" ", 1)
                self.series.setdefault(name, []).append(value)
        self.readings += 1

    def go_on(self, seconds):
        """Reads on a fixed beat, whatever a creation takes."""
        for _ in range(seconds // SCRAPE_SECONDS):
            next_reading = time.monotonic() + SCRAPE_SECONDS
            self.read()
            if self.readings % PAYMENT_EVERY_SCRAPES == 0:
                status = request(self.service.api, "POST", "/pay/payments", self.key, PAYMENT)
                say(f"{self.at()} s: a creation was answered {status}")
                self.payments += 1
            time.sleep(max(0, next_reading - time.monotonic()))

    def at(self):
        return self.readings * SCRAPE_SECONDS

    def lines(self):
        for name, values in sorted(self.series.items()):
            metric, _, labels = name.partition("{")
            labels = ", ".join(filter(None, ['job="quita"', 'instance="recorded:9090"', labels.rstrip("}")]))
            yield f"      - {{ series: '{metric}{{{labels}}}', values: '{' '.join(values)}' }}"


def main(program, directory, calm, away, back):
    uri = mongod("start", directory)
    hosts, _, options = uri.removeprefix("mongodb://").partition("?")
    service = Service(program, directory, f"mongodb://{hosts.partition('/')[0]}/quita_outage?{options}")
    service.start()
    try:
        until(200, service.ops, "GET", "/health/ready")
        key = service.key()
        recording = Recording(service, key)
        recording.go_on(calm)
        stopped, before = recording.at(), recording.payments
        mongod("stop", directory)
        recording.go_on(away)
        started, payments = recording.at(), recording.payments - before
        mongod("start", directory)
        recording.go_on(back)
    finally:
        service.kill()
    print(TEST.format(
        stopped=stopped, started=started, payments=payments, interval=SCRAPE_SECONDS, end=recording.at() - SCRAPE_SECONDS,
        firing=stopped + (started - stopped) * 3 // 5 // SCRAPE_SECONDS * SCRAPE_SECONDS,
        series="\n".join(recording.lines()),
    ), end="")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
